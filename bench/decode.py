"""How fast does the hierarchical decoder make forests, and what does a smaller pop limit cost in model score?

    python bench/decode.py MODEL SOURCE [pops lengths sparse threads lattices] [--refs REF...] [--lines 500] [--json]
    python bench/decode.py MODEL SOURCE pops --before OLD.json [--task es-en]

pops      the curve from pop limit to mean model score under the same weights, words per second of CPU and size of the
          forests: they belong together, for a faster search that finds worse translations is no progress
lengths   microseconds of CPU per word by sentence length, and the memory of the forest of one sentence
sparse    the same sentences with the lex features of the model, weights zero or random, and with all templates
threads   two threads against one; wall-clock time means something on an idle machine only
lattices  text as a lattice with one path

Forests are made in every run, one thread unless said otherwise.

OLD.json is what `pops --json` printed with the core to compare with, for the same model and lines. Then "ratios" has a
row for each point of bench/moses.tsv: how many times as long as that core Moses took to the same mean model score, as
published; how many times as fast as that core this one is, to the score that it had there; and the product. The task
es-en has the points of 300 lines, es-en-1000 the ratios of 1,000 lines with the seconds of 300, news those of news.
"""

import argparse
import csv
import json
import random
import resource
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hopefear.decode import Hiero
from hopefear.formats import read_weights
from hopefear.formats.forests import plf_lattices
from hopefear.metrics import Bleu
from hopefear.model.directory import Model
from hopefear.util.files import read_lines

