"""Small block models for tests, random by a seed."""

from __future__ import annotations

import random
from pathlib import Path

from hopefear.model.directory import Model
from hopefear.model.grammar import read_grammar
from hopefear.model.language_model import LanguageModel

Pair = tuple[tuple[str, ...], tuple[str, ...]]
PLAIN = {"tokenizer": "none", "lowercase": False, "strip_punctuation": False}


def random_pairs(rng: random.Random, count: int, longest: int = 3) -> list[Pair]:
    pairs: set[Pair] = set()
    while len(pairs) < count:
        source = tuple(rng.choices(["a", "b", "c", "d,|"], k=rng.randint(1, longest)))
        pairs.add((source, tuple(rng.choices("uvwxyz", k=rng.randint(1, longest)))))
    return sorted(pairs)


def block_model(
    folder: Path, pairs: list[Pair], models: tuple[LanguageModel, ...] = (), weights: dict[str, float] | None = None
) -> Model:
    """A model in memory."""
    weights = {"word": 0.1} if weights is None else weights
    path = folder / "blocks.txt"
    path.write_text("".join(f"[X] ||| {' '.join(f)} ||| {' '.join(e)} ||| phrase_ef=-0.5\n" for f, e in pairs))
    info = {"kind": "blocks", "options": {}, "text": {"source": PLAIN, "target": PLAIN}, "weights": weights}
    return Model(folder, info, read_grammar(path), models, ())
