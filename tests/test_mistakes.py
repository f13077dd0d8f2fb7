"""What people get wrong, under the commands where they do: none ends in a plain success.

Each row is a mistake, a command that makes it, and what is said: an error (exit code 2) or a warning, with the cause.
``docs/reliability.md`` has the table of what each command checks; this file proves it.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from unicodedata import normalize

import pytest

from hopefear.cli.main import main
from hopefear.data.lists import Synthetic
from hopefear.translator.folder import write_card
from tests.corpus.files import TEXTS
from tests.fuzzing import FAIRSEQ
from tests.model.test_familiar import foreign
from tests.model.test_imported import ARPA
from tests.model.test_pairing import text

Capture = pytest.CaptureFixture[str]
NBEST = "l/nbest.txt"
LISTS = ["--nbest", NBEST]
REFS = ["--refs", "l/ref.0", "l/ref.1"]
TUNE = ["--trainer", "kbmira", "--out", "r"]
SIDES = ["--source", "f", "--target", "e"]
BUILD = ["build", "--align", "a", "--tokenizer", "none", "--lm-order", "2", "--out", "x"]


def changed(name: str, change: Callable[[list[str]], list[str]]) -> Callable[[], None]:
    """A mistake in the lines of a file."""

    def make() -> None:
        lines = Path(name).read_text().split("\n")[:-1]
        Path(name).write_text("".join(line + "\n" for line in change(lines)))

    return make


def replaced(name: str, other: str) -> Callable[[], None]:
    """One file in the place of another."""
    return lambda: shutil.copy(other, name) and None


def shifted(lines: list[str]) -> list[str]:
    return lines[1:] + lines[:1]


def shuffled(lines: list[str]) -> list[str]:
    return random.Random(1).sample(lines, len(lines))


def cut(lines: list[str]) -> list[str]:
    """One candidate without one of its scores."""
    place = next(k for k, line in enumerate(lines) if line.startswith("3 "))
    words = lines[place].split(" ||| ")
    words[2] = words[2].replace(words[2].split()[0] + " " + words[2].split()[1], "", 1).strip()
    return [*lines[:place], " ||| ".join(words), *lines[place + 1 :]]


def contradicting() -> None:
    Path("run").write_text("".join(f"q{q} Q0 d{d} 1 {-d} a\n" for q in range(9) for d in range(4)))
    Path("qrels").write_text("".join(f"q{q} 0 d1 1\n" for q in range(9)) + "q0 0 d1 0\n")


def shards() -> None:
    Path("gen").write_text(FAIRSEQ + FAIRSEQ)


def upper(lines: list[str]) -> list[str]:
    return [line.upper() for line in lines]


def other(lines: list[str]) -> list[str]:
    return [line[::-1].upper() for line in lines]


def decomposed() -> None:
    """The list has composed characters, the references letters and accents."""
    for name, form in ((NBEST, "NFC"), ("l/ref.0", "NFD")):
        changed(name, lambda lines, form=form: [normalize(form, accented(line)) for line in lines])()  # type: ignore[misc]


def accented(line: str) -> str:
    """The text of a candidate or a reference, with accents."""
    words = line.split(" ||| ")
    place = len(words) > 1
    words[place] = words[place].translate(str.maketrans("aeo", "äéö"))
    return " ||| ".join(words)


def cut_words(lines: list[str]) -> list[str]:
    return [" ".join(word[:2] + "@@ " + word[2:] for word in line.split()) for line in lines]


def shorter(lines: list[str]) -> list[str]:
    return lines[:-1]


def leak() -> None:
    rng = random.Random(1)
    rows = [(q, rng.random(), y) for q in range(60) for y in (rng.random(), rng.random(), rng.random())]
    Path("t.csv").write_text("q,a,copy,y\n" + "".join(f"{q},{a},{2 * y},{y}\n" for q, a, y in rows))


def empty_grammar() -> None:
    Path("grammar").write_text("")
    Path("lm.arpa").write_text(ARPA)
    Path("w").write_text("lm 1\n")


def stranger() -> None:
    Path("w").write_text(Path("l/initial.txt").read_text() + "another_model 0.5\n")


def two_files() -> None:
    """The second pair of files is a line off."""
    changed("e2", shifted)()


def decoder() -> None:
    """A decoder that always writes the same lists."""
    Path("decode.sh").write_text('cat l/nbest.txt > "$1"\n')
    changed("l/ref.0", shifted)()


def table_of(row: Callable[[int, int, float], str], header: str = "q,a,b,y") -> Callable[[], None]:
    """A table with lines made from the row, the group and a number."""

    def make() -> None:
        rng = random.Random(1)
        rows = [row(number, number // 3, round(rng.gauss(0, 1), 3)) for number in range(90)]
        Path("t.csv").write_text("".join(line + "\n" for line in [header, *rows]))

    return make


def zeros() -> None:
    Path("w").write_text("".join(f"{line.split()[0]} 0\n" for line in Path("l/initial.txt").read_text().splitlines()))


def with_features() -> None:
    assert main(["features", NBEST, "--out", "more.txt", "--quiet"]) == 0


def page() -> None:
    changed("stdin", other)()
    shutil.copy("stdin", "page.txt")


def german() -> None:
    for k, name in enumerate("gh"):
        Path(name).write_text("".join(" ".join(pair[k] for pair in three) + "\n" for three in product(TEXTS, repeat=3)))


def nothing() -> None: ...


TABLE = ["--group", "q", "--outcome", "y"]
COMPARE = ["--trainers", "kbmira", "--seeds", "1", "--out", "x"]
DECODER = ["--decoder-command", "sh decode.sh {nbest} {weights}", "--initial", "l/initial.txt", "--iterations", "1"]
MIRA = ["--trainer", "mira", "--set", "epochs=1", "--out", "r"]
TRAIN = ["--source", "f", "--refs", "e", *MIRA]
GEN = ["--nbest", "gen", "--format", "fairseq"]
ALIGNED = ["build", "--tokenizer", "none", "--lm-order", "2", "--out", "x"]
CREATE = ["create", "--source", "g", "--target", "h", "--no-curve", "--out", "x", "--from", "de", "--to", "en"]
OTHER = "other/nbest.txt"
COMBINE = ["combine", "--names", "a", "b", "--out", "x.jsonl"]
WEIGH = ["weigh", "t.csv", *TABLE, "--folds", "2", "--out", "x"]
Row = tuple[str, Callable[[], None], Sequence[str], str]
ROWS: list[Row] = [
    # references
    ("of the next line", changed("l/ref.1", shifted), ["score", "out", *REFS], "l/ref.1 fits line i+1 better"),
    ("of the next line", changed("l/ref.1", shifted), ["tune", *LISTS, *REFS, *TUNE], "fits line i+1 better"),
    ("in no order", changed("l/ref.0", shuffled), ["score", "out", *REFS], "no better than random lines"),
    ("in no order", changed("l/ref.0", shuffled), ["tune", *LISTS, *REFS, *TUNE], "no better than random lines"),
    (
        "of the next line",
        changed("l/ref.1", shifted),
        ["compare", *LISTS, *REFS, *COMPARE],
        "l/ref.1 fits line i+1 better",
    ),
    (
        "of the next line",
        changed("l/ref.0", shifted),
        ["compare", *LISTS, "--refs", "right", "--test-nbest", NBEST, "--test-refs", "l/ref.0", *COMPARE],
        "l/ref.0 fits line i+1 better",
    ),
    (
        "of the next line",
        changed("l/ref.0", shifted),
        ["tune", *LISTS, "--refs", "right", "--dev-nbest", NBEST, "--dev-refs", "l/ref.0", *TUNE],
        "l/ref.0 fits line i+1 better",
    ),
    ("of the next line", decoder, ["tune", *DECODER, "--refs", "l/ref.0", *TUNE], "fits line i+1 better"),
    ("of the next line", changed("e", shifted), ["train", "m", *TRAIN], "e fits line i+1 better"),
    ("of the line before", changed("e", lambda lines: lines[-1:] + lines[:-1]), ["train", "m", *TRAIN], "line i-1"),
    ("in reverse order", changed("e", lambda lines: lines[::-1]), ["train", "m", *TRAIN], "in reverse order better"),
    ("in no order", changed("e", shuffled), ["train", "m", *TRAIN], "no better than random lines"),
    (
        "of the next line",
        changed("e", shifted),
        ["train", "m", "--source", "f", "--refs", "e.right", "--dev-source", "f", "--dev-refs", "e", *MIRA],
        "e fits line i+1 better",
    ),
    ("in no order", changed("l/ref.0", shuffled), ["compare", *LISTS, *REFS, *COMPARE], "no better than random"),
    ("one too few", changed("l/ref.0", shorter), ["score", "out", *REFS], "lines"),
    ("one too few", changed("l/ref.0", shorter), ["tune", *LISTS, *REFS, *TUNE], "has 120 lines"),
    ("one too few", changed("l/ref.0", shorter), ["convert", NBEST, "x.jsonl", *REFS], "lines"),
    ("empty", changed("l/ref.0", lambda lines: []), ["score", "out", "--refs", "l/ref.0"], "the file is empty"),
    ("empty", changed("l/ref.0", lambda lines: []), ["tune", *LISTS, "--refs", "l/ref.0", *TUNE], "too short"),
    ("in another case", changed("l/ref.0", upper), ["tune", *LISTS, "--refs", "l/ref.0", *TUNE], "--lowercase"),
    ("in another case", changed("l/ref.0", upper), ["score", "out", "--refs", "l/ref.0"], "--lowercase"),
    ("in another case", changed("l/ref.0", upper), ["compare", *LISTS, "--refs", "l/ref.0", *COMPARE], "--lowercase"),
    ("in another Unicode form", decomposed, ["tune", *LISTS, "--refs", "l/ref.0", *TUNE], "Convert both files to NFC"),
    ("in another Unicode form", decomposed, ["convert", NBEST, "x.jsonl", "--refs", "l/ref.0"], "to NFC"),
    ("words, not sub-words", changed("out", cut_words), ["score", "out", *REFS], "Join the sub-words"),
    (
        "empty in most lines",
        changed("l/ref.0", lambda lines: [*lines[:9], *[""] * 111]),
        ["score", "out", "--refs", "l/ref.0"],
        "111 of 120 lines have an empty reference",
    ),
    ("swapped with the list", nothing, ["tune", "--nbest", "l/ref.0", "--refs", "l/nbest.txt", *TUNE], "swapped"),
    # lists
    ("a score is missing", changed(NBEST, cut), ["tune", *LISTS, *REFS, *TUNE], "candidates have"),
    ("a score is missing", changed(NBEST, cut), ["rerank", *LISTS, "--weights", "l/initial.txt"], "candidates have"),
    ("a score is missing", changed(NBEST, cut), ["convert", NBEST, "x.jsonl"], "candidates have"),
    ("a score is missing", changed(NBEST, cut), ["features", NBEST, "--out", "x.txt"], "candidates have"),
    (
        "a score is missing",
        changed(NBEST, cut),
        ["combine", NBEST, NBEST, "--names", "a", "b", "--out", "x.jsonl"],
        "candidates have",
    ),
    ("shards in one file", shards, ["rerank", *GEN, "--weights", "l/initial.txt"], "begins again"),
    ("shards in one file", shards, ["convert", "gen", "x.jsonl", "--from", "fairseq"], "begins again"),
    ("shards in one file", shards, ["tune", *GEN, *REFS, *TUNE], "begins again"),
    ("of other sentences", nothing, ["tune", "--nbest", NBEST, OTHER, *REFS, *TUNE], f"{OTHER} matches its lines no"),
    ("of other sentences", nothing, [*COMBINE, NBEST, OTHER], f"{OTHER} matches its lines no better"),
    ("given twice", nothing, [*COMBINE, NBEST, NBEST], "are the same list"),
    ("a reference given twice", nothing, ["tune", *LISTS, "--refs", "right", "right", *TUNE], "or it is there twice"),
    ("a reference given twice", nothing, ["score", "out", "--refs", "right", "right"], "or it is there twice"),
    (
        "scored and learnt from",
        nothing,
        ["tune", *LISTS, *REFS, "--dev-nbest", NBEST, "--dev-refs", "l/ref.0", "l/ref.1", *TUNE],
        "108 of 120 sentences of --dev-nbest are among those learnt from",
    ),
    (
        "scored and learnt from",
        nothing,
        ["compare", *LISTS, *REFS, "--test-nbest", NBEST, "--test-refs", "l/ref.0", "l/ref.1", *COMPARE],
        "sentences of --test-nbest are among those learnt from",
    ),
    (
        "scored and learnt from",
        nothing,
        ["train", "m", "--source", "f", "--refs", "e", "--test-source", "f", "--test-refs", "e", *MIRA],
        "sentences of --test-source are among those learnt from",
    ),
    ("has the columns", with_features, ["features", "more.txt", "--out", "x.txt"], "as it was before features"),
    # weights
    ("all 0", zeros, ["rerank", *LISTS, "--weights", "w"], "all weights are 0"),
    ("of another list", stranger, ["rerank", *LISTS, "--weights", "w"], "does not have: another_model"),
    ("of another list", stranger, ["rerank", "--forests", "l.forests", "--weights", "w"], "do not have: another_model"),
    ("of another list", stranger, ["tune", *LISTS, *REFS, *TUNE, "--initial", "w"], "do not have: another_model"),
    ("of another model", stranger, ["translate", "m", "--weights", "w"], "that the model does not have"),
    # tables
    ("the outcome is a feature", leak, ["weigh", "t.csv", *TABLE, "--out", "x"], "Leave it out"),
    ("the outcome is a feature", leak, ["tune", "--table", "t.csv", *TABLE, *TUNE], "Leave it out"),
    ("decimal commas", table_of(lambda i, q, x: f'{q},"{x},5",{x},{x}'), WEIGH, "t.csv: a is left out: '"),
    ("percent", table_of(lambda i, q, x: f"{q},{x} %,{-x},{x}"), WEIGH, "is not a number. Write it without %"),
    ("only odd numbers", table_of(lambda i, q, x: f'{q},"1,{i:03}",{x} %,{x}'), WEIGH, "'1,000' is not a number"),
    ("semicolons", table_of(lambda i, q, x: f"{q};{x};{x};{x}", "q;a;b;y"), WEIGH, "separated by ';'"),
    ("an index", table_of(lambda i, q, x: f"{i},{q},{x},{-x}", ",q,a,y"), WEIGH, "column without a name is left out"),
    ("row numbers", table_of(lambda i, q, x: f"{q},{x},{i},{x / (1 + i % 3)}"), WEIGH, "b is the number of the row"),
    (
        "contradicting judgements",
        contradicting,
        ["weigh", "run", "--qrels", "qrels", "--out", "x"],
        "another in line 1",
    ),
    # parallel text and models
    ("one file for both sides", nothing, [*BUILD, "--source", "f", "--target", "f"], "equal in 100 %"),
    ("a line off", changed("e", shifted), [*BUILD, *SIDES], "1 line ahead of the source"),
    (
        "a line off in the second file",
        two_files,
        [*ALIGNED, "--source", "f", "f2", "--target", "e", "e2"],
        "e2: the target seems to be 1 line ahead",
    ),
    ("a line off", changed("e", shifted), ["learn", "m", *SIDES], "e fits line i+1 better"),
    ("in no order", changed("e", shuffled), ["learn", "m", *SIDES], "no better than random lines"),
    ("one line too few", changed("e", shorter), ["learn", "m", *SIDES], "Give exactly one correction per line"),
    ("one file for both sides", replaced("e", "f"), ["learn", "m", *SIDES], "no better than random lines"),
    ("in no order", changed("e", shuffled), [*BUILD, *SIDES], "translations of each other"),
    ("one line too few", changed("e", shorter), [*BUILD, *SIDES], "same number"),
    ("input of the target language", changed("stdin", foreign), ["translate", "m"], "source and target swapped"),
    ("input of another language", changed("stdin", other), ["translate", "m"], "rules for"),
    ("input of another language", changed("stdin", other), ["translate", "tr"], "rules for"),
    ("a document of another language", page, ["translate", "tr", "page.txt", "--out", "x"], "page.txt: the model has"),
    ("over a table", nothing, ["pack", "tr", "out"], "its name does not end in .hft"),
    ("over a text", lambda: Path("l/run.json").write_text("{}") and None, ["report", "l", "--out", "out"], " page"),
    (
        "by the outcome",
        table_of(lambda i, q, x: f"{q},{x},{-x},{x}"),
        ["score", "--table", "t.csv", *TABLE, "--by", "y"],
        "this is the score of the best choice",
    ),
    ("a scale that is no number", nothing, ["translate", "m", "--mbr", "bleu", "--scale", "nan"], "'--scale'"),
    ("no such host", nothing, ["serve", "tr", "--host", "not..a..host", "--port", "0"], "not a host name"),
    ("not a language code", german, [*CREATE[:-1], "english"], "'english': not a language code"),
    ("text of the source language", german, [*CREATE, "--lm-text", "g"], "g: what should be en is de"),
    (
        "development text swapped",
        german,
        [*CREATE, "--dev-source", "h", "--dev-refs", "g"],
        "h: what should be de is en, and the other way round",
    ),
    (
        "an empty grammar",
        empty_grammar,
        ["import", "--grammar", "grammar", "--lm", "lm.arpa", "--weights", "w", "--format", "cdec", "--out", "x"],
        "has no rule",
    ),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything as it should be."""
    folder = tmp_path_factory.mktemp("mistakes")
    Synthetic(sentences=120, candidates=10, seed=2).write(folder / "l")
    Synthetic(sentences=120, candidates=10, seed=5).write(folder / "other")
    source, target = text(250, 0.1)
    links = [" ".join(f"{i}-{len(line.split()) - 1 - i}" for i in range(len(line.split()))) for line in source]
    firsts: dict[str, str] = {}
    for line in (folder / "l" / "nbest.txt").read_text().splitlines():
        firsts.setdefault(line.split(" ||| ")[0], line.split(" ||| ")[1])
    for name, lines in (("f", source), ("e", foreign(target)), ("a", links), ("out", list(firsts.values()))):
        (folder / name).write_text("".join(line + "\n" for line in lines))
    for name, copy in (("f", "f2"), ("e", "e2"), ("e", "e.right"), ("l/ref.0", "right"), (NBEST, "l/copy.txt")):
        shutil.copy(folder / name, folder / copy)
    (folder / "stdin").write_text("".join(line + "\n" for line in source[:20]))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main([*BUILD[:-1], "m", "--source", "f", "--target", "e", "--quiet"]) == 0
        assert main(["convert", NBEST, "l.forests", "--to", "native", "--quiet"]) == 0
    shutil.copytree(folder / "m", folder / "tr")
    write_card(folder / "tr", {"name": "tr", "source": "de", "target": "en"})
    return folder


