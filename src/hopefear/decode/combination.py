"""Lists of several systems as one: what ``hopefear combine`` does.

    combine([System("neural", "neural.jsonl"), System("hiero", "hiero.jsonl")], "both.jsonl")

A candidate stands once, however many systems proposed it, with the features of all systems side by side:

    A.NAME       feature NAME of system A
    A.missing    1 if A did not propose it
    A.rank       ln of its place in A's list, from 1; of a missing one, the place behind the last
    A.score      the weighted sum of all features of A, if its weights are given; then features of templates, such as
                 lex(f,e), have no columns of their own
    systems      how many systems proposed it

The features that A would give to a candidate that it did not propose are not known. They are estimated
from those of the candidates that it did propose (Floors): each feature, less its mean over the other candidates
of its sentence, by least squares on how the candidate agrees with these others: shares of common n-grams, and length.
What such guesses are wrong by on average is left to the weight of ``A.missing``, which a trainer learns. No references
are used, so new lists may have floors of their own, or those of the lists that weights were learnt from
(``--floors``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool, likeness_columns, set_sources
from hopefear.errors import OptionError, input_error
from hopefear.evaluation.reference_mismatch import SAMPLE, references_fit
from hopefear.formats.missing import check_weights
from hopefear.formats.streaming import SENTENCES, iter_pools, pool_writer
from hopefear.formats.weights import check_names, weight_vector
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike, atomic_write, open_text, path_name
from hopefear.util.messages import plural

LIKENESS = ("like_1", "like_2", "like_3", "like_4", "longer", "unlike")
MOST_FEATURES = 1000
RIDGE = 1e-6  # of the mean square of a predictor: only so that the equations can be solved

Matrix = NDArray[np.float64]
Found = tuple[Pool, int, str]


@dataclass
class SystemLists:
    """One list, sentence by sentence."""

    name: str
    path: PathLike
    weights: Mapping[str, float] | None = None
    features: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[Found]:
        """A pool, the place of a sentence in it, and its id."""
        for pool in iter_pools(self.path):
            names = pool.feature_names
            known = names if self.weights is None else ["score", *(name for name in names if "(" not in name)]
            if len(known) > MOST_FEATURES:
                finding = f"has {plural(len(known), 'feature')}, more than {MOST_FEATURES}"
                cure = f"Give the weights of the system: --weights {self.name}=FILE"
                raise input_error(path_name(self.path), None, f"{finding}. {cure}")
            self.features += known[len(self.features) :]
            column = {name: k for k, name in enumerate(known)}
            self._place = np.array([column.get(name, -1) for name in names], np.intp)
            self._w = weight_vector(self.weights or {}, names)
            self._names, self._dense = names, pool.dense_width
            for i, name in enumerate(pool.ids):
                yield pool, i, name

    def check_weights(self, run: Session) -> None:
        """After the whole list was read: weights whose features it does not have."""
        if self.weights is None or not self.features:
            return
        path, whose = f"the weights of {self.name}", path_name(self.path)
        check_names(path, self.weights, self._names, "", f"{whose}. Use the weights of this list")
        sparse = self._names[self._dense :]
        run.warn(check_weights(path, self.weights, self._names, sparse=sparse, or_else=""))

    def matrix(self, forest: Any) -> Matrix:
        """The features of a sentence's candidates, of the pool that was read last."""
        values = np.zeros((forest.edge_count, len(self.features)))
        rows, ids = np.indices(forest.dense.shape).reshape(2, -1)
        if len(forest.sparse_ids):
            sparse_rows = np.repeat(np.arange(forest.edge_count), np.diff(forest.sparse_begin))
            rows, ids = np.concatenate([rows, sparse_rows]), np.concatenate([ids, forest.sparse_ids])
        own = np.concatenate([forest.dense.ravel(), forest.sparse_values])
        known_features = self._place[ids] >= 0
        np.add.at(values, (rows[known_features], self._place[ids][known_features]), own[known_features])
        if self.weights is not None:
            np.add.at(values[:, 0], rows, own * self._w[ids])
        return values

    def columns(self) -> list[str]:
        return [*(f"{self.name}.{feature}" for feature in self.features), f"{self.name}.missing", f"{self.name}.rank"]


