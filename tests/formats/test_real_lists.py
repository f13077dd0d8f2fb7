import pytest

from hopefear.formats import iter_nbest, read_nbest
from hopefear.util.files import read_references
from tests.shared_data import SHARED

pytestmark = pytest.mark.skipif(SHARED is None, reason="the shared data is not here")


def test_a_real_list() -> None:
    assert SHARED is not None
    folder = SHARED / "data" / "es-en-kbest"
    references = [folder / f"dev.en.{k}" for k in range(4)]
    pool = read_nbest(folder / "dev.nbest.xz", references=references, sources=folder / "dev.es")
    assert len(pool) == 1000
    assert pool.row_begin()[-1] == 84_456
    assert (pool.dense_width, len(pool.features)) == (11, 11)
    assert all(len(pool.references(i)) == 4 for i in range(1000))
    first = next(iter_nbest(folder / "dev.nbest.xz"))
    assert [first.text(e) for e in range(3)] == [pool.text(0, e) for e in range(3)]


def test_missing_references() -> None:
    assert SHARED is not None
    folder = SHARED / "data" / "ur-en-indian" / "tok"
    references = read_references([folder / f"dev.en.{k}" for k in range(4)])
    assert [sum(not line for line in lines) for lines in references] == [0, 0, 11, 35]