def run(arguments: Sequence[str], said: Capture) -> tuple[int, str]:
    said.readouterr()
    code = main(list(arguments))
    return code, said.readouterr().err


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("make", "arguments", "finding"), [row[1:] for row in ROWS], ids=[f"{row[2][0]}: {row[0]}" for row in ROWS]
)
def test_a_mistake_is_said(
    make: Callable[[], None],
    arguments: Sequence[str],
    finding: str,
    here: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make()
    with Path("stdin").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        code, err = run(arguments, capsys)
    assert finding in err and "Traceback" not in err, (code, err)
    assert code == 2 or (code == 0 and "warning" in err), (code, err)


GOOD: dict[str, Sequence[str]] = {
    "score": ["score", "out", *REFS],
    "tune": ["tune", *LISTS, *REFS, *TUNE],
    "rerank": ["rerank", *LISTS, "--weights", "l/initial.txt"],
    "convert": ["convert", NBEST, "x.jsonl", *REFS],
    "features": ["features", NBEST, "--out", "x.txt"],
    "combine": [*COMBINE, NBEST, "l/copy.txt"],
    "build": [*BUILD, *SIDES],
    "translate": ["translate", "m"],
    "train": ["train", "m", *TRAIN],
    "learn": ["learn", "m", *SIDES],
    "compare": ["compare", *LISTS, *REFS, *COMPARE],
}


@pytest.mark.parametrize("name", GOOD)
def test_without_a_mistake_nothing_of_it_is_said(
    name: str, here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the findings above would mean nothing."""
    with Path("stdin").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        code, err = run(GOOD[name], capsys)
    assert code == 0, err
    assert not [row[3] for row in ROWS if row[2][0] == name and row[3] in err], err
