"""Phrases that docs/writing.md gives up stay away from what users read."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESEARCH = {"papers", "audit", "quality", "benchmarks", "notation"}  # notes, not pages for users
PAGES = [ROOT / "README.md", *(p for p in sorted((ROOT / "docs").glob("*.md")) if p.stem not in RESEARCH | {"writing"})]
SOURCES = sorted((ROOT / "src/hopefear").rglob("*.py"))

BANNED = (
    r"of (?:yours|your own|theirs)",
    r"beside",
    r"mend(?:ed|s)?",
    r"in peace",
    r"for the lot",
    r"by the clock",
    r"knows? no chance",
    r"takes? time by",
    r"what people said",
    r"(?:Read|Refused|Written|Warned of|Listed|Told) (?:are|is|in one line)",
    r"Warned of:",
    r"tried without",
    r"one a sentence",
    r"that is said",
    r"by the code of that time",
    r"whoever",
    r"(?:does|do) not mind",
    r"scores? alike",
    r"in vain",
    r"ran away",
    r"kept aside",
    r"nothing is said",
    r"a word is said",
    r"looks on",
    r"in the dark",
    r"murmurs?",
    r"keep some aside",
    r"for want of",
    r"told from chance",
    r"on a (?:very )?busy machine",
    r"(?:goes|went|going|go) on",
    r"(?:takes?|taken|took) back",
    r"(?:is|was|are|were) told",
    r"is no (?:file|folder|model|translator|term|name of|time|card|lattice|alignment|regular|packed|whole|clean)",
    r"none of ours",
    r"take another",
    r"(?:exists|is there) already",
    r"(?:format|rule|template|feature|style) is called",
    r"goes with \S+ only",
    r"(?:parted|part words) by",
    r"anew",
    r"anyhow",
    r"besides",
    r"ended well",
    r"further in",
    r"of the moment",
    r"plays? no part",
    r"put one after the other",
    r"the lot",
    r"to be had",
    r"whole or not at all",
)
PATTERN = re.compile(rf"\b(?:{'|'.join(BANNED)})(?!\w)", re.IGNORECASE)


def without_code(text: str) -> str:
    """A page without its blocks and its code spans, with as many lines."""
    text = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", "``", text)


def findings(name: str, text: str, line: int = 1) -> list[str]:
    return [f"{name}:{line + text.count(chr(10), 0, hit.start())}: {hit[0]!r}" for hit in PATTERN.finditer(text)]


def strings(source: Path) -> list[tuple[int, str]]:
    """The literal texts of a module, which become help, headings and messages."""
    nodes = ast.walk(ast.parse(source.read_text(encoding="utf-8")))
    return [(n.lineno, n.value) for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_keep_to_the_rules(page: Path) -> None:
    assert not findings(page.name, without_code(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: f"{source.parent.name}-{source.stem}")
def test_texts_of_the_program_keep_to_the_rules(source: Path) -> None:
    name = str(source.relative_to(ROOT))
    assert not [hit for line, text in strings(source) for hit in findings(name, text, line)]


def test_the_help_of_every_command_keeps_to_the_rules() -> None:
    """The help as it is shown, with what commands inherit from their bases."""
    from dataclasses import fields
    from inspect import getdoc

    from hopefear import commands
    from hopefear.commands.base import about

    for name in commands.names():
        command = commands.find(name)
        texts = [getdoc(command) or "", *(about(each).help for each in fields(command))]
        assert not findings(name, "\n".join(texts)), name


@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_keep_to_the_rules(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert not findings(notebook.name, "\n".join("".join(cell["source"]) for cell in cells))


def test_what_is_given_up_is_noticed() -> None:
    """The examples of the page on writing, which has them all in one column, are caught."""
    page = (ROOT / "docs" / "writing.md").read_text(encoding="utf-8")
    before = [row.split(" | ")[0] for row in page.splitlines() if row.startswith("| ")]
    after = [row.split(" | ")[1] for row in page.splitlines() if row.startswith("| ") and " | " in row]
    assert sum(bool(PATTERN.search(text)) for text in before) >= 12
    assert not findings("after", without_code("\n".join(after[: after.index("not |")])))


def test_words_are_spelled_as_in_the_dictionary() -> None:
    pytest.importorskip("codespell_lib")
    names = "aadd,befores,caf,ist,nd,retuned,rouge,teh,tham"  # metrics, people, scripts, other languages
    texts = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "src/hopefear"]
    options = ["--ignore-words-list", names, "--skip", "*.svg,*.png,*.xz,*.js,*.so,languages.py"]
    command = [sys.executable, "-m", "codespell_lib", *options, *texts]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
