"""A short run; `python bench/fuzz.py --seconds N` is the long one."""

import random
from pathlib import Path

import pytest

from tests import fuzzing

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
NAMES += ["corpus table.tsv"]


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_never_surprise(tmp_path: Path, name: str) -> None:
    targets = fuzzing.targets(tmp_path)
    assert sorted(targets) == sorted(NAMES)
    data, reader = targets[name]
    assert fuzzing.attempt(tmp_path / "file", data, reader) == ""
    generator = random.Random(name)
    refused = 0
    for _ in range(200):
        refused += bool(fuzzing.attempt(tmp_path / "file", fuzzing.mutated(data, generator), reader))
    assert refused > 30
