"""The lists that come with the package: real text, enough to learn from, and written whole."""

from pathlib import Path

import pytest

import hopefear as hf
from hopefear.data.examples import INITIAL, LISTS, REFERENCES, read_sentences, write_lists
from hopefear.errors import InputError


def test_the_file_is_small_and_complete() -> None:
    assert LISTS.stat().st_size < 400_000
    sentences = list(read_sentences())
    assert [sentence["id"] for sentence in sentences] == [str(k) for k in range(300)]
    for sentence in sentences:
        assert len(sentence["references"]) == REFERENCES
        texts = [candidate["text"] for candidate in sentence["candidates"]]
        assert 1 < len(texts) <= 30
        assert len(set(texts)) == len(texts)
        assert all(INITIAL.keys() <= candidate["features"].keys() for candidate in sentence["candidates"])


def test_what_is_written_is_what_is_in_the_file(tmp_path: Path) -> None:
    files = write_lists(tmp_path)
    pool = hf.read_nbest(files["nbest"], references=[files[f"ref.{k}"] for k in range(REFERENCES)])
    for i, sentence in enumerate(read_sentences()):
        begin, end = pool.row_begin()[i : i + 2]
        texts = {pool.text(i, k) for k in range(end - begin)}
        assert texts == {candidate["text"] for candidate in sentence["candidates"]}
    scores = [float(line.rsplit(" ||| ", 1)[1]) for line in files["nbest"].read_text().splitlines()[:30]]
    assert scores == sorted(scores, reverse=True)


def test_files_are_replaced_with_overwrite_only(tmp_path: Path) -> None:
    (tmp_path / "ref.1").write_text("mine")
    with pytest.raises(InputError, match=r"ref\.1: already exists"):
        write_lists(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ref.1"]
    write_lists(tmp_path, overwrite=True)
    assert (tmp_path / "ref.1").read_text() != "mine"
