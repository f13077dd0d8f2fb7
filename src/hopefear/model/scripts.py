"""Scripts without blanks between words: their letters, and whether a text is written in one."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Iterable

#: Chinese characters, kana, bopomofo, Yi.
_WIDE = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
_WIDE += "\u3105-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\uff66-\uff9f"
_WIDE += "\U0001b000-\U0001b167\U00020000-\U0003ffff"
#: Thai, Lao, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet.
_NARROW = "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"
_NARROW += "\u1000-\u103f\u1050-\u108f\u109a-\u109f\u1780-\u17b3\u17d7\u17dc\u1950-\u1974\u1980-\u19c7\u1a20-\u1a54"
_NARROW += "\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f\uaa80-\uaaaf"
_WIDE_MARKS = "\u3001-\u3004\u3008-\u3020\u3030\u303d\u30a0\u30fb\uff01-\uff65"  # punctuation as wide as a letter
#: Letters of scripts without blanks between words, for a class of a regular expression.
UNSEGMENTED = _WIDE + _NARROW
_RUN = re.compile(f"[{_WIDE}]+|[{_NARROW}]+")
_LETTER = re.compile(r"[^\W\d_]")
_IS_WIDE = re.compile(f"[{_WIDE}{_WIDE_MARKS}]")
_IS_NARROW = re.compile(f"[{_NARROW}]")
_SAMPLE = 200_000  # letters that tell how a text is written
_SHARE = 0.3  # of letters in such scripts, from which a text is taken to be in one
#: Letters without a blank, on average, in text whose words are parted: of wide scripts, of others.
_LONGEST_WORDS = {True: 3.0, False: 9.0}


@functools.cache
def marks() -> str:
    """All combining marks, for a class of a regular expression."""
    return "".join(chr(c) for c in range(min(sys.maxunicode, 0x20000)) if unicodedata.category(chr(c))[0] == "M")


def is_unsegmented(lines: Iterable[str]) -> bool:
    """Whether a text is written without blanks between words, as Chinese, Japanese, Thai and Khmer are.

    A text of these scripts whose words have been separated by spaces is not.
    """
    letters = inside = 0
    runs = {True: [0, 0], False: [0, 0]}  # how many, and their letters
    for line in lines:
        plain = line.translate(_without_marks())
        letters += len(_LETTER.findall(plain))
        for match in _RUN.finditer(plain):
            run = runs[bool(_IS_WIDE.match(match[0]))]
            run[0] += 1
            run[1] += len(match[0])
            inside += len(match[0])
        if letters > _SAMPLE:
            break
    if inside < _SHARE * letters or not inside:
        return False
    wide = runs[True][1] >= runs[False][1]
    count, length = runs[wide]
    return length > _LONGEST_WORDS[wide] * count


@functools.cache
def _without_marks() -> dict[int, None]:
    return dict.fromkeys(map(ord, marks()))


def stand_together(before: str, after: str) -> bool:
    """Whether no blank stands between two tokens, of which one at least is of a script without them."""
    last, first = before[-1], after[0]
    if unicodedata.category(last)[0] == "M":
        last = before[0]
    if _IS_WIDE.match(last) or _IS_WIDE.match(first):
        return True
    return bool(_IS_NARROW.match(last) and _IS_NARROW.match(first))
