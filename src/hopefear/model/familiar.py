"""Whether a model knows the words of a text: of another language, or of its own target language, they make no error."""

from __future__ import annotations

from collections.abc import Sequence

from hopefear.model.directory import Model

LINES = 200  # that are looked at
LEAST = 30  # words; fewer tell nothing
STRANGE = 0.1  # share of known words below which the text is not the model's
SWAPPED = 0.3  # by which the target side must know more


def input_warning(model: Model, lines: Sequence[str]) -> str | None:
    """A line for the user, if the words of the input are not those of the model's source side."""
    if model.kind != "hiero":
        return None
    words = [word for line in lines[:LINES] for word in model.source_text.tokens(line) if any(map(str.isalpha, word))]
    if len(words) < LEAST:
        return None
    source, target = (
        sum(vocab.find(word) >= 0 for word in words) / len(words)
        for vocab in (model.grammar.source_vocab, model.grammar.target_vocab)
    )
    known = f"the model has rules for {100 * source:.0f} % of the words of the input"
    if target > source + SWAPPED:
        return f"{known}, and its target side knows {100 * target:.0f} %. Were source and target swapped?"
    if source < STRANGE:
        return f"{known}. Is the input in the right language, tokenised and cased like the model's text?"
    return None
