"""A small translation task: a model built from generated text, with sentences to learn from and to choose on."""

from __future__ import annotations

from pathlib import Path

from hopefear.data.language import SyntheticParallel
from hopefear.model.builder import BuildOptions, build
from hopefear.trainers.online import Corpus


def write_task(folder: Path, pairs: int = 300, sentences: int = 24) -> None:
    """``folder/model`` and tune.source, tune.ref.0, tune.ref.1, dev.source, ..."""
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
