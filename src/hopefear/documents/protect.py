"""Protected spans: what comes out of a translation as it went in.

By kind: ``user`` (regular expressions of the user), ``word`` (a list of words that stay), ``code`` (between back
quotes), ``tag``, ``placeholder``, ``url``, ``email``, ``entity``, ``file``, ``mark`` (emoji, arrows, ``\\n`` as it is
written in programs, the sign of an access key in ``&File``), ``name`` (acronyms and other words whose capitals mean
something, identifiers) and ``number`` (numbers, dates, times, versions, with a unit that follows). Where two spans
overlap, the kind that comes first in this list wins.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hopefear.documents.segment import MARKUP, Keep, Part, Segment, join_strings
from hopefear.errors import InputError
from hopefear.util.files import PathLike, iter_lines

_EXTENSIONS = (
    "7z|aac|apk|asp|aspx|avi|bak|bat|bin|bmp|bz2|cc|cfg|conf|cpp|css|csv|dat|deb|dll|dmg|doc|docx|eps|epub|exe|flac|gif"
    "|gz|hpp|htm|html|ico|ini|ipynb|iso|jar|java|jpeg|jpg|js|json|jsonl|jsp|kt|log|lua|md|mkv|mov|mp3|mp4|mpeg|mpg|msi"
    "|odp|ods|odt|ogg|pdf|php|png|po|pot|ppt|pptx|properties|psd|py|rar|rpm|rst|rtf|sh|sql|srt|svg|tar|tex|tgz|tif|tiff"
    "|tmx|toml|tsv|ttf|txt|vtt|wav|webm|webp|wmv|xhtml|xlf|xliff|xls|xlsx|xml|xz|yaml|yml|zip|zst"
)
_DOMAINS = "com|org|net|edu|gov|io|info|eu"
_UNITS = "[mcdk]m[²³]?|m[²³]|km/h|mph|[kmµ]g|[kMGT]i?B|[kMGT]?Hz|[kMG]Wh?|°[CF]|[€$£%‰]"
_ICU = "plural|select|selectordinal|number|date|time"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.VERBOSE)


@dataclass(frozen=True)
class _Finder:
    """Where spans of a kind are: a pattern, what a text must have for it to be tried, a test of what was matched."""

    kind: str
    pattern: re.Pattern[str]
    hint: re.Pattern[str] | None = None
    accepts: Callable[[re.Match[str]], bool] = lambda match: True

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        if self.hint is None or self.hint.search(text):
            for match in self.pattern.finditer(text):
                if match.end() > match.start() and self.accepts(match):
                    yield match.span()


_PLACEHOLDER = rf"""
    \{{\{{\{{[^{{}}\n]*\}}\}}\}}
    | \{{\{{[^{{}}\n]*\}}\}} | \{{%[^\n]*?%\}} | <%[^\n]*?%>               # {{{{x}}}}  {{% tag %}}  <% x %>
    | [$\#%]\{{[^{{}}\n]*\}}                                                 # ${{x}}  #{{x}}  %{{x}}
    | \{{\s*[\w.-]+\s*,\s*(?:{_ICU})\b(?:[^{{}}]|\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}})*\}}   # {{n, plural, one {{...}}}}
    | \{{\s*[\w.\-\[\]]*(?:![rsa])?(?::[^{{}}\s]*)?\s*\}}                       # {{}}  {{0}}  {{name:>10}}
    | (?<![\w%])(?:%(?:\([\w.\ -]+\)|\d+\$)?[-+\#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[Lqjzt])?
      [sdiufFeEgGxXocpn@](?:(?![^\W_])|(?=[hms]\b)))+                        # %s  %1$s  %(name)d  %.2f  %s%s
    | (?<![\w%])%[A-Za-z_]\w*%(?!\w) | (?<![\w%])%L?\d+(?![\w%.,]) | %%      # %count%  %1
    | (?<![\w$])\$[A-Z_]{{2,}}(?!\w)                                         # $HOME
    | (?<![^\W_])__[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*__(?![^\W_])                # __TERM1__
    | (?<![\w$])\$(?=[A-Za-z\\])[^\s$]{{1,60}}\$(?![\w$]) | (?<![\w$])\$\\[^$\n]{{1,200}}\$(?![\w$])  # $x$  $\frac a b$
    | \[\[[^\[\]\n]*\]\]"""
_URL = r"""
    (?<![\w@])(?:(?:https?|s?ftps?|file|git|ssh|wss?)://|www\.(?=\w)|(?:mailto|tel|doi|urn):(?=[^\s/]))
    (?:[^\s<>"'`(){}\[\]|\\^\u00ab\u00bb\u2018-\u201f]|\([^\s<>"'`()]*\)|\{[^\s<>"'`{}]*\}|\[[\w:.]*\])*
    (?<![.,;:!?])"""
_FILE = rf"""
    (?<![\w/.@])(?:~|\.\.?|[A-Za-z]:)?/(?:[\w.+@-]+/)+[\w.+@-]*(?<![.])      # /usr/bin  ~/a/  ./a/b
    | (?<!\w)[A-Za-z]:\\(?:[\w.+@-]+\\)*[\w.+@-]*\w                          # C:\\a\\b
    | (?<![\w\\])\\\\[\w.-]+(?:\\[\w.+@$-]+)+                                # \\\\server\\a
    | (?<![\w/.@])(?:\.\.?/)+[\w+@-][\w.+@-]*(?<![.])(?![\w/])              # ./a.sh
    | (?<![\w/.@])(?:\.\.?/|~/)?(?:[\w+@-][\w.+@-]*/)+[\w+@-]*(?:\.[a-z0-9]{{1,8}})+(?![\w/])   # a/b.c
    | (?<![\w/.@])[\w+@-]+(?:\.[\w+-]+)*\.(?:{_EXTENSIONS})(?![\w/])         # report.pdf
    | (?<![\w/.@])(?:[\w-]+\.)+(?:{_DOMAINS})(?:/[\w/.+~%-]*[\w/])?(?![\w/])  # example.org/a"""
_NUMBER = rf"""
    (?<!\w)(?:v(?=\d+\.\d)|(?<![^\s(\[])[-+\u2212±])?(?:[€$£]\ ?)?
    \d++(?:(?:[.,:/\u2019'\u2013-]|[\u00a0\u2009\u202f](?=\d\d\d(?!\d)))\d++)*+
    (?:[\u00a0\u2009\u202f ]?(?:{_UNITS})(?![\w(%{{]))?(?![^\W\d])"""
_MUTATION = re.compile("(?:mB|n[AEIOUÁÉÍÓÚGD]|h[AEIOUÁÉÍÓÚ]|t[AEIOUÁÉÍÓÚS]|bP|bhF|gC|dT)[^\\W\\d_]*")  # Irish
_BOTH_SEXES = re.compile("In(?:nen)?$")  # German: SchülerInnen
_ORDINAL = re.compile(r"\d+(?:ST|ND|RD|TH|S)$")
_WORD = re.compile(r"(?<![\w@])@?[^\W_]\w*(?!\w)")
_IDENTIFIER = re.compile(
    r"(?<![\w@-])(?=[A-Za-z-]*\d)[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+(?![\w-])"
)  # COVID-19, abc-1
_FIRM = re.compile(r"(?<![\w&])[^\W\d_]{1,4}(?:&[^\W\d_]{1,4})+(?![\w;])")  # AT&T
_TIME = r"""
    (?<!\w)\d{4}-\d\d-\d\dT\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?(?!\w)   # 2024-05-31T10:00Z
    | (?<![\w+])\+\d{1,3}(?:[\ \u00a0./-]?\(?\d+\)?){2,}(?![\w(])                       # +49 30 1234567"""
_PICTURE = "[\u2190-\u21ff\u231a-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
_VARIANT = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_MARK = rf"""
    [\U0001f1e6-\U0001f1ff]{{2}} | [0-9\#*]\ufe0f?\u20e3                       # flags, keys
    | {_PICTURE}{_VARIANT}(?:\u200d{_PICTURE}{_VARIANT})*                      # emoji, also joined ones
    | (?<!\\)\\[nrt] | (?<![\w&])[&_](?=[^\W\d_]{{2,}}(?!\w))                  # \\n  &File  _File"""
_CASED = re.compile(r"[^\W\d_]{2,}")

_FINDERS = (
    _Finder("code", _pattern(r"(?<!`)(?:``(?!`)[^\n]+?``|`[^`\n]+`)(?!`)"), re.compile("`")),
    _Finder("tag", MARKUP, re.compile("<")),
    _Finder("placeholder", _pattern(_PLACEHOLDER), re.compile(r"[{%$]|__|\[\[")),
    _Finder("url", _pattern(_URL), re.compile(r"://|www\.|(?:mailto|tel|doi|urn):")),
    _Finder("email", _pattern(r"(?<![\w.+-])[\w.+-]+@(?:[\w-]+\.)+[^\W\d_]{2,}(?![\w-])"), re.compile("@")),
    _Finder("entity", _pattern(r"&(?:\#\d{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"), re.compile("&")),
    _Finder("file", _pattern(_FILE), re.compile(r"[/\\]|\.\w")),
    _Finder("name", _FIRM, re.compile("&"), lambda match: match[0].isupper()),
    _Finder("mark", _pattern(_MARK), re.compile(rf"[\\&_\u20e3]|{_PICTURE}")),
    _Finder("number", _pattern(_TIME), re.compile(r"\dT\d|\+\d")),
)
_LAST = _Finder("number", _pattern(_NUMBER), re.compile(r"\d"))


class Protector:
    """Finds what a translation must leave as it is.

    ``patterns`` are regular expressions of the user, ``words`` words and phrases that stay (whole words, with their
    capitals). ``known`` holds words in lower case that can be translated: a word in capitals that is one of them is
    no name.
    """

    def __init__(
        self, patterns: Sequence[str] = (), words: Sequence[str] = (), known: Container[str] | None = None
    ) -> None:
        self._known: Container[str] = known if known is not None else ()
        finders = [_Finder("user", compiled_pattern(pattern)) for pattern in patterns]
        if phrases := sorted({word.strip() for word in words} - {""}, key=lambda word: (-len(word), word)):
            joined = "|".join(r"\s+".join(re.escape(part) for part in phrase.split()) for phrase in phrases)
            finders.append(_Finder("word", re.compile(joined), accepts=_is_whole))
        self._finders = [*finders, *_FINDERS]

    def parts(self, text: str) -> list[str | Keep]:
        """The text as words and protected spans; joined, they are the text."""
        spans: list[tuple[int, int, str]] = []
        taken = bytearray(len(text))
        for finder in self._finders:
            _add(spans, taken, finder.spans(text), finder.kind)
        _add(spans, taken, self._identifiers(text), "name")
        _add(spans, taken, self._names(text), "name")
        _add(spans, taken, _LAST.spans(text), "number")
        result: list[str | Keep] = []
        position = 0
        for start, stop, kind in sorted(spans):
            if start > position:
                result.append(text[position:start])
            result.append(Keep(text[start:stop], kind))
            position = stop
        if position < len(text):
            result.append(text[position:])
        return result

    def segment(self, segment: Segment) -> Segment:
        """A segment whose words have their protected spans as such."""
        parts: list[Part] = []
        for part in segment.joined().parts:
            parts += self.parts(part) if isinstance(part, str) else [part]
        return Segment(tuple(join_strings(parts)))

    def _identifiers(self, text: str) -> Iterator[tuple[int, int]]:
        for match in _IDENTIFIER.finditer(text):
            if match[0].isupper() or not any(part in self._known for part in match[0].lower().split("-")):
                yield match.span()

    def _names(self, text: str) -> Iterator[tuple[int, int]]:
        if text.islower() and "_" not in text and "@" not in text:
            return
        cased = _CASED.findall(text)
        capitals = sum(word.isupper() for word in cased)
        shouted = capitals > 1 and 2 * capitals > len(cased)
        for match in _WORD.finditer(text):
            word = match[0]
            if word[0] == "@" or (not word.islower() or "_" in word):
                next_to_mark = text[match.end() : match.end() + 1]
                marked = bool(next_to_mark) and unicodedata.category(next_to_mark)[0] == "M"
                elided = next_to_mark in ("'", "\u2019") and text[match.end() + 1 : match.end() + 2].isalpha()
                if not marked and is_name(word, shouted or elided) and word.lower() not in self._known:
                    yield match.span()


def _add(spans: list[tuple[int, int, str]], taken: bytearray, more: Iterator[tuple[int, int]], kind: str) -> None:
    """Spans where there are none yet."""
    for start, stop in more:
        if not any(taken[start:stop]):
            taken[start:stop] = b"\1" * (stop - start)
            spans.append((start, stop, kind))


def is_name(word: str, shouted: bool = False) -> bool:
    """Whether the form of a word means something: IKEA, iPhone, A4, getValue, snake_case, @user.

    ``shouted``: it stands among words in capitals, so capitals alone mean nothing.
    """
    if word[0] == "@":
        return len(word) > 2
    letters = [c for c in word if c.isalpha()]
    if "_" in word:
        return bool(letters) and word[-1] != "_"
    if not any(c.isupper() for c in letters) or _ORDINAL.match(word):
        return False
    if all(c.isupper() for c in letters):
        digits = len(letters) < len(word)
        return digits or (len(letters) > 1 and not shouted)
    camel = any(a.islower() and b.isupper() for a, b in pairwise(word))
    acronym = word[0].isupper() and word[1:2].isupper()  # DVDs, McDONALD, PDFlib
    return (camel or acronym) and not _BOTH_SEXES.search(word) and not _MUTATION.fullmatch(word)


def _is_whole(match: re.Match[str]) -> bool:
    """Whether a phrase neither starts nor ends inside a word."""
    text, start, stop = match.string, match.start(), match.end()
    begins = start == 0 or not (_in_word(text[start - 1]) and _in_word(text[start]))
    return begins and (stop == len(text) or not (_in_word(text[stop - 1]) and _in_word(text[stop])))


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "_\u200c\u200d" or unicodedata.category(character)[0] == "M"


def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression of the user."""
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"--protect {pattern!r}: not a regular expression ({error}). Correct it") from None
    if compiled.match(""):
        finding = "matches the empty string, so it protects nothing"
        raise InputError(f"--protect {pattern!r}: {finding}. Let it match at least one character")
    return compiled


def read_words(path: PathLike) -> list[str]:
    """The words and phrases of a do-not-translate list, one a line; empty lines do not count."""
    return [line.strip() for line in iter_lines(path) if line.strip()]
