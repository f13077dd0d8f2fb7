"""SGD on relevant sets against its slow twin, against finite differences, and on data that can be learnt."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear._core import CostMargin, SequenceFile, feature_key
from hopefear.decode import Blocks
from hopefear.errors import InputError
from tests.decode.block_models import block_model, random_pairs
from tests.decode.models import random_lm
from tests.reference import blocks, costmargin

COPY = {1: "identity", 2: "unknown", 3: "number", 4: "name"}


class Case:
    """Relevant sets of random sentences, and the same as feature vectors by name."""

    def __init__(
        self, folder: Path, seed: int, features: str = "both", swap: bool = True, lm: bool = False, n: int = 12
    ) -> None:
        rng = random.Random(seed)
        self.pairs = random_pairs(rng, 30)
        models = (random_lm(rng, 3),) if lm else ()
        weights = {f"block({','.join(f)}|{','.join(e)})": rng.uniform(-1, 1) for f, e in self.pairs[:8]} | {"lm": 0.1}
        self.decoder = Blocks(
            block_model(folder, self.pairs, models),
            weights,
            features=features,
            reordering="swap" if swap else "monotone",
            lms=lm,
        )
        self.lines = [" ".join(rng.choices("abc7", k=rng.randint(1, 6))) for _ in range(n)]
        references = [" ".join(rng.choices("uvwxyz", k=rng.randint(1, 7))) for _ in self.lines]
        core = self.decoder.core
        self.corpus = self.decoder.corpus(self.lines, references)
        self.grammar = self.decoder.model.grammar
        model = core.model_id
        self.sgd = CostMargin(core, self.corpus, ["lm"] if lm else [])
        self.truths: list[list[tuple[dict[Any, Any], float]]] = [[] for _ in self.lines]
        self.alternatives: list[list[tuple[dict[Any, Any], float]]] = [[] for _ in self.lines]
        sets = [
            ("truths", core.oracle(self.corpus, 3, False, *self.decoder.limits)),
            ("bag", core.bags(self.corpus)),
            ("best", core.best(self.corpus, self.decoder.ready(None, 1, 1), *self.decoder.limits)),
        ]
        self.files = []
        true_blocks = set()
        for name, sequences in sets:
            path = folder / f"{name}.bin"
            path.write_bytes(sequences.file(name == "bag", model))
            self.files.append(path)
            self.sgd.add(SequenceFile.open(str(path), core, self.corpus, model), name == "truths")
            texts = sequences.texts(core, self.corpus)
            for i in range(n):
                for z in range(*(int(at) for at in sequences.sentence_begin[i : i + 2])):
                    stored = tuple(sequences.blocks(z))
                    if name == "best" and (i, stored) in true_blocks:
                        continue
                    if name == "truths":
                        true_blocks.add((i, stored))
                    h = blocks.features(
                        [self.block(i, block) for block in stored],
                        features in ("phrase", "both"),
                        features in ("word", "both"),
                        swap,
                        bag=name == "bag",
                    )
                    h = Counter({k: v for k, v in h.items() if k not in ("rule", "word", "swap")})
                    if lm and name != "bag":
                        h["lm"] = 2.302585092994045684 * models[0].score(texts[z])
                    into = self.truths if name == "truths" else self.alternatives
                    into[i].append((h, float(sequences.bleu[z])))

    def block(self, i: int, stored: tuple[int, int, int, int]) -> Any:
        rule, begin, length, copy = stored
        source = tuple(self.lines[i].split()[begin : begin + length])
        if copy:
            return begin, begin + 1, source, source, COPY[copy]
        return begin, begin + length, source, tuple(self.grammar.target(rule).split()), None

    def seen(self) -> Counter[Any]:
        """In how many sentences each feature is."""
        count: Counter[Any] = Counter()
        for truths, alternatives in zip(self.truths, self.alternatives, strict=True):
            count.update({name for h, _ in truths + alternatives for name in h})
        return count

    def objective(self, w: dict[Any, Any]) -> float:
        sums = [costmargin.phi(w, t, a) for t, a in zip(self.truths, self.alternatives, strict=True)]
        return sum(sums) / len(sums)


KINDS = [("both", True, False), ("phrase", False, False), ("word", True, False), ("both", True, True)]


@pytest.mark.parametrize(("features", "swap", "lm"), KINDS)
def test_features_seen_in_one_sentence_only_are_dropped(features: str, swap: bool, lm: bool, tmp_path: Path) -> None:
    case = Case(tmp_path, 1, features, swap, lm)
    seen = case.seen()
    always = {"lm", *COPY.values()}
    case.sgd.find_features(False)
    assert set(case.sgd.keys().tolist()) == {feature_key(name) for name in seen}
    case.sgd.find_features(True)
    kept = {feature_key(name) for name, count in seen.items() if count > 1 or name in always}
    assert set(case.sgd.keys().tolist()) == kept
    assert len(kept) < len(seen)


@pytest.mark.parametrize(("features", "swap", "lm"), KINDS)
def test_sgd_is_its_twin(features: str, swap: bool, lm: bool, tmp_path: Path) -> None:
    case = Case(tmp_path, 3, features, swap, lm, n=1)
    assert case.truths[0][0][1] > 0.1
    case.sgd.find_features(False)
    w: dict[str, float] = {}
    learnt = set(case.seen())
    for k in range(6):
        assert case.sgd.objective() == pytest.approx(case.objective(w), rel=1e-6)
        loss, _ = case.sgd.run(0.03, 0.0, 1, k)
        costmargin.sgd_sentence(w, case.truths[0], case.alternatives[0], 0.03, learnt)
        assert loss >= 0
        got = {name: case.sgd.table.get(name) for name in learnt}
        assert got == pytest.approx({name: w.get(name, 0.0) for name in learnt}, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_eq_7_is_the_gradient_of_4(seed: int, tmp_path: Path) -> None:
    """A small step is -eta/2 K times the gradient of Phi by finite differences."""
    cases = (Case(tmp_path, 10 * seed + k, n=1) for k in range(10))
    case = next(case for case in cases if case.truths[0][0][1] > 0.1 and len(case.truths[0]) > 1)
    case.sgd.find_features(False)
    keys = case.sgd.keys()
    rng = np.random.default_rng(seed)
    w = rng.normal(0, 0.02, len(keys))
    case.sgd.set_weights(keys, w)
    gradient = np.zeros(len(keys))
    delta = 1e-5
    for j in range(len(keys)):
        values = []
        for sign in (1, -1):
            moved = w.copy()
            moved[j] += sign * delta
            case.sgd.set_weights(keys, moved)
            values.append(case.sgd.objective())
        gradient[j] = (values[0] - values[1]) / (2 * delta)
    case.sgd.set_weights(keys, w)
    eta = 1e-7
    case.sgd.run(eta, 0.0, 1, 1)
    step = (case.sgd.weights(keys) - w) / eta
    truths = len(case.truths[0])
    assert step == pytest.approx(-truths / 2 * gradient, rel=1e-3, abs=1e-3)
    assert np.abs(step).max() > 0.01


def test_a_separable_set_is_learnt_to_zero_loss(tmp_path: Path) -> None:
    case = Case(tmp_path, 5, n=6)
    case.sgd.find_features(False)
    for k in range(3000):
        loss, updates = case.sgd.run(1.0, 0.0, 1, k)
        if updates == 0:
            break
    assert loss == 0.0
    assert case.sgd.objective() == 0.0


def test_threads_change_nothing_and_batches_little(tmp_path: Path) -> None:
    def trained(batch: int, jobs: int, l2: float = 0.0) -> tuple[np.ndarray, float]:
        case = Case(tmp_path, 6, n=40)
        case.sgd.find_features(True, jobs)
        before = case.sgd.objective()
        for k in range(8):
            case.sgd.run(0.01, l2, batch, k, jobs)
        return case.sgd.weights(case.sgd.keys()), case.sgd.objective() / before

    serial, left = trained(8, 1)
    assert serial.tobytes() == trained(8, 3)[0].tobytes()
    assert left < 0.1
    assert trained(1, 1)[1] < 0.1
    assert np.abs(trained(8, 1, l2=0.05)[0]).sum() < np.abs(serial).sum()


def test_weights_are_written_by_name(tmp_path: Path) -> None:
    case = Case(tmp_path, 7, lm=True)
    case.sgd.find_features(True)
    case.sgd.run(0.05, 0.0, 4, 1)
    count = case.sgd.write_weights(str(tmp_path / "weights.txt"))
    lines = (tmp_path / "weights.txt").read_text().splitlines()
    assert len(lines) == count > 20
    for line in lines:
        name, value = line.split(" ")
        assert case.sgd.table.get(name) == float(value) != 0.0
    learnt = {name for name in case.seen() if case.sgd.table.get(name) != 0.0}
    assert {line.split(" ")[0] for line in lines} == learnt


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    case = Case(tmp_path, 8)
    good = case.files[0].read_bytes()
    path = tmp_path / "bad.bin"
    core = case.decoder.core
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 4
    for data in (b"", good[:50], good[:-8], bytes(flipped), b"x" * len(good)):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"bad\.bin: "):
            SequenceFile.open(str(path), core, case.corpus, core.model_id)
    path.write_bytes(good)
    with pytest.raises(InputError, match="another model"):
        SequenceFile.open(str(path), core, case.corpus, 1)
    with pytest.raises(InputError, match="other sentences"):
        SequenceFile.open(str(path), core, case.decoder.corpus(["a"], ["u"]), core.model_id)
