"""Plausible mistakes under every command that reads files: none ends in a plain success.

``docs/reliability.md`` has the table: a row for each command, a column for each mistake. Each cell is made here:
an ``error`` ends with exit code 2, a ``warning`` says what a run without the mistake does not say.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import pytest

from hopefear import commands
from hopefear.cli.main import main
from hopefear.commands.base import about
from tests.corpus.files import TEXTS
from tests.model.test_familiar import foreign
from tests.model.test_imported import ARPA, GRAMMARS
from tests.model.test_pairing import text as parallel
from tests.test_mistakes import (
    ALIGNED,
    LISTS,
    MIRA,
    NBEST,
    SIDES,
    TUNE,
    Capture,
    made as made,
    other,
    shifted,
    shorter,
    shuffled,
)

DOCS = Path(__file__).parents[1] / "docs" / "reliability.md"
Lines = list[str]

#: The option that names a file -> what is in it.
ROLES = {
    **dict.fromkeys(["refs", "dev_refs", "test_refs"], "references"),
    **dict.fromkeys(["nbest", "lists", "list", "input", "dev_nbest", "test_nbest", "forests"], "list"),
    **dict.fromkeys(["weights", "initial"], "weights"),
    **dict.fromkeys(["translator", "model", "into"], "model"),
    **dict.fromkeys(["table", "qrels", "grammar", "runs"]),
    **dict.fromkeys(["source", "target"], "text"),
}
#: Those that say how, and those that come with one of the above.
OTHERS = [
    "align",
    "lm_text",
    "filter",
    "floors",
    "sources",
    "lm",
    "perplexity",
    "glossary",
    "keep",
    "api_keys",
    "params",
]
OTHERS += ["data_sets", "features", "dev_source", "test_source", "with_corrections", "glue", "settings"]


@dataclass(frozen=True)
class Use:
    """A command as it should be, and the files that it reads."""

    arguments: Sequence[str]
    files: dict[str, str]  # what is in it -> its name
    ends: bool = True  # without a mistake it ends well, and soon


def upper(lines: Lines) -> Lines:
    return [line.upper() for line in lines]


def without_a_score(lines: Lines) -> Lines:
    """One candidate lacks its first score; one row its second value."""
    if " ||| " in lines[0]:
        place = next(k for k, line in enumerate(lines) if line.startswith("3 "))
        words = lines[place].split(" ||| ")
        words[2] = " ".join(words[2].split()[2:])
        return [*lines[:place], " ||| ".join(words), *lines[place + 1 :]]
    return [*lines[:5], re.sub(r",[^,]*", ",", lines[5], count=1), *lines[6:]]


def with_the_outcome(lines: Lines) -> Lines:
    """The column b is twice the outcome."""
    rows = [line.split(",") for line in lines]
    return [lines[0], *(",".join([q, a, str(2 * float(y)), y]) for q, a, _, y in rows[1:])]


def contradicting(lines: Lines) -> Lines:
    return [*lines, lines[0][:-1] + "3"]


def swapped() -> Lines:
    """The other side; this one takes its place."""
    source, target = read("german"), read("english")
    Path("german").write_text("".join(line + "\n" for line in target))
    return source


def source_of(lines: Lines) -> Lines:
    """What the lines are compared with, in their place."""
    return read({120: "out", 250: "f", 600: "long.f"}[len(lines)])


def of_another_model(lines: Lines) -> Lines:
    return [f"Other{line}" for line in lines]


Change = Callable[[Lines], Lines]
#: The column of the table -> what is in a file -> the change of its lines.
MISTAKES: dict[str, dict[str, Change]] = {
    "other lines": dict.fromkeys(["references", "text", "pairs"], shifted),
    "no order": dict.fromkeys(["references", "text", "pairs"], shuffled),
    "too short": dict.fromkeys(["references", "text", "pairs"], shorter) | {"list": lambda lines: lines[:-1000]},
    "empty": dict.fromkeys(
        ["references", "text", "pairs", "list", "table", "qrels", "grammar", "weights"], lambda lines: []
    ),
    "same text twice": dict.fromkeys(["references", "text", "pairs"], source_of),
    "another language": {"references": other, "text": other, "input": foreign, "sides": lambda lines: swapped()},
    "score missing": dict.fromkeys(["list", "table"], without_a_score),
    "twice in the file": dict.fromkeys(["list", "table"], lambda lines: lines + lines[lines[0].startswith("q,") :]),
    "other model": {"weights": of_another_model},
    "outcome as feature": {"table": with_the_outcome},
    "contradiction": {"qrels": contradicting},
    "wrong file": {},  # any file is an image
}
COMPETING = ("outcome as feature", "twice in the file")  # equal rows and a score that nobody learns do no harm
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256))


def read(name: str) -> Lines:
    return Path(name).read_text().split("\n")[:-1]


TABLE = ["--group", "q", "--outcome", "y"]
COMPARE = ["--trainers", "kbmira", "--seeds", "1", "--out", "x"]
REFS = ["--refs", "l/ref.0"]
LIST, WEIGHTS = {"list": NBEST}, {"weights": "l/initial.txt"}
WITH_REFS = {**LIST, "references": "l/ref.0"}
PAIRS = {"text": "e"}
FOREIGN = ["--grammar", "grammar", "--glue", "glue", "--lm", "lm.arpa", "--format", "cdec"]
LONG = ["--source", "long.f", "--target", "long.e"]
GERMAN = ["--source", "german", "--target", "english"]
BY = ["--weights", "l/initial.txt"]
LANGUAGES = ["--from", "de", "--to", "en"]
USES: dict[str, list[Use]] = {
    "tune": [
        Use(["tune", *LISTS, *REFS, "--initial", "l/initial.txt", *TUNE], {**WITH_REFS, **WEIGHTS}),
        Use(["tune", "--table", "t.csv", *TABLE, *TUNE], {"table": "t.csv"}),
    ],
    "weigh": [
        Use(["weigh", "t.csv", *TABLE, "--folds", "2"], {"table": "t.csv"}),
        Use(["weigh", "run1", "--qrels", "qrels", "--folds", "2"], {"qrels": "qrels"}),
    ],
    "compare": [
        Use(["compare", *LISTS, *REFS, "--initial", "l/initial.txt", *COMPARE], {**WITH_REFS, **WEIGHTS}),
        Use(["compare", "--table", "t.csv", *TABLE, *COMPARE], {"table": "t.csv"}),
    ],
    "score": [
        Use(["score", "out", *REFS], {"references": "l/ref.0"}),
        Use(["score", "--table", "t.csv", *TABLE, "--by", "a"], {"table": "t.csv"}),
    ],
    "rerank": [
        Use(["rerank", *LISTS, "--weights", "l/initial.txt"], {**LIST, **WEIGHTS}),
        Use(["rerank", "--table", "t.csv", "--group", "q", "--weights", "ab"], {"table": "t.csv", "weights": "ab"}),
    ],
    "features": [
        Use(["features", NBEST, "--out", "x.txt"], LIST),
        Use(
            [
                "features",
                NBEST,
                *["--out", "x.txt", "--consensus", "bleu", "--model", "m", "--sources", "l/source.txt"],
                *BY,
            ],
            {**WEIGHTS, "model": "m/model.json"},
        ),
    ],
    "combine": [
        Use(
            ["combine", NBEST, "l/right.txt", "--names", "a", "b", "--weights", "a=l/initial.txt", "--out", "x.jsonl"],
            {**LIST, **WEIGHTS},
        )
    ],
    "convert": [Use(["convert", NBEST, "x.jsonl", *REFS], WITH_REFS)],
    "report": [Use(["report", "run", "--out", "x.html"], {"runs": "run/run.json"})],
    "create": [
        Use(["create", *LONG, *LANGUAGES, "--no-curve", "--out", "x"], {"pairs": "long.e"}),
        Use(
            ["create", *LONG, *LANGUAGES, "--no-curve", "--test-source", "f", "--test-refs", "e", "--out", "x"],
            {"references": "e"},
        ),
        Use(["create", *GERMAN, *LANGUAGES, "--out", "x"], {"sides": "english"}, False),
    ],
    "translate": [
        Use(["translate", "m", "--weights", "mw"], {"model": "m/model.json", "weights": "mw", "input": "stdin"})
    ],
    "serve": [Use(["serve", "m", "--port", "0"], {"model": "m/model.json"}, False)],
    "learn": [Use(["learn", "m", *SIDES], {**PAIRS, "model": "m/model.json"})],
    "pack": [Use(["pack", "m", "x.hft"], {"model": "m/model.json"})],
    "build": [Use([*ALIGNED, *SIDES], {"pairs": "e"})],
    "import": [Use(["import", *FOREIGN, "--weights", "iw", "--out", "x"], {"grammar": "grammar", "weights": "iw"})],
    "export": [
        Use(
            ["export", "m", "--format", "cdec", "--weights", "mw", "--out", "x"],
            {"model": "m/model.json", "weights": "mw"},
        )
    ],
    "inspect": [Use(["inspect", "m"], {"model": "m/model.json"})],
    "train": [
        Use(
            ["train", "m", "--source", "f", "--refs", "e", "--initial", "mw", *MIRA],
            {"references": "e", "model": "m/model.json", "weights": "mw", "text": "e"},
        )
    ],
    "rescore": [
        Use(
            ["rescore", *LISTS, "--weights", "l/initial.txt", "--lm", "more=m/lm.bin", "--out", "x.txt"],
            {**LIST, **WEIGHTS},
        )
    ],
}


def cells() -> list[tuple[str, str, str]]:
    """The command, the mistake, and what the table says of it."""
    lines = [line for line in DOCS.read_text().split("\n") if line.startswith("|")]
    head = next(k for k, line in enumerate(lines) if "outcome as feature" in line)
    columns = [word.strip() for word in lines[head].split("|")[2:-1]]
    rows = [
        [word.strip().strip("`") for word in line.split("|")[1:-1]] for line in lines[head + 2 : head + 2 + len(USES)]
    ]
    return [(row[0], column, cell) for row in rows for column, cell in zip(columns, row[1:], strict=True)]


def mistaken(command: str, mistake: str) -> list[tuple[Use, str, Change | None]]:
    """The ways to make it: a use of the command, the file, and the change of its lines; none for an image."""
    uses = USES[command]
    if mistake == "too short" and command != "combine":  # nothing to compare a list with
        uses = [use for use in uses if "list" not in use.files or "references" in use.files]
    if mistake in COMPETING and command in ("rerank", "score"):
        uses = [use for use in uses if "table" not in use.files]
    if mistake == "wrong file":
        return [(use, name, None) for use in uses for content, name in use.files.items() if content != "input"]
    changes = MISTAKES[mistake]
    return [(use, name, changes[content]) for use in uses for content, name in use.files.items() if content in changes]


@pytest.fixture(scope="module")
def all_there(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all commands."""
    folder = tmp_path_factory.mktemp("matrix") / "made"
    shutil.copytree(made, folder)
    rng = random.Random(1)
    rows = [(q, *(round(rng.gauss(0, 1), 3) for _ in range(3))) for q in range(60) for _ in range(3)]
    text = "".join(f"{q},{a},{b},{round(a + b + c, 3)}\n" for q, a, b, c in rows)
    files = {
        "t.csv": "q,a,b,y\n" + text,
        "ab": "a 1\nb 0.5\n",
        "mw": "lm 1\nphrase_ef 0.5\nword -0.5\n",
        "lm.arpa": ARPA,
    }
    files |= {name: "".join(pair[k] + "\n" for pair in 50 * TEXTS) for k, name in enumerate(("german", "english"))}
    source, target = parallel(600, 0.1)
    files |= {
        name: "".join(f"{line}\n" for line in side) for name, side in (("long.f", source), ("long.e", foreign(target)))
    }
    files["run1"] = "".join(f"q{q} Q0 d{d} 1 {rng.random():.3f} a\n" for q in range(40) for d in range(4))
    files["qrels"] = "".join(f"q{q} 0 d{d} {(q + d) % 2}\n" for q in range(40) for d in range(4))
    grammar, glue, weights = GRAMMARS["cdec"]
    files |= {"grammar": grammar, "glue": glue, "iw": "".join(f"{name} {w}\n" for name, w in weights.items())}
    for name, content in files.items():
        (folder / name).write_text(content)
    shutil.copy(folder / NBEST, folder / "l/right.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["tune", *LISTS, *REFS, "--trainer", "kbmira", "--out", "run", "--quiet"]) == 0
    return folder


Ended = tuple[int, set[str]]


def ended(use: Use, folder: Path, place: Path, said: Capture, change: Callable[[], None]) -> Ended:
    """The exit code of a command, and its warnings and errors."""
    shutil.copytree(folder, place, symlinks=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        change()
        with Path("stdin").open() as stdin:
            patch.setattr("sys.stdin", stdin)
            said.readouterr()
            code = main(list(use.arguments))
    err = said.readouterr().err
    shutil.rmtree(place)
    assert "Traceback" not in err and "defect" not in err, err
    return code, {line for line in err.split("\n") if line.startswith(("warning", "hopefear:"))}


@pytest.fixture(scope="module")
def whole() -> Callable[..., Ended]:
    """How a command ends without a mistake."""
    known: dict[tuple[str, ...], Ended] = {}

    def of(use: Use, *given: object) -> Ended:
        key = tuple(use.arguments)
        if key not in known:
            known[key] = ended(use, *given, lambda: None)  # type: ignore[arg-type]
        return known[key]

    return of


def changed(name: str, change: Change | None) -> None:
    path = Path(name)
    if change is None:
        path.write_bytes(PICTURE)
        return
    path.write_text("".join(line + "\n" for line in change(read(name))))


@pytest.mark.parametrize(
    ("command", "mistake", "cell"),
    [each for each in cells() if each[2] != "-"],
    ids=lambda text: text.replace(" ", "-"),
)
def test_a_mistake_is_said(
    command: str, mistake: str, cell: str, all_there: Path, tmp_path: Path, capsys: Capture, whole: Callable[..., Ended]
) -> None:
    ends = []
    for use, name, change in mistaken(command, mistake):
        usual: Ended = (0, set())
        if use.ends:
            usual = whole(use, all_there, tmp_path / "whole", capsys)
            assert usual[0] == 0, usual
        code, told = ended(
            use, all_there, tmp_path / "here", capsys, lambda name=name, change=change: changed(name, change)
        )  # type: ignore[misc]
        assert code in (0, 2) and told - usual[1], (name, code, told)
        ends.append("error" if code == 2 else "warning")
    assert cell == "/".join(sorted(set(ends))), ends


def test_every_cell_is_filled() -> None:
    assert {(command, mistake) for command, mistake, _ in cells()} == {(c, m) for c in USES for m in MISTAKES}
    for command, mistake, cell in cells():
        assert bool(mistaken(command, mistake)) == (cell != "-"), (command, mistake, cell)


@cache
def inputs(command: str) -> set[str]:
    """What is in the files that a command reads, by its options."""
    names = [each.name for each in fields(commands.find(command)) if about(each).file]
    unknown = [name for name in names if name not in ROLES and name not in OTHERS]
    assert not unknown, f"{command}: say in ROLES what is in the files of {unknown}"
    return {ROLES[name] or name for name in names if name in ROLES}


def test_no_command_is_forgotten() -> None:
    """One that reads files has a row, with every file that it reads."""
    for command in commands.names():
        if command in ("experiment", "mine") or not inputs(command):
            continue
        used = {"text" if content == "pairs" else content for use in USES[command] for content in use.files}
        assert inputs(command) <= used, (command, inputs(command) - used)
