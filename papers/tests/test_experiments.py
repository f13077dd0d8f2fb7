"""The registry of the experiments, and the command that runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.errors import InputError
from hopefear_papers import MODULES, find, load_all


def test_every_experiment_states_paper_and_claim() -> None:
    for name, experiment in load_all().items():
        assert re.fullmatch(r"[a-z]+-((table|fig)\d|text|features)", name)
        assert experiment.paper and experiment.title and len(experiment.claim) > 40


def test_an_unknown_name_is_answered_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="tan-table1"):
        find("tan-table9")
    assert main(["experiment", "tan-table9"]) == 2
    assert "tan-table1" in capsys.readouterr().err


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(load_all())


def test_data_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "tan-table1", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "es-en-fisher" in capsys.readouterr().err


def test_every_paper_has_experiments() -> None:
    assert {name.partition("-")[0] for name in load_all()} == {module.partition("_")[0] for module in MODULES}


def test_the_command_writes_what_it_prints(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--size", "tiny", "--jobs", "2", "--out", str(out)]
    assert main(["experiment", "tan-table1", *given]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("tan-table1: ") and "Claim. " in shown.out
    assert "tan-table1 (1 of 1)" in shown.err  # notes go to standard error
    written = (out / "tan-table1.md").read_text()
    assert all(f"**{text}**" in written for text in re.findall(r"^BLEU on .*$", shown.out, re.MULTILINE))
