"""The weight of preferred terms: that with which the sentences that have such terms are translated best."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hopefear.corpus.languages import primary
from hopefear.creation.decoding import Way, bleu_of, score
from hopefear.formats.weights import read_weights
from hopefear.model.directory import put_weights
from hopefear.runs.session import Session
from hopefear.trainers.data import Corpus
from hopefear.translator.folder import write_card
from hopefear.translator.glossary import WEIGHT, Glossary, Term
from hopefear.translator.translator import Translator
from hopefear.util.files import same_file

WEIGHTS = (WEIGHT, 1.0, 4.0, 0.5, 8.0, 0.0)  # of two with the same score, the first one
LEAST = 20  # sentences with a preferred term; fewer tell nothing


def choose_term_weight(
    model: Path, weights: Path, way: Way, terms: Sequence[Term], corpus: Corpus, language: str, jobs: int, run: Session
) -> dict[str, Any]:
    """The best of some weights, or none of them if there are too few sentences with preferred terms."""
    folder = model.with_name(f"{model.name}.terms")
    if folder.exists():  # the work ended in the middle of this
        shutil.rmtree(folder)
    folder.mkdir()
    for entry in model.iterdir():
        same_file(entry, folder / entry.name)
    put_weights(folder, read_weights(weights))
    preferred = [term for term in terms if not term.forced]
    about = {"name": "terms", "source": "und", "target": language}
    recipe = {} if way is None else {"mbr": "bleu", "scale": float(way)}
    metric, scores = bleu_of(primary(language)), {}
    part: Corpus | None = None
    update = run.progress("terms", len(WEIGHTS))
    for number, weight in enumerate(WEIGHTS, 1):
        write_card(folder, {**about, "recipe": {**recipe, "glossary": weight}})
        translator = Translator(folder, glossary=preferred, jobs=jobs)
        if part is None:
            part = corpus.subset(_with_terms(corpus.lines, preferred, translator))
            if len(part) < LEAST:
                break
        scores[weight] = score(translator(part.lines), part, metric, jobs)
        update(number)
    shutil.rmtree(folder)
    best = max(scores, key=lambda weight: scores[weight], default=None)
    named = {f"{weight:g}": value for weight, value in scores.items()}
    return {"weight": best, "bleu": named, "sentences": 0 if part is None else len(part)}


def _with_terms(lines: Sequence[str], terms: Sequence[Term], translator: Translator) -> list[int]:
    text = translator.model.source_text
    glossary = Glossary(terms, text)
    words = [text.as_spelled.tokens(line) for line in lines]
    return [i for i, forms in enumerate(words) if glossary.matches(forms, [True] * len(forms))]
