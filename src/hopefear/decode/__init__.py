"""Decoders: from source text to forests."""

from hopefear.decode.hiero import Hiero

__all__ = ["Hiero"]
