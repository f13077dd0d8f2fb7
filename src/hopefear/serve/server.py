"""Processes and sockets: bind, open the translators, serve, and end when all that was accepted is answered.

With one worker the server runs in this process. With several, each is forked when the translators are open, so that
memory holds them once; all take connections from one socket, and a worker that dies is started again.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hopefear.errors import InputError
from hopefear.learning.corrections import Corrections
from hopefear.serve.metrics import Metrics
from hopefear.serve.settings import Settings, say
from hopefear.translator.translator import Translator
from hopefear.util.files import scratch_folder
from hopefear.util.processes import FORKS, die_with, fork

Opener = Callable[[], Sequence[Translator]]
GRACE = 5.0  # seconds beyond those of a request, until a worker that should end is killed
TRIES = 5  # starts in a row that may fail at once
SHORT = 2.0  # seconds that a worker must live, or its start counts as failed


def serve(opener: Opener, settings: Settings, note: Callable[[str], object] = say) -> None:
    """Serve translators until SIGTERM or SIGINT; ``note`` gets the lines of the log.

    Says on standard error when it is ready, and where.
    """
    require_packages()
    listener = bound(settings.host, settings.port)
    if settings.workers > 1 and not FORKS:
        raise InputError("--workers: processes cannot be forked on this system. Use --workers 1")
    with listener, scratch_folder(Path(tempfile.gettempdir()) / "hopefear-serve") as folder:
        settings = replace(settings, folder=folder, port=listener.getsockname()[1])
        ready = f"listening on {address(settings)}"
        if settings.workers == 1:
            run(opener(), settings, listener, None, note, lambda: say(ready))
        else:
            translators = opener()
            _hold(translators)
            WorkerProcesses(translators, settings, listener, note).run(lambda: say(ready))


def _hold(translators: Sequence[Translator]) -> None:
    """Corrections are for this server, so that all of its workers may write them; if another has them, for that one."""
    for translator in translators:
        corrections: Corrections | None = getattr(translator, "corrections", None)
        if corrections is not None:
            with suppress(InputError):
                corrections.hold()


def require_packages() -> None:
    """An InputError where what the server is made of is not installed."""
    import importlib.util

    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"serve needs {' and '.join(missing)}. Install it: pip install 'hopefear[serve]'")


def address(settings: Settings) -> str:
    """The address of the server, for people and programs."""
    name = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{name}:{settings.port}"


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens, so that no request is turned away while the translators are opened."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(where)
            listener.listen(1024)
        except BaseException:
            listener.close()
            raise
    except UnicodeError:
        raise InputError(f"--host {host}: not a host name. Give one such as 127.0.0.1") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"--host {host} --port {port}: {why}. Choose another port, or 0 for a free one") from None
    return listener


def run(
    translators: Sequence[Translator],
    settings: Settings,
    listener: socket.socket,
    metrics: Metrics | None,
    note: Callable[[str], object],
    ready: Callable[[], object],
) -> None:
    """Serve from this process until it gets a signal to end."""
    import uvicorn

    from hopefear.serve.app import make_app

    class Server(uvicorn.Server):
        """Ends with exit code 0 after SIGTERM and SIGINT, says when it is ready, closes idle connections."""

        idle = Idle(settings.limits.idle_seconds)

        async def on_tick(self, counter: int) -> bool:
            if counter % 10 == 0:
                self.idle.close(self.server_state.connections)
            return await super().on_tick(counter)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            numbers = (signal.SIGINT, signal.SIGTERM)
            before = [signal.signal(number, self.handle_exit) for number in numbers]
            try:
                yield
            finally:
                for number, handler in zip(numbers, before, strict=True):
                    signal.signal(number, handler)

    app = make_app(translators, settings, metrics, note)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",  # requests that are no HTTP are answered, not logged
        access_log=False,
        server_header=False,
        date_header=True,
        limit_concurrency=settings.limits.connections,
        timeout_keep_alive=int(settings.limits.idle_seconds) + 1,
        timeout_graceful_shutdown=int(settings.limits.seconds) + 1,
    )
    Server(config).run(sockets=[listener])


class Idle:
    """Knows since when each connection has had no request; uvicorn itself waits for ever for the head of the first."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: dict[Any, tuple[Any, float]] = {}  # connection -> its last request, and when that was seen first

    def close(self, connections: Iterable[Any]) -> None:
        """Close those that have waited too long."""
        now = time.monotonic()
        waiting = {}
        for each in connections:
            if each.cycle is not None and not each.cycle.response_complete:
                continue
            last, since = self._since.get(each, (None, now))
            waiting[each] = (each.cycle, since if last is each.cycle else now)
            if now - waiting[each][1] > self.seconds:
                each.transport.close()
        self._since = waiting


