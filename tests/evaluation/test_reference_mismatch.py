"""References of other sentences are noticed, and those that belong never are suspected."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hopefear.data.lists import Synthetic
from hopefear.evaluation.reference_mismatch import pool_fit, references_fit, same_text
from hopefear.evaluation.scores import Resampling, score_files
from hopefear.formats import read_nbest
from hopefear.metrics import from_text
from tests.shared_data import SHARED

OPENING = "references do not seem to belong to these sentences: "
WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrst"]


def text(count: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [
        " ".join(rng.choices(WORDS, [1 / k for k in range(1, len(WORDS) + 1)], k=rng.randint(6, 14)))
        for _ in range(count)
    ]


def worse(lines: list[str], share: float, seed: int = 2) -> list[str]:
    """An output in which this share of the words is wrong."""
    rng = random.Random(seed)
    return [" ".join(rng.choice(WORDS) if rng.random() < share else word for word in line.split()) for line in lines]


def shuffled(lines: list[str]) -> list[str]:
    return random.Random(3).sample(lines, len(lines))


@pytest.mark.parametrize("count", [40, 200, 2500])
def test_misplaced_references(count: int) -> None:
    refs = text(count)
    out = worse(refs, 0.4)
    assert references_fit(out, [refs], ["r"]) == []
    (next_line,) = references_fit(out, [refs[1:] + refs[:1]], ["r"])
    assert next_line.startswith(f"{OPENING}r fits line i+1 better (likeness 0.") and next_line.endswith(")")
    (line_before,) = references_fit(out, [refs[-1:] + refs[:-1]], ["r"])
    assert line_before.startswith(f"{OPENING}r fits line i-1 better")
    (reverse,) = references_fit(out, [refs[::-1]], ["r"])
    assert reverse.startswith(f"{OPENING}r fits the lines in reverse order better")


@pytest.mark.parametrize("count", [60, 300])
@pytest.mark.parametrize("other", [shuffled, lambda lines: text(len(lines), 9)])
def test_references_in_no_order_or_of_another_text(other: object, count: int) -> None:
    refs = text(count)
    assert callable(other)
    wrong = other(refs)
    finding = f"{OPENING}r matches its lines no better than random lines"
    assert references_fit(worse(refs, 0.4), [wrong], ["r"]) == [finding]
    assert references_fit(worse(refs, 0.4), [refs, wrong], ["q", "r"]) == [finding]


def test_a_line_that_is_missing_in_the_middle() -> None:
    refs = text(600)
    (finding,) = references_fit(worse(refs, 0.4), [[*refs[:300], *refs[301:], "x"]], ["r"])
    assert finding.startswith(f"{OPENING}r fits line i+1 better, from about line 301 on")


def test_references_that_do_not_fit_each_other() -> None:
    """The output is too poor for the test."""
    refs = text(60)
    again = worse(refs, 0.3, 5)
    (finding,) = references_fit(["a"] * 60, [refs, again[1:] + again[:1]], ["q", "r"])
    assert finding.startswith(f"{OPENING}r, compared with q, fits line i+1 better")
    assert references_fit(["a"] * 60, [refs, again], ["q", "r"]) == []


@pytest.mark.parametrize("share", [0.0, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("count", [20, 30, 50, 100, 500])
def test_bad_outputs_raise_no_alarm(count: int, share: float) -> None:
    for seed in range(10):
        refs = text(count, seed)
        assert references_fit(worse(refs, share, seed + 100), [refs], ["r"]) == []


def test_references_that_are_the_output() -> None:
    lines = text(40)
    finding = "r is the output itself in 98 % of the lines. Give human translations as references"
    assert same_text([*lines[:-1], "x"].__getitem__, [lines.__getitem__], 40, ["r"]) == [finding]
    assert same_text(worse(lines, 0.1).__getitem__, [lines.__getitem__], 40, ["r"]) == []
    assert same_text(lines.__getitem__, [lines.__getitem__], 19, ["r"]) == []


def test_few_lines_or_words_give_no_finding() -> None:
    refs = text(19)
    assert references_fit(refs, [refs[1:] + refs[:1]], ["r"]) == []
    same = ["yes ."] * 200
    assert references_fit(same, [same], ["r"]) == references_fit(same, [["no ."] * 200], ["r"]) == []
    assert references_fit(["", *text(30)], [["", *text(30)]], ["r"]) == []
    assert (
        references_fit([], [], [])
        == references_fit(text(30), [], [])
        == references_fit(text(30), [text(9)], ["r"])
        == []
    )


def test_text_without_blanks() -> None:
    rng = random.Random(1)
    refs = ["".join(chr(0x4E00 + int(400 * rng.random() ** 3)) for _ in range(rng.randint(8, 25))) for _ in range(100)]
    out = ["".join(c for c in line if rng.random() < 0.8) for line in refs]
    assert references_fit(out, [refs], ["r"]) == []
    assert "line i+1" in references_fit(out, [refs[1:] + refs[:1]], ["r"])[0]


def test_lists(tmp_path: Path) -> None:
    Synthetic(sentences=50, candidates=20).write(tmp_path)
    refs = [tmp_path / "ref.0", tmp_path / "ref.1"]
    assert pool_fit(read_nbest(tmp_path / "nbest.txt", refs), ["a", "b"]) == []
    lines = refs[1].read_text().splitlines()
    refs[1].write_text("".join(line + "\n" for line in lines[1:] + lines[:1]))
    (finding,) = pool_fit(read_nbest(tmp_path / "nbest.txt", refs), ["a"])
    assert finding.startswith(f"{OPENING}reference 2 fits line i+1 better")


def test_score_warns_of_it(tmp_path: Path) -> None:
    refs = text(50)
    for name, lines in (("out", worse(refs, 0.3)), ("good", refs), ("bad", refs[1:] + refs[:1])):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    systems = [("mine", [tmp_path / "out"])]
    assert score_files(systems, [tmp_path / "good"], [from_text("bleu")], Resampling()).warning() is None
    scored = score_files(systems, [tmp_path / "good", tmp_path / "bad"], [from_text("bleu")], Resampling())
    warning = scored.warning()
    assert warning is not None and warning.startswith(f"mine: {OPENING}{tmp_path}/bad fits line i+1 better")
    assert scored.record()[0]["warnings"] == [warning]


@pytest.mark.skipif(SHARED is None, reason="needs the shared data")
@pytest.mark.parametrize("name", ["es-en-kbest/dev.nbest.xz", "es-en-neural/dev.jsonl.xz"])
def test_real_lists_raise_no_alarm(name: str) -> None:
    assert SHARED is not None
    path = SHARED / "data" / name
    refs = [(path.parent / f"dev.en.{k}").read_text().split("\n")[:-1] for k in range(4)]
    pool = read_nbest(path)
    worst = [pool.text(i, pool[i].edge_count - 1) for i in range(len(pool))]
    assert references_fit(worst, refs, list("abcd")) == []
    for size in (20, 50, 200):
        for begin in range(0, len(worst) - size, size):
            part = slice(begin, begin + size)
            assert references_fit(worst[part], [refs[0][part]], ["a"]) == []
