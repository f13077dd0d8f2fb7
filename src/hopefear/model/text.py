"""From a line of text to words and back: cleaning, tokenisation, lower-casing, punctuation stripping.

A model records its two pipelines (source and target) in ``model.json``, so that translation treats new text as training
treated the corpus. The steps, in this order:

1. *Cleaning*, always: Unicode NFC; control and format characters go, every kind of white space is one space;
   ``|||`` becomes ``¦¦¦``, because it separates the fields of n-best lists and grammars.
2. *Tokenisation*: ``none`` splits at white space only (the text is tokenised already). ``european`` looks at each
   white-space-separated piece alone: words, numbers (``1,000.50``, ``10:30``), acronyms (``U.S.``), mail and web
   addresses stay whole; English contractions are split as in the Penn treebank (``do n't``, ``it 's``); French,
   Italian and Catalan elisions as ``l' homme``; runs of full stops or dashes stay together; every other character is
   a token. There are no lists of abbreviations. A letter with its combining marks is one letter. ``unicode`` is the
   same, but that words of any script that parts them by blanks stay whole: an apostrophe or a middle dot between
   letters belongs to the word (``Ñe'ẽ``, ``col·legi``) where it is no contraction or elision, and so do joiners (as
   in Persian). ``characters`` is the same again, but each letter of a script without blanks between words (Chinese,
   Japanese, Thai, Khmer) is a token. ``sub-words`` is ``unicode`` with rare words in parts (model/subwords.py).
3. *Lower-casing* by Unicode's rules.
4. *Punctuation stripping*: tokens without a letter or digit go (``none``: such characters at a token's edges go).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hopefear.model.scripts import UNSEGMENTED, marks, stand_together
from hopefear.model.subwords import JOIN, Merges
from hopefear.util.values import check_choice

TOKENIZERS = ("european", "unicode", "characters", "sub-words", "none")

_ELISIONS = (
    "c|d|j|l|m|n|s|t|qu|jusqu|lorsqu|puisqu|quoiqu|quelqu|presqu|entr"  # French; Catalan and Italian share the letters
    "|dell|nell|sull|dall|all|coll|quell|quest|bell|sant|un|v|gl|dev|anch|com|dov|cos"  # Italian
)
_INNER_APOSTROPHE = re.compile("(?<=[^\\W_])[\u2019\u02bc\u00b4\u2018`](?=[^\\W_])")
SENTENCE_ENDS = frozenset(".?!…")
_CLOSING = frozenset([".", ",", ";", ":", "!", "?", ")", "]", "}", "%", "…", "»", "”", "...", ".."])
_CLOSING |= frozenset("\u060c\u061b\u061f\u06d4\u0964\u0965\u1362\u1363")  # Arabic, Devanagari, Ethiopic
_OPENING = frozenset(["(", "[", "{", "¿", "¡", "«", "“"])
_QUOTES = frozenset(['"'])
_JOINING = frozenset(["-", "/", "'"])
_SUFFIX = re.compile("n't|'(?:s|m|d|re|ve|ll)", re.IGNORECASE)
_ELISION = re.compile(f"(?:{_ELISIONS})'", re.IGNORECASE)
#: Inside a word: an apostrophe that starts no contraction, a middle dot, a Hebrew mark.
_INSIDE = "(?:'(?!(?:s|m|d|t|re|ve|ll)(?![^\\W_]))|[\u00b7\u2027\u05f3\u05f4])"
_MEMO_LIMIT = 1_000_000
#: The kinds of words, as decoders take them.
LETTERS = {"word": "w", "number": "n", "name": "c"}


@functools.cache
def _token_pattern(tokenizer: str) -> re.Pattern[str]:
    joiners = "" if tokenizer == "european" else "\u200c\u200d"
    apart = UNSEGMENTED if tokenizer == "characters" else ""
    w = f"[^\\W_{marks()}{apart}][{marks()}{joiners}]*"  # one letter or digit with its marks
    inner = "" if tokenizer == "european" else rf"(?:{_INSIDE}(?=[^\W\d_])(?:{w})+)*"
    letter = f"[{apart}][{marks()}{joiners}]* |" if apart else ""
    end = "(?![^\\W_])"
    return re.compile(
        rf"""https?://[^\s<>"{apart}]*[^\s<>".,;:!?)\]'{apart}] | www\.[^\s<>"{apart}]*[^\s<>".,;:!?)\]'{apart}]
        | [^\s@<>()",;:{apart}]+@[^\s@<>()",;:{apart}]+\.[a-z]+
        | {letter} \d+(?:[.,:]\d+)*(?:{w})*
        | (?:[^\W\d_{apart}]\.){{2,}}
        | n't{end} | '(?:s|m|d|re|ve|ll){end}
        | (?:{w})+?(?=n't{end})
        | (?<![^\W_])(?:{_ELISIONS})'(?=[^\W_]|$)
        | (?:{w})+{inner}
        | \.+ | -+ | [^\s]""",
        re.VERBOSE | re.IGNORECASE,
    )


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Zs", "Zl", "Zp"):
        return " "
    return "" if category in ("Cf", "Cs") and character not in "\u200c\u200d" else character  # joiners are spelling


def clean(line: str) -> str:
    """A line without what no later step may see: control characters, exotic spaces, ``|||``."""
    if not line.isascii():
        line = unicodedata.normalize("NFC", line)
    if not line.isprintable():
        line = "".join(c if c.isprintable() else _visible(c) for c in line)
    while "|||" in line:
        line = line.replace("|||", "¦¦¦")
    return " ".join(line.split())


def has_word_character(token: str) -> bool:
    """Whether a token has a letter or a digit."""
    return any(c.isalnum() for c in token)


def _strip_edges(token: str) -> str:
    start, stop = 0, len(token)
    while start < stop and not token[start].isalnum():
        start += 1
    while stop > start and not token[stop - 1].isalnum() and unicodedata.category(token[stop - 1])[0] != "M":
        stop -= 1
    return token[start:stop]


@dataclass(frozen=True)
class TextPipeline:
    """How one side of a model turns lines into words. Hashable, comparable, and written to ``model.json`` as a dict.

    >>> hf.TextPipeline(tokenizer="unicode", lowercase=False).text("Don't panic: it's 10:30.")
    "Do n't panic : it 's 10:30 ."
    """

    tokenizer: str = "european"  #: one of TOKENIZERS
    lowercase: bool = True
    strip_punctuation: bool = False
    copies: bool = True  #: numbers and names are offered to decoders as they are, beside their translations
    merges: Merges | None = None  #: what sub-words are made by
    _memo: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        check_choice("tokenizer", self.tokenizer, TOKENIZERS)

    def as_dict(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "tokenizer": self.tokenizer,
            "lowercase": self.lowercase,
            "strip_punctuation": self.strip_punctuation,
        }
        if self.merges is not None:
            options["merges"] = self.merges.as_list()
        return options if self.copies else {**options, "copies": False}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> TextPipeline:
        lowercase, strip = bool(options["lowercase"]), bool(options["strip_punctuation"])
        merges = Merges.from_list(options["merges"]) if "merges" in options else None
        return cls(str(options["tokenizer"]), lowercase, strip, bool(options.get("copies", True)), merges)

    def tokens(self, line: str) -> list[str]:
        """The words of a line.

        >>> hf.TextPipeline().tokens("L'homme, 1,000 francs")
        ["l'", 'homme', ',', '1,000', 'francs']
        """
        words: list[str] = []
        memo = self._memo
        for piece in clean(line).split():
            known = memo.get(piece)
            if known is None:
                known = tuple(self._tokens_of_piece(piece))
                if len(memo) < _MEMO_LIMIT:
                    memo[piece] = known
            words += known
        return words

    def text(self, line: str) -> str:
        """The words of a line, joined by single spaces."""
        return " ".join(self.tokens(line))

    def kinds(self, line: str) -> list[tuple[str, str]]:
        """Each word with its kind: ``number`` (it has a digit), ``name`` (a capital inside a sentence) or ``word``.

        The kind is seen before lower-casing: the decoder offers numbers and names as they are. Without ``copies`` all
        are words.
        """
        return self.labelled(self.as_spelled.tokens(line))

    @functools.cached_property
    def as_spelled(self) -> TextPipeline:
        """The same without lower-casing."""
        return replace(self, lowercase=False)

    def labelled(self, words: Iterable[str]) -> list[tuple[str, str]]:
        """The words of a line, as they are spelled there, as :meth:`kinds` has them."""
        result: list[tuple[str, str]] = []
        inside = part = False
        for word in words:
            kind = "word"
            after, part = part, self.is_part(word)
            if not self.copies or after or part:
                pass
            elif any(c.isdigit() for c in word):
                kind = "number"
            elif inside and word[0].isupper():
                kind = "name"
            inside = has_word_character(word) or (inside and word not in SENTENCE_ENDS)
            result.append((word.lower() if self.lowercase else word, kind))
        return result

    def sentences(self, lines: Iterable[str], first: int = 0) -> tuple[list[str], list[str], list[str]]:
        """Lines as decoders take them: ids that count from ``first``, words between blanks, a letter per word."""
        ids, texts, kinds = [], [], []
        for number, line in enumerate(lines, first):
            words = self.kinds(line)
            ids.append(str(number))
            texts.append(" ".join(word for word, _ in words))
            kinds.append("".join(LETTERS[kind] for _, kind in words))
        return ids, texts, kinds

    def _tokens_of_piece(self, piece: str) -> list[str]:
        if self.tokenizer == "none":
            tokens = [_strip_edges(piece) if self.strip_punctuation else piece]
        else:
            if not piece.isascii() or "`" in piece:
                piece = _INNER_APOSTROPHE.sub("'", piece)
            tokens = _token_pattern(self.tokenizer).findall(piece)
            if self.strip_punctuation:
                tokens = [t for t in tokens if has_word_character(t)]
            if self.merges is not None:
                tokens = [part for token in tokens for part in self.merges.split(token)]
        if self.lowercase:
            tokens = [t.lower() for t in tokens]
        return [t for t in tokens if t]

    def detokenize(self, text: str) -> str:
        """Words between single blanks to a readable line: the inverse of ``text`` as far as there is one."""
        if self.tokenizer == "none":
            return text
        words = text.split(" ")
        blanks = self.blanks(words)
        return "".join(f" {word}" if blank else word for word, blank in zip(self.whole(words), blanks, strict=True))

    def is_part(self, word: str) -> bool:
        """Whether the next word belongs to this one."""
        return self.merges is not None and word.endswith(JOIN)

    def whole(self, words: Sequence[str]) -> Sequence[str]:
        """Words without the mark of a word that continues."""
        return words if self.merges is None else [word.removesuffix(JOIN) for word in words]

    def blanks(self, words: Sequence[str]) -> list[bool]:
        """Whether a blank stands before each word of a readable line; before the first there is none."""
        if self.tokenizer == "none":
            return [position > 0 for position in range(len(words))]
        result = []
        started = False  # there is something in the line
        glue = True  # no space before the next token
        open_quotes: set[str] = set()
        for i, token in enumerate(words):
            after = False
            if token in _CLOSING or _SUFFIX.fullmatch(token):
                before = True
            elif token in _OPENING or _ELISION.fullmatch(token):
                before, after = glue, True
            elif token in _QUOTES:
                before = token in open_quotes or glue
                after = token not in open_quotes
                open_quotes ^= {token}
            elif (
                token in _JOINING
                and 0 < i < len(words) - 1
                and words[i - 1][-1].isalnum()
                and words[i + 1][0].isalnum()
            ):
                before = after = True
            else:
                before = glue
            together = self.tokenizer == "characters" and i > 0 and token and words[i - 1]
            if (together and stand_together(words[i - 1], token)) or (i > 0 and self.is_part(words[i - 1])):
                before = True
            result.append(started and not before)
            started = started or bool(token)
            glue = after
        return result
