"""Rules in memory, on disk and out of arrays: the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from hopefear import _core
from hopefear.errors import InputError
from hopefear.model import rules
from hopefear.model.builder import build
from hopefear.model.options import BuildOptions
from hopefear.model.rules import extract
from tests.model.parallel_files import DATA, NONE
from tests.model.test_extract import aligned_pairs, parallel_text
from tests.reference import extraction as twin

HIERO = NONE.extraction()
BLOCKS = BuildOptions(kind="blocks", min_occurrences=1).extraction()
TABLE = ("source_begin", "source", "rule_begin", "target_begin", "target", "link_begin", "links", "columns")


@pytest.fixture(autouse=True)
def _few_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_SLICES", 3)  # each goes to disk, in as many files as there are parts


def language(pairs: int) -> _core.ParallelText:
    return parallel_text(
        [(pair.source.split(), pair.target.split(), frozenset(pair.links)) for pair in DATA.pairs(pairs, noise=0)]
    )


def same(text: _core.ParallelText, extraction: dict[str, Any], folder: Path, **limits: Any) -> None:
    """On disk as in memory, whatever the number of threads."""
    here = extract(text, extraction, folder, memory=8, **limits)
    assert here.file is None
    for jobs in (1, 3):
        far = extract(text, extraction, folder, memory=0, jobs=jobs, **limits)
        assert far.file is not None
        assert far.file.read_bytes() == here.grammar.bytes.tobytes()
        assert far.counts == here.counts
        assert _core.Grammar.open(str(far.file), verify=True).table().names == here.grammar.table().names
        far.file.unlink()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("extraction", [HIERO, HIERO | {"max_options": 3, "min_hierarchical": 2}, BLOCKS])
def test_on_disk_as_in_memory(extraction: dict[str, Any], tmp_path: Path) -> None:
    same(language(150), extraction, tmp_path)


def test_improbable_rules_are_left_out_on_disk_too(tmp_path: Path) -> None:
    same(language(80), BLOCKS, tmp_path, min_probability=0.3)
    same(language(80), HIERO, tmp_path, min_symmetric=0.4)
    same(language(80), HIERO, tmp_path, min_probability=0.2, min_symmetric=0.3)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=aligned_pairs())
def test_small_texts(pairs: list[twin.Pair], tmp_path_factory: pytest.TempPathFactory) -> None:
    text = parallel_text(pairs)
    extractor = _core.Extractor(text, **HIERO)
    extractor.run(0, len(pairs))
    folder = tmp_path_factory.mktemp("small")
    if len(extractor.finish()):
        same(text, HIERO, folder)
    else:
        with pytest.raises(InputError, match="no rule could be extracted"):
            extract(text, HIERO, folder, memory=0)


def test_the_rules_of_single_words(tmp_path: Path) -> None:
    text = language(100)
    table = extract(text, HIERO, tmp_path, memory=8, min_probability=0.05).words
    words = extract(text, HIERO, tmp_path, memory=0, min_probability=0.05).words
    single = np.repeat(np.diff(table.source_begin) == 1, np.diff(table.rule_begin))
    expected = table.selected(single.astype(np.uint8))
    for name in TABLE:
        assert np.array_equal(getattr(words, name), getattr(expected, name)), name


def test_what_is_taken_may_come_from_anywhere(tmp_path: Path) -> None:
    """A text out of arrays, extracted by two who never meet and merged by a third."""
    text = language(60)
    arrays = text.arrays()
    taken = []
    for begin, end in ((0, 23), (23, 60)):
        extractor = _core.Extractor(_core.ParallelText.over(*arrays), **HIERO)
        extractor.run(begin, end)
        taken.append([extractor.take(part) for part in range(extractor.PARTS)])
        assert extractor.entries == 0
    merger = _core.Extractor(_core.ParallelText.over(*arrays), **HIERO)
    parts = [merger.merged([piece[part] for piece in taken]) for part in range(merger.PARTS)]
    written = rules._written(text, HIERO, parts, tmp_path, (0.0, 0.0), 0, 1)
    assert written.grammar.bytes.tobytes() == extract(text, HIERO, tmp_path, memory=8).grammar.bytes.tobytes()


def test_arrays_that_do_not_fit() -> None:
    arrays: tuple[Any, ...] = language(3).arrays()
    source, source_begin, *rest = arrays
    with pytest.raises(InputError, match="do not fit together"):
        _core.ParallelText.over(source, source_begin[:-1].copy(), *rest)


def test_a_part_that_was_cut_off() -> None:
    extractor = _core.Extractor(language(3), **HIERO)
    extractor.run(0, 3)
    taken = extractor.take(0)
    for damaged in (taken[:-1], taken[:7], taken[:0]):
        with pytest.raises(InputError, match="cut off or damaged"):
            extractor.merged([damaged])


@pytest.mark.parametrize("kind", ["hiero", "blocks"])
def test_a_model_built_on_disk(kind: str, corpus: Path, tmp_path: Path) -> None:
    options = BuildOptions(kind=kind, tokenizer="none")
    files = (corpus / "clean.f", corpus / "clean.e")
    for name, memory, few in (
        ("here", 2.0, []),
        ("disk", 0.0, []),
        ("few", 2.0, ["test.f"]),
        ("less", 0.0, ["test.f"]),
    ):
        filter_to = [corpus / first for first in few]
        build(*files, tmp_path / name, options, memory=memory, align=[corpus / "clean.a"], filter_to=filter_to, jobs=1)
    for first, other in (("here", "disk"), ("few", "less")):
        for path in (tmp_path / first).iterdir():
            assert path.read_bytes() == (tmp_path / other / path.name).read_bytes(), path.name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "few", "here", "less"]