@dataclass
class Piece:
    """Some sentences of all systems together."""

    ids: list[str] = field(default_factory=list)
    number_ids: list[bool | None] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    references: list[list[str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    begin: list[int] = field(default_factory=lambda: [0])
    ranks: list[list[int]] = field(default_factory=list)  # of each candidate: its place in each system's list, or -1
    lengths: list[list[int]] = field(default_factory=list)  # of each sentence: the candidates of each system
    values: list[list[Matrix]] = field(default_factory=list)  # of each sentence and system
    numbers: list[NDArray[np.float64]] = field(default_factory=list)
    number_names: list[str] = field(default_factory=list)

    def add(self, systems: Sequence[SystemLists], sentences: Sequence[Found]) -> None:
        """The lists of one sentence, in the order of the systems."""
        name = sentences[0][2]
        for system, (_, _, own) in zip(systems, sentences, strict=True):
            if own != name:
                finding = f"has sentence {own} where {path_name(systems[0].path)} has {name}"
                raise input_error(path_name(system.path), None, f"{finding}. Combine lists of the same sentences")
        rows: dict[str, list[int]] = {}
        numbers: list[NDArray[np.float64]] = []
        values = []
        for k, (pool, i, _) in enumerate(sentences):
            forest = pool[i]
            values.append(systems[k].matrix(forest))
            if pool.number_names != sentences[0][0].number_names:
                finding = "has other metric columns than the first list. Give all lists the same"
                raise input_error(path_name(systems[k].path), None, finding)
            for j in range(forest.edge_count):
                text = pool.text(i, j)
                if text not in rows:
                    rows[text] = [-1] * len(systems)
                    numbers.append(forest.numbers[j])
                if rows[text][k] < 0:  # the first place counts
                    rows[text][k] = j
        self.ids.append(name)
        first, place, _ = sentences[0]
        self.number_ids.append(first.number_ids[place])
        self.sources.append(next((pool.source(i) for pool, i, _ in sentences if pool.source(i)), ""))
        self.references.append(next((refs for pool, i, _ in sentences if (refs := pool.references(i))), []))
        self.texts += rows
        self.begin.append(len(self.texts))
        self.ranks += rows.values()
        self.lengths.append([len(matrix) for matrix in values])
        self.values.append(values)
        self.numbers += numbers
        self.number_names = sentences[0][0].number_names

    def firsts(self) -> list[list[str]]:
        """Of each system: the first candidate of each sentence."""
        texts: list[list[str]] = [[""] * len(self.ids) for _ in self.ranks[0]]
        for i, (begin, end) in enumerate(pairwise(self.begin)):
            for text, ranks in zip(self.texts[begin:end], self.ranks[begin:end], strict=True):
                for own, rank in zip(texts, ranks, strict=True):
                    if rank == 0:
                        own[i] = text
        return texts

    def pool(self, names: Sequence[str], dense: Matrix) -> Pool:
        pool = Pool()
        for name in names:
            pool.features.add(name)
        pool.number_names = self.number_names
        numbers = np.array(self.numbers, np.float64).reshape(len(self.texts), len(self.number_names))
        pool.append_lists(self.ids, np.array(self.begin, np.int64), dense, numbers, self.texts, self.references)
        pool.number_ids = self.number_ids
        if any(self.sources):
            set_sources(pool, self.sources)
        return pool


class Floors:
    """The features that a system would give a candidate, estimated from its agreement with the system's own list.

    feature(candidate) - mean of the others = coefficients . (1, likeness), least squares over a system's candidates.
    """

    def __init__(self, systems: Sequence[SystemLists]) -> None:
        self.systems = systems
        width = len(LIKENESS) + 1
        self._xx = [np.zeros((width, width)) for _ in systems]
        self._xy: list[Matrix] = [np.zeros((width, 0)) for _ in systems]
        self._yy: list[NDArray[np.float64]] = [np.zeros(0) for _ in systems]
        self.coefficients: list[Matrix] = []

    def see(self, k: int, x: Matrix, y: Matrix) -> None:
        """Candidates of system k: 1 and likeness, features less the mean of the others."""
        if (grown := y.shape[1] - self._xy[k].shape[1]) > 0:
            self._xy[k], self._yy[k] = np.pad(self._xy[k], ((0, 0), (0, grown))), np.pad(self._yy[k], (0, grown))
        self._xx[k] += x.T @ x
        self._xy[k] += x.T @ y
        self._yy[k] += (y**2).sum(0)

    def learn(self) -> None:
        for xx, xy in zip(self._xx, self._xy, strict=True):
            ridge = np.diag(RIDGE * np.maximum(np.diag(xx), 1e-12))
            self.coefficients.append(np.asarray(np.linalg.lstsq(xx + ridge, xy, rcond=None)[0], np.float64))

    def explained(self, k: int) -> dict[str, float]:
        """The share of the variance within lists that likeness explains."""
        rest = self._yy[k] - 2 * (self.coefficients[k] * self._xy[k]).sum(0)
        rest += np.einsum("ij,ik,kj->j", self.coefficients[k], self._xx[k], self.coefficients[k])
        share = np.where(self._yy[k] > 0, 1 - rest / np.where(self._yy[k] > 0, self._yy[k], 1.0), 1.0)
        return dict(zip(self.systems[k].features, share.tolist(), strict=True))

    def save(self, path: PathLike) -> None:
        record: dict[str, Any] = {"format": "hopefear-floors-1", "likeness": ["1", *LIKENESS], "systems": {}}
        for system, b in zip(self.systems, self.coefficients, strict=True):
            record["systems"][system.name] = {feature: b[:, j].tolist() for j, feature in enumerate(system.features)}
        with atomic_write(path) as file:
            file.write(json.dumps(record, indent=1) + "\n")

    def load(self, path: PathLike) -> None:
        with open_text(path) as file:
            try:
                record = json.load(file)
                known: Mapping[str, Mapping[str, list[float]]] = record["systems"]
                if record["format"] != "hopefear-floors-1":
                    raise KeyError("format")
                for system in self.systems:
                    own = [known[system.name][feature] for feature in system.features]
                    self.coefficients.append(np.array(own, np.float64).reshape(len(own), len(LIKENESS) + 1).T)
            except (ValueError, KeyError, TypeError) as error:
                finding = f"is not a file of floors for these systems and features ({error})"
                raise input_error(
                    path_name(path), None, f"{finding}. Make it with hopefear combine --save-floors"
                ) from None


def combine(
    systems: Sequence[SystemLists],
    out: PathLike,
    run: Session = SILENT,
    *,
    floors: PathLike | None = None,
    save_floors: PathLike | None = None,
    jobs: int = 0,
) -> list[str]:
    """Write the combined list; the names of its columns. ``floors`` is a file to read instead of learning them."""
    guesses = Floors(systems)
    done = 0
    update = run.progress("combine")
    firsts: list[list[str]] = [[] for _ in systems]
    for piece in _pieces(systems):  # all features have to be known before the first line is written
        if done < SAMPLE:
            for own, texts in zip(firsts, piece.firsts(), strict=True):
                own += texts
        if floors is None:
            _see(piece, systems, guesses, jobs)
        done += len(piece.ids)
        update(done, text="floors")
    for finding in _strangers(systems, firsts):
        run.warn(finding)
    for system in systems:
        system.check_weights(run)
    if floors is None:
        guesses.learn()
    else:
        guesses.load(floors)
    columns = [column for system in systems for column in system.columns()] + ["systems"]
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise OptionError(f"two columns would be called {twice[0]}: choose other --names.")
    with pool_writer(out) as writer:
        for piece in _pieces(systems):
            writer.add(piece.pool(columns, _filled(piece, systems, guesses, jobs)))
            update(writer.written, text="write")
    if save_floors is not None:
        guesses.save(save_floors)
    if floors is None:
        for k, system in enumerate(systems):
            shares = ", ".join(f"{name} {share:.0%}" for name, share in guesses.explained(k).items())
            run.note(f"{system.name}: explained by likeness to its other candidates: {shares}")
    return columns


def _strangers(systems: Sequence[SystemLists], firsts: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lists that seem to be of other sentences than the first one, or that one again."""
    for system, texts in zip(systems[1:], firsts[1:], strict=True):
        name = path_name(system.path)
        if _same_file(systems[0].path, system.path):
            yield f"{systems[0].name} and {system.name} are the same list, {name}: its columns will be there twice"
        yield from references_fit(firsts[0], [texts], [name], what="candidates")


def _same_file(first: PathLike, second: PathLike) -> bool:
    """Whether both are one file; candidates in memory and standard input are none."""
    try:
        return Path(first).samefile(second)
    except OSError:
        return False


def _pieces(systems: Sequence[SystemLists]) -> Iterator[Piece]:
    streams = [system.sentences() for system in systems]
    end = object()
    count = 0
    while True:
        piece = Piece()
        for first in islice(streams[0], SENTENCES):
            others = [next(stream, end) for stream in streams[1:]]
            if end in others:
                _differ(systems[1 + others.index(end)], count, systems[0])
            piece.add(systems, [first, *others])  # type: ignore[list-item]
            count += 1
        if not piece.ids:
            break
        yield piece
    for system, stream in zip(systems[1:], streams[1:], strict=True):
        if next(stream, end) is not end:
            _differ(systems[0], count, system)


def _differ(short: SystemLists, count: int, long: SystemLists) -> None:
    finding = f"has {plural(count, 'sentence')}, {path_name(long.path)} has more"
    raise input_error(path_name(short.path), None, f"{finding}. Combine lists of the same sentences")


def _likeness(piece: Piece, ranks: NDArray[np.int64], jobs: int) -> Matrix:
    """For every candidate and system: 1, then the likeness."""
    pool = piece.pool([], np.zeros((len(piece.texts), 0)))
    like = likeness_columns(pool, (ranks >= 0).astype(np.uint8), jobs).reshape(*ranks.shape, len(LIKENESS))
    return np.concatenate([np.ones((*ranks.shape, 1)), like], axis=2)


def _see(piece: Piece, systems: Sequence[SystemLists], floors: Floors, jobs: int) -> None:
    ranks = np.array(piece.ranks, np.int64).reshape(-1, len(systems))
    x = _likeness(piece, ranks, jobs)
    for s, values in enumerate(piece.values):
        begin, end = piece.begin[s], piece.begin[s + 1]
        for k, own in enumerate(values):
            rank = ranks[begin:end, k]
            y = own[rank[rank >= 0]]
            if len(y) < 2:
                continue  # nothing to be like
            floors.see(k, x[begin:end, k][rank >= 0], (y - y.mean(0)) * len(y) / (len(y) - 1))


def _filled(piece: Piece, systems: Sequence[SystemLists], floors: Floors, jobs: int) -> Matrix:
    ranks = np.array(piece.ranks, np.int64).reshape(-1, len(systems))
    x = _likeness(piece, ranks, jobs)
    blocks = []
    for k, system in enumerate(systems):
        width = len(system.features)
        block = np.zeros((len(ranks), width + 2))
        for s, values in enumerate(piece.values):
            own = np.pad(values[k], ((0, 0), (0, width - values[k].shape[1])))
            rows = slice(piece.begin[s], piece.begin[s + 1])
            rank = ranks[rows, k]
            there = rank >= 0
            guess = own[rank[there]].mean(0) + x[rows, k] @ floors.coefficients[k]
            block[rows, :width] = np.where(there[:, None], own[rank], guess)
            block[rows, width] = ~there
            block[rows, width + 1] = np.log(np.where(there, rank, len(own)) + 1)
        blocks.append(block)
    return np.ascontiguousarray(np.hstack([*blocks, (ranks >= 0).sum(1, keepdims=True).astype(np.float64)]))
