"""Decoders: from source text to forests, and from forests to forests with more features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.util import lazy

_PUBLIC = {
    "Blocks": "hopefear.decode.blocks",
    "Decoder": "hopefear.decode.decoders",
    "Hiero": "hopefear.decode.hiero",
    "decoder_for": "hopefear.decode.decoders",
    "rescore": "hopefear.decode.rescoring",
}

__all__ = list(_PUBLIC)

if TYPE_CHECKING:
    from hopefear.decode.blocks import Blocks as Blocks
    from hopefear.decode.decoders import Decoder as Decoder, decoder_for as decoder_for
    from hopefear.decode.hiero import Hiero as Hiero
    from hopefear.decode.rescoring import rescore as rescore

__getattr__ = lazy.attributes(__name__, _PUBLIC)
