"""References and sources for lists and forests."""

from pathlib import Path

import pytest

import hopefear as hf
from hopefear.formats import read_forests, read_nbest
from tests.formats.test_forests import edges
from tests.formats.test_nbest import MOSES, write


def test_references(tmp_path: Path) -> None:
    n = write(tmp_path / "n", MOSES)
    a = write(tmp_path / "a", "the  cat\nno\r\n")
    b = write(tmp_path / "b", "a cat\n \n")
    pool = read_nbest(n, references=[a, b], sources=write(tmp_path / "s", "el gato\n\n"))
    assert [pool.references(0), pool.references(1)] == [["the cat", "a cat"], ["no"]]
    assert [pool.source(0), pool.source(1)] == ["el gato", ""]


def test_references_that_do_not_fit(tmp_path: Path) -> None:
    n = write(tmp_path / "n", MOSES)
    one, two, three = (write(tmp_path / f"r{k}", "x\n" * k) for k in (1, 2, 3))
    with pytest.raises(hf.InputError, match=r"r1: the reference file is too short: it has 1 lines, .*n has 2 sent"):
        read_nbest(n, references=one)
    with pytest.raises(hf.InputError, match=r"n: there are only 2 sentences, but the references have 3 lines"):
        read_nbest(n, references=three)
    with pytest.raises(hf.InputError, match=r"r1: the reference file is too short: it has 1 lines, .*r2 has 2"):
        read_nbest(n, references=[two, one])
    with pytest.raises(hf.InputError, match=r"r1: the reference file is too short: it has 1 lines, .*n has 2 sent"):
        read_nbest([n, n], references=one, merge=True)
    empty = write(tmp_path / "e", "x\n\n")
    with pytest.raises(hf.InputError, match=r"e:2: no file has a reference for this sentence"):
        read_nbest(n, references=[empty, empty])
    with pytest.raises(hf.InputError, match=r"r1: has 1 lines, but .*n has 2 sentences"):
        read_nbest(n, sources=one)


def test_references_of_forests(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(edges([]) + edges([], [0]))
    (tmp_path / "r").write_text("a\nb c\n")
    pool = read_forests(tmp_path / "f", references=tmp_path / "r", sources=tmp_path / "r")
    assert (pool.references(1), pool.source(0)) == (["b c"], "a")
    (tmp_path / "r").write_text("a\n")
    with pytest.raises(hf.InputError, match=r"r: the reference file is too short: it has 1 lines, .*f has 2 sentences"):
        read_forests(tmp_path / "f", references=tmp_path / "r")
    with pytest.raises(hf.InputError, match=r"r: has 1 lines, but .*f has 2 sentences"):
        read_forests(tmp_path / "f", sources=tmp_path / "r")