class WorkerProcesses:
    """Forked servers on one socket, and what starts them again."""

    def __init__(
        self,
        translators: Sequence[Translator],
        settings: Settings,
        listener: socket.socket,
        note: Callable[[str], object],
    ) -> None:
        from hopefear.serve.app import new_metrics

        self.translators, self.settings, self.listener, self.note = translators, settings, listener, note
        self.metrics = new_metrics(translators, settings.workers)
        self.processes: dict[int, tuple[int, float]] = {}  # process -> worker, when it was started
        self.ending = False
        self.failures = 0

    def run(self, ready: Callable[[], object]) -> None:
        """Start all, say that they are ready, watch them until the signal to end, and wait for them."""
        before = [signal.signal(number, self._end) for number in (signal.SIGINT, signal.SIGTERM)]
        try:
            waiting = [self._start(worker) for worker in range(self.settings.workers)]
            for pipe in waiting:
                self._hear(pipe)
            if not self.ending:
                ready()
            while not self.ending:
                self._watch()
        finally:
            self._stop()
            for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
                signal.signal(number, handler)

    def _end(self, number: int, frame: object) -> None:
        self.ending = True
        for process in list(self.processes):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)

    def _start(self, worker: int) -> int:
        """Fork a worker; a pipe from which a line comes when it is ready, or says why it is not."""
        read, write = os.pipe()
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        process = fork()
        if process:
            os.close(write)
            self.processes[process] = (worker, time.monotonic())
            return read
        code = 1
        try:
            self.processes.clear()  # those are not its own
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            die_with(parent)
            os.close(read)
            code = self._work(worker, write)
        finally:
            os._exit(code)

    def _work(self, worker: int, write: int) -> int:
        """In the new process."""

        def told(**values: Any) -> None:
            os.write(write, json.dumps(values).encode() + b"\n")
            os.close(write)

        self.metrics.worker = worker
        for gauge in ("hopefear_open_requests", "hopefear_waiting_texts"):
            self.metrics.set(gauge, 0)
        self.metrics.add("hopefear_worker_starts_total")
        try:
            run(self.translators, self.settings, self.listener, self.metrics, self.note, lambda: told(ready=True))
        except InputError as error:
            told(error=str(error))
            return 2
        return 0

    def _hear(self, pipe: int) -> None:
        with os.fdopen(pipe, "rb") as lines:
            said = json.loads(lines.readline() or b"{}")
        if "error" in said:
            raise InputError(said["error"])
        if not said and not self.ending:
            raise RuntimeError("a worker ended before it was ready")

    def _watch(self) -> None:
        """Wait a little, and start again what has died."""
        process, status = os.waitpid(-1, os.WNOHANG)
        if process == 0:
            select.select([], [], [], 0.05)
            return
        worker, begin = self.processes.pop(process)
        if self.ending:
            return
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        say(json.dumps({"event": "worker", "worker": worker, "ended": how}))
        self.failures = self.failures + 1 if time.monotonic() - begin < SHORT else 0
        if self.failures >= TRIES:
            raise RuntimeError(f"worker {worker} exits as soon as it starts ({how})")
        with suppress(InputError, RuntimeError):
            self._hear(self._start(worker))

    def _stop(self) -> None:
        self._end(signal.SIGTERM, None)
        last = time.monotonic() + self.settings.limits.seconds + GRACE
        while self.processes and time.monotonic() < last:
            process, _ = os.waitpid(-1, os.WNOHANG)
            self.processes.pop(process, None)
            if process == 0:
                select.select([], [], [], 0.02)
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
