"""Loops of the core in several threads."""

from pathlib import Path

from tests.threads import run_with_threads


def test_parallel_loops_have_no_races(tmp_path: Path) -> None:
    core = [
        "util/parallel",
        "util/array_store",
        "forest/forest",
        "forest/stored_forest",
        "lm/lm_estimate",
        "lm/ngram_counts",
    ]
    run_with_threads("parallel_loops", core, tmp_path)
