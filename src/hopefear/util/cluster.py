"""Work on a Ray cluster (the extra ``cluster``).

Work is a function that every worker process prepares once (it opens a model, say) and then applies to item after item.
Ray places the items, repeats those that were lost with a worker or a machine, and gives them to machines that join
late; the results come back in the order of the items, so the cluster cannot be seen in them. What a user did wrong is
an InputError here as it would be on one machine.
"""

from __future__ import annotations

import socket
import tempfile
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hopefear.errors import InputError
from hopefear.util.atomic import scratch_folder
from hopefear.util.processes import TaskError

Item = TypeVar("Item")
Result = TypeVar("Result")

RETRIES = 20  # of an item whose worker was lost
PATIENCE = 60.0  # seconds without any result before a warning
LONG_PATIENCE = 3600.0  # where each task is long
_AHEAD = 2  # items per core that are under way or wait to be taken
_TASK: dict[str, Any] = {"num_cpus": 1, "max_retries": RETRIES}
_SPREAD = _TASK | {"scheduling_strategy": "SPREAD"}  # by default Ray fills the machine of the driver first


class Each(Protocol):
    """Like ``map``: the results of a function for some items, in order."""

    def __call__(self, work: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]: ...


def connect(address: str, cpus: int = 0) -> bool:
    """Join the cluster at an address. Whether Ray was started here, so that the caller should end it.

    ``auto``: the cluster that this machine belongs to, or else as ``local``: one of this machine alone.
    """
    try:
        import ray  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise InputError("a cluster needs Ray. Install it: pip install 'hopefear[cluster]'") from None
    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address not in ("auto", "local"):
        _check_reachable(address)
        ray.init(address=address, **quiet)
        return True
    if address == "auto":
        try:
            ray.init(address="auto", **quiet)
            return True
        except ConnectionError:
            pass
    ray.init(address="local", num_cpus=cpus or None, include_dashboard=False, **quiet)
    return True


@contextmanager
def joined(address: str, cpus: int = 0) -> Iterator[None]:
    """Work inside is done on the cluster; a Ray that was started for it ends with it, and what is still under way.

    Nothing is cancelled before: a task that ends while ``ray.cancel`` looks at it brings the whole process down.
    """
    ours = connect(address, cpus)
    try:
        yield
    finally:
        if ours:
            import ray

            ray.shutdown()


