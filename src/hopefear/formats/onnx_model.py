"""A linear model as an ONNX file, written by hand: one product, and what becomes of missing scores before it.

The bytes are those of ``onnx.proto`` (https://github.com/onnx/onnx): a field is its number and kind, then a number or
the length of its content and the content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

OPSET, IR_VERSION, FLOAT = 13, 7, 1
INPUT, OUTPUT = "features", "scores"


def onnx_bytes(weights: Mapping[str, float], substitutes: Sequence[float] | None, about: Mapping[str, str]) -> bytes:
    """``features``, a matrix of 32-bit floats with a column for each weight, to ``scores``, a vector.

    ``substitutes`` take the place of NaN in each column; without, the score of such a row is NaN.
    """
    tensors, nodes, columns = [_tensor("weights", list(weights.values()))], [], INPUT
    if substitutes is not None:
        tensors.append(_tensor("substitutes", substitutes))
        nodes += [_node("IsNaN", [INPUT], "missing"), _node("Where", ["missing", "substitutes", INPUT], "filled")]
        columns = "filled"
    nodes.append(_node("MatMul", [columns, "weights"], OUTPUT))
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"reranker")
    graph += b"".join(_field(5, tensor) for tensor in tensors)
    graph += _field(11, _value(INPUT, ["rows", len(weights)])) + _field(12, _value(OUTPUT, ["rows"]))
    known = {"features": json.dumps(list(weights), ensure_ascii=False), **about}
    metadata = (_field(1, key.encode()) + _field(2, value.encode()) for key, value in known.items())
    head = _field(1, IR_VERSION) + _field(2, b"hopefear")
    return head + _field(7, graph) + _field(8, _field(2, OPSET)) + b"".join(_field(14, entry) for entry in metadata)


def _node(operator: str, inputs: Sequence[str], output: str) -> bytes:
    return (
        b"".join(_field(1, name.encode()) for name in inputs)
        + _field(2, output.encode())
        + _field(4, operator.encode())
    )


def _tensor(name: str, values: Sequence[float]) -> bytes:
    raw = np.asarray(values, dtype="<f4").tobytes()
    return _field(1, len(values)) + _field(2, FLOAT) + _field(8, name.encode()) + _field(9, raw)


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    """A tensor of floats; a side of any length has a name."""
    sides = (_field(1, side) if isinstance(side, int) else _field(2, side.encode()) for side in shape)
    dimensions = _field(2, b"".join(_field(1, side) for side in sides))
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, FLOAT) + dimensions))


def _field(number: int, content: int | bytes) -> bytes:
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
