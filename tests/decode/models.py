"""Small models for the decoder's tests, random by a seed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from hopefear.model.directory import Model
from hopefear.model.features import PROBABILITIES, SMALL
from hopefear.model.grammar import read_grammar
from hopefear.model.language_model import LanguageModel

Rule = tuple[tuple[str, ...], tuple[str | int, ...], dict[str, float]]
PLAIN = {"tokenizer": "none", "lowercase": False, "strip_punctuation": False}


def random_rules(rng: random.Random, count: int) -> list[Rule]:
    """Rules over the source words a, b, c and the target words u to z; two nonterminals at most, also side by side."""
    rules: dict[tuple[tuple[str, ...], tuple[str | int, ...]], dict[str, float]] = {}
    while len(rules) < count:
        holes = rng.choice([0, 0, 1, 2])
        source = ["[X]"] * holes + rng.choices("abc", k=rng.randint(0 if holes == 2 else 1, 2))
        rng.shuffle(source)
        target: list[str | int] = [*range(1, holes + 1), *rng.choices("uvwxyz", k=rng.randint(0 if holes else 1, 2))]
        rng.shuffle(target)
        values = {name: -rng.randint(0, 200) / 64 for name in PROBABILITIES}  # exact in files
        rules[tuple(source), tuple(target)] = {name: value for name, value in values.items() if value}
    return [(source, target, values) for (source, target), values in rules.items()]


def grammar_lines(rules: list[Rule]) -> list[str]:
    lines = []
    for source, target, values in rules:
        number = 0
        left = []
        for symbol in source:
            number += symbol == "[X]"
            left.append(f"[X,{number}]" if symbol == "[X]" else symbol)
        right = [f"[X,{symbol}]" if isinstance(symbol, int) else symbol for symbol in target]
        scores = " ".join(f"{name}={value}" for name, value in values.items())
        lines.append(f"[X] ||| {' '.join(left)} ||| {' '.join(right)} ||| {scores}")
    return lines


def model_of(folder: Path, rules: list[Rule], models: list[LanguageModel], **info: Any) -> Model:
    """A model in memory."""
    path = folder / "grammar.txt"
    path.write_text("".join(line + "\n" for line in grammar_lines(rules)))
    about = {
        "kind": "hiero",
        "options": {},
        "text": {"source": PLAIN, "target": PLAIN},
        "weights": dict.fromkeys(SMALL, 0.0),
        **info,
    }
    return Model(folder, about, read_grammar(path), tuple(models), ())


def random_lm(rng: random.Random, order: int) -> LanguageModel:
    words = "uvwxyz"
    return LanguageModel.estimate([" ".join(rng.choices(words, k=rng.randint(1, 6))) for _ in range(25)], order)


def random_weights(rng: random.Random) -> dict[str, float]:
    return {name: round(rng.uniform(-1, 1), 3) for name in SMALL}