def _check_reachable(address: str) -> None:
    """Fail at once if there is no cluster: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=10):
            pass
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(f"no cluster at {address} ({error}). Start one: ray start --head") from None


def in_order(
    prepare: Callable[[], Callable[[Item], Result]],
    items: Iterable[Item],
    warn: Callable[[str], object] = lambda text: None,
    *,
    places: bool = False,
) -> Iterator[Result]:
    """The results of all items, in order. Items are taken as the cluster gets round to them.

    ``prepare`` travels to the workers once, and each process calls it once. With ``places``, an item is a list of
    places of ``scattered``, and the work gets what is there.
    """
    import ray

    # Parts are best joined where most of them are.
    task = ray.remote(**_TASK)(_gather) if places else ray.remote(**_SPREAD)(_work)
    key, box = uuid.uuid4().hex, [ray.put(prepare)]  # a reference inside a list is not fetched for every item
    under_way: deque[Any] = deque()
    waiting = iter(items)
    while True:
        room = max(1, _AHEAD * int(total_cores()))
        while len(under_way) < room:
            try:
                item: Any = next(waiting)
            except StopIteration:
                break
            under_way.append(task.remote(key, box, *([part for part, _ in item] if places else [item])))
        if not under_way:
            return
        yield _result_of(under_way.popleft(), warn)


def spread(warn: Callable[[str], object] = lambda text: None) -> Each:
    """``map`` on the cluster that was joined."""

    def each(work: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]:
        return in_order(lambda: work, items, warn)

    return each


def begun(do: Callable[[Callable[[], Any]], Result], what: Any) -> Any:
    """A task of its own kind: the place of its result, for ``first_ended``.

    ``do`` gets a function that unpacks ``what`` on the worker, so that a fault while it is unpacked (its model is not
    there, say) is reported like any other.
    """
    import ray
    from ray import cloudpickle

    task = ray.remote(**_SPREAD)(_alone)
    return task.remote(do, cloudpickle.dumps(what))  # type: ignore[no-untyped-call,unused-ignore]


def first_ended(places: Sequence[Any], warn: Callable[[str], object] = lambda text: None) -> tuple[Any, Any]:
    """One of the places of ``begun`` where the result has come, and the result."""
    index = _first(places, warn, LONG_PATIENCE)
    return index, _result_of(index, warn)


def scattered(
    prepare: Callable[[], Callable[[Item], tuple[Any, Sequence[Any]]]],
    items: Iterable[Item],
    parts: int,
    warn: Callable[[str], object] = lambda text: None,
) -> Iterator[tuple[Any, list[Any]]]:
    """Like in_order, for work with one small result and ``parts`` large ones, which stay where they were made.

    What comes back for these are their places in the cluster's store, for ``in_order``. Ray writes them to disk where
    memory is short, and makes those again that were lost with a machine.
    """
    import ray

    task = ray.remote(**_SPREAD, num_returns=parts + 1)(_scatter)
    key, box = uuid.uuid4().hex, [ray.put(prepare)]
    under_way: list[Any] = [task.remote(key, box, item, parts) for item in items]
    for first, *rest in under_way:
        # A place keeps what its part is made from, which Ray would drop with the last reference to it.
        yield _result_of(first, warn), [(entry, box) for entry in rest]


def total_cores() -> float:
    """The number of cores of the cluster."""
    return _cores("cluster_resources")


def free_cores() -> float:
    """How many cores of the cluster have nothing to do."""
    return _cores("available_resources")


def _cores(which: str) -> float:
    import ray

    return float(getattr(ray, which)().get("CPU", 0))


def _first(places: Sequence[Any], warn: Callable[[str], object], patience: float) -> Any:
    import ray

    while not (ready := ray.wait(list(places), timeout=patience)[0]):
        free = free_cores()
        warn(
            f"no result from the cluster for {patience:.0f} s; {free:.0f} of its cores are free (ray status tells more)"
        )
    return ready[0]


def _result_of(future: Any, warn: Callable[[str], object]) -> Any:
    import ray

    _first([future], warn, PATIENCE)
    try:
        kind, value = ray.get(future)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        raise TaskError(f"a part of the work was lost on the cluster repeatedly: {reason}") from None
    if kind == "input":
        raise InputError(value)
    return value


_prepared: dict[str, Callable[[Any], Any]] = {}  # of this worker process: the current work


def _work(key: str, box: list[Any], item: Any) -> tuple[str, Any]:
    """On a worker."""
    import ray

    def done() -> Any:
        if key not in _prepared:
            _prepared.clear()
            _prepared[key] = ray.get(box[0])()
        return _prepared[key](item)

    return _outcome(done)


def _gather(key: str, box: list[Any], *parts: Any) -> tuple[str, Any]:
    """On a worker. Ray begins it when all parts are there: if it waited for them, it could wait for its own core."""
    return _work(key, box, list(parts))


def _alone(do: Callable[[Callable[[], Any]], Any], what: bytes) -> tuple[str, Any]:
    """On a worker."""
    from ray import cloudpickle

    return _outcome(lambda: do(lambda: cloudpickle.loads(what)))


def _outcome(work: Callable[[], Any]) -> tuple[str, Any]:
    """A result, or what the user did wrong."""
    try:
        return "done", work()
    except InputError as error:
        return "input", f"{error} (on the machine {socket.gethostname()} of the cluster)"


def _scatter(key: str, box: list[Any], item: Any, parts: int) -> tuple[Any, ...]:
    """On a worker."""
    kind, value = _work(key, box, item)
    return ((kind, value[0]), *value[1]) if kind == "done" else ((kind, value), *[None] * parts)


def shipped(files: Iterable[tuple[str, bytes]]) -> Mapping[str, Any]:
    """Files by name, put into the cluster's store: each machine fetches them once."""
    import ray

    return {name: ray.put(content) for name, content in files}


@contextmanager
def unpacked(files: Mapping[str, Any], name: str) -> Iterator[Path]:
    """On a worker: a folder with the files, which is gone afterwards; what a kill left is removed by the next."""
    import ray

    with scratch_folder(Path(tempfile.gettempdir()) / f"hopefear-{name}") as aside:
        folder = aside / "new"
        folder.mkdir()
        for file, reference in files.items():
            (folder / file).write_bytes(ray.get(reference))
        yield folder


def received(files: Mapping[str, Any], name: str) -> Path:
    """On a worker: a folder with the files, the same for all workers of a machine; ``name`` tells one from another."""
    folder = Path(tempfile.gettempdir()) / f"hopefear-{name}"
    if not folder.is_dir():
        with unpacked(files, name) as fresh, suppress(OSError):  # another worker was first
            fresh.rename(folder)
    return folder
