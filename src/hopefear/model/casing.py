"""Capitals for the output of a model that was built without them.

Models are built in lower case, which shares the evidence of "The" and "the". What the text of the target language does
with capitals is learnt as well: a trigram model of the text as it is spelled, in which the first word of a sentence has
the spelling that it mostly has inside sentences, and how often sentences begin with a capital. A translation
gets the most probable spelling under this model (a beam search over the spellings of each word), then the capitals of
its sentence beginnings. If the source begins with a small letter (the rest of a sentence, a cell of a table), the
translation begins as it does in the text for such sources; with a small letter if there are none. Where the source goes
on with a small letter behind a full stop or a quotation ("Yes!" he said), so does the translation. Words that the text
does not have, such as copied names, are spelled as the source does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hopefear._core import LmContext
from hopefear.model.language_model import LanguageModel
from hopefear.model.text import SENTENCE_ENDS, has_word_character

_BEAM = 8  # spellings of the words so far that are kept


@dataclass(frozen=True)
class Casing:
    """What a text does with capitals: a model of its spellings, and how many of its sentences begin with one."""

    model: LanguageModel
    first: float  #: of lines
    later: float  #: of sentences inside lines
    small: float  #: of lines whose source begins with a small letter

    @classmethod
    def learn(cls, lines: Sequence[str], jobs: int = 0, small: Sequence[bool] | None = None) -> Casing | None:
        """From tokenised lines as they are spelled. None if there is no capital in them.

        ``small``: for each line, whether its source begins with a small letter.
        """
        if all(line == line.lower() for line in lines):
            return None
        inside: dict[str, Counter[str]] = {}
        begins: dict[str, list[bool]] = {"first": [], "later": [], "small": []}  # whether each has a capital
        for number, line in enumerate(lines):
            for position, word in _places(line.split()):
                if position == "inside":
                    inside.setdefault(word.lower(), Counter())[word] += 1
                elif word[0].lower() != word[0].upper():
                    begins[position].append(word[0].isupper())
                    if position == "first" and small is not None and small[number]:
                        begins["small"].append(word[0].isupper())
        usual = {word: max(sorted(forms), key=lambda form: forms[form]) for word, forms in inside.items()}
        spelled = (_inside(line.split(), usual) for line in lines)
        model = LanguageModel.estimate(spelled, 3, (0, 0, 1), jobs=jobs)
        shares = {position: sum(each) / len(each) if each else 0.0 for position, each in begins.items()}
        return cls(model, shares["first"], shares["later"], shares["first" if small is None else "small"])

    def as_dict(self) -> dict[str, float]:
        return {"first": self.first, "later": self.later, "small": self.small}

    @classmethod
    def from_dict(cls, model: LanguageModel, shares: Mapping[str, Any]) -> Casing:
        first = float(shares["first"])
        return cls(model, first, float(shares["later"]), float(shares.get("small", first)))

    @cached_property
    def _forms(self) -> dict[str, list[tuple[int, str]]]:
        forms: dict[str, list[tuple[int, str]]] = {}
        for number, word in enumerate(self.model.vocab):
            if number > 2:  # <unk>, <s>, </s>
                forms.setdefault(word.lower(), []).append((number, word))
        return forms

    def spell(self, words: Sequence[str], source: Iterable[str] = ()) -> list[str]:
        """The words with capitals; ``source``: the words of the source sentence as it spells them."""
        source = list(source)
        names: dict[str, list[str]] = {}
        for word in source:
            names.setdefault(word.lower(), []).append(word)
        later = [word for position, word in _places(source) if position == "later"]
        small = bool(later) and all(map(str.islower, later))
        capital = {"inside": False, "first": self.begins_large(source), "later": self.later > 0.5 and not small}
        return [
            word[0].upper() + word[1:] if capital[position] else word
            for (position, _), word in zip(_places(words), self._most_probable(words, names), strict=True)
        ]

    def begins_large(self, source: Iterable[str]) -> bool:
        """Whether the translation of a sentence with these words begins with a capital."""
        return (self.small if begins_small(source) else self.first) > 0.5

    def _most_probable(self, words: Sequence[str], names: Mapping[str, Sequence[str]]) -> list[str]:
        paths: list[tuple[float, LmContext, tuple[Any, ...]]] = [(0.0, self.model.core.context(), ())]
        copies = Counter[str]()
        for word in words:
            forms = self._forms.get(word)
            if not forms:  # the third copy of a word is spelled as the third one in the source
                spellings = names.get(word, [word])
                forms = [(0, spellings[min(copies[word], len(spellings) - 1)])]
                copies[word] += 1
            best: list[tuple[float, LmContext, tuple[Any, ...]]] = []
            for total, context, path in paths:
                for number, form in forms:
                    score, _, then = self.model.core.score_word(context, number)
                    best.append((total + score, then, (path, form)))
            best.sort(key=lambda each: -each[0])
            paths = best[:_BEAM]
        spelled, path = [], max(paths, key=lambda each: each[0])[2]
        while path:
            path, form = path
            spelled.append(form)
        return spelled[::-1]


def begins_small(words: Iterable[str]) -> bool:
    """Whether the first letter is a small one."""
    return next((c.islower() for word in words for c in word if c.isalpha()), False)


def _places(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word with its place: ``first`` of a line, ``later`` if a sentence begins inside the line, or ``inside``."""
    position = "first"
    for word in words:
        if has_word_character(word):
            yield position, word
            position = "inside"
        else:
            yield "inside", word
            if position == "inside" and word in SENTENCE_ENDS:
                position = "later"


def _inside(words: Sequence[str], usual: Mapping[str, str]) -> str:
    """A line in which words that begin a sentence are spelled as they mostly are inside sentences."""
    spelled = (word if where == "inside" else usual.get(word.lower(), word.lower()) for where, word in _places(words))
    return " ".join(spelled)
