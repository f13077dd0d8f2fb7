"""What occurs twice: outputs that were put one behind the other, judgements that contradict each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hopefear as hf
from hopefear import formats
from hopefear.formats.letor import read_letor
from hopefear.formats.table import read_table
from hopefear.formats.trec import read_qrels, read_run
from tests.fuzzing import EXTRACTED, FAIRSEQ, ICEFALL, JSONL_LIST, KALDI, MOSES_LIST, SOCKEYE, TOKENS

ONE = "H-0\t-0.5\ta\nP-0\t-0.5\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("format", "text", "finding"),
    [
        (
            "fairseq",
            FAIRSEQ + FAIRSEQ,
            ":9: sentence 0 begins again, after line 1. Are these several outputs in one file",
        ),
        ("fairseq", "S-0\ta\n" + ONE + "S-0\tb\n" + ONE, ":4: sentence 0 begins again, after line 1"),
        ("fairseq", ONE + ONE.replace("-0\t", "-1\t") + ONE, ":5: sentence 0 begins again, after line 1"),
        ("moses", MOSES_LIST + MOSES_LIST, ":5: sentence 0 comes after sentence 2"),
        ("jsonl", JSONL_LIST + JSONL_LIST, ":3: the id .0. occurs twice"),
        ("json", JSONL_LIST + JSONL_LIST, ":3: the id .0. occurs twice"),
        ("sockeye", SOCKEYE + SOCKEYE, ":3: the id .1. occurs twice"),
        ("tokens", TOKENS.replace('"outputs"', '"id": "r-1", "outputs"'), ": the id .r-1. occurs twice"),
        ("icefall", ICEFALL + ICEFALL, ":4: 'u1' begins again"),
        ("icefall", ICEFALL.partition("u2")[0] * 2, ":3: 'u1' has two references"),
        ("mert", EXTRACTED + EXTRACTED, ":9: sentence 0 begins again"),
    ],
)
def test_a_list_with_a_sentence_twice(tmp_path: Path, format: str, text: str, finding: str) -> None:
    with pytest.raises(hf.InputError, match=finding):
        formats.read_nbest(write(tmp_path / "list", text), format=format)


def test_folders_with_an_utterance_twice(tmp_path: Path) -> None:
    for part in ("a", "b"):
        write(tmp_path / "espnet" / part / "1best_recog" / "text", "u1 a\n")
        write(tmp_path / "espnet" / part / "1best_recog" / "score", "u1 tensor(-1.5)\n")
    with pytest.raises(hf.InputError, match=r"b/1best_recog/text: 'u1' is in another folder as well"):
        formats.read_nbest(tmp_path / "espnet", format="espnet")
    write(tmp_path / "kaldi" / "text", "u-1 a\nu-2 b\nu-1 c\n")
    with pytest.raises(hf.InputError, match=r"text:3: 'u-1' occurs twice"):
        formats.read_nbest(tmp_path / "kaldi", format="kaldi-nbest")


def test_an_archive_of_lattices_with_an_utterance_twice(tmp_path: Path) -> None:
    with pytest.raises(hf.InputError, match=r"lat: 'u-1' occurs twice\. Give each sentence once"):
        formats.read_forests(write(tmp_path / "lat", KALDI + KALDI), format="kaldi")


def test_references_with_a_duplicate_utterance(tmp_path: Path) -> None:
    write(tmp_path / "refs", "u-1 the house\nu-2 yes\n")
    formats.read_forests(write(tmp_path / "lat", KALDI), tmp_path / "refs", format="kaldi")
    write(tmp_path / "refs", "u-1 the house\nu-2 yes\nu-1 a home\n")
    with pytest.raises(hf.InputError, match=r"refs: 'u-1' occurs twice"):
        formats.read_forests(write(tmp_path / "lat", KALDI), tmp_path / "refs", format="kaldi")


def test_judgements_that_contradict_each_other(tmp_path: Path) -> None:
    path = write(tmp_path / "qrels", "q1 0 d1 0\nq1 0 d2 1\nq1 0 d1 0\n")
    assert read_qrels(str(path)) == {"q1": {"d1": 0.0, "d2": 1.0}}  # the same twice says nothing else
    write(path, "q1 0 d1 0\nq1 0 d2 1\nq1 0 d1 2\n")
    with pytest.raises(
        hf.InputError, match=r"qrels:3: document d1 of query q1 has the grade 2 here and another in line 1\. Keep one"
    ):
        read_qrels(str(path))


def test_a_feature_twice_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(hf.InputError, match=r"a\.letor:1: feature 1 occurs twice"):
        read_letor(str(write(tmp_path / "a.letor", "1 qid:1 1:0.5 1:0.7\n")))


@pytest.mark.parametrize("number", ["1_0.5", "\u0661\u0662", "\uff11"])
def test_numbers_that_only_python_reads(tmp_path: Path, number: str) -> None:
    """With underscores, in digits of other scripts."""
    text = {
        "run": (f"q1 Q0 d1 1 {number} a\n", lambda path: read_run(str(path))),
        "qrels": (f"q1 0 d1 {number}\n", lambda path: read_qrels(str(path))),
        "letor": (f"{number} qid:1 1:0.5\n", lambda path: read_letor(str(path))),
        "letor value": (f"1 qid:1 1:{number}\n", lambda path: read_letor(str(path))),
        "letor key": (f"1 qid:1 {number}:1\n", lambda path: read_letor(str(path))),
        "weights": (f"lm {number}\n", formats.read_weights),
        "grammar": (f"[X] ||| a ||| b ||| p={number}\n", lambda path: list(formats.iter_grammar(path))),
        "fairseq": (f"H-0\t{number}\ta\n", lambda path: formats.read_nbest(path, format="fairseq")),
        "moses": (f"0 ||| a ||| lm= {number} ||| 0\n", formats.read_nbest),
    }
    for name, (content, read) in text.items():
        with pytest.raises(hf.InputError):
            print(name, read(write(tmp_path / name, content)))
    write(tmp_path / "t.csv", f"q,lm\n1,0.5\n1,{number}\n")
    with pytest.raises(hf.InputError, match=f"lm is '{re.escape(number)}', which is not a number"):
        hf.Pool.from_table(tmp_path / "t.csv", group="q", features="lm")


def test_null_bytes_in_runs(tmp_path: Path) -> None:
    with pytest.raises(hf.InputError, match=r"run:1: has a null byte"):
        read_run(str(write(tmp_path / "run", "q1 Q0 d\x001 1 2 a\n")))
    with pytest.raises(hf.InputError, match=r"qrels:2: has a null byte"):
        read_qrels(str(write(tmp_path / "qrels", "q1 0 d1 1\nq1\x00 0 d2 1\n")))


@pytest.mark.parametrize("text", ['{"q": 1, "a": 2}\r{"q": 1, "a": 3}\r', '{"q": 1, "a": 2} {"q": 1, "a": 3}\n'])
def test_json_lines_that_are_not_one_object_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.jsonl").write_bytes(text.encode())
    with pytest.raises(hf.InputError, match=r"t\.jsonl:1: not JSON \(Extra data.*Write one object per line"):
        read_table(tmp_path / "t.jsonl")


def test_json_lines_with_empty_lines_and_windows_line_ends(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b'\r\n{"q": 1, "a": 2}\r\n\n  \n{"q": 1, "a": 3}')
    assert read_table(tmp_path / "t.jsonl").numbers("a", "").tolist() == [2.0, 3.0]
