"""Work on Ray clusters of one and of two nodes with one core each, on this machine: seconds and efficiency.

    python bench/nodes.py [--sentences 2000] [--pairs 3000] [--replicates 8]

Each cluster is started before the clock, and each work is done once before, so that its processes are there. Efficiency
is the time with one node over twice the time with two, which needs two cores that nobody else uses. On a busy machine
look at CPU seconds: of the driver, and of the workers of each node; efficiency by these is the CPU seconds of one node
over twice those of the busier of two.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopefear.commands.translate import Translate
from hopefear.commands.tune import Tune
from hopefear.data.language import SyntheticParallel
from hopefear.data.lists import Synthetic
from hopefear.decode import translation
from hopefear.model import BuildOptions, build, rules
from hopefear.runs.session import SILENT


@contextmanager
def nodes(count: int) -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    os.environ.update(RAY_worker_niceness="0")  # Ray's 15 would measure how busy the machine is
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(count - 1):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]


def worker_seconds(node: Any) -> float:
    """CPU seconds of the workers of a node so far."""
    raylet, ticks = node.all_processes["raylet"][0].process.pid, 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == raylet and (process / "cmdline").read_bytes().startswith((b"ray::_", b"ray::IDLE")):
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Took:
    """Seconds by the clock, and CPU seconds of the driver and of each node."""

    clock: float
    driver: float
    workers: list[float]

    @classmethod
    def of(cls, work: Callable[[str], object], cluster: Any) -> Took:
        every = list(cluster.list_all_nodes())
        began, driver, before = time.perf_counter(), time.process_time(), [worker_seconds(node) for node in every]
        work(cluster.address)
        after = [worker_seconds(node) for node in every]
        used = [end - start for start, end in zip(before, after, strict=True)]
        return cls(time.perf_counter() - began, time.process_time() - driver, used)

    def __str__(self) -> str:
        return f"{self.clock:.1f} s, CPU {self.driver:.1f} + {' + '.join(f'{one:.1f}' for one in self.workers)} s"


def works(folder: Path, sentences: int, pairs: int, replicates: int) -> dict[str, Callable[[str], object]]:
    """By name, a function of the cluster's address."""
    text = SyntheticParallel(noise=0).pairs(max(sentences, pairs))
    files = {
        "source": [one.source for one in text[:sentences]],
        "f": [one.source for one in text[:pairs]],
        "e": [one.target for one in text[:pairs]],
        "links": [" ".join(f"{s}-{t}" for s, t in one.links) for one in text[:pairs]],
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(line + "\n" for line in lines))
    options = BuildOptions(tokenizer="none")
    aligned = [folder / "links"]
    build(folder / "f", folder / "e", folder / "model", options, align=aligned, jobs=1)
    Synthetic(sentences=200, candidates=50, references=2, seed=1).write(folder / "lists")

    def translated(address: str) -> None:
        translate = Translate(model=str(folder / "model"), cluster=address)
        for _ in translation.translate(translate, folder / "source"):
            pass

    def built(address: str) -> None:
        build(
            folder / "f",
            folder / "e",
            folder / "again",
            options,
            align=aligned,
            cluster=address,
            overwrite=True,
            jobs=1,
        )

    def tuned(address: str) -> None:
        refs = sorted(str(one) for one in (folder / "lists").glob("ref.*"))
        lists = [str(folder / "lists" / "nbest.txt")]
        given = Tune(
            nbest=lists,
            refs=refs,
            trainer="kbmira",
            replicates=replicates,
            cluster=address,
            out=str(folder / "run"),
            overwrite=True,
        )
        given.run(SILENT)

    return {"translate": translated, "build, aligned before": built, f"tune, {replicates} replicates of kbmira": tuned}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=3000)
    parser.add_argument("--replicates", type=int, default=8)
    given = parser.parse_args()
    translation.BLOCK = 64
    rules._TASK_WORDS = 4000
    took: dict[str, list[Took]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-nodes-") as folder:
        todo = works(Path(folder), given.sentences, given.pairs, given.replicates)
        for count in (1, 2):
            with nodes(count) as cluster:
                for name, work in todo.items():
                    work(cluster.address)
                    took.setdefault(name, []).append(Took.of(work, cluster))
                    print(f"{name}, {count} nodes: {took[name][-1]}, load {os.getloadavg()[0]:.0f}", flush=True)
    for name, (one, two) in took.items():
        by_cpu = one.workers[0] / (2 * max(max(two.workers), 0.01))
        print(f"{name:>28}: efficiency {one.clock / two.clock / 2:.2f} by the clock, {by_cpu:.2f} by CPU seconds")


if __name__ == "__main__":
    main()
