"""The public names: those of the stub are there, each under one name, and none hides a package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import hopefear

FOLDER = Path(hopefear.__file__).parent


def test_the_stub_has_the_same_names() -> None:
    tree = ast.parse((FOLDER / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    stub = {alias.name: node.module for node in imports for alias in node.names}
    assert all(alias.asname == alias.name for node in imports for alias in node.names)
    assert stub == hopefear._PUBLIC  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", hopefear._PUBLIC)  # type: ignore[attr-defined]
def test_every_name_is_there(name: str) -> None:
    assert getattr(hopefear, name) is not None and name in dir(hopefear)


def test_no_name_is_that_of_a_module() -> None:
    """Importing the module would replace the name."""
    modules = {path.stem for path in FOLDER.iterdir()}
    assert not modules & {*hopefear._PUBLIC}  # type: ignore[attr-defined]


def test_there_are_no_other_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        hopefear.nonsense  # type: ignore[attr-defined]  # noqa: B018
