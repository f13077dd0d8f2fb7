"""``score`` prints what sacreBLEU prints, and compares systems."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
import sacrebleu

from hopefear.cli.main import main
from hopefear.data.lists import Synthetic
from tests.shared_data import SHARED

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ref.0 .. ref.3, good.txt, bad.txt and three replicates near good.txt: good.0 .. good.2."""
    folder = tmp_path_factory.mktemp("score")
    data = Synthetic(sentences=150, candidates=30)
    data.write(folder)
    best = [sorted(zip(-s.quality, s.texts, strict=True)) for s in data]
    for name, rank in (("good.txt", 0), ("bad.txt", 12), ("good.0", 0), ("good.1", 1), ("good.2", 2)):
        (folder / name).write_text("".join(row[rank][1] + "\n" for row in best))
    return folder


@pytest.fixture(autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


REFS = ["--refs", "ref.0", "ref.1", "ref.2", "ref.3"]


def scored(capsys: Capture, *arguments: str) -> list[dict[str, object]]:
    assert main(["score", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    systems = json.loads(out)["systems"]
    assert isinstance(systems, list)
    return systems


@pytest.mark.parametrize(
    ("flags", "theirs"),
    [
        ([], []),
        (["--lowercase"], ["-lc"]),
        (["--tokenize", "intl"], ["-tok", "intl"]),
        (["--metric", "chrf:word_order=2"], ["-m", "chrf", "--chrf-word-order", "2"]),
        (["--metric", "ter"], ["-m", "ter"]),
    ],
)
def test_the_line_is_sacrebleus(capsys: Capture, flags: list[str], theirs: list[str]) -> None:
    assert main(["score", "good.txt", *REFS, *flags]) == 0
    command = [sys.executable, "-m", "sacrebleu", *REFS[1:], "-i", "good.txt", "-f", "text", "-w", "2", *theirs]
    assert capsys.readouterr().out == subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_json_has_the_number_in_full(capsys: Capture) -> None:
    (system,) = scored(capsys, "good.txt", *REFS)
    references = [Path(name).read_text().splitlines() for name in REFS[1:]]
    bleu = sacrebleu.BLEU()
    assert system["name"] == "good.txt"
    theirs = bleu.corpus_score(Path("good.txt").read_text().splitlines(), references).score
    assert system["bleu"] == pytest.approx(theirs, abs=1e-9)
    assert system["signature"] == str(bleu.get_signature())


def test_an_empty_reference_is_missing_where_there_is_another(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x y z w v\n\n")
    (tmp_path / "b").write_text("\nq r\n")
    (tmp_path / "hyp").write_text("x y z w v\nq\n")
    references = ["--refs", str(tmp_path / "a"), str(tmp_path / "b")]
    (system,) = scored(capsys, str(tmp_path / "hyp"), *references)
    assert system["signature"] == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" + sacrebleu.__version__
    expected = sacrebleu.BLEU().corpus_score(["x y z w v", "q"], [["x y z w v", "q r"]])
    assert system["bleu"] == pytest.approx(expected.score, abs=1e-9)
    (alone,) = scored(capsys, str(tmp_path / "hyp"), "--refs", str(tmp_path / "a"))
    expected = sacrebleu.BLEU().corpus_score(["x y z w v", "q"], [["x y z w v", ""]])
    assert alone["bleu"] == pytest.approx(expected.score, abs=1e-9)
    (tmp_path / "b").write_text("x y\nq r\n")
    (system,) = scored(capsys, str(tmp_path / "hyp"), *references)
    assert str(system["signature"]).startswith("nrefs:var|")


def test_a_config_file_may_name_everything(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('[score]\nhyp = "good.txt"\nrefs = ["ref.0", "ref.1"]\njson = true\n')
    assert main(["score", "--config", str(tmp_path / "c.toml")]) == 0
    configured = capsys.readouterr().out
    assert main(["score", "good.txt", "--refs", "ref.0", "ref.1", "--json"]) == 0
    assert capsys.readouterr().out == configured


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ([*REFS], "no HYP. Put the outputs first"),
        (["good.txt"], "Missing option '--refs'"),
        (["god.txt", *REFS], "god.txt: no such file. Did you mean 'good.txt'?"),
        (["x=good.txt,god.txt", *REFS], "god.txt: no such file."),
        (["good.txt", "good.txt", *REFS], "'good.txt' is given twice"),
        (["nbest.txt", *REFS], "nbest.txt: has 4500 lines, but the references have 150"),
        (["good.txt", "--refs", "ref.0", "nbest.txt"], "nbest.txt: has 4500 lines, but ref.0 has 150"),
        (["good.txt", "--refs", "/dev/null"], "/dev/null: the file is empty"),
        (["good.txt", *REFS, "--metric", "blue"], "there is no metric 'blue'. Did you mean 'bleu'?"),
        (["good.txt", *REFS, "--metric", "bleu:order=3"], "--metric: bleu has no option 'order=3'."),
        (["good.txt", *REFS, "--metric", "bleu:max_order=x"], "--metric bleu: max_order: 'x' is not a whole number"),
        (["good.txt", *REFS, "--tokenize", "nonsense"], "there is no nonsense"),
        (["good.txt", *REFS, "--test", "t"], "'--test'"),
    ],
)
def test_bad_input_takes_one_line(capsys: Capture, arguments: list[str], output: str) -> None:
    assert main(["score", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert output in err
    assert err.count("\n") == 1


def test_tokenised_text_is_noticed(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "hyp").write_text("x .\n" * 100)
    (tmp_path / "ref").write_text("x y .\n" * 100)
    assert main(["score", str(tmp_path / "hyp"), "--refs", str(tmp_path / "ref")]) == 0
    assert "is it tokenised?" in capsys.readouterr().err


def test_two_systems_are_compared(capsys: Capture) -> None:
    good, bad = scored(capsys, "good.txt", "bad.txt", *REFS, "--metric", "bleu", "--metric", "chrf")
    assert "comparison" not in good
    assert bad["compared_with"] == "good.txt"
    assert isinstance(bad["comparison"], dict)
    for metric in ("bleu", "chrf"):
        comparison = bad["comparison"][metric]
        assert comparison["delta"] == pytest.approx(float(str(bad[metric])) - float(str(good[metric])))
        assert comparison["interval"][0] < comparison["delta"] < comparison["interval"][1] < 0
        assert set(comparison["p"]) == {"bootstrap", "randomization"}
        assert all(p < 0.01 for p in comparison["p"].values())


def test_the_table_marks_what_differs(capsys: Capture) -> None:
    assert main(["score", "good.txt", "bad.txt", "same=good.0", *REFS, "--test", "randomization"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["system", "BLEU", "difference", "95", "%", "p", "randomization"]
    assert lines[1].split()[0] == "good.txt"
    assert lines[2].startswith("bad.txt")
    assert lines[2].endswith("*")
    assert lines[3].startswith("same")
    assert lines[3].endswith("1.000")
    assert lines[4].startswith("BLEU|nrefs:4|")
    assert lines[5] == "* differs from good.txt at p < 0.05 (1000 samples)"


def test_replicates(capsys: Capture) -> None:
    _, new = scored(capsys, "base=bad.txt,good.2", "new=good.0,good.1,good.2", *REFS)
    singles = [scored(capsys, f"good.{i}", *REFS)[0]["bleu"] for i in range(3)]
    assert isinstance(new["replicates"], list)
    assert [replicate["bleu"] for replicate in new["replicates"]] == singles
    assert [replicate["file"] for replicate in new["replicates"]] == ["good.0", "good.1", "good.2"]
    assert new["bleu"] == pytest.approx(statistics.mean(singles))
    assert new["deviation"] == {"bleu": pytest.approx(statistics.stdev(singles))}
    assert isinstance(new["comparison"], dict)
    assert set(new["comparison"]["bleu"]["p"]) == {"bootstrap"}  # two runs against three
    assert main(["score", "base=bad.txt,good.2", "new=good.0,good.1,good.2", *REFS]) == 0
    assert capsys.readouterr().out.splitlines()[0].split()[:4] == ["system", "BLEU", "sd", "runs"]


def test_the_seed_decides_the_samples(capsys: Capture) -> None:
    arguments = ["good.1", "good.2", *REFS, "--samples", "99"]
    serial, again, other = (scored(capsys, *arguments, "--seed", seed)[1]["comparison"] for seed in "112")
    assert serial == again != other


def test_an_external_column_cannot_be_scored_from_text(capsys: Capture) -> None:
    assert main(["score", "good.txt", *REFS, "--metric", "external:column=quality"]) == 2
    assert "read from candidate lists" in capsys.readouterr().err


@pytest.mark.skipif(SHARED is None, reason="needs the shared data")
@pytest.mark.parametrize("references", [["dev.en.1"], ["dev.en.1", "dev.en.2", "dev.en.3"]])
def test_real_text(capsys: Capture, references: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SHARED is not None
    for name in ("dev.en.0", *references):
        lines = (SHARED / "data" / "es-en-fisher" / name).read_bytes().split(b"\n")[:1000]
        (tmp_path / name).write_bytes(b"\n".join(lines) + b"\n")
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "sacrebleu", *references, "-i", "dev.en.0", "-f", "text", "-w", "2"]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert main(["score", "dev.en.0", "--refs", *references]) == 0
    assert capsys.readouterr().out == theirs


def test_a_candidate_without_a_value_is_not_the_best(capsys: Capture, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("q,score,y\n1,,1\n1,0.5,0\n2,0.7,1\n2,0.1,0\n")
    assert main(["score", "--table", str(table), "--group", "q", "--outcome", "y", "--test", "none"]) == 0
    finding = "1 candidate without score (the first is in line 2), taken as worse than all others"
    assert f"warning: {table}: {finding}" in capsys.readouterr().err
