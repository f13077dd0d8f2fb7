"""The errors that a user can mend."""

from __future__ import annotations

from hopefear._core import InputError as InputError


class OptionError(InputError):
    """An option that does not exist, has a wrong value, or does not go with another."""


def input_error(file: object, line: int | None, finding: str) -> InputError:
    """An InputError that opens with its place, as in ``dev.nbest:12: expected ...``."""
    place = f"{file}:{line}" if line else f"{file}"
    return InputError(f"{place}: {finding}")
