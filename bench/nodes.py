"""Work on Ray clusters of one and of two nodes with one core each, on this machine: seconds and efficiency.

    python bench/nodes.py [--sentences 2000] [--pairs 3000]

Each cluster is started before the clock, and each work is done once before, so that its processes are there. Efficiency
is the time with one node over twice the time with two. It needs two cores that nobody else uses.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hopefear.data.language import SyntheticParallel
from hopefear.data.lists import Synthetic
from hopefear.decode import translation
from hopefear.model import BuildOptions, build, rules
from hopefear.train.tuning import TuneConfig, tune


@contextmanager
def nodes(count: int) -> Iterator[str]:
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(count - 1):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        yield cluster.address
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]


def works(folder: Path, sentences: int, pairs: int) -> dict[str, Callable[[str], object]]:
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
    Synthetic(sentences=200, candidates=100, references=2, seed=1).write(folder / "lists")

    def translated(address: str) -> None:
        for _ in translation.translate(
            translation.TranslateConfig(model=folder / "model", cluster=address), folder / "source"
        ):
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
        given = TuneConfig(
            nbest=lists,
            refs=refs,
            trainer="mert",
            replicates=6,
            cluster=address,
            out=str(folder / "run"),
            overwrite=True,
        )
        tune(given)

    return {"translate": translated, "build, aligned before": built, "tune, 6 replicates of mert": tuned}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=3000)
    given = parser.parse_args()
    translation.BLOCK = 64
    rules._TASK_WORDS = 4000
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-nodes-") as folder:
        todo = works(Path(folder), given.sentences, given.pairs)
        for count in (1, 2):
            with nodes(count) as address:
                for name, work in todo.items():
                    work(address)
                    began = time.perf_counter()
                    work(address)
                    seconds.setdefault(name, []).append(time.perf_counter() - began)
    for name, (one, two) in seconds.items():
        print(f"{name:>28} {one:>8.1f} s {two:>8.1f} s   efficiency {one / two / 2:.2f}")


if __name__ == "__main__":
    main()
