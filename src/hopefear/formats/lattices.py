"""Lattices: lists whose candidates share their prefixes, features from outside, and what recognisers read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopefear._core import Forest, Pool, Vocab
from hopefear.errors import InputError, input_error
from hopefear.util.files import PathLike, output, path_name

Ints = NDArray[np.int32]


def _copied(pool: Pool, names: Sequence[str], forest: Callable[[int, Forest, Vocab, Vocab], Forest]) -> Pool:
    """A pool with other forests, over features of these names, for the same sentences."""
    new = Pool()
    for k in range(len(pool.vocab)):
        new.vocab.add(pool.vocab[k])
    for name in names:
        if new.features.add(name) != len(new.features) - 1:
            raise InputError(f"there is already a feature {name!r}. Choose another name")
    ids = pool.ids
    for i, old in enumerate(pool):
        new.append(ids[i], forest(i, old, new.vocab, new.features), pool.source(i), pool.references(i))
    if pool.number_names:
        new.number_names = pool.number_names
    return new


def edge_features(forest: Forest, edge: int) -> dict[str, float]:
    """The features of an edge by name; of dense ones, those that are not 0."""
    names = forest.features
    features = {names[k]: float(value) for k, value in enumerate(forest.dense[edge]) if value}
    if forest.sparse_begin.size:
        part = slice(forest.sparse_begin[edge], forest.sparse_begin[edge + 1])
        ids, values = forest.sparse_ids[part].tolist(), forest.sparse_values[part].tolist()
        features |= {names[k]: value for k, value in zip(ids, values, strict=True)}
    return features


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int32)


def share_prefixes(pool: Pool) -> Pool:
    """Lists as lattices: candidates that begin alike share these words. Features stay whole, on the last edge.

    Derivations are the candidates, one for one, with the same words and features: only what reads words, such as
    rescoring by a language model, has less to do.
    """
    if not pool.is_lists:
        raise InputError("only lists can share prefixes: these are forests already")
    if pool.number_names:
        raise InputError("columns of metrics belong to complete candidates: lattices cannot store them")
    return _copied(pool, pool.feature_names, lambda i, old, vocab, features: _shared(old, vocab, features))


def _shared(old: Forest, vocab: Vocab, features: Vocab) -> Forest:
    begin, words = old.word_begin, old.words
    texts = [tuple(int(w) for w in words[begin[j] : begin[j + 1]]) for j in range(old.edge_count)]
    # A node for each prefix at which two candidates part, or where one ends: the longest that both share. In the
    # order of words, the longest common prefixes are those of neighbours.
    prefixes = {_common_prefix(text, other) for text, other in itertools.pairwise(sorted(texts))} - {()}
    shared = sorted(prefixes, key=lambda prefix: (len(prefix), prefix))
    node = {prefix: k for k, prefix in enumerate(shared)}

    def above(text: tuple[int, ...], most: int) -> int:
        """The length of the longest node that is a prefix, below this length."""
        return next((length for length in range(most, 0, -1) if text[:length] in node), 0)

    edges: list[tuple[int | None, tuple[int, ...], int | None]] = []  # tail, words, candidate
    edge_begin = [0]
    for prefix in shared:
        length = above(prefix, len(prefix) - 1)
        edges.append((node.get(prefix[:length]), prefix[length:], None))
        edge_begin.append(len(edges))
    for j, text in enumerate(texts):
        length = above(text, len(text))
        edges.append((node.get(text[:length]), text[length:], j))
    return _forest(old, [*edge_begin, len(edges)], edges, vocab, features)


def _common_prefix(text: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    same = itertools.takewhile(lambda words: words[0] == words[1], zip(text, other, strict=False))
    return tuple(word for word, _ in same)


def _forest(
    old: Forest,
    edge_begin: list[int],
    edges: list[tuple[int | None, tuple[int, ...], int | None]],
    vocab: Vocab,
    features: Vocab,
) -> Forest:
    """A forest with these edges, whose features are those of the old edges."""
    tails: list[int] = []
    tail_begin, word_begin, words = [0], [0], []
    sparse_begin, sparse_ids, sparse_values = [0], [], []
    dense = np.zeros((len(edges), old.dense.shape[1]))
    for e, (tail, own, j) in enumerate(edges):
        if tail is not None:
            tails.append(tail)
            words.append(-1)
        words.extend(own)
        if j is not None:
            dense[e] = old.dense[j]
            if old.sparse_begin.size:
                part = slice(old.sparse_begin[j], old.sparse_begin[j + 1])
                sparse_ids.extend(old.sparse_ids[part].tolist())
                sparse_values.extend(old.sparse_values[part].tolist())
        tail_begin.append(len(tails))
        word_begin.append(len(words))
        sparse_begin.append(len(sparse_ids))
    return Forest.from_arrays(
        _ints(edge_begin),
        _ints(tail_begin),
        _ints(tails),
        _ints(word_begin),
        _ints(words),
        dense,
        vocab,
        features,
        sparse_begin=_ints(sparse_begin) if sparse_ids else None,
        sparse_ids=_ints(sparse_ids) if sparse_ids else None,
        sparse_values=np.array(sparse_values) if sparse_ids else None,
    )


def with_features(pool: Pool, names: Sequence[str], values: ArrayLike) -> Pool:
    """The pool with more features: a row of values for each edge of all forests, in order (a candidate is an edge)."""
    columns = np.ascontiguousarray(values, dtype=np.float64).reshape(-1, len(names))
    offsets = pool.edge_offsets()
    if len(columns) != offsets[-1]:
        raise InputError(f"there are {len(columns)} values for {offsets[-1]} edges")
    width = pool.dense_width

    def forest(i: int, old: Forest, vocab: Vocab, features: Vocab) -> Forest:
        sparse = old.sparse_begin.size > 0
        return Forest.from_arrays(
            old.edge_begin,
            old.tail_begin,
            old.tails,
            old.word_begin,
            old.words,
            np.hstack([old.dense, columns[offsets[i] : offsets[i + 1]]]),
            vocab,
            features,
            sparse_begin=old.sparse_begin if sparse else None,
            sparse_ids=old.sparse_ids + np.int32(len(names)) if sparse else None,
            sparse_values=old.sparse_values if sparse else None,
            spans=old.spans if old.spans.size else None,
            numbers=old.numbers if pool.number_names else None,
        )

    known = pool.feature_names
    return _copied(pool, [*known[:width], *names, *known[width:]], forest)


# writers

LATTICE_FORMATS = ("kaldi", "openfst", "slf")
_KNOWN = {
    "kaldi": {"graph", "acoustic", "words"},
    "openfst": {"score", "words"},
    "slf": {"acoustic", "lm", "pron", "words"},
}


def write_lattices(pool: Pool, path: PathLike, format: str) -> None:
    """Lattices as Kaldi's, OpenFST's or HTK's text; an InputError for what the format cannot express.

    Words are written as they are, not as numbers: ``utils/sym2int.pl`` and ``fstcompile --isymbols`` make these.
    """
    name = path_name(path)
    if strangers := [feature for feature in pool.feature_names if feature not in _KNOWN[format]]:
        finding = f"{format} cannot store the feature {strangers[0]!r}, only {', '.join(sorted(_KNOWN[format]))}"
        raise input_error(name, None, f"{finding}. Write the native format")
    write = {"kaldi": _kaldi, "openfst": _openfst, "slf": _slf}[format]
    with output(path) as file:
        for i, forest in enumerate(pool):
            file.write(write(pool.ids[i], list(_arcs(forest, pool, f"{name}: sentence {i}"))))


Arc = tuple[int, int, str, dict[str, float]]  # from, to, word, features


def _arcs(forest: Forest, pool: Pool, place: str) -> Iterator[Arc]:
    """From state 0 to the last; an edge with several words is a chain."""
    states = fresh = forest.node_count
    heads = np.repeat(np.arange(states), np.diff(forest.edge_begin))
    for e in range(forest.edge_count):
        tails = forest.tails[forest.tail_begin[e] : forest.tail_begin[e + 1]]
        words = [int(w) for w in forest.words[forest.word_begin[e] : forest.word_begin[e + 1]]]
        if len(tails) > 1 or (len(tails) == 1 and (not words or words[0] >= 0)):
            finding = "an edge has two tails, or words before its tail: this is not a lattice"
            raise InputError(f"{place}: {finding}. Write the native format")
        own = [pool.vocab[w] for w in words[len(tails) :]] or ["<eps>"]
        features = edge_features(forest, e)
        at = int(tails[0]) + 1 if len(tails) else 0
        for k, word in enumerate(own):
            last = k == len(own) - 1
            fresh += not last
            to = int(heads[e]) + 1 if last else fresh
            yield at, to, word, features if k == 0 else {}
            at = to


def _goal(arcs: Sequence[Arc]) -> int:
    return next(iter({to for _, to, _, _ in arcs} - {at for at, _, _, _ in arcs}))


def _kaldi(id: str, arcs: Sequence[Arc]) -> str:
    rows = [f"{a} {b} {w} {-h.get('graph', 0.0)!r},{-h.get('acoustic', 0.0)!r},\n" for a, b, w, h in _from_start(arcs)]
    return f"{id}\n{''.join(rows)}{_goal(arcs)}\n\n"


def _openfst(id: str, arcs: Sequence[Arc]) -> str:
    rows = [f"{a} {b} {w} {-h.get('score', 0.0)!r}\n" for a, b, w, h in _from_start(arcs)]
    return f"{''.join(rows)}{_goal(arcs)}\n\n"


def _from_start(arcs: Sequence[Arc]) -> list[Arc]:
    """The state of the first line is the start."""
    return sorted(arcs, key=lambda arc: arc[0])


def _slf(id: str, arcs: Sequence[Arc]) -> str:
    states = sorted({0, *(to for _, to, _, _ in arcs)})
    lines = [
        f"VERSION=1.0\nUTTERANCE={id}\nbase=2.718281828459045\n",
        f"start=0 end={_goal(arcs)}\nN={len(states)} L={len(arcs)}\n",
    ]
    lines += [f"I={state}\n" for state in states]
    for j, (at, to, word, h) in enumerate(arcs):
        scores = " ".join(
            f"{short}={h.get(name, 0.0)!r}" for short, name in (("a", "acoustic"), ("l", "lm"), ("r", "pron"))
        )
        lines.append(f"J={j} S={at} E={to} W={'!NULL' if word == '<eps>' else _htk(word)} {scores}\n")
    return "".join(lines)


def _htk(word: str) -> str:
    """A string with HTK's escapes: backslashes, and a quotation mark at the beginning."""
    word = word.replace("\\", "\\\\")
    return "\\" + word if word.startswith(("'", '"')) else word
