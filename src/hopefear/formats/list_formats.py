"""Candidate lists of other programs: translators, text generators, speech recognisers, Moses' extractor.

Each reader turns an :class:`Input` into sentences of our own, which ``hopefear.formats.nbest`` hands to the core as
JSONL. The formats, and what becomes of their numbers, are in docs/formats.md.
"""

from __future__ import annotations

import re

from hopefear.formats import generators, recognisers, translators
from hopefear.formats.listed import Reader
from hopefear.formats.nested import LISTS, TOKENS

#: The readers of files and folders that are not the core's own formats.
FOREIGN: dict[str, Reader] = translators.READERS | generators.READERS | recognisers.READERS


def recognised(start: bytes) -> str | None:
    """Which of these formats begins in this way; none if it is one of our own."""
    if start.startswith((b"FEATURES_TXT_BEGIN", b"FEATURES_BIN_BEGIN")):
        return "mert"
    if re.search(rb"(?m)^H-[0-9]+\t[-+0-9.e]+\t", start):
        return "fairseq"
    if re.match(rb"[^\t\n]+:\t(ref|hyp)=", start):
        return "icefall"
    if start[:1] not in (b"{", b"["):
        return None
    keys = set(re.findall(rb'"(\w+)"\s*:', start[:65536]))
    if b"candidates" in keys:
        return None if b"features" in keys else "tokens"
    for key, name in ((b"utts", "espnet"), (b"pred_score", "opennmt"), (b"beams", "nemo"), (b"sentence_id", "sockeye")):
        if key in keys:
            return name
    several = {key.encode() for key in (*LISTS, *TOKENS, "generated_text", "translation_text", "sequences_scores")}
    return "tokens" if keys & several else None
