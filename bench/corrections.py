"""How much a translator gains from corrections: a simulated post-editor who corrects each sentence to its reference.

    python bench/corrections.py TRANSLATOR --source stream.es --refs stream.en.0 stream.en.1 --json out.json
    python bench/corrections.py TRANSLATOR --source stream.es --refs stream.en.0 --without weights rules
    python bench/corrections.py TRANSLATOR --source stream.es --refs stream.en.0 \\
        --static-source test.es --static-refs test.en
    python bench/corrections.py TRANSLATOR --source stream.es --refs stream.en.0 --rebuild train.es train.en --every 500
    python bench/corrections.py --figure docs/figures/corrections.svg captions=out.json conversations=other.json

Sentence by sentence, the stream is translated, then the first reference is given as the correction. The same stream
without corrections is what it is compared with, by paired tests. Nothing of the translator changes: corrections go to
a journal in a temporary folder.

Asked again: the share of corrected sentences that come back corrected when the stream is over. Terms: words of four
letters or more whose translation a correction changed, where the reference of the next sentence that has one agrees;
the share that is translated so at once. Forgetting: a test set before and after. ``--without`` takes pieces away: how
much each of them contributes. ``--rebuild`` adds the corrections to the corpus and builds anew every so many of them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hopefear.evaluation.scores import Resampling, System, evaluate
from hopefear.learning.alignment import PairAlignment, WordTable
from hopefear.learning.memory import PHRASE, View, key_of
from hopefear.metrics import metric_for
from hopefear.model.builder import build
from hopefear.model.directory import put_weights
from hopefear.model.options import BuildOptions
from hopefear.translator.folder import read_card, write_card
from hopefear.translator.translator import Translator
from hopefear.util.files import read_lines
from hopefear.util.svg import Curve, line_chart

TESTED = 500  # sentences of the test set
POINTS = 25  # of a curve
PIECES = ("alignment", "rules", "ngrams", "weights", "memory")


def opened(path: str, folder: str, recipe: Sequence[str]) -> Translator:
    """The translator without its corrections, in a folder of links."""
    for file in Path(path).resolve().iterdir():
        if file.is_file() and file.name != "card.json":
            (Path(folder) / file.name).symlink_to(file)
    card = read_card(path)
    own = {name: json.loads(value) for name, value in (each.split("=") for each in recipe)}
    write_card(folder, {**card, "recipe": {**card["recipe"], **own}})
    return Translator(folder)


def without(translator: Translator, pieces: Sequence[str]) -> None:
    """Takes pieces of what follows from corrections away; the language model is off unless the recipe asks for it."""
    corrections: Any = translator.corrections
    if "weights" in pieces:
        corrections._updates = None
    if "ngrams" in pieces:
        corrections._ngrams = None
    if "rules" in pieces:
        corrections.rules = lambda view, words: []
    if "alignment" in pieces:
        corrections._table = _Diagonal(translator.model)
    if "memory" in pieces:
        View.exact = lambda view, text: None  # type: ignore[method-assign]
        View.near = lambda view, words, least, n: []  # type: ignore[method-assign]


class _Diagonal(WordTable):
    """Links by the place of words alone."""

    def align(self, source: Sequence[str], target: Sequence[str]) -> PairAlignment:
        links = [(s, s * len(target) // len(source)) for s in range(len(source))] if target else []
        return PairAlignment(links, super().align(source, target).fit)


class Terms:
    """Words whose translation a correction changed: whether the next sentence that has one has the new translation.

    Counted are next sentences whose reference has it; ``new`` are those words that the model does not know.
    """

    def __init__(self, translator: Translator) -> None:
        self._model = translator.model
        self._corrections = translator.corrections
        self._said: dict[str, tuple[str, ...]] = {}
        self.asked, self.good = {"all": 0, "new": 0}, {"all": 0, "new": 0}

    def see(self, source: str, output: str, reference: str) -> None:
        """Before the correction is learnt."""
        said, wanted = self._target(output), self._target(reference)
        for word in set(self._model.source_text.tokens(source)) & set(self._said):
            target = f" {' '.join(self._said.pop(word))} "
            if target in wanted:
                for kind in ("all", "new") if self._is_new(word) else ("all",):
                    self.asked[kind] += 1
                    self.good[kind] += target in said

    def learn(self, owner: str, output: str) -> None:
        """After it was."""
        said = self._target(output)
        view = self._corrections.view()
        for pair in view.memory.pairs[-10:]:
            for place, word in enumerate(pair.source):
                span = pair.phrase(place, place + 1, PHRASE) if str(pair.owner[1]) == owner else None
                if span is not None and len(word) > 3:
                    target = pair.target[span[0] : span[1]]
                    if f" {' '.join(target)} " not in said:
                        self._said[word] = target

    def _target(self, text: str) -> str:
        return f" {' '.join(self._model.target_text.tokens(text))} "

    def _is_new(self, word: str) -> bool:
        begin, end = self._model.grammar.find(word)
        return begin == end


def timed(translator: Translator, lines: Sequence[str]) -> tuple[list[str], float]:
    """The translations, and the milliseconds of CPU that one took."""
    started = time.process_time()
    translations = [translator(line) for line in lines]
    return translations, 1000 * (time.process_time() - started) / max(1, len(lines))


def compared(name: str, before: list[str], after: list[str], references: list[list[str]]) -> dict[str, Any]:
    """Scores of both and whether they differ, printed too."""
    record: dict[str, Any] = {}
    for metric in ("bleu", "chrf", "ter"):
        systems = [System("static", [before]), System("learning", [after])]
        static, learning = evaluate(
            systems, references, metric_for(metric, False, None, None), Resampling(samples=1000)
        )
        assert learning.comparison is not None
        p = dict(learning.comparison.p)
        record[metric] = {"before": static.value, "after": learning.value, "p": p}
        said = ", ".join(f"{test} p = {value:.3f}" for test, value in p.items())
        change = learning.value - static.value
        print(f"{name}: {metric} {static.value:.2f} -> {learning.value:.2f} ({change:+.2f}; {said})", flush=True)
    return record


def curve(before: list[str], after: list[str], references: list[list[str]]) -> dict[str, list[float]]:
    """BLEU of both on the first sentences of the stream, more and more of them."""
    metric = metric_for("bleu", False, None, None)
    stats = [metric.corpus_stats(lines, references).cumsum(axis=0) for lines in (before, after)]
    places = np.linspace(0, len(before), POINTS + 1).astype(int)[1:] - 1
    scores = [[round(metric.score(each[place]), 3) for place in places] for each in stats]
    return {"sentences": (places + 1).tolist(), "before": scores[0], "after": scores[1]}


def stream(
    translator: Translator, source: Sequence[str], references: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """What the post-editor gets to see, and what else was counted."""
    words = Terms(translator)
    outputs, taught, times, aside = [], {}, [], 0
    for line, reference in zip(source, references, strict=True):
        outputs.append(translator(line))
        if not line.strip() or not reference.strip():
            continue
        words.see(line, outputs[-1], reference)
        started = time.process_time()
        learnt = translator.learn(line, reference)
        times.append(1000 * (time.process_time() - started))
        aside += learnt.status != "learnt"
        if learnt.status == "learnt":
            words.learn(learnt.id, outputs[-1])
            taught[key_of(line)] = reference
    again = [key_of(translator(line)) == key_of(reference) for line, reference in taught.items()]
    counted = {
        "corrections": len(times),
        "set aside": aside,
        "rolled back": len(translator.corrections._rolled_back),
        "asked again": [sum(again), len(again)],
        "terms": [words.good["all"], words.asked["all"]],
        "new terms": [words.good["new"], words.asked["new"]],
        "learning": {"mean": float(np.mean(times)), "99 %": float(np.quantile(times, 0.99))},
    }
    print(json.dumps(counted), flush=True)
    return outputs, counted


def rebuilt(
    options: argparse.Namespace, translator: Translator, source: list[str], references: list[str]
) -> tuple[list[str], float]:
    """The stream by models that are built anew from the corpus and all corrections, and the CPU seconds of building."""
    corpus = [read_lines(path) for path in options.rebuild]
    outputs, seconds = [], 0.0
    card, weights = read_card(options.translator), translator.model.weights
    made = BuildOptions(lm_order=translator.model.language_models[0].order)
    for begin in range(0, len(source), options.every):
        with tempfile.TemporaryDirectory() as folder:
            if begin:
                for side, lines, more in zip("se", corpus, (source, references), strict=True):
                    pairs = "".join(f"{line}\n" for line in [*lines, *more[:begin]])
                    (Path(folder) / side).write_text(pairs)
                before = sum(os.times()[:4])
                build([Path(folder) / "s"], [Path(folder) / "e"], Path(folder) / "m", made, jobs=1)
                seconds += sum(os.times()[:4]) - before
                put_weights(Path(folder) / "m", weights)
                write_card(Path(folder) / "m", card)
                translator = Translator(Path(folder) / "m")
            outputs += translator(source[begin : begin + options.every])
    return outputs, seconds


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """All of it, for one translator and one stream."""
    rows = slice(options.skip, options.skip + options.sentences if options.sentences else None)
    source = read_lines(options.source)[rows]
    references = [read_lines(path)[rows] for path in options.refs]
    record: dict[str, Any] = {"sentences": len(source), "without": options.without}
    with tempfile.TemporaryDirectory() as folder:
        translator = opened(options.translator, folder, options.recipe)
        without(translator, options.without)
        test = read_lines(options.static_source)[:TESTED] if options.static_source else []
        static = [translator(line) for line in source]
        if options.rebuild:
            anew, seconds = rebuilt(options, translator, source, references[0])
            record["rebuilt"] = {**compared("built anew", static, anew, references), "cpu seconds": seconds}
            record["rebuilt"]["curve"] = curve(static, anew, references)
            print(f"building: {seconds:.1f} CPU seconds", flush=True)
        before, time_before = timed(translator, test)
        outputs, counted = stream(translator, source, references[0])
        record |= {**counted, "stream": compared("stream", static, outputs, references)}
        record["curve"] = curve(static, outputs, references)
        if options.rebuild:
            compared("built anew, then learning", anew, outputs, references)
        if test:
            after, time_after = timed(translator, test)
            time_before = (time_before + timed(opened(options.translator, new_folder(folder), []), test)[1]) / 2
            other = [read_lines(path)[:TESTED] for path in options.static_refs]
            record["test set"] = compared("test set", before, after, other)
            record["translating"] = [time_before, time_after]
            print(f"translating, one by one: {time_before:.1f} ms before, {time_after:.1f} ms after")
    return record


def new_folder(folder: str) -> str:
    path = Path(folder) / "again"
    path.mkdir()
    return str(path)


def figure(path: str, named: Sequence[str]) -> None:
    """What was gained on the sentences so far, for the records of several streams."""
    curves = []
    for each in named:
        name, _, file = each.partition("=")
        record = json.loads(Path(file).read_text())
        points = record["curve"]
        gain = [after - before for after, before in zip(points["after"], points["before"], strict=True)]
        curves.append(Curve(name, points["sentences"], gain))
    title, axes = "Gain over the translator without corrections", ("sentences so far", "BLEU")
    Path(path).write_text(line_chart(title, *axes, curves, standalone=True) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translator", nargs="*", help="a translator; with --figure NAME=RECORD ...")
    parser.add_argument("--source")
    parser.add_argument("--refs", nargs="+", default=[])
    parser.add_argument("--skip", type=int, default=0, help="sentences of the stream to leave out at its beginning")
    parser.add_argument("--sentences", type=int, default=0, help="of the stream; 0: all")
    parser.add_argument("--static-source")
    parser.add_argument("--static-refs", nargs="+", default=[])
    parser.add_argument("--recipe", nargs="*", default=[], help="such as corrected=0.5 corrected_ngrams=0.5")
    parser.add_argument("--without", nargs="*", default=[], choices=PIECES)
    parser.add_argument("--rebuild", nargs=2, default=[], metavar=("SOURCE", "TARGET"))
    parser.add_argument("--every", type=int, default=500)
    parser.add_argument("--json", help="where to write the record")
    parser.add_argument("--figure", help="an SVG to draw from records")
    options = parser.parse_args()
    if options.figure:
        figure(options.figure, options.translator)
        return
    (options.translator,) = options.translator
    record = measured(options)
    if options.json:
        Path(options.json).write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
