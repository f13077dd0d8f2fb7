"""WER and CER over lattices: exactly by MERT's envelope, by growing lists in other trainers."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.trainers.registry import find_batch

WORDS = ["a", "bb", "ccc", "dddd", "e"]


def lattices(folder: Path, utterances: int = 24) -> hf.Pool:
    """Sausages with scores under which the reference wins for acoustic scale 0.1 and a word penalty."""
    random = np.random.default_rng(7)
    archive, references = [], []
    for u in range(utterances):
        spoken = [WORDS[k] for k in random.integers(5, size=4)]
        archive.append(f"u{u:02}")
        for slot, truth in enumerate(spoken):
            for word in {truth, WORDS[random.integers(5)], "<eps>"}:
                graph = random.normal(0 if word == truth else 1.0, 0.6)
                acoustic = random.normal(0 if word == truth else 10.0, 6) + (8 if word != "<eps>" else 0)
                archive.append(f"{slot} {slot + 1} {word} {graph:.4f},{acoustic:.4f},")
        archive.append("4\n")
        references.append(" ".join(spoken))
    (folder / "lat").write_text("\n".join(archive) + "\n")
    (folder / "refs").write_text("\n".join(references) + "\n")
    return hf.read_forests(folder / "lat", folder / "refs")


def errors(pool: hf.Pool, weights: dict[str, float], metric: hf.metrics.Metric) -> float:
    """WER of the best strings, counted by hand."""
    wrong = total = 0
    for i, best in enumerate(pool.viterbi(weights)):
        texts = (best.text, pool.references(i)[0])
        words, wanted = (text.split() if metric.tokenize == "none" else list(text.replace(" ", "")) for text in texts)
        row = list(range(len(wanted) + 1))
        for x in words:
            new = [row[0] + 1]
            for j, y in enumerate(wanted):
                new.append(min(row[j] + (x != y), row[j + 1] + 1, new[j] + 1))
            row = new
        wrong, total = wrong + row[-1], total + len(wanted)
    return 100 * wrong / total


@pytest.mark.parametrize("metric", [hf.metrics.Wer(), hf.metrics.Wer(tokenize="char")], ids=["wer", "cer"])
def test_mert_is_as_good_as_a_grid(tmp_path: Path, metric: hf.metrics.Metric) -> None:
    pool = lattices(tmp_path)
    start = {"graph": 1.0, "acoustic": 1.0, "words": 0.0}
    result = hf.Mert(metric=metric, restarts=5, seed=1).fit(pool, start)
    assert result.score == pytest.approx(errors(pool, dict(result.weights), metric))
    scales, penalties = (0.02, 0.05, 0.1, 0.2, 0.5), (-1, 0, 0.5, 1, 2)
    points = [{"graph": 1.0, "acoustic": a, "words": w} for a, w in product(scales, penalties)]
    grid = min(errors(pool, point, metric) for point in points)
    assert result.score <= grid + 1e-9
    assert result.score < errors(pool, start, metric)


@pytest.mark.parametrize("name", ["kbmira", "minrisk", "rampion", "pro"])
@pytest.mark.parametrize("metric", [hf.metrics.Wer(), hf.metrics.Ter()], ids=["wer", "ter"])
def test_other_trainers_take_wer_and_ter(tmp_path: Path, name: str, metric: hf.metrics.Metric) -> None:
    pool = lattices(tmp_path, 12)
    start = {"graph": 0.0, "acoustic": 0.0, "words": -0.01}
    trainer = find_batch(name)(metric=metric, seed=1, jobs=1, kbest=50)
    learnt = dict(trainer.fit(pool, start).weights)

    def score(weights: dict[str, float]) -> float:
        w = np.array([weights[name] for name in pool.feature_names])
        return metric.score(metric.chosen_stats(pool, w, 1).sum(axis=0))

    assert score(learnt) < score(start) / 2
