"""Lists as ``ID;LM;TM;TEXT``, a line for each candidate; ``mine:,`` has commas instead."""

from __future__ import annotations

from collections.abc import Iterator

from hopefear.formats.listed import Candidate, Input, Listed


def read(data: Input) -> Iterator[Listed]:
    """The sentences of a file."""
    sentences: dict[str, Listed] = {}
    for number, line in data.lines:
        fields = line.split(data.argument or ";", 3)
        if len(fields) < 4:
            data.fail(number, "expected ID;LM;TM;TEXT. Is this line cut off?")
        name, lm, tm, text = fields
        features = {"lm": data.number(number, lm, "lm"), "tm": data.number(number, tm, "tm")}
        sentences.setdefault(name, Listed(name)).candidates.append(Candidate(text, features))
    yield from sentences.values()
