import json

import numpy as np
import pytest

from hopefear.runs.plain import plain


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
