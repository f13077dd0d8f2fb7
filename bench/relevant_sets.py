"""What costmargin would gain from learning on a cluster: who works how long in an iteration, and what travels.

    python bench/relevant_sets.py --source FILE --target FILE [--sentences 4000] [--iterations 3] [--calls 500]

On one core, in CPU seconds: learning (features are found, then SGD), which is done on the driver, and decoding, which
a cluster does. In bytes: the weights that every machine gets, the alternatives that come back. And what one call to
another process costs the driver in Ray, with as many bytes as the batches of SGD would have to carry: the keys and
weights of the features of 32 sentences there, the changes back.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hopefear.decode import Blocks
from hopefear.model import BuildOptions, Model, build
from hopefear.trainers.blocks.costmargin import Costmargin
from hopefear.trainers.blocks.relevant_sets import RelevantSets, alternatives
from hopefear.util import cluster
from hopefear.util.files import iter_lines


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def iterate(sets: RelevantSets, options: Costmargin, number: int) -> None:
    learner = sets.learner
    found = seconds(lambda: learner.find_features(options.drop_once, 1))

    def passes() -> None:
        for k in range(options.passes):
            learner.run(options.eta, options.l2, options.batch, 10 * number + k, 1)

    learnt = seconds(passes)
    decoded = seconds(lambda: sets.decoded(alternatives(number), sets.weights(1), 1))
    size = (sets.folder / f"{alternatives(number)}.bin").stat().st_size
    print(f"iteration {number}: find features {found:.2f}, SGD {learnt:.2f}, decode {decoded:.2f} CPU s; ", end="")
    print(f"weights {16 * len(learner.table):,} bytes, alternatives {size:,} bytes", flush=True)


def features_of(sets: RelevantSets, lines: list[str], references: list[str], options: Costmargin) -> int:
    """How many features a batch of SGD has to do with: of all sequences of its sentences, one of them decoded."""
    own = RelevantSets.over(sets.decoder, lines, references, sets.folder / "batch", [])
    own.start(options.truths, options.ties == "few", options.random, 1, 1)
    own.decoded(alternatives(1), sets.weights(1), 1)
    own.learner.find_features(False, 1)
    return len(own.learner.table)


class _Echo:
    def answer(self, there: bytes) -> bytes:
        return there


def call(calls: int, size: int) -> float:
    """CPU seconds of the driver for a call, and as many bytes back."""
    import ray

    there = ray.remote(num_cpus=1)(_Echo).remote()
    ray.get(there.answer.remote(b""))
    sent = bytes(size)
    return seconds(lambda: [ray.get(there.answer.remote(sent)) for _ in range(calls)]) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--sentences", type=int, default=4000)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--calls", type=int, default=500)
    given = parser.parse_args()
    options = Costmargin()
    with tempfile.TemporaryDirectory(prefix="bench-sets-") as name:
        folder = Path(name)
        texts = []
        for side in (given.source, given.target):
            texts.append([line for line, _ in zip(iter_lines(side), range(given.sentences), strict=False)])
            (folder / f"side{len(texts)}").write_text("".join(line + "\n" for line in texts[-1]))
        build(folder / "side1", folder / "side2", folder / "model", BuildOptions(kind="blocks", lm_order=2), jobs=1)
        decoder = options.adapted(Blocks(Model.open(folder / "model")))
        sets = RelevantSets.over(decoder, *texts, folder / "sets", [])
        sets.start(options.truths, options.ties == "few", options.random, 1, 1)
        for number in range(1, given.iterations + 1):
            iterate(sets, options, number)
        features = features_of(sets, *(text[: options.batch] for text in texts), options)
        print(f"{options.batch} sentences have {features:,} features")
    with cluster.joined("local", 1):
        for size in (100, 16 * features):
            print(f"a call with {size:,} bytes: {1e3 * call(given.calls, size):.2f} CPU ms of the driver")


if __name__ == "__main__":
    main()
