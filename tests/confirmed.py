"""Kills at random moments while corrections are learnt: what was confirmed is there afterwards, and nothing else is."""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hopefear.learning.corrections import Corrections
from hopefear.model.directory import Model
from hopefear.translator.folder import corrections_of, write_card
from tests import faults
from tests.fault_cases import model, names

PAIRS = [(f"a b c {'d ' * k}a", f"a b c {'c ' * k}a") for k in range(1, 13)]
Confirm = Callable[[Path, faults.Fault], tuple[faults.Ended, list[str]]]


def translator(folder: Path) -> Path:
    """A folder with a small translator and corrections for it."""
    model(folder)
    write_card(folder / "m", {"name": "small", "source": "de", "target": "en"})
    for name, lines in zip(("source", "target"), zip(*PAIRS, strict=True), strict=True):
        (folder / name).write_text("".join(line + "\n" for line in lines))
    return folder


def listed(folder: Path) -> list[str]:
    """The ids in the journal."""
    path = folder / "m"
    return [each.id for each in Corrections(Model.open(path), corrections_of(path), "de", "en")]


def learn(folder: Path, fault: faults.Fault) -> tuple[faults.Ended, list[str]]:
    """``hopefear learn`` with all pairs; the ids that it printed."""
    ended = faults.run(["learn", "m", "--source", "source", "--target", "target"], folder, fault)
    return ended, [line.split()[0] for line in ended.printed.split("\n")[:-1]]


def serve(folder: Path, fault: faults.Fault) -> tuple[faults.Ended, list[str]]:
    """``hopefear serve`` while a client corrects; the ids that it answered."""
    server = faults.start(["serve", "m", "--port", "0", "--log", "errors"], folder, fault)
    confirmed: list[str] = []
    until = time.monotonic() + 120
    while "listening on " not in server.said or not server.said.endswith("\n"):
        if (ended := server.wait(block=False)) is not None:
            return ended, confirmed
        assert time.monotonic() < until, server.said
        time.sleep(0.01)
    address = urlsplit(server.said.partition("listening on ")[2].split()[0]).netloc
    with suppress(OSError, http.client.HTTPException):  # until it is dead
        for source, target in PAIRS:
            learnt = asked(address, "/v1/corrections", {"text": source, "correction": target})
            confirmed.append(learnt["id"])
        answer = asked(address, "/v1/translate", {"text": PAIRS[-1][0]})
        assert answer["translations"][0]["text"] == PAIRS[-1][1], answer
    os.kill(server.process, signal.SIGTERM)
    ended = server.wait()
    assert ended is not None
    return ended, confirmed


def asked(address: str, path: str, values: dict[str, str]) -> Any:
    """The answer of a server."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        body = json.dumps({**values, "source": "de", "target": "en"})
        connection.request("POST", path, body, {"content-type": "application/json"})
        answer = connection.getresponse()
        said = json.loads(answer.read())
    finally:
        connection.close()
    assert answer.status in (200, 201), said
    return said


def killed(confirm: Confirm, folder: Path, kills: int, seed: int) -> int:
    """Kills at events and after times; how many of them met the command at work."""
    rng = random.Random(seed)
    before = folder / "before"
    before.mkdir()
    translator(before)
    shutil.copytree(before, folder / "whole")
    whole, ids = confirm(folder / "whole", faults.Fault())
    assert whole.code == 0 and ids == listed(folder / "whole"), whole
    assert len(ids) == len(PAIRS), whole
    met = 0
    for number in range(kills):
        place = folder / f"kill{number}"
        shutil.copytree(before, place)
        event, seconds = rng.randint(1, whole.events), rng.uniform(0, whole.seconds)
        fault = faults.Fault(event) if rng.random() < 0.5 else faults.Fault(seconds=seconds)
        ended, ids = confirm(place, fault)
        there = listed(place)
        assert ended.killed or ended.code == 0, (fault, ended)
        assert there[: len(ids)] == ids and len(there) <= len(ids) + 1, (fault, ended, ids, there)
        again, more = confirm(place, faults.Fault())
        assert again.code == 0 and listed(place) == [*there, *more], (fault, again)
        assert names(place) == names(folder / "whole"), fault
        met += ended.killed
        shutil.rmtree(place)
    return met


def learning_killed(folder: Path, kills: int, seed: int) -> int:
    """``learn`` is killed so many times."""
    return killed(learn, folder, kills, seed)


def serving_killed(folder: Path, kills: int, seed: int) -> int:
    """``serve`` is killed so many times."""
    return killed(serve, folder, kills, seed)
