"""A default and a help text stand once: a second one would be another value some day."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hopefear

SOURCES = Path(hopefear.__file__).parent
COMMANDS = sorted((SOURCES / "commands").glob("*.py"))
#: Values that mean "none", "off" or "the usual", whatever they are the default of.
NEUTRAL: tuple[Any, ...] = (None, True, False, 0, 1, "", ())
#: The same name and number by coincidence: other things, in other commands or of other objects.
OTHERS = {
    ("input", "text"),  # of translate and of train
    ("max_words", 100),  # of a corpus that is cleaned, and of a model that is built
    ("kbest", 200),  # of a decoding, and of each forest in a round of a batch trainer
}


def literal(node: ast.expr | None) -> Any:
    """The value of a literal, also as ``arg(..., default=value)`` and ``option(value)`` have it; None without one."""
    if isinstance(node, ast.Call):
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        first = node.args[0] if node.args and isinstance(node.func, ast.Name) and node.func.id == "option" else None
        return literal(given.get("default", first))
    try:
        return ast.literal_eval(node) if node is not None else None
    except ValueError:
        return None


def defaults(path: Path) -> Iterator[tuple[str, Any]]:
    """Name and default of the parameters of functions and of the fields of classes, where it is a literal."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            unnamed = [*node.args.posonlyargs, *node.args.args]
            known = zip(unnamed[len(unnamed) - len(node.args.defaults) :], node.args.defaults, strict=True)
            for parameter, default in [*known, *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]:
                yield parameter.arg, literal(default)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, literal(node.value)


def test_a_default_of_a_command_is_written_once() -> None:
    places: dict[tuple[str, Any], list[str]] = defaultdict(list)
    for path in sorted(SOURCES.rglob("*.py")):
        for name, value in defaults(path):
            if isinstance(value, str | int | float) and value not in NEUTRAL:
                places[name, value].append(str(path.relative_to(SOURCES)))
    options = {each for path in COMMANDS for each in defaults(path) if isinstance(each[1], str | int | float)}
    assert ("holdout", 0.2) in options and ("port", 5000) in places  # it sees arg(default=...) and plain fields
    assert {each: places[each] for each in options - OTHERS if len(places[each]) > 1} == {}


def test_a_help_text_is_written_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in COMMANDS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "arg" and node.args:
                text = literal(node.args[0])
                if isinstance(text, str) and len(text.split()) > 4:
                    places[text].append(path.name)
    assert len(places) > 150
    assert {text: files for text, files in places.items() if len(files) > 1} == {}
