"""Every command that writes: what it begins with, what it must leave, how it is repeated after a fault."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hopefear.data.lists import Synthetic
from hopefear.data.verses import Verse
from hopefear.model import BuildOptions, build
from hopefear.util import leftovers
from tests import faults
from tests.creation.test_pipeline import write_corpus
from tests.model.test_imported import ARPA, GRAMMARS
from tests.models import sentence, write_block_task

FULL = re.compile("Make room|ulimit -f|a disk with room|disk full|limit exceeded")  # the cure is told


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


def memory(folder: Path) -> None:
    write_corpus(folder / "x.tsv", 160)


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
    "create": Case(
        ["create", "x.tsv", "--from", "de", "--to", "en", "--no-curve", "--out", "m"],
        [*MODEL, "m/card.json"],
        [],
        memory,
        once=True,
        long=True,
    ),
    "compare": Case(
        ["compare", *LISTS, "--trainers", "kbmira,mert", "--seeds", "2", "--set", "mert.restarts=1", "--out", "r"],
        ["r/table.md", "r/table.tex", "r/table.csv", "r/weights.txt", "r/weights/mert-2.txt"],
        ["--resume"],
        lists,
    ),
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


def names(folder: Path) -> set[str]:
    """All that is in a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@dataclass(frozen=True)
class Whole:
    """A run without a fault: the folder before and after it, its events, and its time on the processor."""

    before: Path
    after: Path
    events: int
    seconds: float

    @classmethod
    def of(cls, case: Case, folder: Path) -> Whole:
        before = prepared(case, folder / "before")
        shutil.copytree(before, folder / "after")
        ended = faults.run(case.command, folder / "after")
        assert ended.code == 0 and ended.events > 1, ended
        return cls(before, folder / "after", ended.events, ended.seconds)


def struck(case: Case, whole: Whole, folder: Path, fault: faults.Fault) -> faults.Ended:
    """A run with a fault: all or nothing is there, and the same command mends it."""
    shutil.copytree(whole.before, folder)
    ended = faults.run(case.command, folder, fault)
    told = f"{fault} of {whole.events}: {ended}"
    assert ended.killed or ended.code in (0, 1, 2), told
    assert not any(word in ended.said for word in ("Traceback", "defect", leftovers.PART)), told
    if fault.room is not None:
        assert ended.code == 0 or re.search(
            "Make room|ulimit -f|a disk with room|disk full|limit exceeded", ended.said
        ), told
        assert not [name for name in names(folder) if leftovers.PART in name], told
    for result in case.results:
        place = folder / result
        allowed = [(root / result).read_bytes() for root in (whole.before, whole.after) if (root / result).exists()]
        assert not place.exists() or place.read_bytes() in allowed, f"{result}: {told}"
    done = all((folder / result).exists() for result in case.results)
    again = faults.run([*case.command, *case.again], folder)
    assert again.code == (2 if case.once and done else 0), f"{told}\nagain: {again}"
    for result in case.results:
        assert (folder / result).read_bytes() == (whole.after / result).read_bytes(), f"{result}: {told}"
    assert all((folder / mine).read_text() == "mine" for mine in case.keep), told
    # Of a run that was done: relevant sets that it only had left to remove, a checkpoint for which there was no room.
    rest = "/checkpoint/" if fault.room is not None and ended.code == 0 else "/checkpoint/relevant"
    more = {name for name in names(folder) ^ names(whole.after) if rest not in name}
    assert not more, f"{more}: {told}"
    shutil.rmtree(folder)
    return ended


def without_space(case: Case, whole: Whole, folder: Path) -> None:
    """The disk is full and stays so: the command ends, with the cause."""
    shutil.copytree(whole.before, folder)
    ended = faults.run(case.command, folder, faults.Fault(max(1, whole.events // 3), "disk full", lasting=True))
    assert ended.code in (1, 2) and "Traceback" not in ended.said and "defect" not in ended.said, ended
    assert "full" in ended.said or "no space" in ended.said.lower(), ended
