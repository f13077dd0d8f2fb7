"""A decoder that is a command: placeholders, and what it does when it misbehaves."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from hopefear.errors import InputError
from hopefear.train.decoder_command import DecoderCommand
from hopefear.trainers.outer_loop import Request
from hopefear.util import supervised
from tests.orphans import is_running, kill_while, wait_for


def test_placeholders_are_filled_in_and_other_braces_stay(tmp_path: Path) -> None:
    decoder = DecoderCommand("x {weights} {nbest} {iteration} {param:beam} {params} awk '{print}' ${HOME} {}")
    work = tmp_path / "a folder"
    line = decoder.line(work, Request(3, {"beam": 7, "width": 0.1}))
    assert line == f"x '{work}/weights.txt' '{work}/nbest' 3 7 '{work}/params.txt' awk '{{print}}' ${{HOME}} {{}}"


def test_parameters_reach_the_decoder(tmp_path: Path) -> None:
    decoder = DecoderCommand("cp {params} " + str(tmp_path / "seen") + "; echo {param:b} >&2; cat {weights}; exit 1")
    with pytest.raises(InputError, match=r"It said: 0\.25"):
        decoder.decode({"f": 1.0}, tmp_path / "w", Request(parameters={"a": 3, "b": 0.25}))
    assert (tmp_path / "seen").read_text() == "a 3\nb 0.25\n"


@pytest.mark.parametrize(
    ("command", "parameters", "finding"),
    [
        ("decode", [], r"no \{weights\}"),
        ("decode {weights} {param:beam}", [], "no parameters"),
        ("decode {weights} {param:bean}", ["beam"], "The parameters are beam"),
        ("decode {weights}", ["beam"], "does not take the parameter 'beam'"),
        ("decode {weights} {sources}", [], "Give --sources"),
    ],
)
def test_placeholders_are_checked(command: Any, parameters: Any, finding: Any) -> None:
    with pytest.raises(InputError, match=finding):
        DecoderCommand(command).check(parameters)


LIST = "0 ||| a ||| f= 1 ||| 0\n1 ||| b ||| f= 1 ||| 0\n2 ||| c ||| f= 1 ||| 0\n"


@pytest.mark.parametrize(
    ("command", "finding"),
    [
        ("echo one >&2; echo two >&2; exit 7", r"exit code 7\. .*It said: one \| two \(all of it: .*stderr\)"),
        ("kill -9 $$", r"killed by signal 9"),
        ("no-such-decoder", r"exit code 127\. .*not found"),
        ("true", r"nbest: the file is empty"),
        ("true {nbest}", r"did not write the file \{nbest\}"),
        ("head -n 1 LIST", r"no candidates for 2 of the 3 sentences: 1, 2\."),
        ("sed 2d LIST", r"no candidates for 1 of the 3 sentences: 1\."),
        ("sed 's/^2/7/' LIST", r"no candidates for 1 of the 3 sentences: 2\."),
        ("tac LIST", r"nbest:1: "),
        ("sed '2s/.*/rubbish/' LIST", r"nbest:2: "),
        ("sed '3s/= 1/= nan/' LIST", r"nbest:3: "),
        ("head -c 20 /dev/zero", r"nbest:1: "),
        ("cat LIST; echo '3 ||| d ||| f= 1 ||| 0'", r"too short: it has 3 lines, .*nbest has 4 sentences"),
    ],
)
def test_a_decoder_that_misbehaves_is_reported_in_one_line(tmp_path: Path, command: Any, finding: Any) -> None:
    (tmp_path / "list").write_text(LIST)
    (tmp_path / "ref").write_text("a\nb\nc\n")
    decoder = DecoderCommand(f": {{weights}}; {command.replace('LIST', str(tmp_path / 'list'))}", (tmp_path / "ref",))
    with pytest.raises(InputError, match=finding) as caught:
        decoder.decode({"f": 1.0}, tmp_path / "work", Request(iteration=4))
    assert str(caught.value).startswith("decoder, iteration 4: ") and "\n" not in str(caught.value)


def test_sentences_must_stay_the_same_from_decoding_to_decoding(tmp_path: Path) -> None:
    def written(*sentences: tuple[str, str]) -> str:
        lines = [
            f'{{"id": "{i}", "source": "{s}", "candidates": [{{"text": "a", "features": {{}}}}]}}' for i, s in sentences
        ]
        return "\n".join(lines) + "\n"

    (tmp_path / "one").write_text(written(("x", "sx"), ("y", "sy")))
    decoder = DecoderCommand(f"cat {tmp_path}/one # {{weights}}")
    first = decoder.decode({}, tmp_path / "w", Request())
    for sentences, finding in (
        ([("y", "sy"), ("x", "sx")], "same order"),
        ([("x", "sx")], "no candidates for 1 of the 2 sentences: y"),
        ([("x", "sx"), ("y", "sy"), ("z", "sz")], "'z' was not in the first decoding"),
        ([("x", "sy"), ("y", "sx")], "sentence x has another source"),
    ):
        (tmp_path / "one").write_text(written(*sentences))
        with pytest.raises(InputError, match=finding):
            decoder.decode({}, tmp_path / "w", Request(like=first))


def test_a_decoder_that_hangs_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = f'echo $$ > {tmp_path}/child; trap "" TERM; sleep 60'
    command = f"trap '' TERM; sh -c '{child}' & echo stuck >&2; wait; : {{weights}}"
    monkeypatch.setattr(supervised, "PATIENCE", 0.2)
    with pytest.raises(InputError, match=r"no answer within 1 seconds.*--decoder-timeout.*It said: stuck"):
        DecoderCommand(command, timeout=1.0).decode({}, tmp_path / "w", Request())
    process = int((tmp_path / "child").read_text())
    for _ in range(100):
        stat = Path(f"/proc/{process}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.05)
    else:
        os.kill(process, 9)
        raise AssertionError("the child lives on")


def test_a_command_ends_when_we_are_killed(tmp_path: Path) -> None:
    command = DecoderCommand(f": {{weights}}; sleep 600 & echo $! > {tmp_path}/child; wait")
    started = kill_while(lambda: command.decode({"f": 1.0}, tmp_path / "work", Request()), tmp_path / "child")
    wait_for(lambda: not is_running(started))