Row = dict[str, Any]
ARRAYS = ("edge_begin", "tail_begin", "tails", "word_begin", "words", "spans", "dense")
SPARSE = ("sparse_begin", "sparse_ids", "sparse_values")


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result, seconds of CPU, seconds by the clock."""
    began, began_cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.process_time() - began_cpu, time.perf_counter() - began


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.model = Model.open(options.model, verify=False)
        self.weights = dict(read_weights(options.weights) if options.weights else self.model.weights)
        self.lines = read_lines(options.source)[: options.lines]
        self.words = self.count(self.lines)

    def count(self, lines: list[str]) -> int:
        return sum(len(self.model.source_text.tokens(line)) for line in lines)

    def forests(self, decoder: Hiero, lines: Any, jobs: int = 1) -> tuple[Row, float, float]:
        """Makes forests block by block, as translate --forests does, and looks at them outside the clock."""
        cpu = wall = score = edges = 0.0
        texts: list[str] = []
        for begin in range(0, len(lines), 16):
            block = lines[begin : begin + 16]
            if self.options.lattices:
                block = plf_lattices(block, "lattices")
            pool, more_cpu, more_wall = timed(lambda block=block: decoder.decode(block, jobs=jobs))
            cpu, wall = cpu + more_cpu, wall + more_wall
            for i, best in enumerate(pool.viterbi(decoder.weights)):
                score += best.score
                edges += pool[i].edge_count
                texts.append(best.text)
        row = {"words/CPU s": self.words / cpu, "mean model score": score / len(lines), "edges": edges / len(lines)}
        if self.options.refs:
            refs = [[self.model.target_text.text(line) for line in read_lines(path)] for path in self.options.refs]
            bleu = Bleu(lowercase=True)
            stats = bleu.corpus_stats(texts, [ref[: len(texts)] for ref in refs])
            row["BLEU"] = bleu.score(stats.sum(0))
        return row, cpu, wall

    def pops(self) -> Iterator[Row]:
        first = 0.0
        for pop_limit in self.options.pop_limits:
            decoder = Hiero(self.model, self.weights, pop_limit, self.options.max_options)
            decoder.decode(self.lines[:20], jobs=1)  # pages of the model
            runs = [self.forests(decoder, self.lines) for _ in range(self.options.repeats)]
            row, cpu = runs[0][0], min(run[1] for run in runs)
            first = first or cpu
            yield {"pop limit": pop_limit, "CPU s": cpu, "time": cpu / first} | row

    def lengths(self) -> Iterator[Row]:
        words = [
            word for line in read_lines(self.options.source)[:2000] for word in self.model.source_text.tokens(line)
        ]
        decoder = Hiero(self.model, self.weights)
        decoder.decode([" ".join(words[:500])], jobs=1)
        for length in (5, 10, 20, 40, 80, 160):
            lines = [" ".join(words[i : i + length]) for i in range(0, 2000, length)]
            pool, cpu, _ = timed(lambda lines=lines: decoder.decode(lines, jobs=1))
            sizes = [sum(getattr(pool[i], name).nbytes for name in ARRAYS) for i in range(len(pool))]
            yield {"words": length, "us/word": 1e6 * cpu / 2000, "MB a forest": float(np.mean(sizes)) / 1e6}

    def sparse(self) -> Iterator[Row]:
        rng = random.Random(1)
        lex = [name for name in self.model.sparse_names if name.startswith("lex(")]
        templates = sorted({name.partition("(")[0] for name in self.model.sparse_names})
        first = 0.0
        for name, chosen, names in (
            ("none", (), ()),
            ("lex, weights 0", ("lex",), ()),
            ("lex, random weights", ("lex",), lex),
            ("all templates", tuple(templates), self.model.sparse_names),
        ):
            weights = self.weights | {feature: rng.gauss(0, 0.02) for feature in names}
            decoder = Hiero(self.model, weights, templates=chosen)
            decoder.decode(self.lines[:20], jobs=1)
            row, cpu, _ = self.forests(decoder, self.lines)
            first = first or cpu
            yield {"features": name, "time": cpu / first} | row

    def threads(self) -> Iterator[Row]:
        decoder = Hiero(self.model, self.weights)
        decoder.decode(self.lines[:20], jobs=2)
        alone = alone_cpu = 0.0
        for jobs in (1, 2):
            _, cpu, wall = timed(lambda jobs=jobs: decoder.kbest(self.lines, 1, jobs=jobs))
            alone, alone_cpu = alone or wall, alone_cpu or cpu
            yield {"threads": jobs, "words/s": self.words / wall, "speed-up": alone / wall, "CPU time": cpu / alone_cpu}

    def lattices(self) -> Iterator[Row]:
        decoder = Hiero(self.model, self.weights)
        decoder.decode(self.lines[:20], jobs=1)
        row, _, _ = self.forests(decoder, self.lines)
        yield {"input": "text"} | row
        chains = []
        for line in self.lines:
            words = self.model.source_text.tokens(line)
            chains.append("(" + "".join(f"(({word!r},0,1),)," for word in words) + ")" if words else "")
        self.options.lattices = True
        row, _, _ = self.forests(decoder, chains)
        yield {"input": "lattices"} | row


class Curve:
    """CPU seconds and mean model score by pop limit; straight lines over logarithms in between."""

    def __init__(self, rows: Iterable[tuple[Any, Any, Any]]) -> None:
        pops, seconds, scores = np.array(list(rows), float).T
        self.pops, self.seconds, self.scores = np.log(pops), np.log(seconds), np.maximum.accumulate(scores)

    @classmethod
    def of(cls, rows: list[Row]) -> "Curve":
        return cls((row["pop limit"], row["CPU s"], row["mean model score"]) for row in rows)

    def pops_in(self, seconds: float) -> float:
        return float(np.exp(between(np.log(seconds), self.seconds, self.pops)))

    def at(self, pops: float) -> tuple[float, float]:
        """Seconds and score."""
        return float(np.exp(between(np.log(pops), self.pops, self.seconds))), between(
            np.log(pops), self.pops, self.scores
        )

    def seconds_to(self, score: float) -> float:
        return float(np.exp(between(score, self.scores, self.seconds)))


def between(x: float, known: Any, values: Any) -> float:
    """NaN beyond the curve."""
    return float(np.interp(x, known, values, left=np.nan, right=np.nan))


def ratios(before: list[Row], now: list[Row], task: str) -> Iterator[Row]:
    """How many times as long Moses takes, by what was published for the core of ``before``."""
    with (Path(__file__).parent / "moses.tsv").open(encoding="utf-8") as file:
        points = [row for row in csv.DictReader(file, delimiter="\t") if row["task"] == task]
    own = [(row["pop limit"], row["CPU s"], row["score"]) for row in points if row["search"] == "hopefear"]
    published, old, new = Curve(own), Curve.of(before), Curve.of(now)
    for point in points:
        if point["search"] == "hopefear":
            continue
        equal = float(point["hopefear CPU s"])
        seconds, score = old.at(published.pops_in(equal))
        then, faster = float(point["CPU s"]) / equal, seconds / new.seconds_to(score)
        yield {
            "Moses": point["search"],
            "pop limit": int(point["pop limit"]),
            "published": then,
            "faster": faster,
            "ratio": then * faster,
        }


def tell(question: str, rows: Iterator[Row], quiet: bool) -> list[Row]:
    """Prints rows as they come."""
    answers: list[Row] = []
    for row in rows:
        if not quiet:
            if not answers:
                print(f"\n{question}\n" + "".join(f"{name:>20}" for name in row))
            print("".join(f"{v:>20.3f}" if isinstance(v, float) else f"{v:>20}" for v in row.values()), flush=True)
        answers.append(row)
    return answers


def main() -> None:
    questions = ("pops", "lengths", "sparse", "threads", "lattices")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("source")
    parser.add_argument("questions", nargs="*", default=list(questions[:4]), help=", ".join(questions))
    parser.add_argument("--refs", nargs="*", default=[])
    parser.add_argument("--weights")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--pop-limits", type=int, nargs="+", default=[20, 50, 100, 200, 500, 1000])
    parser.add_argument("--repeats", type=int, default=1, help="of each pop limit; the fastest counts")
    parser.add_argument("--max-options", type=int, default=20)
    parser.add_argument("--before", type=Path, metavar="OLD.json")
    parser.add_argument("--task", default="es-en", help="of bench/moses.tsv")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.lattices = False
    bench = Bench(options)
    answers: dict[str, list[Row]] = {}
    for question in options.questions:
        if question not in questions:
            parser.error(f"no question is called {question}")
        answers[question] = tell(question, getattr(bench, question)(), options.json)
    if options.before and "pops" in answers:
        before = json.loads(options.before.read_text())["pops"]
        answers["ratios"] = tell("ratios", ratios(before, answers["pops"], options.task), options.json)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if options.json:
        print(json.dumps({"words": bench.words, "lines": len(bench.lines), "peak MB": memory, **answers}))
    else:
        print(f"\n{len(bench.lines)} lines, {bench.words} words, peak {memory:.0f} MB (the mapped model included)")


if __name__ == "__main__":
    main()
