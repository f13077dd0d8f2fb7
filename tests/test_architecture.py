"""The layers of the program: includes and imports point one way."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hopefear import _core

ROOT = Path(__file__).parent.parent

# C++: the folders of core/, lowest first. A folder includes itself and the layers before its own; folders of one layer
# do not know each other.
CORE_LAYERS = (
    ("util",),
    ("forest",),
    ("metrics",),
    ("hope_fear",),
    ("formats",),
    ("lm", "joint"),
    ("grammar",),
    ("search",),
    ("hiero", "blocks"),
    ("trainers",),
)


def includes(core: Path) -> dict[str, list[str]]:
    """The files of our own that each file of ``core`` includes, all named from there."""
    files = [*core.rglob("*.h"), *core.rglob("*.cc")]
    return {
        path.relative_to(core).as_posix(): re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
        for path in sorted(files)
    }


def upward_edges(graph: Mapping[str, list[str]], layers: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    """Includes of a folder that is not below, and of files that no layer has."""
    layer = {folder: i for i, folders in enumerate(layers) for folder in folders}
    for file, targets in graph.items():
        own = file.split("/")[0]
        for target in targets:
            other = target.split("/")[0]
            if other != own and layer.get(other, len(layers)) >= layer.get(own, -1):
                yield f"{file} -> {target}"


def cycle(graph: Mapping[str, list[str]]) -> list[str]:
    """The files of one cycle, the first of them again at the end; empty without one."""
    done: set[str] = set()

    def visit(file: str, path: list[str]) -> list[str]:
        if file in path:
            return [*path[path.index(file) :], file]
        if file in done:
            return []
        for target in graph.get(file, []):
            if files := visit(target, [*path, file]):
                return files
        done.add(file)
        return []

    return next((files for file in graph if (files := visit(file, []))), [])


def test_core_folders_include_only_what_is_below_them() -> None:
    graph = includes(ROOT / "core")
    assert {file.split("/")[0] for file in graph} == {folder for folders in CORE_LAYERS for folder in folders}
    assert list(upward_edges(graph, CORE_LAYERS)) == []


def test_core_headers_have_no_cycle() -> None:
    assert cycle(includes(ROOT / "core")) == []


def test_core_never_includes_python() -> None:
    for path in [*(ROOT / "core").rglob("*.h"), *(ROOT / "core").rglob("*.cc")]:
        assert not re.search(r"#include <(nanobind|Python|pybind)", path.read_text()), path


@pytest.mark.parametrize(
    ("graph", "edges", "files_of_cycle"),
    [
        ({"a/x.h": ["a/y.h"], "b/x.h": ["a/x.h"]}, [], []),
        ({"a/x.h": ["b/x.h"]}, ["a/x.h -> b/x.h"], []),
        ({"c/x.h": ["b/x.h"]}, ["c/x.h -> b/x.h"], []),  # one layer
        ({"b/x.h": ["strange.h"]}, ["b/x.h -> strange.h"], []),
        ({"a/x.h": ["a/y.h"], "a/y.h": ["a/z.h"], "a/z.h": ["a/y.h"]}, [], ["a/y.h", "a/z.h", "a/y.h"]),
    ],
)
def test_the_checks_can_fail(graph: dict[str, list[str]], edges: list[str], files_of_cycle: list[str]) -> None:
    assert list(upward_edges(graph, (("a",), ("b", "c")))) == edges
    assert cycle(graph) == files_of_cycle


FILE_LINES, FUNCTION_LINES = 450, 60


def python_functions(path: Path) -> Iterator[tuple[str, int]]:
    """The functions of a Python file, and how many lines each has."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def cpp_functions(text: str) -> Iterator[tuple[str, int]]:
    """The functions of a C++ file as clang-format lays it out: from the line that opens to the one that closes."""
    opened: list[tuple[int, int, str]] = []  # indent, line, text
    for number, line in enumerate(text.split("\n")):
        indent = len(line) - len(line.lstrip())
        if line.lstrip().startswith("}"):
            while opened and opened[-1][0] >= indent:
                begin, first, head = opened.pop()
                if begin == indent:
                    yield head.strip(), number - first + 1
        if line.endswith("{") and not re.match(r"\s*(namespace|class|struct|enum|extern|union)\b", line):
            opened.append((indent, number, line))


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".cc", ".h", ".js"))


