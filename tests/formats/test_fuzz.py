"""A short run; `python bench/fuzz.py --seconds N` is the long one."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import fuzzing
from tests.fuzzing_documents import KINDS as DOCUMENTS
from tests.fuzzing_small import read_damaged, small_targets

NAMES = ["cdec forest", "cdec list", "cicada forest", "grammar", "gzip", "jsonl list", "moses hypergraph", "moses list"]
NAMES += ["old list", "marian list", "json list", "fairseq", "sockeye", "opennmt", "tokens", "flat", "nemo", "espnet"]
NAMES += ["icefall", "mert", "kaldi lattice", "openfst", "slf"]
NAMES += ["native", "plf", "references", "travatar forest", "weights", "xz", "zstd"]
NAMES += ["arpa", "checkpoint", "config", "csv table", "grammar.bin", "learners.npz", "letor", "lm.bin", "model.json"]
NAMES += ["qrels", "run.json", "trec run", "tsv table", "jsonl table", "parquet table", "arrow table", "case.bin"]
NAMES += ["lm.bin, forged", "grammar.bin, forged", "joint.npz", "joint.npz, forged", "last.npz", "last.npz, forged"]
NAMES += ["learners.npz, forged", "links", "params", "feature table"]
NAMES += [
    f"corpus {name}" for name in ("memory.tmx", "old.xliff", "new.xlf", "messages.po", "lines.jsonl", "nested.jsonl")
]
NAMES += ["corpus table.tsv", "corpus zip", "corpus zip, inside"]
NAMES += [f"document {name}" for name in DOCUMENTS]
NAMES += ["docx, inside", "packed translator", "packed translator, forged", "journal", "journal, forged", "card.json"]
NAMES += ["glossary", "words", "keys"]


Targets = dict[str, tuple[bytes, Callable[[Path], object]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def targets(folder: Path) -> Targets:
    return fuzzing.targets(folder)


def test_every_target_is_tried(targets: Targets) -> None:
    assert sorted(targets) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_never_surprise(folder: Path, name: str, targets: Targets) -> None:
    data, reader = targets[name]
    assert fuzzing.attempt(folder / "file", data, reader) == ""
    generator = random.Random(name)
    refused = 0
    for _ in range(200):
        refused += bool(fuzzing.attempt(folder / "file", fuzzing.mutated(data, generator), reader))
    assert refused > 30


def test_small_damaged_files_never_surprise(tmp_path: Path) -> None:
    """Those of `bench/fuzz_small.py`."""
    for kind, (seeds, reader, damage) in small_targets(tmp_path).items():
        generator = random.Random(kind)
        assert not read_damaged(seeds[0], reader), kind
        refused = sum(read_damaged(damage(generator.choice(seeds), generator), reader) for _ in range(60))
        assert 0 < refused < 60, kind
