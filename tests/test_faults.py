"""Every command that writes, killed or refused at events all over its run.

Nothing is half there, nothing is lost, and the same command again ends with the same result.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hopefear.data.lists import Synthetic
from hopefear.data.verses import Verse
from hopefear.model import BuildOptions, build
from hopefear.util.atomic import PART
from tests import faults
from tests.model.test_imported import ARPA, GRAMMARS
from tests.models import sentence, write_block_task

MOMENTS = int(os.environ.get("HOPEFEAR_MOMENTS", "5"))  # of each way to fail, in each command


@dataclass(frozen=True)
class Case:
    """A command, how it is repeated after a fault, and what it must leave."""

    command: Sequence[str]
    results: Sequence[str]  # files that are the same bytes every time
    again: Sequence[str] = ()  # more options when it is repeated
    prepare: Callable[[Path], None] = field(default=lambda folder: None)
    keep: Sequence[str] = ()  # files of the user's that must survive
    once: bool = False  # refuses when its result is there already
    long: bool = False  # few moments


def lists(folder: Path) -> None:
    Synthetic(sentences=12, candidates=6).write(folder / "l")


def text(folder: Path) -> None:
    rng = random.Random(3)
    lines = ["".join(rng.choice("abcd") + " " for _ in range(rng.randint(2, 6))).strip() for _ in range(30)]
    (folder / "t").write_text("".join(line + "\n" for line in lines))
    (folder / "a").write_text("".join(" ".join(f"{i}-{i}" for i in range(len(line.split()))) + "\n" for line in lines))
    (folder / "stdin").write_text("a b c\nd a\n")


def model(folder: Path) -> None:
    text(folder)
    options = BuildOptions(tokenizer="none", lm_order=2, max_phrase=3)
    build(folder / "t", folder / "t", folder / "m", options, align=[folder / "a"])


def old_model(folder: Path) -> None:
    model(folder)
    (folder / "m" / "thesis.txt").write_text("mine")


def tuned(folder: Path) -> None:
    lists(folder)
    assert faults.run(["tune", *LISTS, "--trainer", "kbmira", "--out", "r"], folder).code == 0


def forests(folder: Path) -> None:
    model(folder)
    assert faults.run(["translate", "m", "--forests", "f.forests"], folder).code == 0
    (folder / "w.txt").write_text("lm 1\nmore 0.5\n")


def table(folder: Path) -> None:
    rng = random.Random(5)
    rows = [f"{group},{rng.random()},{rng.random()},{rng.random()}" for group in range(10) for _ in range(2)]
    (folder / "t.csv").write_text("\n".join(["q,a,b,y", *rows, ""]))


def decoder(folder: Path) -> None:
    """A decoder that says the same whatever the weights."""
    lists(folder)
    (folder / "decode.sh").write_text('cat l/nbest.txt > "$1"\n')


def blocks(folder: Path) -> None:
    write_block_task(folder, {"train": 24}, 3)


def page(folder: Path) -> None:
    model(folder)
    (folder / "page.txt").write_text("a text\nof some lines\n")


def foreign(folder: Path) -> None:
    grammar, glue, weights = GRAMMARS["cdec"]
    (folder / "grammar").write_text(grammar)
    (folder / "glue").write_text(glue)
    (folder / "weights").write_text("".join(f"{name} {value}\n" for name, value in weights.items()))
    (folder / "lm.arpa").write_text(ARPA)


def verses() -> Iterator[Verse]:
    """A short Bible: some books for each part."""
    rng = random.Random(2)
    for book, count in ((1, 40), (8, 4), (7, 4), (6, 4)):
        for number in range(count):
            source, target = sentence(rng)
            yield Verse(book * 1_000_000 + number, source, (target,) * 3)


@pytest.fixture(autouse=True)
def short_bible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopefear.data.verses.read_verses", verses)


REFS = ["--refs", "l/ref.0", "l/ref.1"]
LISTS = ["--nbest", "l/nbest.txt", *REFS]
BUILD = [
    "build",
    "--source",
    "t",
    "--target",
    "t",
    "--align",
    "a",
    "--tokenizer",
    "none",
    "--lm-order",
    "2",
    "--out",
    "m",
]
ONLINE = ["train", "m", "--source", "t", "--refs", "t", "--trainer", "mira", "--set", "epochs=2", "--out", "r"]
COSTMARGIN = ["train", "model", "--source", "train.de", "--refs", "train.en", "--trainer", "costmargin", "--out", "r"]
MODEL = ["m/grammar.bin", "m/lm.bin", "m/features.txt", "m/model.json"]
CASES = {
    "generate": Case(["generate", "--out", "l", "--sentences", "5"], ["l/nbest.txt", "l/ref.0"], ["--overwrite"]),
    "build": Case(BUILD, MODEL, ["--overwrite"], text),
    "build --overwrite": Case([*BUILD, "--overwrite"], MODEL, [], old_model, ["m/thesis.txt"]),
    "tune": Case(
        ["tune", *LISTS, "--trainer", "kbmira", "--replicates", "2", "--out", "r"],
        ["r/weights.txt"],
        ["--resume"],
        lists,
    ),
    "train mira": Case(ONLINE, ["r/weights.txt"], ["--resume"], model),
    "train costmargin": Case([*COSTMARGIN, "--set", "iterations=2"], ["r/weights.txt"], ["--resume"], blocks),
    "translate": Case(["translate", "m", "--forests", "f.forests"], ["f.forests"], [], model),
    "translate --out": Case(["translate", "m", "page.txt", "--out", "o"], ["o/page.txt"], [], page),
    "pack": Case(["pack", "m", "m.hft"], ["m.hft"], [], model),
    "tune --decoder-command": Case(
        [
            "tune",
            "--decoder-command",
            "sh decode.sh {nbest} {weights}",
            *REFS,
            "--trainer",
            "kbmira",
            "--iterations",
            "2",
            "--initial",
            "l/initial.txt",
            "--out",
            "r",
        ],
        ["r/weights.txt"],
        ["--resume"],
        decoder,
    ),
    "report": Case(["report", "r", "--out", "r.html"], ["r.html"], [], tuned),
    "weigh": Case(
        ["weigh", "t.csv", "--group", "q", "--outcome", "y", "--folds", "2", "--features", "a", "--out", "w"],
        ["w/weights.txt"],
        ["--overwrite"],
        table,
    ),
    "features": Case(["features", "l/nbest.txt", "--out", "more.txt"], ["more.txt"], [], lists),
    "combine": Case(
        ["combine", "l/nbest.txt", "l/nbest.txt", "--names", "a", "b", "--out", "both.jsonl"], ["both.jsonl"], [], lists
    ),
    "convert": Case(["convert", "l/nbest.txt", "l.jsonl"], ["l.jsonl"], [], lists),
    "rescore": Case(
        ["rescore", "--forests", "f.forests", "--weights", "w.txt", "--lm", "more=m/lm.bin", "--out", "g.forests"],
        ["g.forests"],
        [],
        forests,
    ),
    "export": Case(["export", "m", "--format", "cdec", "--out", "x"], ["x/cdec.ini"], [], model, once=True),
    "corpus": Case(["corpus", "--out", "v"], ["v/train.source", "v/train.target", "v/test.ref.2"], ["--overwrite"]),
    "import": Case(
        [
            *["import", "--grammar", "grammar", "--glue", "glue", "--lm", "lm.arpa", "--weights", "weights"],
            *["--format", "cdec", "--out", "m"],
        ],
        ["m/grammar.bin", "m/lm.bin", "m/model.json"],
        ["--overwrite"],
        foreign,
    ),
    "demo": Case(
        ["demo", "--epochs", "1", "--out", "d"],
        ["d/verses/train.source", *(f"d/{name.replace('m/', 'model/')}" for name in MODEL), "d/run/weights.txt"],
        long=True,
    ),
    "inspect": Case(["inspect", "m", "--export", "rules.txt.gz"], ["rules.txt.gz"], [], model),
}


def prepared(case: Case, folder: Path) -> Path:
    folder.mkdir()
    case.prepare(folder)
    return folder


def moments(events: int, seed: str, long: bool) -> list[int]:
    """The first event, the last ones, and some between; of a long command one, unless more were asked for."""
    rng = random.Random(seed)
    if long and MOMENTS <= 5:
        return [rng.randint(1, events)]
    some = {1, events - 1, events, *(rng.randint(1, max(1, events)) for _ in range(MOMENTS - 3))}
    return sorted(moment for moment in some if moment > 0)


def whole_run(case: Case, folder: Path) -> tuple[Path, Path, int]:
    """The folder that a command begins with, the one that it leaves, and the events between."""
    before = prepared(case, folder / "before")
    shutil.copytree(before, folder / "after")
    ended = faults.run(case.command, folder / "after")
    assert ended.code == 0 and ended.events > 1, ended
    return before, folder / "after", ended.events


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Path, int]]:
    """For each command: its run without a fault."""
    known: dict[str, tuple[Path, Path, int]] = {}

    def of(name: str) -> tuple[Path, Path, int]:
        if name not in known:
            known[name] = whole_run(CASES[name], tmp_path_factory.mktemp("faults"))
        return known[name]

    return of


@pytest.mark.parametrize("way", faults.WAYS)
@pytest.mark.parametrize("name", CASES)
def test_a_fault_leaves_all_or_nothing_and_the_next_run_mends_it(
    name: str, way: str, tmp_path: Path, whole: Callable[[str], tuple[Path, Path, int]]
) -> None:
    all_or_nothing(CASES[name], way, tmp_path, whole(name), name + way)


def all_or_nothing(case: Case, way: str, tmp_path: Path, run: tuple[Path, Path, int], seed: str) -> None:
    """Faults at some moments of a run, each repaired by the same command."""
    before, after, events = run
    for moment in moments(events, seed, case.long):
        folder = tmp_path / str(moment)
        shutil.copytree(before, folder)
        ended = faults.run(case.command, folder, moment, way)
        told = f"{way} at event {moment} of {events}: {ended}"
        assert ended.code in ((-9, 0, 1, 2) if way == "kill" else (0, 1, 2)), told
        assert "Traceback" not in ended.said and "defect" not in ended.said, told
        for result in case.results:
            found = folder / result
            allowed = [(root / result).read_bytes() for root in (before, after) if (root / result).exists()]
            assert not found.exists() or found.read_bytes() in allowed, f"{result}: {told}"
        done = all((folder / result).exists() for result in case.results)
        again = faults.run([*case.command, *case.again], folder)
        assert again.code == (2 if case.once and done else 0), f"{told}\nagain: {again}"
        for result in case.results:
            assert (folder / result).read_bytes() == (after / result).read_bytes(), f"{result}: {told}"
        assert all((folder / mine).read_text() == "mine" for mine in case.keep), told
        assert not list(folder.rglob(f"*{PART}")), told
        shutil.rmtree(folder)


@pytest.mark.parametrize("name", CASES)
def test_a_lasting_fault_is_said_in_one_line(
    name: str, tmp_path: Path, whole: Callable[[str], tuple[Path, Path, int]]
) -> None:
    """The disk stays full: the command ends, with the cause."""
    says_what_fails(CASES[name], tmp_path, whole(name))


def says_what_fails(case: Case, tmp_path: Path, run: tuple[Path, Path, int]) -> None:
    """A disk that stays full is named."""
    before, _, events = run
    folder = tmp_path / "full"
    shutil.copytree(before, folder)
    ended = faults.run(case.command, folder, max(1, events // 3), "disk full", lasting=True)
    assert ended.code in (1, 2) and "Traceback" not in ended.said and "defect" not in ended.said, ended
    assert "full" in ended.said or "no space" in ended.said.lower(), ended
