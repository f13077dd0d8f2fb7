"""What the translator is worth on sentences that nothing was made from: scores with intervals, and comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hopefear.corpus.languages import primary
from hopefear.creation.building import build_pruned
from hopefear.creation.decoding import Way, bleu_of, chrf, score, translations
from hopefear.creation.recipe import Recipe
from hopefear.creation.target_text import more_text
from hopefear.decode import Hiero
from hopefear.evaluation.significance import confidence_interval, paired_bootstrap
from hopefear.formats.weights import read_weights
from hopefear.model.directory import Model
from hopefear.model.options import BuildOptions
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.data import Corpus
from hopefear.util.files import read_lines

CURVE = 1000  # sentences of the test that the learning curve is measured on
SHOWN = 10  # sentences of each kind on the page
WIDE = 3.0  # BLEU to each side of the score that make an interval too wide to tell much


def score_all(
    model: Model, test: Corpus, weights: Path, way: Way, language: str, seed: int, jobs: int, run: Session
) -> dict[str, Any]:
    """The translator against the same model with the weights that every model has, and against the source as it is."""
    metric, characters = bleu_of(primary(language)), chrf()
    final = translations(Hiero(model, read_weights(weights)), test.lines, [way], "test", run, jobs)[way]
    untrained = translations(Hiero(model, model.weights), test.lines, [None], "test, untrained", run, jobs)[None]
    systems = {"translator": final, "untrained": untrained, "copy": test.lines}
    stats = {name: metric.corpus_stats(texts, test.references, jobs) for name, texts in systems.items()}
    interval = confidence_interval(stats["translator"], metric, seed=seed, jobs=jobs)
    against = {}
    for name in ("untrained", "copy"):
        compared = paired_bootstrap(stats["translator"], stats[name], metric, seed=seed, jobs=jobs)
        against[name] = {
            "bleu": compared.score_b,
            "chrf": score(systems[name], test, characters, jobs),
            "gain": compared.delta,
            "low": compared.ci[0],
            "high": compared.ci[1],
            "p": compared.p,
        }
    return {
        "bleu": interval.score,
        "low": interval.low,
        "high": interval.high,
        "chrf": score(final, test, characters, jobs),
        "sentences": len(test),
        "signature": metric.signature(len(test.references)),
        "against": against,
        "examples": _examples(final, untrained, test, metric.sentence_gains(stats["translator"])),
        "unknown": _unknown(model, test.lines),
    }


def _examples(final: Sequence[str], untrained: Sequence[str], test: Corpus, gains: Any) -> dict[str, Any]:
    """Sentences to look at: some in the order of the text, the best and the worst."""
    order = sorted(range(len(final)), key=lambda i: (float(gains[i]), i))
    order = [i for i in order if 4 <= len(test.lines[i].split()) <= 40] or order
    step = max(len(final) // SHOWN, 1)
    chosen = {"some": list(range(0, len(final), step))[:SHOWN], "best": order[::-1][:SHOWN], "worst": order[:SHOWN]}
    return {
        kind: [
            {
                "source": test.lines[i],
                "translation": final[i],
                "untrained": untrained[i],
                "references": [lines[i] for lines in test.references],
                "score": float(gains[i]),
            }
            for i in places
        ]
        for kind, places in chosen.items()
    }


def _unknown(model: Model, lines: Sequence[str]) -> dict[str, Any]:
    """Words of these lines that the model has never seen."""
    known = model.grammar.source_vocab
    words = [word for line in lines for word in model.source_text.tokens(line)]
    strangers = Counter(word for word in words if known.find(word) < 0)
    return {"words": len(words), "unknown": sum(strangers.values()), "frequent": strangers.most_common(3 * SHOWN)}


def verdict(test: dict[str, Any], learnt: bool = True) -> str:
    """What the scores say, and whether they say anything."""
    if test["sentences"] < 100:
        return f"{test['sentences']} test sentences are too few to tell how good the translator is."
    wide = max(test["high"] - test["bleu"], test["bleu"] - test["low"])
    copy = test["against"]["copy"]
    if copy["low"] <= 0:
        return "The translations are not significantly better than the source text: there is too little data."
    text = (
        f"BLEU {test['bleu']:.1f} (95 %: {test['low']:.1f} to {test['high']:.1f}) on {test['sentences']:,} sentences."
    )
    if wide > WIDE:
        text += " The interval is wide: with so few test sentences, differences of a few points mean nothing."
    trained = test["against"]["untrained"]
    if not learnt:
        text += " It keeps the default weights, because learnt weights were not better."
    elif trained["low"] > 0:
        text += f" Training is worth {trained['gain']:+.1f}."
    elif trained["high"] < 0:
        text += f" Learning weights made it worse ({trained['gain']:+.1f}): the test text is unlike the corpus."
        text += " Give sentences of that kind to learn from: --dev-source and --dev-refs."
    else:
        text += f" The gain of training ({trained['gain']:+.1f}) is not significant."
    return text


def learning_curve(
    folder: Path,
    data: Mapping[str, Any],
    recipe: Recipe,
    model: Model,
    test: Corpus,
    seed: int,
    jobs: int,
    language: str,
    run: Session,
) -> dict[str, Any]:
    """BLEU of models of a quarter and a half of the data, with the weights that every model has, and of all of it.

    The gain of doubling the data is what the last doubling gave, or the mean of both if that is less.
    """
    metric = bleu_of(primary(language))
    test = test.subset(range(0, len(test), len(test) // CURVE + 1))
    sides = [
        [line for name in data["train"][side] for line in read_lines(folder / name)] for side in ("source", "target")
    ]
    count = len(sides[0])
    options = BuildOptions(
        tokenizer=recipe.tokenizer, strip_punctuation=recipe.strip_punctuation, lm_order=recipe.lm_order
    )
    points = []
    for share in (4, 2):
        paths = [folder / f"part.{share}.{side}" for side in ("source", "target")]
        for path, lines in zip(paths, sides, strict=True):
            path.write_text("".join(f"{line}\n" for line in lines[share // 2 :: share]), encoding="utf-8")
        out = folder / f"model.{share}"
        build_pruned([paths[0]], [paths[1]], out, options, recipe.prune, seed, jobs, SILENT, more_text(data, folder))
        part = Model.open(out, verify=False, jobs=jobs)
        texts = translations(Hiero(part, part.weights), test.lines, [None], f"1/{share} of the data", run, jobs)[None]
        points.append({"pairs": count // share, "bleu": score(texts, test, metric, jobs)})
    weights = {name: value for name, value in model.weights.items() if name != "njm"}
    texts = translations(Hiero(model, weights), test.lines, [None], "all of the data", run, jobs)[None]
    points.append({"pairs": count, "bleu": score(texts, test, metric, jobs)})
    last, mean = points[2]["bleu"] - points[1]["bleu"], (points[2]["bleu"] - points[0]["bleu"]) / 2
    return {"points": points, "twice": max(0.0, min(last, mean)), "sentences": len(test)}
