"""The losses of Gimpel and Smith (2012), one formula each, over one list: scores s, costs c, arrays."""

from typing import Any

import numpy as np


def softmax(x: Any) -> Any:
    """log sum exp, section 3.4."""
    return np.log(np.exp(x - x.max()).sum()) + x.max()


def oracle(s: Any, c: Any) -> Any:
    """The score of the first candidate of lowest cost, (10)."""
    return s[np.argmin(c)]


def risk(s: Any, c: Any) -> Any:
    p = np.exp(s - softmax(s))
    return p @ c


LOSSES = {
    "ramp1": lambda s, c: -max(s) + max(s + c),  # (6)
    "ramp2": lambda s, c: -max(s - c) + max(s),  # (7)
    "ramp3": lambda s, c: -max(s - c) + max(s + c),  # (8)
    "softramp1": lambda s, c: -softmax(s) + softmax(s + c),
    "softramp2": lambda s, c: -softmax(s - c) + softmax(s),
    "softramp3": lambda s, c: -softmax(s - c) + softmax(s + c),
    "perceptron": lambda s, c: -oracle(s, c) + max(s),  # (12) with (10)
    "latentperceptron": lambda s, c: -max(s[c == min(c)]) + max(s),  # (9)
    "hinge": lambda s, c: -oracle(s, c) + max(s + c),  # (13)
    "log": lambda s, c: -oracle(s, c) + softmax(s),  # example 2
    "latentlog": lambda s, c: -softmax(s[c == min(c)]) + softmax(s),
    "risk": risk,  # (5)
    "jensen": lambda s, c: -softmax(s) + softmax(s + c),
}
