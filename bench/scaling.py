"""How far does a cluster help? Costs are measured here on one core, clusters of up to 100 machines are simulated.

    python bench/scaling.py [--pairs 20000] [--bandwidth 1.25e8] [--json]

Measured, in CPU seconds and bytes: a block of sentences that is translated (its work, its result, what the driver does
with it); a text whose rules are extracted, the parts of the rules that are merged, and what the driver alone does in a
build. The simulation: every machine has one core and fetches what all work needs first (from whoever has it: the
number of copies doubles); a core takes a task when it is free, and fetches what only this task needs from others;
results pass one after the other through the driver's network and the driver's process. Time on the network is bytes
over --bandwidth. Faults and Ray's own work are left out.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import pickle
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from hopefear._core import Extractor, ParallelText, write_grammar
from hopefear.commands.translate import Translate
from hopefear.data.language import SyntheticParallel
from hopefear.decode import decoder_for
from hopefear.decode.translation import BLOCK, _decoded, _translations
from hopefear.model import BuildOptions, Model, build
from hopefear.model.align import align
from hopefear.model.language_model import LanguageModel

T = TypeVar("T")
MACHINES = (1, 2, 5, 10, 25, 50, 100)


@dataclass(frozen=True)
class Work:
    """Tasks that are alike."""

    name: str
    tasks: int
    seconds: float  #: of a task, on a core
    result: int  #: bytes that come back to the driver
    driver: float  #: seconds that the driver needs for a result
    shipped: int  #: bytes that each machine fetches before its first task
    fetched: int = 0  #: bytes that a task fetches from other machines


def timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def simulated(work: Work, machines: int, bandwidth: float) -> float:
    """Seconds until the last result is done with."""
    fetch = work.shipped / bandwidth
    cores = [fetch * math.ceil(math.log2(k + 2)) for k in range(machines)]  # when each is free
    heapq.heapify(cores)
    arrivals = []
    for _ in range(work.tasks):
        done = heapq.heappop(cores) + work.fetched / bandwidth + work.seconds
        arrivals.append(done)
        heapq.heappush(cores, done)
    network = driver = 0.0
    for done in sorted(arrivals):
        network = max(network, done) + work.result / bandwidth
        driver = max(driver, network) + work.driver
    return driver


def measure_translate(folder: Path, lines: list[str]) -> Work:
    model = Model.open(folder / "model")
    decoder = decoder_for(model, model.weights, None, None, 0)
    config = Translate(model=str(folder / "model"), jobs=1)
    decoded, seconds = timed(lambda: _decoded(config, decoder, "text", (0, lines)))
    packed = pickle.dumps(decoded)

    def receive() -> None:
        found = pickle.loads(packed)
        _translations(config, model, found[0], found[1])

    _, driver = timed(receive)
    size = sum(path.stat().st_size for path in (folder / "model").iterdir())
    return Work("translate", 1, seconds, len(packed), driver, size)


def measure_build(folder: Path, source: list[str], target: list[str]) -> tuple[list[Work], dict[str, float]]:
    """The two maps of a build as one task each over the whole text, and what is not spread."""
    text = ParallelText()
    text.add(source, target)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)  # aligners are other processes
    align(text, source, target, jobs=1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    alone = {"one direction of word alignment": seconds / 2}
    _, alone["language model"] = timed(lambda: LanguageModel.estimate(target, 5, jobs=1))
    arrays = text.arrays()
    shipped = len(pickle.dumps(arrays))
    options = BuildOptions().extraction()
    extractor = Extractor(ParallelText.over(*arrays), **options)
    _, seconds = timed(lambda: extractor.run(0, len(text), 1))
    taken, more = timed(lambda: [extractor.take(part) for part in range(Extractor.PARTS)])
    stays = sum(len(one) for one in taken)
    take = Work("extract", 1, seconds + more, 0, 0.0, shipped)
    extractor.merged([taken[0]], 1)  # once before, for the lexical table
    merged, seconds = timed(lambda: [extractor.merged([one], 1) for one in taken])
    paths = []
    for number, part in enumerate(merged):
        paths.append(folder / f"merged-{number}")
        part.tofile(paths[-1])
    _, alone["write"] = timed(
        lambda: write_grammar(
            text,
            [str(path) for path in paths],
            str(folder),
            str(folder / "grammar.bin"),
            orientations=False,
            least_ef=-math.inf,
            least_symmetric=-math.inf,
            jobs=1,
        )
    )
    merge = Work("merge", 1, seconds, sum(len(one) for one in merged), 0.0, shipped, stays)
    return [take, merge], alone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--bandwidth", type=float, default=1.25e8, help="bytes per second; 1.25e8 is 1 Gbit/s")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    pairs = SyntheticParallel().pairs(given.pairs)
    source, target = [pair.source for pair in pairs], [pair.target for pair in pairs]
    words = sum(line.count(" ") + 1 for line in source)
    with tempfile.TemporaryDirectory(prefix="bench-scaling-") as name:
        folder = Path(name)
        (take, merge), alone = measure_build(folder, source, target)
        few = min(2000, len(pairs))
        for side, lines in (("f", source), ("e", target)):
            (folder / side).write_text("".join(line + "\n" for line in lines[:few]))
        build(folder / "f", folder / "e", folder / "model", BuildOptions(tokenizer="none"), jobs=1)
        translate = measure_translate(folder, source[:BLOCK])
    measured = {
        "words": words,
        "translate": asdict(translate),
        "take": asdict(take),
        "merge": asdict(merge),
        "alone": alone,
    }

    def grown(work: Work, times: float, tasks: int) -> Work:
        """The same work on a larger text, cut into tasks."""
        share = times / tasks
        return replace(
            work,
            tasks=tasks,
            seconds=work.seconds * share,
            result=int(work.result * share),
            driver=work.driver * share,
            fetched=int(work.fetched * share),
            shipped=int(work.shipped * times),
        )

    big = 100e6 / given.pairs  # 100 million pairs
    works = [
        replace(translate, name="translate, 10 M sentences", tasks=10_000_000 // BLOCK),
        replace(grown(take, big, round(big * words / 1e6)), name="extract, 100 M pairs"),
        replace(grown(merge, big, Extractor.PARTS), name="merge, 100 M pairs"),
    ]
    rows: list[dict[str, Any]] = []
    for work in works:
        hours = {n: simulated(work, n, given.bandwidth) / 3600 for n in MACHINES}
        rows.append({"work": work.name, "hours": hours, "efficiency": {n: hours[1] / hours[n] / n for n in MACHINES}})
    if given.json:
        print(json.dumps({"measured": measured, "simulated": rows}))
        return
    for name, value in measured.items():
        print(name, json.dumps(value))
    print(f"{'machines':>28}" + "".join(f"{n:>10}" for n in MACHINES))
    for row in rows:
        print(f"{row['work']:>28}" + "".join(f"{hours:>10.2f}" for hours in row["hours"].values()) + "  hours")
        print(f"{'efficiency':>28}" + "".join(f"{share:>10.2f}" for share in row["efficiency"].values()))
    for name, seconds in alone.items():
        print(f"{name}, 100 M pairs, in one process: {seconds * big / 3600:.1f} hours")


if __name__ == "__main__":
    main()
