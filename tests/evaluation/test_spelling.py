"""Sides that differ in case, Unicode form, sub-words or tokens are noticed; those that are alike never."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from hopefear.data.lists import Synthetic
from hopefear.errors import InputError
from hopefear.evaluation.reference_mismatch import references_fit
from hopefear.evaluation.scores import Resampling, score_files
from hopefear.evaluation.spelling import plain, pool_spelling, spelling_fit
from hopefear.formats import read_nbest
from hopefear.metrics import Bleu, Chrf, Metric
from tests.evaluation.test_reference_mismatch import text, worse
from tests.shared_data import SHARED

ACCENTS = str.maketrans("aeo", "äéö")
Change = Callable[[str], str]


def sub_words(line: str) -> str:
    return " ".join(word[:2] + "@@ " + word[2:] for word in line.split())


def pieces(line: str) -> str:
    return " ".join("\u2581" + word[:2] + " " + word[2:] for word in line.split())


def twice_encoded(line: str) -> str:
    return line.encode().decode("latin-1")


FORMS: list[tuple[Change, str]] = [
    (str.upper, "if case is ignored. Give --lowercase"),
    (lambda line: unicodedata.normalize("NFD", line), "NFC"),
    (twice_encoded, "if double encoding is undone"),
    (sub_words, "if sub-words are joined"),
    (pieces, "if sub-words are joined"),
    (lambda line: line.replace("a", "&auml;"), "if entities are characters"),
    (lambda line: line.replace("n", "n\u200b"), "if invisible characters are left out"),
    (lambda line: line.replace("n", "\0n"), "if invisible characters are left out"),
    (lambda line: "".join(chr(ord(c) + 0xFEE0) if c.islower() and c.isascii() else c for c in line), "NFKC"),
]


@pytest.mark.parametrize(("change", "said"), FORMS)
@pytest.mark.parametrize("where", ["output", "references"])
def test_sides_that_are_spelled_otherwise(change: Change, said: str, where: str) -> None:
    refs = [line.translate(ACCENTS) for line in text(200)]
    out = worse(refs, 0.4)
    assert spelling_fit(out, [refs], Bleu()) == []
    if "entities" in said:
        change = lambda line: line.replace("ä", "&auml;")  # noqa: E731
    sides = {"output": out, "references": refs}
    sides[where] = [change(line) for line in sides[where]]
    (finding,) = spelling_fit(sides["output"], [sides["references"]], Bleu())
    assert said in finding, finding
    assert references_fit(sides["output"], [sides["references"]], ["r"]) == []  # they are in order


@pytest.mark.parametrize("metric", [Bleu(), Bleu(lowercase=True), Bleu(tokenize="13a"), Chrf(), None])
def test_what_the_metric_does_not_see(metric: Metric | None) -> None:
    refs = [f"{line}." for line in text(200)]
    tokens = [f"{line[:-1]} ." for line in worse(refs, 0.4)]
    said = [f for f in spelling_fit(tokens, [refs], metric) if "tokenised" in f]
    assert bool(said) == (metric is not None and metric.name == "bleu" and metric.tokenize == "none")
    upper = [line.upper() for line in worse(refs, 0.4)]
    said = [f for f in spelling_fit(upper, [refs], metric) if "case" in f]
    assert bool(said) == (metric is not None and not metric.lowercase)


def test_text_without_blanks() -> None:
    refs = ["".join(line.split()) for line in text(200)]
    out = worse(text(200), 0.4)
    (finding,) = spelling_fit(out, [refs], Bleu(tokenize="13a"))
    assert finding.endswith("Give --tokenize zh or char")
    assert spelling_fit(out, [refs], Chrf()) == spelling_fit(out, [refs], Bleu(tokenize="char")) == []
    assert references_fit(out, [refs], ["r"]) == []
    (finding,) = references_fit(out, [refs[1:] + refs[:1]], ["r"])
    assert "r fits line i+1 better" in finding


def test_one_candidate_in_two(tmp_path: Path) -> None:
    """The first candidates say nothing of the others."""
    Synthetic(sentences=60, candidates=6, references=1).write(tmp_path)
    rows = [line.split(" ||| ") for line in (tmp_path / "nbest.txt").read_text().splitlines()]
    for number, row in enumerate(rows):
        row[1] = unicodedata.normalize("NFD" if number % 2 else "NFC", row[1].translate(ACCENTS))
    (tmp_path / "list").write_text("".join(" ||| ".join(row) + "\n" for row in rows))
    refs = [line.translate(ACCENTS) for line in (tmp_path / "ref.0").read_text().splitlines()]
    (tmp_path / "ref").write_text("".join(line + "\n" for line in refs))
    (finding,) = pool_spelling(read_nbest(tmp_path / "list", references=[tmp_path / "ref"]), Bleu())
    assert "NFC" in finding


def test_score_says_it(tmp_path: Path) -> None:
    refs = text(60)
    for name, lines in {"out": refs, "half": [""] * 30 + refs[30:], "blank": [""] * 60}.items():
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    (tmp_path / "ref").write_text("".join(line.title() + "\n" for line in worse(refs, 0.2)))

    def said(out: str, ref: str) -> str | None:
        return score_files([("s", [tmp_path / out])], [tmp_path / ref], [Bleu(tokenize="13a")], Resampling()).warning()

    assert "if case is ignored" in str(said("out", "ref"))
    assert "s: 30 of 60 lines are empty and their references are not" in str(said("half", "ref"))
    assert "s: 30 of 60 lines have an empty reference" in str(said("out", "half"))
    with pytest.raises(InputError, match="blank: all lines are empty"):
        said("out", "blank")


@pytest.mark.parametrize("seed", range(5))
def test_alike_sides_raise_no_alarm(seed: int) -> None:
    rng = random.Random(seed)
    refs = [f"{line} {rng.choice(['.', '!', '&', '…', 'A&B'])}" for line in text(200, seed)]
    assert spelling_fit(worse(refs, 0.5, seed), [refs], Bleu()) == []


@pytest.mark.skipif(SHARED is None, reason="no shared data")
def test_real_text_raises_no_alarm() -> None:
    assert SHARED is not None
    folder = SHARED / "data" / "es-en-kbest"
    pool = read_nbest(folder / "dev.nbest.xz", references=sorted(folder.glob("dev.en.?")))
    assert pool_spelling(pool, Bleu()) == []


def test_plain() -> None:
    assert plain("Ma\u0308n@@ ner&nbsp;\u200bund") == plain("männer und")
