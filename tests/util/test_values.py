import json

import numpy as np
import pytest

from hopefear.errors import InputError, OptionError
from hopefear.util.values import check_choice, plain, value_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.1), 0.1),
        (np.int32(3), 3),
        (np.bool_(True), True),
        (float("nan"), None),
        (-np.inf, None),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        ((1, "a", None), [1, "a", None]),
        ({1: {"a": (2,)}}, {"1": {"a": [2]}}),
        (complex(1, 2), "(1+2j)"),
    ],
)
def test_values_as_json_has_them(value: object, expected: object) -> None:
    assert plain(value) == expected
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == expected


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [("3", 1, 3), ("0.5", 1.0, 0.5), ("1e-3", 1.0, 0.001), ("Yes", False, True), ("0", True, False), ("a", "b", "a")],
)
def test_a_value_has_the_type_of_its_default(text: str, default: object, value: object) -> None:
    parsed = value_of(text, default, "--set")
    assert parsed == value and type(parsed) is type(default)


@pytest.mark.parametrize(
    ("text", "default", "kind"),
    [("3.5", 1, "a whole number"), ("x", 1.0, "a number"), ("maybe", True, "true or false")],
)
def test_a_value_of_another_type(text: str, default: object, kind: str) -> None:
    with pytest.raises(OptionError, match=f"--set C: '{text}' is not {kind}"):
        value_of(text, default, "--set C")


def test_a_choice() -> None:
    check_choice("kind", "hiero", ["hiero", "blocks"])
    with pytest.raises(InputError, match=r"kind: 'syntax' is not known\. Choose one of hiero, blocks"):
        check_choice("kind", "syntax", ["hiero", "blocks"])
