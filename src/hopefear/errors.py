"""The errors that a user can cause; the compiled core raises them too.

Messages are written with the options of the command line, as ``--missing mean``. What is called from Python names its
parameters instead: it runs in ``python_messages()``, which changes nothing inside ``command_line()``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_POLICY = re.compile(r"--missing (error|zero|mean|drop|indicator)\b")
_OPTION = re.compile(r"(?<![\w-])(?<!ray start )--([a-z][a-z0-9-]*)")
_typed: ContextVar[bool] = ContextVar("typed", default=False)  # whether messages are for the command line


class InputError(ValueError):
    """Bad input: one line that says where, what is wrong and how to cure it.

    >>> try:
    ...     hf.read_nbest("dev.nbest")
    ... except hf.InputError as error:
    ...     print(error)
    dev.nbest: no such file or folder. Check the path
    """


class OptionError(InputError):
    """An option that does not exist, has a wrong value, or does not go with another."""


class ArgumentError(OptionError, TypeError):
    """An argument that a constructor does not take."""


def input_error(file: object, line: int | None, finding: str) -> InputError:
    """An InputError that opens with its place, as in ``dev.nbest:12: expected ...``."""
    place = f"{file}:{line}" if line else f"{file}"
    return InputError(f"{place}: {finding}")


def in_python(text: str) -> str:
    """A message with the names of parameters where it has those of options.

    >>> in_python("give --test-nbest, or say --missing mean")
    'give test_nbest, or say missing="mean"'
    """
    text = _POLICY.sub(lambda match: f'missing="{match[1]}"', text)
    return _OPTION.sub(lambda match: match[1].replace("-", "_"), text)


@contextmanager
def python_messages() -> Iterator[None]:
    """Errors name the parameters of Python. Also a decorator of functions."""
    try:
        yield
    except InputError as error:
        if not _typed.get():
            error.args = (in_python(str(error)),)
        raise


@contextmanager
def command_line() -> Iterator[None]:
    """Messages name options as they are typed."""
    before = _typed.set(True)
    try:
        yield
    finally:
        _typed.reset(before)