def test_files_are_short() -> None:
    lines = {
        str(path.relative_to(ROOT)): path.read_text().count("\n")
        for path in sources("src", "core", "bindings", "bench", "papers")
    }
    assert {path: count for path, count in lines.items() if count > FILE_LINES} == {}


def test_functions_are_short() -> None:
    long: dict[Any, Any] = {}
    for path in (path for path in sources("src", "core", "bindings", "bench", "papers") if path.suffix != ".js"):
        functions = python_functions(path) if path.suffix == ".py" else cpp_functions(path.read_text())
        long |= {f"{path.relative_to(ROOT)}: {name}": count for name, count in functions if count > FUNCTION_LINES}
    assert long == {}


def test_the_count_of_lines_can_fail() -> None:
    body = "  f();\n" * 70
    text = f"namespace a {{\nint g() {{\n{body}}}\n\nclass B {{\n{body}  void h() {{\n  }}\n}};\n}}\n"
    assert dict(cpp_functions(text)) == {"int g() {": 72, "void h() {": 2}


def test_cpp_is_formatted() -> None:
    """The version is pinned by the extra ``test``: another one lays out lines in another way."""
    program = shutil.which(
        "clang-format", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    )
    if program is None:
        pytest.skip("needs clang-format: pip install 'hopefear[test]'")
    files = [path for path in sources("core", "bindings", "tests/native") if path.suffix != ".py"]
    checked = subprocess.run([program, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, f"run clang-format -i on:\n{checked.stderr[:2000]}"


def signatures(scope: Any, prefix: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The functions of the core and the methods of its classes: text, docstring and defaults of each signature."""
    for name, member in vars(scope).items():
        function = member.__func__ if isinstance(member, staticmethod) else member
        for signature in getattr(function, "__nb_signature__", ()):
            yield f"{prefix}{name}", signature
        if isinstance(member, type):
            yield from signatures(member, f"{prefix}{name}.")


#: Classes that users call themselves: their defaults are nowhere else.
PUBLIC = ("Forest.", "Pool.", "OracleDocument.")
#: Defaults that mean "none", "off" or, of ``jobs``, "all".
NEUTRAL = (None, False, 0, "", [], {})


def test_no_defaults_in_bindings() -> None:
    """A default is a field in Python and stands once: a second one would be another value some day."""
    known = dict(signatures(_core))
    assert {"mert", "kbmira", "Learner.__init__", "PairMatrix.log_loss", "Grammar.open"} <= known.keys()
    assert any(1.0 in (signature[2] or ()) for name, signature in signatures(_core) if name == "Forest.viterbi")
    wrong = {
        name: signature[0]
        for name, signature in signatures(_core)
        if not name.startswith(PUBLIC) and any(default not in (*NEUTRAL, True) for default in signature[2] or ())
    }
    assert wrong == {}


def test_trainers_have_no_defaults_in_the_core() -> None:
    """Not even neutral ones: the fields of a trainer decide everything that it does."""
    sources = "".join(path.read_text() for path in sorted((ROOT / "bindings" / "trainers").glob("*.cc")))
    functions = set(re.findall(r'\bm\.def\(\s*"(\w+)"', sources))
    classes = tuple(f"{name}." for name in re.findall(r'nb::class_<[^>]*>\(\s*m, "(\w+)"', sources))
    assert functions and classes
    for name, signature in signatures(_core):
        if name in functions or name.startswith(classes):
            assert signature[2] is None, f"{name} has defaults: {signature[0]}"
