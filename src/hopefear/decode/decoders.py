"""The decoder for a model of either kind."""

from __future__ import annotations

from collections.abc import Mapping

from hopefear.decode.blocks import Blocks
from hopefear.decode.hiero import Hiero
from hopefear.model.directory import Model

Decoder = Hiero | Blocks


def decoder_for(
    model: Model,
    weights: Mapping[str, float] | None = None,
    pop_limit: int | None = None,
    max_options: int | None = None,
    max_span: int | None = None,
) -> Decoder:
    """The decoder for a model of either kind; limits of None are the decoder's own."""
    given = {"pop_limit": pop_limit, "max_options": max_options}
    if model.kind == "hiero":
        given["max_span"] = max_span
    limits = {name: value for name, value in given.items() if value is not None}
    kind = Blocks if model.kind == "blocks" else Hiero
    return kind(model, weights, **limits)  # type: ignore[arg-type]
