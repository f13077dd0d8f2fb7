"""The errors that a user can cause; the compiled core raises them too."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: one line that says where, what is wrong and how to cure it."""


class OptionError(InputError):
    """An option that does not exist, has a wrong value, or does not go with another."""


def input_error(file: object, line: int | None, finding: str) -> InputError:
    """An InputError that opens with its place, as in ``dev.nbest:12: expected ...``."""
    place = f"{file}:{line}" if line else f"{file}"
    return InputError(f"{place}: {finding}")
