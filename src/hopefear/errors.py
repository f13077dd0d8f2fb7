"""The errors that a user can mend."""

from hopefear._core import InputError

__all__ = ["InputError", "input_error"]


def input_error(file: object, line: int | None, finding: str) -> InputError:
    """An InputError that opens with its place, as in ``dev.nbest:12: expected ...``."""
    place = f"{file}:{line}" if line else f"{file}"
    return InputError(f"{place}: {finding}")
