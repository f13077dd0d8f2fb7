"""costmargin as a whole: on text that can be learnt, stopped and resumed, and what it refuses."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from hopefear.decode import Blocks
from hopefear.decode.blocks import read_block_weights
from hopefear.errors import InputError
from hopefear.model import Model, build
from hopefear.model.builder import BuildOptions
from hopefear.trainers.blocks.costmargin import Costmargin, train_costmargin

NOUNS = [("haus", "house"), ("hund", "dog"), ("mann", "man"), ("ball", "ball"), ("baum", "tree"), ("kind", "child")]
PLACES = [("hier", "here"), ("dort", "there"), ("heute", "today")]
VERBS = [("sieht", "sees"), ("hat", "has"), ("will", "wants")]


def sentence(rng: random.Random) -> tuple[str, str]:
    """German word order: an adverb at the front pushes the subject behind the verb."""
    (s, se), (o, oe), (v, ve), (p, pe) = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(VERBS), rng.choice(PLACES)
    if rng.random() < 0.5:
        return f"{p} {v} der {s} das {o}", f"{pe} the {se} {ve} the {oe}"
    return f"der {s} {v} das {o} {p}", f"the {se} {ve} the {oe} {pe}"


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, list[str], list[str]]:
    folder = tmp_path_factory.mktemp("costmargin")
    rng = random.Random(1)
    pairs = [sentence(rng) for _ in range(200)]
    for name, lines in zip(("train.de", "train.en"), zip(*pairs, strict=True), strict=True):
        (folder / name).write_text("".join(line + "\n" for line in lines))
    options = BuildOptions(kind="blocks", max_phrase=2)
    build(folder / "train.de", folder / "train.en", folder / "model", options)
    return Model.open(folder / "model"), [f for f, _ in pairs], [e for _, e in pairs]


def test_learns_to_translate(task: tuple[Model, list[str], list[str]], tmp_path: Path) -> None:
    model, lines, references = task
    events: list[dict] = []
    options = Costmargin(iterations=6, passes=4, eta=0.01, random=0)
    trained = train_costmargin(model, lines, references, tmp_path, options, hear=events.append)
    bleu = [record["train_bleu"] for record in trained.history]
    assert bleu[0] < 95 < bleu[-1]
    truths = next(e["bleu"] for e in events if e["event"] == "truths")
    assert truths >= max(bleu) - 1e-6
    weights = read_block_weights(trained.weights)
    assert len(weights) == trained.features > 100
    decoder = Blocks(model, weights)
    assert (decoder.features, decoder.reordering) == ("both", "swap")
    new = [sentence(random.Random(seed)) for seed in range(50, 150)]
    right = sum(got == want for got, (_, want) in zip(decoder.translate([f for f, _ in new]), new, strict=True))
    assert right > 80
    quick = train_costmargin(model, lines, references, tmp_path / "random", Costmargin(iterations=1, eta=0.01))
    assert quick.history[0]["train_bleu"] > bleu[0]  # random alternatives help the first model


def test_decodes_with_the_mean_of_the_weights(task: tuple[Model, list[str], list[str]], tmp_path: Path) -> None:
    model, lines, references = task
    last: dict[int, dict[int, float]] = {}
    means: dict[int, dict[int, float]] = {}

    def hear(record: dict) -> None:
        if record["event"] == "iteration":
            with np.load(tmp_path / "last.npz") as held:
                last[record["iteration"]] = dict(zip(held["keys"].tolist(), held["weights"].tolist(), strict=True))
                means[record["iteration"]] = dict(zip(held["keys"].tolist(), held["means"].tolist(), strict=True))

    options = Costmargin(iterations=4, passes=2)
    trained = train_costmargin(model, lines[:100], references[:100], tmp_path, options, hear=hear)
    for n in range(1, 5):
        for key, mean in means[n].items():
            assert mean == pytest.approx(sum(last[i].get(key, 0.0) for i in range(1, n + 1)) / n, abs=1e-15)
    # what is written is the mean, and the last alternatives were decoded with it
    assert sorted(w for w in means[4].values() if w) == sorted(read_block_weights(trained.weights).values())
    decoder = options.decoder(model)
    corpus = decoder.corpus(lines[:100], references[:100])
    weights = decoder.ready(read_block_weights(trained.weights), len(corpus), 1)
    again = decoder.core.best(corpus, weights, *decoder.limits, 1)
    assert 100 * float(again.bleu.mean()) == pytest.approx(trained.history[-1]["train_bleu"])


@pytest.mark.parametrize("seed", [1, 2])
def test_a_stopped_run_ends_with_the_same_bytes(
    seed: int, task: tuple[Model, list[str], list[str]], tmp_path: Path
) -> None:
    model, lines, references = task
    options = Costmargin(iterations=4, passes=2, real="lm,word")
    dev = (lines[:20], [references[:20]])
    whole = train_costmargin(model, lines, references, tmp_path / "whole", options, dev=dev, seed=seed, jobs=1)

    class StopHereError(Exception):
        pass

    def hear(record: dict) -> None:
        if record["event"] == "pass" and record["iteration"] == 3 and record["pass"] == seed:
            raise StopHereError

    with pytest.raises(StopHereError):
        train_costmargin(model, lines, references, tmp_path / "part", options, dev=dev, seed=seed, hear=hear)
    assert not (tmp_path / "part" / "weights.txt").exists()
    part = train_costmargin(model, lines, references, tmp_path / "part", options, dev=dev, seed=seed)
    assert part.weights.read_bytes() == whole.weights.read_bytes()
    assert part.history == whole.history
    assert (part.iteration, part.score) == (whole.iteration, whole.score)
    assert part.score == max(record["dev"] for record in whole.history)


def test_refuses(task: tuple[Model, list[str], list[str]], tmp_path: Path) -> None:
    model, lines, references = task
    for options, finding in (
        ({"features": "all"}, "features: 'all' is not known"),
        ({"reordering": "free"}, "reordering: 'free' is not known"),
        ({"real": "lm,glue"}, "real: there is no feature 'glue'"),
        ({"eta": 0.0}, "eta is 0"),
        ({"truths": 0}, "truths is 0. It must be at least 1"),
        ({"real": "lm2"}, "no language model for the feature lm2"),
    ):
        with pytest.raises(InputError, match=finding):
            train_costmargin(model, lines, references, tmp_path / "a", Costmargin(**options))
    with pytest.raises(InputError, match="200 source lines and 5 references"):
        train_costmargin(model, lines, references[:5], tmp_path / "b")
    with pytest.raises(InputError, match="no sentences"):
        train_costmargin(model, [], [], tmp_path / "c")
    options = Costmargin(iterations=1, passes=1)
    train_costmargin(model, lines[:10], references[:10], tmp_path / "d", options)
    with pytest.raises(InputError, match=r"truths\.bin: belongs to another model or other sentences"):
        train_costmargin(model, lines[:11], references[:11], tmp_path / "d", options)
    last = tmp_path / "d" / "last.npz"
    last.write_bytes(last.read_bytes()[:200])
    with pytest.raises(InputError, match=r"last\.npz: not a checkpoint"):
        train_costmargin(model, lines[:10], references[:10], tmp_path / "d", options)
    (tmp_path / "d" / "state.json").write_text(json.dumps({"history": [{"iteration": 2}]}))
    with pytest.raises(InputError, match="not the state of a training"):
        train_costmargin(model, lines[:10], references[:10], tmp_path / "d", options)
