"""A corpus in three parts: text to build from, sentences to learn weights from, sentences to test with.

No sentence of the other two parts, nor a near copy of it (the same letters without case, digits, punctuation), is in
the text to build from, on either side. Where the corpus has documents, whole ones go to a part; otherwise sentences are
drawn at random, among those that occur once and have some words: greetings and dictionary entries test nothing.
"""

from __future__ import annotations

import functools
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from hopefear.corpus.pair import Pair

MOST, LEAST, SHARE = 2000, 200, 0.05  # sentences of a part
_WORDS, _LETTERS = 4, 20  # of a sentence that tests something; one without blanks has letters only
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")  # each as much as three letters
_FEWEST_DOCUMENTS = 10
_UNEVEN = 0.25  # of the corpus that one document may be


@dataclass
class Split:
    """The parts; what was left out of ``train`` because it is, or nearly is, in another."""

    train: list[Pair] = field(default_factory=list)
    dev: list[Pair] = field(default_factory=list)
    test: list[Pair] = field(default_factory=list)
    near_copies: int = 0
    documents: dict[str, int] = field(default_factory=dict)  #: part -> documents, if it was split by these


def part_size(usable: int) -> int:
    """How many sentences go to each of dev and test, of so many that could."""
    return min(MOST, max(int(SHARE * usable), min(LEAST, usable // 8)))


@functools.cache
def _not_letters() -> re.Pattern[str]:
    marks = "".join(chr(c) for c in range(0x10000) if unicodedata.category(chr(c))[0] == "M")
    return re.compile(f"[^\\w{marks}]+|[\\d_]+")


def letters(text: str) -> str:
    """What near copies have in common: letters with their marks, without case, digits, punctuation and blanks.

    A text without letters (``1967``) is itself.
    """
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return _not_letters().sub("", plain) or text


def _key(text: str) -> bytes:
    return blake2b(letters(text).encode("utf-8", "replace"), digest_size=8).digest()


def split(
    pairs: Iterable[Pair],
    seed: int = 1,
    *,
    test: Sequence[Pair] | None = None,
    test_lines: Iterable[str] = (),
    dev: bool = True,
    size: int | None = None,
) -> Split:
    """The parts of a corpus. ``test``: a part for your own tests; ``test_lines``: more texts that are kept out.

    ``dev``: whether there is a part to learn weights from. ``size``: sentences of each part, in place of what
    :func:`part_size` says.
    """
    corpus = list(pairs)
    keys = [(_key(pair.source), _key(pair.target)) for pair in corpus]
    result = Split(test=list(test or ()))
    taken = {_key(pair.source) for pair in result.test} | {_key(pair.target) for pair in result.test}
    taken |= {_key(line) for line in test_lines if line.strip()}
    free = [i for i, own in enumerate(keys) if not taken.intersection(own)]
    result.near_copies = len(corpus) - len(free)
    rng = random.Random(seed)
    names = [*(["test"] if test is None else []), *(["dev"] if dev else [])]
    chosen = _documents(corpus, free, names, rng, size) if names else {}
    if chosen is not None:
        result.documents = {name: len({corpus[i].document for i in part}) for name, part in chosen.items()}
    else:
        chosen = _sentences(corpus, keys, free, names, rng, size)
    for name in names:
        if name == "dev":  # a near copy of a test sentence is nothing to choose by
            chosen[name] = [i for i in chosen[name] if not taken.intersection(keys[i])]
        setattr(result, name, [corpus[i] for i in chosen[name]])
        taken |= {key for i in chosen[name] for key in keys[i]}
    away = {i for part in chosen.values() for i in part}
    result.train = [corpus[i] for i in free if i not in away and not taken.intersection(keys[i])]
    result.near_copies += len(free) - len(away) - len(result.train)
    return result


def _documents(
    corpus: Sequence[Pair], free: Sequence[int], names: Sequence[str], rng: random.Random, size: int | None
) -> dict[str, list[int]] | None:
    """Whole documents for each part; nothing if there are too few, or if one is too large a share."""
    members: dict[str, list[int]] = {}
    for i in free:
        document = corpus[i].document
        if document is not None:
            members.setdefault(document, []).append(i)
    inside = sum(len(each) for each in members.values())
    if len(members) < _FEWEST_DOCUMENTS or max(map(len, members.values())) > _UNEVEN * inside:
        return None
    size = part_size(len(free)) if size is None else size
    order = sorted(members)
    rng.shuffle(order)
    chosen: dict[str, list[int]] = {}
    for name in names:
        part: list[int] = []
        for document in list(order):
            if len(part) >= size:
                break
            if len(part) + len(members[document]) <= 2 * size:  # a long one would take the text to build from
                part += members[document]
                order.remove(document)
        chosen[name] = sorted(part)
    return chosen if all(chosen.values()) else None


def _sentences(
    corpus: Sequence[Pair],
    keys: Sequence[tuple[bytes, bytes]],
    free: Sequence[int],
    names: Sequence[str],
    rng: random.Random,
    size: int | None,
) -> dict[str, list[int]]:
    sides = Counter(key for i in free for key in keys[i])
    usable = [i for i in free if _tells(corpus[i])] or list(free)
    size = part_size(len(usable)) if size is None else min(size, len(usable) // (2 * len(names)))
    once = [i for i in usable if sides[keys[i][0]] == sides[keys[i][1]] == 1]
    usable = once if len(once) >= 2 * size * len(names) else usable
    drawn = rng.sample(usable, min(size * len(names), len(usable)))
    return {name: sorted(drawn[n * size : (n + 1) * size]) for n, name in enumerate(names)}


def _tells(pair: Pair) -> bool:
    """Whether a pair is a sentence rather than a greeting or an entry of a dictionary."""
    return all(text.count(" ") >= _WORDS - 1 or _length(text) >= _LETTERS for text in (pair.source, pair.target))


def _length(text: str) -> int:
    plain = letters(text)
    return len(plain) if text.isascii() else len(plain) + 2 * len(_DENSE.findall(plain))
