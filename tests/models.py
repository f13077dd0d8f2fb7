"""Small translation tasks: models built from generated text, with sentences to learn from and to choose on."""

from __future__ import annotations

import random
from pathlib import Path

from hopefear.data.language import SyntheticParallel
from hopefear.model.builder import build
from hopefear.model.options import BuildOptions
from hopefear.trainers.data import Corpus


def write_task(folder: Path, pairs: int = 300, sentences: int = 24) -> None:
    """A hierarchical ``folder/model``, and tune.source, tune.ref.0, tune.ref.1, dev.source, ..."""
    data = SyntheticParallel(seed=3)
    text = data.pairs(pairs)
    for side in ("source", "target"):
        (folder / f"train.{side}").write_text("".join(getattr(pair, side) + "\n" for pair in text))
    for stream, part in enumerate(("tune", "dev"), 1):
        own = data.pairs(sentences, stream=stream, noise=0)
        (folder / f"{part}.source").write_text("".join(pair.source + "\n" for pair in own))
        ways = [data.references(pair, 2) for pair in own]
        for k in range(2):
            (folder / f"{part}.ref.{k}").write_text("".join(way[k] + "\n" for way in ways))
    options = BuildOptions(lm_order=3, lex_frequency=5, max_phrase=5)
    build([folder / "train.source"], [folder / "train.target"], folder / "model", options)


def corpus(folder: Path, part: str) -> Corpus:
    return Corpus.read(folder / f"{part}.source", [folder / f"{part}.ref.{k}" for k in range(2)])


NOUNS = [("haus", "house"), ("hund", "dog"), ("mann", "man"), ("ball", "ball"), ("baum", "tree"), ("kind", "child")]
PLACES = [("hier", "here"), ("dort", "there"), ("heute", "today")]
VERBS = [("sieht", "sees"), ("hat", "has"), ("will", "wants")]


def sentence(rng: random.Random) -> tuple[str, str]:
    """German word order: an adverb at the front pushes the subject behind the verb."""
    (s, se), (o, oe), (v, ve), (p, pe) = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(VERBS), rng.choice(PLACES)
    if rng.random() < 0.5:
        return f"{p} {v} der {s} das {o}", f"{pe} the {se} {ve} the {oe}"
    return f"der {s} {v} das {o} {p}", f"the {se} {ve} the {oe} {pe}"


def write_block_task(folder: Path, sizes: dict[str, int], max_phrase: int) -> None:
    """``folder/model``, a model of blocks, and train.de, train.en, ...: a pair of files for each part."""
    rng = random.Random(1)
    for part, count in sizes.items():
        pairs = [sentence(rng) for _ in range(count)]
        (folder / f"{part}.de").write_text("".join(f + "\n" for f, _ in pairs))
        (folder / f"{part}.en").write_text("".join(e + "\n" for _, e in pairs))
    options = BuildOptions(kind="blocks", max_phrase=max_phrase, min_occurrences=1, min_probability=0)
    build(folder / "train.de", folder / "train.en", folder / "model", options)
