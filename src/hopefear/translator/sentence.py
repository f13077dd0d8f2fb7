"""One sentence on its way to the decoder and back: rules for what is protected and what a glossary says, then its text.

What comes back is put together from the derivation: it tells which words of the translation are a protected span or a
term, which get the bytes that they must have, where the tags go, and which words were in capitals.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from hopefear._core import SentenceRule
from hopefear.documents.segment import Keep, Part, Tag, join_strings
from hopefear.documents.tag_placement import place_tags
from hopefear.learning.memory import CorrectedPair
from hopefear.model.directory import Model
from hopefear.translator.alignment import DerivationAlignment, Phrase
from hopefear.translator.glossary import FEATURE, Match
from hopefear.translator.tokens import Word, Words, labelled

#: Begins what stands for a protected span in the decoder, where its place tells what it is.
PRIVATE = "\ue000"
#: The longest sentence that is decoded as one; of a longer one, parts of this length are.
LONGEST = 200
#: The beginning of raised or lowered text, such as the number of a footnote.
_SMALL = re.compile(r"<su[bp]\b[^<>]*(?<!/)>|.*<\w+:vertAlign\b", re.IGNORECASE | re.DOTALL)
More = Callable[[list[str]], list[SentenceRule]]


@dataclass(slots=True)
class Chunk:
    """Words [begin, end) of a sentence for the decoder."""

    begin: int
    end: int
    words: list[str]
    kinds: str
    rules: list[SentenceRule]


@dataclass(slots=True)
class Sentence:
    """A sentence, its terms, and what the decoder gets."""

    words: Words
    matches: list[Match]
    chunks: list[Chunk] = field(default_factory=list)
    special: bool = False  #: there is something that only a derivation can put in its place
    recalled: CorrectedPair | None = None  #: a correction of this very sentence

    @property
    def length(self) -> int:
        return len(self.words.words)


def sentence_of(words: Words, matches: list[Match], model: Model, more: More | None = None) -> Sentence:
    """A sentence with the rules for its protected spans and terms, and ``more`` for its words as the model has them."""
    sentence = Sentence(words, matches)
    forms, kinds = labelled(words.words, model.source_text)
    covered = {place for match in matches if match.term.forced for place in range(match.begin, match.end)}
    rules: list[SentenceRule] = []
    for place, word in enumerate(words.words):
        if word.keep is None:
            continue
        name = forms[place] if word.is_soft and word.form == word.keep.text else f"{PRIVATE}{place}"
        forms[place] = name
        if place not in covered:
            rules.append(SentenceRule(place, place + 1, [name], forced=True))
    for match in matches:
        target = model.target_text.tokens(match.term.target)
        if len(target) > LONGEST and not match.term.forced:
            continue
        if not 0 < len(target) <= LONGEST:
            target = [f"{PRIVATE}{match.begin}"]
        features = {} if match.term.forced else {FEATURE: 1.0}
        rules.append(SentenceRule(match.begin, match.end, target, features, forced=match.term.forced))
    odd = any(_is_odd(words.gap(place)) for place in range(1, len(words.words)))
    sentence.special = bool(rules or words.tags) or odd or any(is_loud(word.form) for word in words.words)
    learnt = more(forms) if more is not None else []
    for rule in learnt:  # a word that was corrected is no name that stays
        if rule.end == rule.begin + 1 and rule.target != [forms[rule.begin]] and kinds[rule.begin] == "c":
            kinds = f"{kinds[: rule.begin]}w{kinds[rule.end :]}"
    for begin, end in _cut(len(forms), rules):
        own = [_moved(rule, begin) for rule in (*rules, *learnt) if begin <= rule.begin and rule.end <= end]
        sentence.chunks.append(Chunk(begin, end, forms[begin:end], kinds[begin:end], own))
    return sentence


def _is_odd(gap: str) -> bool:
    """Whether white space is one character other than a blank, such as one at which no line may be broken."""
    return len(gap) == 1 and gap != " "


def _moved(rule: SentenceRule, begin: int) -> SentenceRule:
    if begin == 0:
        return rule
    span = rule.begin - begin, rule.end - begin
    gaps = [(first - begin, last - begin) for first, last in rule.gaps]
    return SentenceRule(*span, rule.target, rule.features, forced=rule.forced, gaps=gaps, links=rule.links)


def _cut(length: int, rules: Sequence[SentenceRule]) -> list[tuple[int, int]]:
    """Parts of a sentence that is too long; no rule is cut unless it is longer than a part."""
    if length <= LONGEST:
        return [(0, length)]
    inside = {place for rule in rules for place in range(rule.begin + 1, rule.end)}
    parts = []
    begin = 0
    while begin < length:
        end = min(length, begin + LONGEST)
        while end < length and end in inside and end > begin + 1:
            end -= 1
        parts.append((begin, end))
        begin = end
    return parts


def is_loud(form: str) -> bool:
    """Whether a word is in capitals, of which it has two or more."""
    return form.isupper() and sum(c.isalpha() for c in form) > 1


@dataclass(slots=True)
class Made:
    """The translation of a sentence: its parts, and the alignment by characters of what both sides show."""

    parts: list[Part]
    alignment: list[tuple[int, int, int, int]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)


def plain(sentence: Sentence, tokens: Sequence[str], model: Model) -> Made:
    """The translation of a sentence with nothing special, from its words alone."""
    spelled = _spelled(sentence, tokens, model)
    text = model.target_text
    blanks = text.blanks(spelled)
    words = "".join(f" {word}" if blank else word for word, blank in zip(text.whole(spelled), blanks, strict=True))
    return Made([sentence.words.gap(0) + words + sentence.words.gap(sentence.length)])


def _spelled(sentence: Sentence, tokens: Sequence[str], model: Model) -> list[str]:
    """Words with capitals, as the model's text has them."""
    if model.casing is None:
        return list(tokens)
    return model.casing.spell(list(tokens), _forms(sentence))


