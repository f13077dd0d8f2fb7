"""Sentence pairs that are fit to learn from: what is repaired, what is dropped, and why.

A pair goes through the rules in the order of ``RULES``; the first that it breaks is its reason. Each can be switched
off by its name.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import Any

from hopefear.corpus.languages import UNSEGMENTED, primary, scripts_of, share_in_scripts
from hopefear.corpus.pair import Pair, one_line
from hopefear.errors import OptionError
from hopefear.util.messages import suggestion

SAMPLES = 5  # pairs of each reason that are shown
_SHOWN = 200  # characters of each side of a sample

#: What each rule does, in the order in which they are asked.
RULES = {
    "entities": "HTML entities (&amp;) become the characters that they stand for",
    "tags": "tags (<b>) and control characters of markup are removed from the sentence",
    "empty": "a side has no letter or digit",
    "damaged": "a side has U+FFFD, control characters, or text decoded with the wrong encoding",
    "markup": "a side is code rather than text: most of its characters are punctuation or tags",
    "long": "a side has more words than a sentence",
    "identical": "both sides are the same",
    "ratio": "one side is several times as long as the other",
    "script": "a side is mostly in a script that its language is not written in",
    "duplicate": "the pair is a duplicate",
}
_REPAIRS = ("entities", "tags")


@dataclass(frozen=True)
class CleaningRules:
    """Which rules are used, and their limits."""

    off: tuple[str, ...] = ()  #: names of rules that are switched off
    max_words: int = 100  #: of a side; in unsegmented text, characters by two
    max_ratio: float = 3.5  #: between the lengths of both sides, a dozen characters added to each

    def __post_init__(self) -> None:
        for name in self.off:
            if name not in RULES:
                raise OptionError(f"there is no rule {name!r}.{suggestion(name, RULES)} The rules: {', '.join(RULES)}")
        if self.max_words < 1 or self.max_ratio <= 1:
            raise OptionError("max_words must be at least 1, and max_ratio more than 1.")


@dataclass
class CleaningReport:
    """What cleaning did: filled while the pairs go through."""

    read: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)  #: reason -> pairs
    repaired: dict[str, int] = field(default_factory=dict)  #: repair -> pairs
    samples: dict[str, list[dict[str, str]]] = field(default_factory=dict)  #: reason -> a few pairs

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def count(self, counts: dict[str, int], reason: str, pair: Pair) -> None:
        counts[reason] = counts.get(reason, 0) + 1
        samples = self.samples.setdefault(reason, [])
        if len(samples) < SAMPLES:
            samples.append({"source": pair.source[:_SHOWN], "target": pair.target[:_SHOWN], "origin": pair.origin})


def clean(
    pairs: Iterable[Pair], source_language: str, target_language: str, rules: CleaningRules | None = None
) -> tuple[Iterator[Pair], CleaningReport]:
    """The pairs worth keeping, as they come, and a report that is complete when they are through.

    Memory grows with the pairs that are kept by the hash that tells duplicates, and by nothing else.
    """
    rules, report = rules or CleaningRules(), CleaningReport()
    return _kept(pairs, _Tests(rules, primary(source_language), primary(target_language)), report), report


def _kept(pairs: Iterable[Pair], tests: _Tests, report: CleaningReport) -> Iterator[Pair]:
    for pair in pairs:
        report.read += 1
        repaired = pair
        for name, repair in tests.repairs.items():
            texts = repair(repaired.source), repair(repaired.target)
            if texts != (repaired.source, repaired.target):
                report.count(report.repaired, name, pair)
                repaired = replace(repaired, source=texts[0], target=texts[1])
        reason = next((name for name, broken in tests.tests.items() if broken(repaired)), None)
        if reason is not None:
            report.count(report.dropped, reason, pair)
        else:
            report.kept += 1
            yield repaired


class _Tests:
    """The rules that are on, as functions."""

    def __init__(self, rules: CleaningRules, source: str, target: str) -> None:
        self._languages = source, target
        self._rules = rules
        self._scripts = scripts_of(source), scripts_of(target)
        self._known: set[bytes] = set()
        repairs: dict[str, Callable[[str], str]] = {"entities": decode_entities, "tags": without_tags}
        tests: dict[str, Callable[[Pair], bool]] = {
            "empty": lambda pair: not (_has_word(pair.source) and _has_word(pair.target)),
            "damaged": lambda pair: is_damaged(pair.source) or is_damaged(pair.target),
            "markup": lambda pair: _is_code(pair.source) or _is_code(pair.target),
            "long": self._is_long,
            "identical": lambda pair: pair.source == pair.target,
            "ratio": self._is_uneven,
            "script": self._in_other_script,
            "duplicate": self._is_known,
        }
        self.repairs: Mapping[str, Callable[[str], str]] = {k: v for k, v in repairs.items() if k not in rules.off}
        self.tests: Mapping[str, Callable[[Pair], bool]] = {k: v for k, v in tests.items() if k not in rules.off}

    def _is_long(self, pair: Pair) -> bool:
        most = self._rules.max_words
        for text, language in zip((pair.source, pair.target), self._languages, strict=True):
            if len(text) > 20 * most or text.count(" ") >= most:
                return True
            if language in UNSEGMENTED and len(text) > 2 * most:
                return True
        return False

    def _is_uneven(self, pair: Pair) -> bool:
        one, other = (
            12 + len(text) * (3 if language in ("zh", "ja", "ko") else 1)
            for text, language in zip((pair.source, pair.target), self._languages, strict=True)
        )
        return max(one, other) > self._rules.max_ratio * min(one, other)

    def _in_other_script(self, pair: Pair) -> bool:
        return any(
            bool(scripts) and _in_other_script(text, scripts)
            for text, scripts in zip((pair.source, pair.target), self._scripts, strict=True)
        )

    def _is_known(self, pair: Pair) -> bool:
        digest = blake2b(f"{pair.source}\n{pair.target}".encode("utf-8", "replace"), digest_size=8).digest()
        if digest in self._known:
            return True
        self._known.add(digest)
        return False


_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")


def decode_entities(text: str) -> str:
    """``&amp;`` and its like as characters, also where they were written twice (``&amp;quot;``)."""
    for _ in range(2):
        if "&" not in text or not _ENTITY.search(text):
            return text
        text = one_line(_ENTITY.sub(lambda match: html.unescape(match[0]), text))
    return text


_TAG = re.compile(r"</?[A-Za-z][\w:-]{0,30}(?:\s[^<>]{0,500})?/?>|<!--.{0,500}?-->|\{\\[a-z]{1,3}\d?[^{}]{0,40}\}")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_BLOCKS = re.compile(r"</?(?:br|p|div|li|td|tr|h\d)\b", re.IGNORECASE)


def without_tags(text: str) -> str:
    """Text without tags and invisible marks; a tag that breaks the line leaves a blank."""
    if "<" in text or "{\\" in text:
        text = _TAG.sub(lambda match: " " if _BLOCKS.match(match[0]) else "", text)
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    return one_line(text)


_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff\ud800-\udfff]")
# UTF-8 read as Latin-1 or Windows-1252: a first byte, and what continuation bytes become there.
_CONTINUED = "[\x80-\xbf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]"
_MOJIBAKE = re.compile(f"(?:[\xc3\xc2][\x80-\xbf]|\xe2\u20ac.|[\xc2-\xdf]{_CONTINUED}|[\xe0-\xef]{_CONTINUED}{{2}})")
_CERTAIN = re.compile(
    "\xe2\u20ac[\u0153\u02dc\u2122\u201c\u201d\u00a6\x9d]|\xc3[\xa4\xb6\xbc\xa9\xa8\xb1\xb3\xad\xa7\u0178]"
)


def is_damaged(text: str) -> bool:
    """Whether a text has control characters, U+FFFD, or was decoded with the wrong encoding for certain."""
    if text.isascii():
        return any(c < " " or c == "\x7f" for c in text) if not text.isprintable() else False
    if _CONTROL.search(text):
        return True
    if _CERTAIN.search(text):
        return True
    return sum(_decodes(match[0]) for match in _MOJIBAKE.finditer(text)) >= 2


def _decodes(text: str) -> bool:
    for encoding in ("cp1252", "latin-1"):
        try:
            text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return True
    return False


def _has_word(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _is_code(text: str) -> bool:
    """Whether more than three in five visible characters are neither letters (with their marks) nor digits."""
    if text.isascii():
        visible = len(text) - text.count(" ")
        return visible >= 20 and 5 * sum(c.isalnum() for c in text) < 2 * visible
    visible = sum(not c.isspace() for c in text)
    return visible >= 20 and 5 * sum(not _is_punctuation(c) for c in text if not c.isspace()) < 2 * visible


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _in_other_script(text: str, scripts: frozenset[str]) -> bool:
    if "LATIN" in scripts and text.isascii():
        return False
    letters, inside = share_in_scripts(text, scripts)
    return letters >= 8 and 2 * inside < letters
