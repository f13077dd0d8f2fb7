"""Why a translation is as it is, to look at in a terminal or a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopefear._core import Derivation
from hopefear.decode.explanation import explanation
from hopefear.translator.sentence import PRIVATE, Sentence

_STYLE = "overflow-x:auto;line-height:1.35"


@dataclass(frozen=True)
class Explanation:
    """The derivations of a text. ``print`` shows them; a notebook shows them by itself."""

    source: str
    translation: str
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Explanation({self.source!r} -> {self.translation!r})"

    def _repr_html_(self) -> str:
        head = f"<p>{html.escape(self.source)}<br><strong>{html.escape(self.translation)}</strong></p>"
        return f'{head}<pre style="{_STYLE}">{html.escape(self.text)}</pre>'


def explained(sentence: Sentence, derivations: Sequence[Derivation], weights: Mapping[str, float]) -> str:
    """The derivations of a sentence as a text; protected spans are shown as they are."""
    texts = [
        explanation(derivation, chunk.words, weights)
        for derivation, chunk in zip(derivations, sentence.chunks, strict=True)
    ]

    def shown(match: re.Match[str]) -> str:
        place = int(match[1])
        words = sentence.words.words
        return words[place].form if place < len(words) else match[0]

    return re.sub(rf"{PRIVATE}(\d+)", shown, "\n\n".join(texts))
