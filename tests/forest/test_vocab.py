"""Vocabularies: ids, and threads that read while one adds."""

from pathlib import Path

from hopefear import Vocab
from tests.threads import run_with_threads


def test_ids_are_dense_and_strings_come_back() -> None:
    vocab = Vocab()
    names = [f"{i % 7}-{i}" for i in range(5000)]
    assert [vocab.add(name) for name in names] == list(range(5000))
    assert [vocab.add(name) for name in names] == list(range(5000))
    assert [vocab.find(name) for name in names] == list(range(5000))
    assert vocab.names() == names
    assert vocab.find("none of them") == -1


def test_lists_are_written_while_another_thread_adds_words(tmp_path: Path) -> None:
    core = ["formats/write_nbest", "formats/json", "forest/forest", "forest/stored_forest", "util/array_store"]
    run_with_threads("vocab_threads", core, tmp_path)