def _forms(sentence: Sentence) -> list[str]:
    """The words of the source that are translated, as it spells them."""
    return [word.form for word in sentence.words.words if word.keep is None]


def joined(parts: Sequence[DerivationAlignment], chunks: Sequence[Chunk]) -> DerivationAlignment:
    """The parts of a sentence as one."""
    if len(parts) == 1:
        return parts[0]
    whole = DerivationAlignment([], [], [])
    for part, chunk in zip(parts, chunks, strict=True):
        shift, begin = len(whole.words), chunk.begin
        whole.words += part.words
        whole.links += [(s + begin, t + shift) for s, t in part.links]
        whole.phrases += [phrase.moved(begin, shift) for phrase in part.phrases]
    return whole


class Assembly:
    """Puts a translation together from a derivation."""

    def __init__(self, sentence: Sentence, aligned: DerivationAlignment, model: Model, term: int) -> None:
        """``term``: the id of the feature of preferred terms."""
        self._sentence, self._aligned, self._model = sentence, aligned, model
        self._source = sentence.words
        self._sources: list[list[int]] = [[] for _ in aligned.words]
        for s, t in aligned.links:
            self._sources[t].append(s)
        self._number = {tag: k for k, (_, tag) in enumerate(self._source.tags)}
        self._pieces: list[str | Keep] = []  # of the translation, in order
        self._first: list[int] = []  # the first target word of each
        self._origin: list[list[int]] = []  # the source words of each
        self._make_pieces(term)
        self._piece_of = [0] * (len(aligned.words) + 1)
        for number, first in enumerate(self._first):
            until = self._first[number + 1] if number + 1 < len(self._first) else len(aligned.words)
            self._piece_of[first:until] = [number] * (until - first)
        self._piece_of[len(aligned.words)] = len(self._pieces)

    def _make_pieces(self, term: int) -> None:
        words = self._aligned.words
        spelled = _spelled(self._sentence, words, self._model) if words else []
        literal = {phrase.start: (phrase, text) for phrase, text in self._literals(term)}
        place = 0
        while place < len(words):
            self._first.append(place)
            if place in literal:
                phrase, text = literal[place]
                self._pieces.append(self._capital(text) if not self._pieces and isinstance(text, str) else text)
                self._origin.append(list(range(phrase.begin, phrase.end)))
                place = phrase.stop
                continue
            own = self._sources[place]
            loud = own and self._sentence.special and all(is_loud(self._source.words[s].form) for s in own)
            self._pieces.append(spelled[place].upper() if loud else spelled[place])
            self._origin.append(own)
            place += 1

    def _capital(self, text: str) -> str:
        """A term at the beginning of a sentence."""
        casing = self._model.casing
        large = casing is not None and casing.begins_large(_forms(self._sentence))
        return text[:1].upper() + text[1:] if large else text

    def _literals(self, term: int) -> list[tuple[Phrase, str | Keep]]:
        """The phrases that have given bytes: protected spans and terms."""
        terms: dict[tuple[int, int], list[Match]] = {}
        for match in self._sentence.matches:
            terms.setdefault((match.begin, match.end), []).append(match)
        covered = {place for m in self._sentence.matches if m.term.forced for place in range(m.begin, m.end)}
        found: list[tuple[Phrase, str | Keep]] = []
        for phrase in self._aligned.phrases:
            keep = self._source.words[phrase.begin].keep if phrase.end == phrase.begin + 1 else None
            if keep is not None and phrase.begin not in covered:
                found.append((phrase, keep))
                continue
            for match in terms.get((phrase.begin, phrase.end), ()):
                words = self._aligned.words[phrase.start : phrase.stop]
                own = self._model.target_text.tokens(match.term.target)
                if match.term.forced or (words == own and phrase.features.get(term)):
                    found.append((phrase, match.term.target))
                    break
        return found

    def run(self) -> Made:
        """The parts and the alignment."""
        tags = self._placed_tags()
        parts: list[Part] = []
        spans: list[tuple[int, int]] = []  # of each piece in the text
        length = 0

        def add(part: Part) -> None:
            nonlocal length
            parts.append(part)
            length += len(part if isinstance(part, str) else part.text)

        blanks = self._blanks()
        for number in range(len(self._pieces) + 1):
            for part in self._gap(blanks[number], tags.get(number, [])):
                add(part)
            if number < len(self._pieces):
                begin = length
                piece = self._pieces[number]
                add(piece if isinstance(piece, Keep) else self._model.target_text.whole([piece])[0])
                spans.append((begin, length))
        return Made(list(join_strings(parts)), self._alignment(spans))

    def _placed_tags(self) -> dict[int, list[Tag]]:
        """The tags before each piece, or behind the last."""
        if not self._source.tags:
            return {}
        links = {(s, self._piece_of[t]) for s, t in self._aligned.links}
        links |= {(s, number) for number, own in enumerate(self._origin) for s in own}
        placed = place_tags(self._source.tags, sorted(links), self._sentence.length, len(self._pieces))
        tags: dict[int, list[Tag]] = {}
        for gap, tag in placed:
            tags.setdefault(gap, []).append(tag)
        return tags

    def _blanks(self) -> list[str]:
        """The white space before each piece and behind the last."""
        texts = [piece if isinstance(piece, str) else "x" for piece in self._pieces]
        rule = self._model.target_text.blanks(texts)
        blanks = [" " if blank else "" for blank in rule]
        for number in range(1, len(self._pieces)):
            near_keep = not (isinstance(self._pieces[number - 1], str) and isinstance(self._pieces[number], str))
            before, here = self._copied(number - 1), self._copied(number)
            if before is not None and here == before + 1:
                gap = self._source.gap(here)
                if any(place == here for place, _ in self._source.tags):  # white space on both sides of it counts twice
                    gap = gap[:1]
                blanks[number] = gap if near_keep or not gap or _is_odd(gap) else blanks[number]
            pair = number - 1, number
            if any(map(self._is_blank, pair)) or self._sticks(number - 1, 1) or self._sticks(number, 0):
                blanks[number] = ""
        lead, tail = self._source.gap(0), self._source.gap(self._sentence.length)
        return [lead, *blanks[1:], tail] if blanks else [lead + tail]

    def _sticks(self, number: int, side: int) -> bool:
        """Whether a piece is a mark that touches what stands before it (0) or behind it (1) in the source."""
        piece, origin = self._pieces[number], self._origin[number]
        return isinstance(piece, Keep) and piece.kind == "mark" and not self._source.gap(origin[0] + side)

    def _is_blank(self, number: int) -> bool:
        """Whether a piece is itself a blank, as ``&nbsp;`` is."""
        piece = self._pieces[number]
        return isinstance(piece, Keep) and piece.kind == "entity" and html.unescape(piece.text).isspace()

    def _copied(self, number: int) -> int | None:
        """The source word that a piece is, if it is one."""
        piece, origin = self._pieces[number], self._origin[number]
        if len(origin) != 1:
            return None
        same = isinstance(piece, Keep) or piece.lower() == self._source.words[origin[0]].form.lower()
        return origin[0] if same else None

    def _gap(self, blank: str, tags: Sequence[Tag]) -> list[Part]:
        """White space and tags between two pieces."""
        if not tags:
            return [blank]
        if not blank or any(_SMALL.match(tag.text) and self._touches(tag) for tag in tags):
            return list(tags)
        sides = [self._sides(tag) for tag in tags]
        if any(tag.kind == "empty" and self._touches_words(tag) for tag in tags):
            return list(tags)
        between = [
            before or after
            for before, after in zip(
                [*(before for before, _ in sides), False], [False, *(after for _, after in sides)], strict=True
            )
        ]
        if not any(between):  # before what opens, behind what closes
            between[next((k for k, tag in enumerate(tags) if tag.kind != "close"), len(tags))] = True
        parts: list[Part] = []
        for white, tag in zip(between, tags, strict=False):
            parts += [blank, tag] if white else [tag]
        return [*parts, blank] if between[-1] else parts

    def _touches(self, tag: Tag) -> bool:
        """Whether no white space stands before a tag in the source."""
        place = self._source.tag_places[self._number[tag]]
        return place > 0 and not self._source.text[place - 1].isspace()

    def _touches_words(self, tag: Tag) -> bool:
        """Whether no white space stands next to a tag, or to the tags that it stands among, in the source."""
        text, place = self._source.text, self._source.tag_places[self._number[tag]]
        return not (text[max(0, place - 1) : place].isspace() or text[place : place + 1].isspace())

    def _sides(self, tag: Tag) -> tuple[bool, bool]:
        """Whether white space stands before and behind a tag in the source."""
        number = self._number[tag]
        text, places = self._source.text, self._source.tag_places
        place = places[number]
        first = number == 0 or places[number - 1] != place
        last = number + 1 == len(places) or places[number + 1] != place
        return first and text[max(0, place - 1) : place].isspace(), last and text[place : place + 1].isspace()

    def _alignment(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
        here = [0] * (self._sentence.length + 1)  # characters of tags right before each word
        for gap, tag in self._source.tags:
            here[gap] += len(tag.text)
        shown = list(accumulate(here))
        pairs = set()
        for number, (start, stop) in enumerate(spans):
            for s in self._origin[number]:
                word: Word = self._source.words[s]
                pairs.add((word.start + shown[s], word.stop + shown[s], start, stop))
        return sorted(pairs)
