"""Each finding has lists made to bring it about, and must be silent on healthy ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.lists import Synthetic
from hopefear.evaluation.diagnosis import Finding, diagnose
from hopefear.evaluation.held_out_scores import Difference, difference
from hopefear.evaluation.scores import chosen_stats

DATA = Synthetic(sentences=80, candidates=20, dense=8)
Change = Callable[[int, int, dict[str, Any]], None]  # sentence, candidate, the candidate to change


def sentences(data: Synthetic = DATA) -> list[dict[str, Any]]:
    texts = []
    for i, entry in enumerate(data):
        candidates = [
            {
                "text": text,
                "features": dict(zip(data.dense_names, entry.dense[k].tolist(), strict=True)),
                "metrics": {"quality": float(entry.quality[k])},
            }
            for k, text in enumerate(entry.texts)
        ]
        texts.append({"id": str(i), "references": entry.references, "candidates": candidates})
    return texts


def pool_of(folder: Path, change: Change = lambda i, k, candidate: None, keep: int = 20) -> hf.Pool:
    made = sentences()
    for i, sentence in enumerate(made):
        sentence["candidates"] = sentence["candidates"][:keep]
        for k, candidate in enumerate(sentence["candidates"]):
            change(i, k, candidate)
    path = folder / "lists.jsonl"
    path.write_text("".join(json.dumps(sentence) + "\n" for sentence in made))
    return hf.read_nbest(path)


def codes(findings: list[Finding]) -> set[str]:
    assert all("\n" not in finding.text and finding.text for finding in findings)
    return {finding.code for finding in findings}


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> hf.Pool:
    return pool_of(tmp_path_factory.mktemp("healthy"))


@pytest.fixture(scope="module")
def learnt(healthy: hf.Pool) -> dict[str, float]:
    return dict(hf.Kbmira().fit(healthy, DATA.initial).weights)


def changed(pool: hf.Pool, before: Any, after: Any) -> Difference:
    """What other weights change on these sentences."""
    return difference(*(chosen_stats(pool, w, hf.Bleu()) for w in (before, after)), hf.Bleu())


def test_healthy_weights_have_no_findings(healthy: Any, learnt: Any) -> None:
    better = changed(healthy.subset(np.arange(8)), DATA.initial, learnt)
    history = [{"score": 60.0}, {"score": 66.0}, {"score": 65.0}]
    assert diagnose(healthy, hf.Bleu(), learnt, DATA.initial, held_out=better, history=history) == []


@pytest.mark.parametrize("metric", [hf.Chrf(), hf.Ter(), hf.External("quality", scale=100.0)])
def test_nor_with_another_metric(healthy: Any, metric: Any) -> None:
    weights = hf.Kbmira(metric=metric).fit(healthy, DATA.initial).weights
    assert diagnose(healthy, metric, weights, DATA.initial) == []


def test_zero_weights(healthy: Any) -> None:
    assert "zero-weights" in codes(diagnose(healthy, hf.Bleu(), dict.fromkeys(DATA.dense_names, 0.0)))


@pytest.mark.parametrize("scale", [1e-39, 1e40])
def test_extreme_weights(healthy: Any, learnt: Any, scale: Any) -> None:
    weights = {name: scale * weight for name, weight in learnt.items()}
    assert codes(diagnose(healthy, hf.Bleu(), weights, DATA.initial)) == {"extreme-weights"}


def test_diverged(healthy: Any, learnt: Any) -> None:
    findings = diagnose(healthy, hf.Bleu(), {**learnt, "lm": float("nan")}, DATA.initial)
    assert codes(findings) == {"diverged"} and "lm" in findings[0].text


def test_runaway_weight(healthy: Any, learnt: Any) -> None:
    findings = [
        f for f in diagnose(healthy, hf.Bleu(), {**learnt, "tm1": 1e6}, DATA.initial) if f.code == "runaway-weight"
    ]
    assert len(findings) == 1 and findings[0].text.startswith("tm1 ")


def test_a_rare_feature_that_outweighs_all_else(tmp_path: Path, learnt: Any) -> None:
    def add(i: Any, k: Any, candidate: Any) -> None:
        candidate["features"]["seldom"] = float(i == 3 and k < 5)

    pool = pool_of(tmp_path, add)
    findings = diagnose(pool, hf.Bleu(), {**learnt, "seldom": 300.0}, DATA.initial)
    findings = [finding for finding in findings if finding.code == "rare-feature"]
    assert len(findings) == 1 and f"differs in 1 of {len(pool)} sentences" in findings[0].text
    assert "rare-feature" not in codes(diagnose(pool, hf.Bleu(), {**learnt, "seldom": 1.0}, DATA.initial))


def test_a_large_weight_of_a_small_feature_did_not_run_away(tmp_path: Path, learnt: Any) -> None:
    def shrink(i: Any, k: Any, candidate: Any) -> None:
        candidate["features"]["tm1"] *= 1e-6

    weights = {**learnt, "tm1": learnt["tm1"] * 1e6}
    assert diagnose(pool_of(tmp_path, shrink), hf.Bleu(), weights, DATA.initial) == []


def test_silent_and_constant_features(tmp_path: Path, learnt: Any) -> None:
    def add(i: Any, k: Any, candidate: Any) -> None:
        candidate["features"] |= {"mute": 0.0, "sentence": 0.1 * i + 1}

    findings = diagnose(pool_of(tmp_path, add), hf.Bleu(), {**learnt, "mute": 1.0, "sentence": 1.0}, DATA.initial)
    assert codes(findings) == {"silent-feature", "constant-feature"}
    text = {finding.code: finding.text for finding in findings}
    assert "mute" in text["silent-feature"] and "sentence" in text["constant-feature"]


def test_sparse_features_may_be_silent(tmp_path: Path, learnt: Any) -> None:
    def add(i: Any, k: Any, candidate: Any) -> None:
        if i == 3:
            candidate["features"]["rare"] = float(k % 2)

    assert diagnose(pool_of(tmp_path, add), hf.Bleu(), learnt, DATA.initial) == []


def test_initial_weights_of_other_features(healthy: Any, learnt: Any) -> None:
    findings = diagnose(healthy, hf.Bleu(), learnt, {**DATA.initial, "LM0": 0.5})
    assert codes(findings) == {"unknown-feature"} and "LM0" in findings[0].text


def test_collinear_features(tmp_path: Path, learnt: Any) -> None:
    def double(i: Any, k: Any, candidate: Any) -> None:
        candidate["features"]["twin"] = 3 - 2 * candidate["features"]["lm"]

    findings = diagnose(pool_of(tmp_path, double), hf.Bleu(), learnt, DATA.initial)
    assert codes(findings) == {"collinear-features"} and "lm and twin" in findings[0].text


def test_no_headroom_and_same_candidates(tmp_path: Path) -> None:
    first: dict[int, str] = {}

    def same(i: Any, k: Any, candidate: Any) -> None:
        candidate["text"] = first.setdefault(i, candidate["text"])

    findings = codes(diagnose(pool_of(tmp_path, same), hf.Bleu(), DATA.initial, DATA.initial))
    assert {"no-headroom", "same-candidates"} <= findings

    def few(i: Any, k: Any, candidate: Any) -> None:  # two candidates differ in a few sentences only
        if i % 4:
            same(i, k, candidate)

    findings = codes(diagnose(pool_of(tmp_path, few), hf.Bleu(), DATA.initial, DATA.initial))
    assert "same-candidates" in findings and "no-headroom" not in findings


def test_headroom_without_same_candidates(tmp_path: Path) -> None:
    # The first choice is the oracle everywhere: nothing to win, although all candidates differ.
    def sorted_by_truth(i: Any, k: Any, candidate: Any) -> None:
        candidate["features"] = {"order": float(-k)}

    made = pool_of(tmp_path, sorted_by_truth)
    stats = hf.Bleu().stats(made)
    gains = hf.Bleu().sentence_gains(stats)
    begin = made.row_begin()

    def by_gain(i: Any, k: Any, candidate: Any) -> None:
        candidate["features"] = {"order": float(gains[begin[i] + k])}

    findings = codes(diagnose(pool_of(tmp_path, by_gain), hf.Bleu(), {"order": 1.0}, {"order": 1.0}))
    assert "no-headroom" in findings and "same-candidates" not in findings


@pytest.mark.parametrize(("words", "what"), [(slice(0, 3), "short"), (slice(0, None), "long")])
def test_length_ratio(tmp_path: Path, learnt: Any, words: Any, what: Any) -> None:
    def cut_or_double(i: Any, k: Any, candidate: Any) -> None:
        candidate["features"]["cut"] = float(k % 2)
        if k % 2:
            tokens = candidate["text"].split()
            candidate["text"] = " ".join(tokens[words] if what == "short" else tokens + tokens)

    pool = pool_of(tmp_path, cut_or_double)
    whole, cut = {**learnt, "cut": -100.0}, {**learnt, "cut": 100.0}
    findings = diagnose(pool, hf.Bleu(), cut, whole)
    assert any(f.code == "length-ratio" and f"too {what}" in f.text for f in findings)
    # The other way round, and where nothing changes, training is not to blame.
    assert "length-ratio" not in codes(diagnose(pool, hf.Bleu(), whole, cut))
    assert "length-ratio" not in codes(diagnose(pool, hf.Bleu(), cut, cut))


def test_other_metrics_fall(tmp_path: Path) -> None:
    # A judge who likes what BLEU does not: the metric is gamed.
    made = pool_of(tmp_path)
    gains = hf.Bleu().sentence_gains(hf.Bleu().stats(made))
    begin = made.row_begin()

    def perverse(i: Any, k: Any, candidate: Any) -> None:
        candidate["metrics"]["quality"] = 100 * (1 - float(gains[begin[i] + k]))
        candidate["features"]["bleu"] = float(gains[begin[i] + k])

    pool = pool_of(tmp_path, perverse)
    findings = diagnose(pool, hf.External("quality", scale=100.0), {"bleu": -1.0}, {"bleu": 1.0})
    text = next(f.text for f in findings if f.code == "other-metrics-fall")
    assert "bleu (p" in text and "chrf (p" in text and "ter (p" in text


def test_gain_in_noise_and_no_gain(healthy: Any, learnt: Any) -> None:
    few = healthy.subset(np.arange(5))
    nearly = {name: 0.9 * DATA.initial[name] + 0.1 * learnt[name] for name in learnt}
    findings = codes(diagnose(few, hf.Bleu(), learnt, nearly))
    assert findings & {"gain-in-noise", "no-gain"}
    assert "no-gain" in codes(diagnose(healthy, hf.Bleu(), DATA.initial, learnt))
    assert "no-gain" in codes(diagnose(healthy, hf.Bleu(), learnt, learnt))


def test_gain_in_noise(tmp_path: Path) -> None:
    # One sentence of 80 gains.
    made = pool_of(tmp_path)
    gains = hf.Bleu().sentence_gains(hf.Bleu().stats(made))
    begin = made.row_begin()
    best = int(gains[begin[0] : begin[1]].argmax())
    assert best > 0

    def one(i: Any, k: Any, candidate: Any) -> None:
        candidate["features"] = {"first": float(k == 0), "better": float(i == 0 and k == best)}

    findings = diagnose(pool_of(tmp_path, one), hf.Bleu(), {"first": 1.0, "better": 2.0}, {"first": 1.0})
    assert "gain-in-noise" in codes(findings)


def test_holdout_worse(healthy: Any, learnt: Any) -> None:
    others = healthy.subset(np.arange(40))
    worse, better = changed(others, learnt, DATA.initial), changed(others, DATA.initial, learnt)
    assert "holdout-worse" in codes(diagnose(healthy, hf.Bleu(), DATA.initial, learnt, held_out=worse))
    assert "holdout-worse" not in codes(diagnose(healthy, hf.Bleu(), learnt, DATA.initial, held_out=better))


def test_unsettled(healthy: Any, learnt: Any) -> None:
    wild = [{"epoch": 1, "score": 60.0}, {"epoch": 2, "score": 20.0}]
    assert codes(diagnose(healthy, hf.Bleu(), learnt, DATA.initial, history=wild)) == {"unsettled"}
    assert codes(diagnose(healthy, hf.Ter(), learnt, DATA.initial, history=wild)) == set()
    assert codes(diagnose(healthy, hf.Ter(), learnt, DATA.initial, history=wild[::-1])) == {"unsettled"}


def test_texts_end_with_the_code(healthy: Any) -> None:
    finding = Finding("zero-weights", "all weights are 0")
    assert str(finding) == "all weights are 0 [zero-weights]"


def test_wrong_references_are_the_only_finding(tmp_path: Path) -> None:
    """Of everything else that is measured with them, nothing would be true."""
    Synthetic(sentences=60, candidates=10).write(tmp_path)
    lines = (tmp_path / "ref.0").read_text().splitlines()
    (tmp_path / "wrong").write_text("".join(f"{line}\n" for line in lines[1:] + lines[:1]))
    initial = hf.read_weights(tmp_path / "initial.txt")
    good, wrong = (hf.read_nbest(tmp_path / "nbest.txt", tmp_path / name) for name in ("ref.0", "wrong"))
    assert "wrong-references" not in {finding.code for finding in diagnose(good, hf.Bleu(), initial)}
    (finding,) = diagnose(wrong, hf.Bleu(), initial)
    assert finding.code == "wrong-references" and "reference 1 fits line i+1 better" in finding.text
