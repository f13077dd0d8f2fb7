"""features and combine as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hopefear as hf
from hopefear.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def lists(task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of the model's own translations, with sources, in a folder that is the present one."""
    monkeypatch.chdir(tmp_path)
    sources = (task / "dev.source").read_text().splitlines()[:6]
    decoder = hf.Hiero(hf.Model.open(task / "model"))
    hf.write_nbest(decoder.kbest(sources, 5, True), "list.jsonl")
    Path("source").write_text("".join(line + "\n" for line in sources))
    Path("model").symlink_to(task / "model")
    return tmp_path


def features(path: str) -> list[list[dict[str, float]]]:
    lines = Path(path).read_text().splitlines()
    return [[candidate["features"] for candidate in json.loads(line)["candidates"]] for line in lines]


def test_all_families_at_once(lists: Path, capsys: Capture) -> None:
    Path("weights").write_text("lm 1\nphrase_ef 1\n")
    more = ["--model", "model", "--lm", "model/lm.bin", "--forced", "--explain", "2", "--consensus", "bleu", "ter"]
    assert main(["features", "list.jsonl", "--out", "out.jsonl", *more, "--weights", "weights", "--scale", "0.5"]) == 0
    out, err = capsys.readouterr()
    assert "forced: forced_phrase_ef" in err
    assert "consensus: consensus_bleu consensus_ter posterior_1" in err
    assert out.count("candidate   ") == len(features("list.jsonl")[2])
    for before, after in zip(features("list.jsonl"), features("out.jsonl"), strict=True):
        for old, new in zip(before, after, strict=True):
            assert {name: new[name] for name in old} == old
            assert new["forced_missing"] == 0  # the model made them itself
            assert new["model_lm"] == pytest.approx(old["lm"], abs=1e-4)
            assert new["lm_lm"] == new["model_lm"]
            assert new["text_words"] == old["word"]


def test_forced_decoding_finds_what_the_decoder_found(lists: Path) -> None:
    """The best derivation of the decoder's best string is the decoder's own."""
    assert main(["features", "list.jsonl", "--out", "out.jsonl", "--quiet", "--model", "model", "--forced"]) == 0
    weights = hf.Model.open("model").weights
    for candidates in features("out.jsonl"):
        best = candidates[0]
        own = sum(weights[name] * best.get(name, 0.0) for name in weights if not name.startswith("lm"))
        score = sum(weights[name] * best[f"forced_{name}"] for name in weights if not name.startswith("lm"))
        assert score >= own - 1e-5


def test_sources_of_a_list_without_any(lists: Path, capsys: Capture) -> None:
    pool = hf.read_nbest("list.jsonl")
    hf.write_nbest(pool, "list.nbest")
    assert main(["features", "list.nbest", "--out", "a.nbest", "--model", "model"]) == 2
    assert "list.nbest: has no source sentences, which --model needs. Give --sources" in capsys.readouterr().err
    assert main(["features", "list.nbest", "--out", "a.nbest"]) == 0
    assert "no source sentences: source_ratio" in capsys.readouterr().err
    assert main(["features", "list.nbest", "--out", "a.nbest", "--model", "model", "--sources", "source"]) == 0
    first = hf.read_nbest("a.nbest")
    assert main(["features", "list.jsonl", "--out", "b.jsonl", "--model", "model"]) == 0
    second = hf.read_nbest("b.jsonl")
    assert sorted(first.feature_names) == sorted(second.feature_names)
    Path("source").write_text("one line\n")
    assert main(["features", "list.nbest", "--out", "c.nbest", "--sources", "source"]) == 2
    assert "source: has 1 lines" in capsys.readouterr().err
    assert not Path("c.nbest").exists()


def test_errors_of_features(lists: Path, capsys: Capture) -> None:
    for arguments, finding in (
        (["--forced"], "--forced needs --model"),
        (["--consensus", "rouge"], "rouge"),
        (["--model", "model", "--forced", "--explain", "99"], "has no sentence '99'"),
    ):
        assert main(["features", "list.jsonl", "--out", "x.jsonl", *arguments]) == 2
        assert finding in capsys.readouterr().err
    assert not Path("x.jsonl").exists()


def test_combined_lists_can_be_tuned(lists: Path, task: Path, capsys: Capture) -> None:
    sources = Path("source").read_text().splitlines()
    other = hf.Hiero(hf.Model.open("model"), {"lm": 0.2, "phrase_ef": 1.0, "word": 0.1})
    hf.write_nbest(other.kbest(sources, 5, True), "other.jsonl")
    assert main(["combine", "list.jsonl", "other.jsonl", "--names", "a", "b", "--out", "both.jsonl"]) == 0
    assert "columns: a.lm " in capsys.readouterr().err
    assert main(["combine", "list.jsonl", "--out", "x.jsonl"]) == 2
    assert "at least two lists" in capsys.readouterr().err
    refs = []
    for k in range(2):
        lines = (task / f"dev.ref.{k}").read_text().splitlines()[:6]
        Path(f"ref.{k}").write_text("".join(line + "\n" for line in lines))
        refs.append(f"ref.{k}")
    run = ["tune", "--nbest", "both.jsonl", "--refs", *refs, "--trainer", "kbmira", "--out", "run", "--quiet"]
    assert main(run) == 0
    assert main(["rerank", "--nbest", "both.jsonl", "--weights", "run/weights.txt", "--mbr", "chrf"]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 6
