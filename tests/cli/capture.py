"""The output of a command."""

import pytest

Capture = pytest.CaptureFixture[str]


def one_line(captured: Capture) -> str:
    """The only line on standard error, and nothing on standard output."""
    out, err = captured.readouterr()
    assert out == ""
    assert err.startswith("hopefear: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err
