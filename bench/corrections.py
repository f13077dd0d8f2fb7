"""How much a translator gains from corrections: a simulated post-editor who corrects each sentence to its reference.

    python bench/corrections.py TRANSLATOR --source stream.es --refs stream.en.0 stream.en.1
    python bench/corrections.py TRANSLATOR --source stream.es --refs stream.en.0 \\
        --static-source test.es --static-refs test.en

Sentence by sentence, the stream is translated, then the first reference is given as the correction. The same stream
without corrections is what it is compared with, by paired tests. Nothing of the translator changes: corrections go to
a journal in a temporary folder.

Asked again: the share of corrected sentences that come back corrected when the stream is over. Terms: words of four
letters or more whose translation a correction changed, where the reference of the next sentence that has one agrees;
the share that is translated so at once. Forgetting: a test set before and after.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hopefear.evaluation.scores import System, evaluate
from hopefear.learning.memory import PHRASE, key_of
from hopefear.metrics import metric_for
from hopefear.translator.folder import read_card, write_card
from hopefear.translator.translator import Translator
from hopefear.util.files import read_lines

TESTED = 500  # sentences of the test set


def opened(path: str, folder: str, weights: Sequence[str]) -> Translator:
    """The translator without its corrections, in a folder of links."""
    for file in Path(path).resolve().iterdir():
        if file.is_file() and file.name != "card.json":
            (Path(folder) / file.name).symlink_to(file)
    card = read_card(path)
    write_card(
        folder, {**card, "recipe": {**card["recipe"], **{n: float(v) for n, v in (w.split("=") for w in weights)}}}
    )
    return Translator(folder)


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


def told(name: str, before: list[str], after: list[str], references: list[list[str]]) -> None:
    """Scores of both and whether they differ."""
    for metric in ("bleu", "chrf", "ter"):
        systems = [System("static", [before]), System("learning", [after])]
        static, learning = evaluate(systems, references, metric_for(metric, False, None, None), samples=1000)
        assert learning.comparison is not None
        p = ", ".join(f"{test} p = {value:.3f}" for test, value in learning.comparison.p.items())
        change = learning.value - static.value
        print(
            f"{name}: {metric} static {static.value:.2f}, learning {learning.value:.2f} ({change:+.2f}; {p})",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translator")
    parser.add_argument("--source", required=True)
    parser.add_argument("--refs", nargs="+", required=True)
    parser.add_argument("--sentences", type=int, default=0, help="of the stream; 0: all")
    parser.add_argument("--static-source")
    parser.add_argument("--static-refs", nargs="+", default=[])
    parser.add_argument("--weights", nargs="*", default=[], help="such as corrected=0.5")
    options = parser.parse_args()
    limit = options.sentences or None
    source = read_lines(options.source)[:limit]
    references = [read_lines(path)[:limit] for path in options.refs]
    with tempfile.TemporaryDirectory() as folder:
        translator = opened(options.translator, folder, options.weights)
        test = read_lines(options.static_source)[:TESTED] if options.static_source else []
        static = translator(source)
        test_before, time_before = timed(translator, test)
        words = Terms(translator)
        learning, taught, times, aside = [], [], [], 0
        for line, reference in zip(source, references[0], strict=True):
            learning.append(translator(line))
            if not line.strip() or not reference.strip():
                continue
            words.see(line, learning[-1], reference)
            started = time.process_time()
            learnt = translator.learn(line, reference)
            times.append(time.process_time() - started)
            aside += learnt.status != "learnt"
            if learnt.status == "learnt":
                words.learn(learnt.id, learning[-1])
                taught.append((line, reference))
        told("stream", static, learning, references)
        last = {key_of(line): reference for line, reference in taught}
        again = [key_of(translator(line)) == key_of(reference) for line, reference in last.items()]
        print(f"corrections: {len(times)}, set aside {aside}")
        print(f"asked again: {100 * sum(again) / max(1, len(again)):.1f} % of {len(again)} come back corrected")
        for kind in ("all", "new"):
            print(f"terms ({kind}): {words.good[kind]} of {words.asked[kind]} as just corrected")
        print(
            f"learning (CPU): mean {1000 * np.mean(times):.1f} ms, 99 % within {1000 * np.quantile(times, 0.99):.1f} ms"
        )
        if test:
            test_after, time_after = timed(translator, test)
            told("test set", test_before, test_after, [read_lines(path)[:TESTED] for path in options.static_refs])
            print(f"translating, one by one: {time_before:.1f} ms before, {time_after:.1f} ms after")


if __name__ == "__main__":
    main()
