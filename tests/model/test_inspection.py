"""What is in a model."""

from __future__ import annotations

import json
from pathlib import Path

from hopefear.model.grammar import read_grammar
from hopefear.model.inspection import inspect_model
from hopefear.runs import Session
from hopefear.runs.events import Event, Note


def test_inspect(corpus: Path, model_path: Path) -> None:
    about = inspect_model(model_path, top=3, perplexity=[corpus / "e"])
    json.dumps(about)
    assert about["bytes"]["total"] == sum(path.stat().st_size for path in model_path.iterdir())
    assert [len(rules) for rules in about["rules"].values()] == [3, 3]
    assert about["rules"]["phrases"][0]["count"] >= about["rules"]["phrases"][1]["count"]
    assert 1 < about["perplexity"]["lm"]["perplexity"] < about["perplexity"]["lm2"]["perplexity"]
    some = inspect_model(model_path, 10, source="[X,1] wa [X,2]")["rules"]["[X,1] wa [X,2]"]
    assert some[0]["target"] in ("[X,1] [X,2]", "the [X,1] [X,2]")


def test_export(model_path: Path, tmp_path: Path) -> None:
    told: list[Event] = []
    about = inspect_model(model_path, 10, export=tmp_path / "rules.gz", run=Session(told.append))
    assert len(read_grammar(tmp_path / "rules.gz")) == about["counts"]["rules"]
    assert told == [Note(f"{tmp_path / 'rules.gz'}: {about['counts']['rules']:,} rules")]
