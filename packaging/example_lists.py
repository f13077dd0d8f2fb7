"""Make the lists that come with the package, src/hopefear/data/verses.jsonl.xz, from the demonstration's text.

    hopefear corpus --out verses
    hopefear build --source verses/train.source --target verses/train.target --min-rule-count 2 --out model
    python packaging/example_lists.py verses model

Needs the extra ``demo``. For each of 300 verses of 6 to 28 words the candidates are 30 of those that the model finds
best under its own weights and under five sets of weights around them, as in a loop of decodings; the references are by
other translators. Everything is lower case and in the model's tokens.
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from hopefear.decode import Hiero
from hopefear.formats import write_nbest
from hopefear.model.directory import Model

OUT = Path(__file__).resolve().parents[1] / "src" / "hopefear" / "data" / "verses.jsonl.xz"
VERSES, CANDIDATES, BEST, WORDS = 300, 30, 60, range(6, 29)
DECODINGS = 6

Candidate = dict[str, Any]


def decoded(model: Model, lines: list[str]) -> list[list[Candidate]]:
    """For each line the candidates of all decodings, each text once."""
    random = np.random.default_rng(1)
    texts: list[dict[str, Candidate]] = [{} for _ in lines]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lists.jsonl"
        for number in range(DECODINGS):
            factors = np.exp(random.normal(0, 0.6 if number else 0, len(model.weights)))
            weights = dict(zip(model.weights, factors * list(model.weights.values()), strict=True))
            write_nbest(Hiero(model).kbest(lines, BEST, distinct=True, weights=weights), path)
            for each, line in zip(texts, path.read_text(encoding="utf-8").splitlines(), strict=True):
                for candidate in json.loads(line)["candidates"]:
                    each.setdefault(candidate["text"], candidate)
    return [list(each.values()) for each in texts]


def varying(lists: list[list[Candidate]], name: str) -> int:
    """In how many lists the candidates differ in a feature."""
    return sum(len({candidate["features"].get(name, 0.0) for candidate in each}) > 1 for each in lists)


def main(verses: Path, folder: Path) -> None:
    model = Model.open(folder)
    lines = [
        (verses / name).read_text(encoding="utf-8").splitlines()
        for name in ("tune.source", "tune.ref.0", "tune.ref.1", "tune.ref.2")
    ]
    fitting = [verse for verse in zip(*lines, strict=True) if len(verse[0].split()) in WORDS]
    chosen = [fitting[k * len(fitting) // VERSES] for k in range(VERSES)]
    lists = decoded(model, [source for source, *_ in chosen])
    random = np.random.default_rng(2)
    names = [name for name in sorted(model.weights) if varying(lists, name) > len(lists) / 10]
    with lzma.open(OUT, "wt", encoding="utf-8", preset=9) as file:
        for number, (candidates, (source, *references)) in enumerate(zip(lists, chosen, strict=True)):
            drawn = sorted(random.permutation(len(candidates))[:CANDIDATES])
            sentence = {
                "id": str(number),
                "source": " ".join(model.source_text.tokens(source)),
                "references": [" ".join(model.target_text.tokens(line)) for line in references],
                "candidates": [_rounded(candidates[k], names) for k in drawn],
            }
            file.write(json.dumps(sentence, ensure_ascii=False) + "\n")


def _rounded(candidate: Candidate, names: list[str]) -> Candidate:
    features = {name: round(candidate["features"].get(name, 0.0), 2) for name in names}
    return {"text": candidate["text"], "features": features}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
