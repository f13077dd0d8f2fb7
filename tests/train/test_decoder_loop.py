"""Tuning around a decoder that is a command; tests/cli/test_tune_decoder.py has it from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hopefear as hf
from hopefear.commands.tune import Tune
from hopefear.errors import InputError
from hopefear.runs import read_run
from hopefear.runs.events import Decoded, Event, Progress
from hopefear.runs.session import SILENT, Session
from hopefear.train.decoder_command import DecoderCommand
from hopefear.train.decoder_loop import SettingScores
from hopefear.trainers.outer_loop import OuterLoop

LIST = "0 ||| a b c d x ||| f= 1 g= 0.5 ||| 0\n0 ||| a b c d e ||| f= 2 g= 0.1 ||| 0\n0 ||| z ||| f= 0 g= 1 ||| 0\n"


@pytest.fixture
def decoder(tmp_path: Path) -> str:
    (tmp_path / "ref").write_text("a b c d e\n")
    (tmp_path / "list").write_text(LIST)
    return f"echo >> {tmp_path}/calls; cat {tmp_path}/list # {{weights}} {{param:beam}}"


def calls(tmp_path: Path) -> int:
    return len((tmp_path / "calls").read_text().splitlines()) if (tmp_path / "calls").exists() else 0


def test_no_setting_is_decoded_twice(decoder: str, tmp_path: Path) -> None:
    command = DecoderCommand(decoder, (tmp_path / "ref",))
    loop = OuterLoop(hf.Kbmira(jobs=1), command, 10)
    settings = SettingScores(loop, tmp_path / "settings")
    scores = settings.scores({"beam": 3}, {"f": 1.0})
    assert scores == {"dev": pytest.approx(hf.Bleu().corpus_score(["a b c d x"], [["a b c d e"]]))}
    again = SettingScores(loop, tmp_path / "settings")  # also in another process
    assert again.scores({"beam": 3}, {"f": 1.0}) == scores
    assert calls(tmp_path) == 1
    assert again.first_best({"beam": 3}, {"f": 1.0}).text(0, 0) == "a b c d x"
    again.scores({"beam": 4}, {"f": 1.0})
    again.scores({"beam": 3}, {"f": 2.0})
    assert calls(tmp_path) == 3


def test_the_bar_counts_decodings(decoder: str, tmp_path: Path) -> None:
    """And not what happens inside the fits between them."""
    events: list[Event] = []
    common = {"refs": [str(tmp_path / "ref")], "trainer": "mert", "set": {"restarts": 1}, "holdout": 0.0, "jobs": 1}
    command = decoder.replace("{param:beam}", "")
    tuned = Tune(decoder_command=command, iterations=3, out=str(tmp_path / "run"), **common).run(Session(events.append))
    decoded = [event for event in events if isinstance(event, Decoded)]
    shown = [event for event in events if isinstance(event, Progress)]
    assert len(decoded) == len(shown) == calls(tmp_path) == tuned.more["decodings"]
    assert [event.text for event in shown] == [f"decoded  bleu {event.score:.2f}" for event in decoded]
    assert {event.total for event in shown} == {4}
    record = read_run(tmp_path / "run")
    assert record.settings["iterations"] == 3 and "retune_every" not in record.settings
    assert [input["role"] for input in record.inputs] == ["refs"]
    assert record.sentences == {"dev": 1}


def test_a_metric_of_columns_needs_no_references(tmp_path: Path) -> None:
    """An error rate is computed from counts that the decoder writes for each candidate."""
    candidates = [
        {"text": "a", "features": {"f": 1.0, "g": 0.5}, "metrics": {"errors": 3, "length": 4}},
        {"text": "b", "features": {"f": 0.5, "g": 1.0}, "metrics": {"errors": 1, "length": 4}},
    ]
    (tmp_path / "list.jsonl").write_text(json.dumps({"id": "0", "candidates": candidates}) + "\n")
    command = f"cp {tmp_path}/list.jsonl {{nbest}} # {{weights}}"
    options = {"trainer": "mert", "set": {"restarts": 1}, "iterations": 1, "holdout": 0.0, "jobs": 1}
    metric = ["rate:errors=errors,length=length"]
    tuned = Tune(decoder_command=command, metric=metric, out=str(tmp_path / "run"), **options).run(SILENT)
    assert tuned.score == 0.75 and tuned.history[0]["list_score"] == 0.25


def test_what_does_not_go_together(decoder: str, tmp_path: Path) -> None:
    (tmp_path / "params").write_text("[beam]\nvalues = [1, 2]\n")
    (tmp_path / "w").write_text("f 1\n")
    common = {"refs": [str(tmp_path / "ref")], "trainer": "mert", "out": str(tmp_path / "run")}
    plain = decoder.replace("{param:beam}", "")
    with pytest.raises(InputError, match=r"--random-init draws weights around given ones\. Give --initial"):
        Tune(decoder_command=plain, random_init=True, **common).run(SILENT)
    with pytest.raises(InputError, match="--params looks for one setting of the decoder"):
        Tune(decoder_command=decoder, params=str(tmp_path / "params"), replicates=2, **common).run(SILENT)
    with pytest.raises(InputError, match="Give --params"):
        Tune(decoder_command=decoder, initial=str(tmp_path / "w"), **common).run(SILENT)
    assert not (tmp_path / "run").exists() and calls(tmp_path) == 0
