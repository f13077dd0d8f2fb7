"""Feature functions of the user's own, in Python: a number for each candidate of a list or each edge of a forest.

    def questions(edge: Edge) -> float:
        return edge.text.count("?") - edge.source.count("?")

    pool = with_functions(read_nbest("dev.nbest", sources="dev.de"), {"questions": questions}, cache="scores")

A function sees one edge and its sentence, and nothing else, so its value is a feature like all others: trainers,
search and files take it. Python is called for every edge, which is slow; equal edges are computed once, and with
``cache`` once for all runs.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np

from hopefear._core import Forest, Pool
from hopefear.errors import InputError
from hopefear.formats.lattices import with_features
from hopefear.runs.checkpoint import load_arrays, save_arrays
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike

OFTEN = 20.0  # seconds between two writings of a cache
_KEY = 16  # bytes


@dataclass(frozen=True, slots=True)
class Edge:
    """The argument of a feature function: a candidate of a list, or an edge of a forest.

    >>> def numbers(edge: hf.Edge) -> float:
    ...     return float(sum(word is not None and word.isdigit() for word in edge.words))
    >>> pool = hf.read_nbest("data/nbest.txt")
    >>> hf.with_functions(pool[:5], {"numbers": numbers}).feature_names[-1]
    'numbers'
    """

    source: str  #: the whole sentence, if it is known
    words: tuple[str | None, ...]  #: the target side; None where the words of a tail stand
    span: tuple[int, int] | None  #: the source words below it, from and to; None if they are not known
    features: Mapping[str, float]  #: those that the edge has already

    @property
    def text(self) -> str:
        """The words, with a gap where those of a tail stand."""
        return " ".join("_" if word is None else word for word in self.words)

    def _content(self) -> bytes:
        return repr((self.source, self.words, self.span, list(self.features.items()))).encode("utf-8", "replace")


Function = Callable[[Edge], float]


def with_functions(
    pool: Pool, functions: Mapping[str, Function], *, cache: PathLike | None = None, run: Session = SILENT
) -> Pool:
    """The same lists or forests with a feature for each function, by its name.

    ``cache`` is a folder that keeps the values. They are used again for equal edges as long as the function is the
    same: its code and that of the functions it calls, defaults, attributes, and the values of the names it uses.
    Changes of classes and of imported modules are not seen; then delete the folder.

    >>> candidates = [{"text": "who is it ?", "lm": -2.0}, {"text": "it is", "lm": -1.0}]
    >>> pool = hf.read_nbest([{"source": "wer ist es ?", "candidates": candidates}])
    >>> pool = hf.with_functions(pool, {"questions": lambda edge: edge.text.count("?") - edge.source.count("?")})
    >>> hf.Reranker({"lm": 1.0, "questions": 2.0}).rerank(pool)
    ['who is it ?']
    """
    if taken := [name for name in functions if name in pool.feature_names]:
        raise InputError(f"there is already a feature {taken[0]!r}. Give the function another name")
    columns = np.empty((int(pool.edge_offsets()[-1]), len(functions)))
    caches = [_Cache.of(name, function, cache) for name, function in functions.items()]
    update, row = run.progress("functions", len(pool)), 0
    try:
        for i, forest in enumerate(pool):
            for number, edge in enumerate(_edges(pool, forest, i)):
                for column, known in enumerate(caches):
                    try:
                        columns[row, column] = known.value(edge)
                    except InputError as error:
                        what = "candidate" if forest.is_list else "edge"
                        raise InputError(f"sentence {pool.ids[i]}, {what} {number}: {error}") from None
                row += 1
            update(i + 1)
    finally:
        for known in caches:
            known.save()
    return with_features(pool, list(functions), columns)


def _edges(pool: Pool, forest: Forest, i: int) -> Iterator[Edge]:
    """The edges of a sentence in their order."""
    source, vocab, names = pool.source(i), pool.vocab, pool.feature_names
    width, spans = forest.dense.shape[1], forest.spans
    heads = np.repeat(np.arange(len(forest.edge_begin) - 1), np.diff(forest.edge_begin))
    dense, words, begin = forest.dense, forest.words.tolist(), forest.word_begin.tolist()
    sparse = forest.sparse_begin.tolist() if forest.sparse_begin.size else None
    for e in range(forest.edge_count):
        features = dict(zip(names[:width], dense[e].tolist(), strict=False))
        if sparse is not None:
            part = slice(sparse[e], sparse[e + 1])
            ids, values = forest.sparse_ids[part].tolist(), forest.sparse_values[part].tolist()
            features |= {names[k]: value for k, value in zip(ids, values, strict=True)}
        target = tuple(None if word < 0 else vocab[word] for word in words[begin[e] : begin[e + 1]])
        node = int(heads[e])
        span = (int(spans[2 * node]), int(spans[2 * node + 1])) if spans.size else None
        yield Edge(source, target, span, types.MappingProxyType(features))


@dataclass
class _Cache:
    """The values of one function, by what it was given."""

    name: str
    function: Function
    path: Path | None
    values: dict[bytes, float]
    saved: int
    since: float

    @classmethod
    def of(cls, name: str, function: Function, folder: PathLike | None) -> _Cache:
        if folder is None:
            return cls(name, function, None, {}, 0, 0.0)
        path = (
            Path(folder)
            / f"{hashlib.blake2b(name.encode() + _identity(name, function), digest_size=_KEY).hexdigest()}.npz"
        )
        known = load_arrays(path)
        values: dict[bytes, float] = {}
        if known is not None:
            keys = known[1]["keys"].tobytes()
            places = range(0, len(keys), _KEY)
            values = {
                keys[at : at + _KEY]: value for at, value in zip(places, known[1]["values"].tolist(), strict=True)
            }
        return cls(name, function, path, values, len(values), time.monotonic())

    def value(self, edge: Edge) -> float:
        """The value of an edge, computed if it is not known."""
        key = hashlib.blake2b(edge._content(), digest_size=_KEY).digest()
        if (known := self.values.get(key)) is not None:
            return known
        result: Any = self.function(edge)
        try:
            value = float(result)
        except (TypeError, ValueError):
            raise InputError(f"{self.name} returned {result!r}. Return a number") from None
        if not math.isfinite(value):
            raise InputError(f"{self.name} returned {value}. Return a finite number")
        self.values[key] = value
        if self.path is not None and time.monotonic() - self.since > OFTEN:
            self.save()
        return value

    def save(self) -> None:
        """Write what is new; the file appears whole or stays as it was."""
        if self.path is None or len(self.values) == self.saved:
            return
        keys = np.frombuffer(b"".join(self.values), np.uint8)
        values = np.fromiter(self.values.values(), np.float64, len(self.values))
        save_arrays(self.path, {"function": self.name}, {"keys": keys, "values": values})
        self.saved, self.since = len(self.values), time.monotonic()


def _identity(name: str, function: Any) -> bytes:
    """A fingerprint of a function: code and values that it uses, as far as Python shows them."""
    try:
        return b"\1".join(_parts(function, set()))
    except (TypeError, ValueError) as error:
        finding = f"{name}: what the function uses cannot be compared with another run ({error})"
        raise InputError(f"{finding}. Load it inside the function, or leave out cache") from None


def _parts(function: Any, seen: set[int]) -> Iterator[bytes]:
    """Byte code, and the values of defaults, closures, attributes and of the module's names that it uses."""
    plain = function if isinstance(function, types.FunctionType) else getattr(function, "__func__", None)
    if plain is None:
        plain = vars(type(function)).get("__call__")
    if not isinstance(plain, types.FunctionType):
        raise TypeError(f"{function!r} is not a Python function")
    if id(plain) in seen:
        return
    seen.add(id(plain))
    yield _code(plain.__code__)
    values = [plain.__defaults__, plain.__kwdefaults__, *(cell.cell_contents for cell in plain.__closure__ or ())]
    if function is not plain:
        values += [getattr(getattr(function, "__self__", function), "__dict__", None)]
    values += [plain.__globals__[name] for name in _names(plain.__code__) if name in plain.__globals__]
    for value in values:
        if isinstance(value, types.FunctionType):
            yield from _parts(value, seen)
        elif not isinstance(value, types.ModuleType | type | types.BuiltinFunctionType):
            yield _content(value)


def _content(value: Any) -> bytes:
    """Plain values and arrays as bytes that are the same in every run."""
    if isinstance(value, dict):
        return b"{" + b",".join(_content(key) + b":" + _content(item) for key, item in value.items()) + b"}"
    if isinstance(value, set | frozenset):  # in an order of their own: sets have another in each run
        return b"<" + b",".join(sorted(_content(item) for item in value)) + b">"
    if isinstance(value, list | tuple):
        return b"[" + b",".join(_content(item) for item in value) + b"]"
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return repr((value.dtype.str, value.shape)).encode() + value.tobytes()
    if value is None or isinstance(
        value, str | bytes | bool | int | float | complex | np.generic | Path | re.Pattern | EllipsisType
    ):
        return repr(value).encode()
    raise TypeError(f"{type(value).__name__} {value!r:.60}")


def _names(code: types.CodeType) -> Iterator[str]:
    """The global names that code uses, also in the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _code(code: types.CodeType) -> bytes:
    """The byte code with its constants and names; functions within have code of their own."""
    constants = [_code(item) if isinstance(item, types.CodeType) else _content(item) for item in code.co_consts]
    return b"\0".join([code.co_code, repr(code.co_names).encode(), *constants])
