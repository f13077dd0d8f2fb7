"""Sentences for the page: translations before and after, clouds of candidates, trees of derivations.

A cloud is figure 1 of Chiang (2012): every candidate a point, model score to the right, metric upwards; the best, the
hope and the fear marked. It is shown for the weights before and after training, with the same candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Derivation, HopeFear, OracleDocument, Pool
from hopefear.evaluation.clouds import typical_document
from hopefear.evaluation.scores import best_of
from hopefear.formats.weights import weight_vector
from hopefear.reports.feature_names import readable
from hopefear.reports.gather import RunData
from hopefear.util.processes import cores

Vector = NDArray[np.float64]
KBEST, SAMPLES = 100, 100


@dataclass(frozen=True)
class TwoTranslations:
    """One sentence before and after."""

    index: int  # in the part
    id: str
    source: str
    references: list[str]
    before: str
    after: str
    gain_before: float  # of the sentence alone, 0 to 1
    gain_after: float

    @property
    def change(self) -> float:
        return self.gain_after - self.gain_before


def translations(run: RunData, part: str, jobs: int = 0) -> list[TwoTranslations]:
    """All sentences of a part: the translation before training and the one after it."""
    pool = run.parts[part]
    chosen = [best_of(pool, w, jobs) for w in (run.initial, run.weights)]
    before, after = ([lists.text(i, 0) for i in range(len(lists))] for lists in chosen)
    gains = [run.metric.sentence_gains(run.metric.stats(lists, jobs)) for lists in chosen]
    if run.said_before:  # by a decoder that searched with the weights of that time
        before = [run.said_before.get(name, text) for name, text in zip(pool.ids, before, strict=True)]
        references = [pool.references(i) for i in range(len(pool))]
        most = max(map(len, references), default=0)
        columns = [[texts[r] if r < len(texts) else None for texts in references] for r in range(most)]
        gains[0] = run.metric.sentence_gains(run.metric.corpus_stats(before, columns, jobs))
    return [
        TwoTranslations(
            i, pool.ids[i], pool.source(i), pool.references(i), before[i], after[i],
            float(gains[0][i]), float(gains[1][i]),
        )
        for i in range(len(pool))
    ]  # fmt: skip


def choose(translations: Sequence[TwoTranslations], count: int) -> list[TwoTranslations]:
    """Sentences worth a look: of those that changed the most improved and the most harmed, of a length one can read."""
    length = [len(translation.after.split()) for translation in translations]
    readable = [translation for translation, words in zip(translations, length, strict=True) if 6 <= words <= 24]
    if len(readable) < count:
        readable = list(translations)
    changed = sorted(
        (translation for translation in readable if translation.before != translation.after),
        key=lambda translation: translation.change,
    )
    worse = [translation for translation in changed if translation.change < 0][: count // 3]
    better = [translation for translation in reversed(changed) if translation.change >= 0][: count - len(worse)]
    picked = better + worse
    if len(picked) < count:
        known = {translation.index for translation in picked}
        picked += [translation for translation in readable if translation.index not in known][: count - len(picked)]
    return picked


def clouds(run: RunData, pool: Pool, chosen: Sequence[int], jobs: int = 0, seed: int = 1) -> list[dict[str, Any]]:
    """The clouds of these sentences under the weights before and after, with trees where there are forests.

    On lists one standard deviation of the model score counts as much as one of the metric when hope and fear are
    chosen; in forests they are searched as in training, BLEU in the context of an oracle document.
    """
    document = None if pool.is_lists else typical_document(pool, run.weights, jobs)
    # Forests become merged lists, which order features anew, in the same way for every sentence.
    like = pool if pool.is_lists else _core.merged([pool.subset(np.zeros(1, np.int64)).kbest(run.weights, 1, jobs=1)])
    both = {"before": run.initial, "after": run.weights}
    vectors, own = (
        {when: weight_vector(weights, of.feature_names) for when, weights in both.items()} for of in (pool, like)
    )
    names = like.feature_names
    with ThreadPoolExecutor(jobs or cores()) as threads:  # most of the time is spent in the core
        return list(threads.map(lambda i: _cloud(run, pool, i, vectors, own, names, document, seed), chosen))


def _cloud(
    run: RunData,
    pool: Pool,
    i: int,
    vectors: Mapping[str, Vector],
    own_vectors: Mapping[str, Vector],
    names: Sequence[str],
    document: OracleDocument | None,
    seed: int,
) -> dict[str, Any]:
    """``vectors`` are over the features of the pool, ``own_vectors`` over those of its lists, which have ``names``."""
    sentence = pool.subset(np.array([i]))
    triples: dict[str, HopeFear] = {}
    lists = sentence
    if document is not None:
        triples = {when: sentence.hope_fear(w, document, jobs=1)[0] for when, w in vectors.items()}
        lists = _sampled(sentence, vectors, triples, seed)
    rows = _thin(run, lists, vectors, seed) if sentence.is_lists else np.arange(lists[0].edge_count)
    gains = run.metric.sentence_gains(run.metric.stats(lists, 1))
    scores = {when: np.asarray(lists[0].scores(w)) for when, w in own_vectors.items()}
    texts: dict[str, int] = {}
    at = {int(row): place for place, row in enumerate(rows)}

    def text_of(row: int) -> int:
        return texts.setdefault(lists.text(0, row), len(texts))

    data: dict[str, Any] = {"id": sentence.ids[0], "source": sentence.source(0), "references": sentence.references(0)}
    data["points"] = [[text_of(int(row)), round(float(gains[row]), 4)] for row in rows]
    for when, w in vectors.items():
        own = scores[when]
        best = int(np.argmax(own))
        spread = float(own.std()) or 1.0
        place = (own - own[best]) / spread
        marks = {"best": best}
        trees: dict[str, Derivation] = {}
        if sentence.is_lists:
            sized = (gains - gains.mean()) / (float(gains.std()) or 1.0)
            marks |= {"hope": int(np.argmax(place + sized)), "fear": int(np.argmax(place - sized))}
        else:
            triple = triples[when]
            trees = {"best": triple.best, "hope": triple.hope, "fear": triple.fear}
            marks |= {kind: _find(lists, own, trees[kind]) for kind in ("hope", "fear", "best")}
        top = np.argsort(-own, kind="stable")[:KBEST]
        among = set(top.tolist())
        data[when] = {
            "x": [round(float(place[row]), 3) for row in rows],
            "kbest": [int(int(row) in among) for row in rows],
            "marks": {kind: at[row] for kind, row in marks.items() if row in at},
        }
        data[when]["why"] = _contributions(lists, names, marks, own_vectors[when])
        if trees:
            data[when]["trees"] = {
                kind: tree(derivation, sentence.source(0).split(), w) for kind, derivation in trees.items()
            }
    data["texts"] = list(texts)
    return data


def _thin(run: RunData, lists: Pool, vectors: Mapping[str, Vector], seed: int) -> NDArray[np.int64]:
    """Of a long list: the best by each weights, the extremes of the metric, and some others."""
    count = lists[0].edge_count
    if count <= KBEST + SAMPLES:
        return np.arange(count)
    keep: set[int] = set()
    for w in vectors.values():
        keep |= set(np.argsort(-np.asarray(lists[0].scores(w)), kind="stable")[:KBEST].tolist())
    gains = run.metric.sentence_gains(run.metric.stats(lists, 1))
    order = np.argsort(gains, kind="stable")
    keep |= {int(k) for k in (*order[:5], *order[-5:])}
    for w in vectors.values():  # where hope and fear are found
        own = np.asarray(lists[0].scores(w))
        place, sized = own / (float(own.std()) or 1.0), gains / (float(gains.std()) or 1.0)
        keep |= {int(np.argmax(place + sized)), int(np.argmax(place - sized))}
    others = np.setdiff1d(np.arange(count), sorted(keep))
    random = np.random.default_rng([seed, count])
    some = random.choice(others, min(SAMPLES, len(others)), replace=False) if len(others) else others
    return np.array(sorted(keep | {int(k) for k in some}), dtype=np.int64)


def _sampled(sentence: Pool, vectors: Mapping[str, Vector], triples: Mapping[str, HopeFear], seed: int) -> Pool:
    """Derivations of a forest as a list: the k best, random ones, hope and fear, under both weights."""
    pools = []
    for number, (when, w) in enumerate(vectors.items()):
        triple = triples[when]
        temperature = max(1.0, 0.02 * abs(triple.best.score))
        pools += [sentence.kbest(w, KBEST, False, 1), sentence.sample(w, SAMPLES // 2, seed + number, temperature, 1)]
        pools += [_as_list(sentence, derivation) for derivation in (triple.hope, triple.fear, triple.best)]
    return _core.merged(pools)


def _as_list(sentence: Pool, derivation: Derivation) -> Pool:
    """One derivation as a list of one candidate."""
    forest = sentence[0]
    width = forest.dense_width
    h = np.asarray(derivation.h)
    ids, values = derivation.sparse
    words = np.asarray(derivation.words, dtype=np.int32)
    whole = np.array([0, len(words)], dtype=np.int32)
    none = np.zeros(0, dtype=np.int32)
    single = _core.Forest.from_arrays(
        np.array([0, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32), none, whole, words,
        np.ascontiguousarray(h[None, :width]), forest.vocab, forest.features,
        sparse_begin=np.array([0, len(ids)], dtype=np.int32) if len(ids) else None,
        sparse_ids=np.asarray(ids, dtype=np.int32) if len(ids) else None,
        sparse_values=np.asarray(values) if len(ids) else None,
    )  # fmt: skip
    pool = sentence.subset(np.zeros(0, dtype=np.int64))
    pool.append(sentence.ids[0], single, sentence.source(0), sentence.references(0))
    return pool


def _find(lists: Pool, scores: Vector, derivation: Derivation) -> int:
    """The candidate that is this derivation: same words, nearest score."""
    text = derivation.text
    rows = [row for row in range(lists[0].edge_count) if lists.text(0, row) == text]
    return min(rows, key=lambda row: abs(scores[row] - derivation.score)) if rows else int(np.argmax(scores))


def _contributions(
    lists: Pool, names: Sequence[str], marks: Mapping[str, int], w: Vector, most: int = 12
) -> list[list[Any]]:
    """Feature by feature what it gives to best, hope and fear, relative to the best: the largest differences first."""
    forest = lists[0]
    given: dict[str, dict[int, float]] = {}
    for kind, row in marks.items():
        own = {j: float(v) for j, v in enumerate(forest.dense[row].tolist()) if v}
        if len(forest.sparse_begin):
            among = slice(forest.sparse_begin[row], forest.sparse_begin[row + 1])
            own |= dict(zip(forest.sparse_ids[among].tolist(), forest.sparse_values[among].tolist(), strict=True))
        given[kind] = {j: v * float(w[j]) for j, v in own.items() if w[j]}
    best = given["best"]
    used = {j for own in given.values() for j in own}

    def differs(j: int) -> float:
        return max(abs(own.get(j, 0.0) - best.get(j, 0.0)) for own in given.values())

    order = sorted(used, key=lambda j: (-differs(j), j))[:most]
    kinds = ("best", "hope", "fear")
    return [[readable(names[j]), *(round(given.get(kind, best).get(j, 0.0), 3) for kind in kinds)] for j in order]


def tree(derivation: Derivation, source: Sequence[str], w: Vector) -> dict[str, Any]:
    """A derivation as nested rules: source side, target side, what the rule adds to the score, and its parts."""
    forest = derivation.forest
    words = forest.vocab
    nodes, parents = derivation.nodes.tolist(), derivation.parents.tolist()
    edges = derivation.edges.tolist()
    scores = forest.scores(np.ascontiguousarray(w))
    below: list[list[int]] = [[] for _ in nodes]
    for place, parent in enumerate(parents):
        if parent >= 0:
            below[parent].append(place)
    spans = len(forest.spans) > 0
    made: list[dict[str, Any]] = [{} for _ in nodes]
    for place in range(len(nodes) - 1, -1, -1):
        edge = edges[place]
        children = below[place]
        target = [
            words[int(word)] if word >= 0 else -int(word)
            for word in forest.words[forest.word_begin[edge] : forest.word_begin[edge + 1]]
        ]
        parts: list[str | int] = []
        if spans:
            begin, end = (int(x) for x in forest.spans[2 * nodes[place] : 2 * nodes[place] + 2])
            cursor = begin
            for number, child in enumerate(children, 1):
                child_begin, child_end = (int(x) for x in forest.spans[2 * nodes[child] : 2 * nodes[child] + 2])
                parts += [*source[cursor:child_begin], number]
                cursor = child_end
            parts += source[cursor:end]
        made[place] = {"s": parts, "t": target, "w": round(float(scores[edge]), 2), "c": [made[c] for c in children]}
    return _joined(made[0])


def _joined(node: dict[str, Any]) -> dict[str, Any]:
    """Without rules that say nothing themselves, which would only make the tree deep.

    A rule that passes its only part on adds its score to it; glue rules, which join two parts, become one that joins
    them all.
    """
    children = [_joined(child) for child in node["c"]]
    if len(children) == 1 and node["t"] == [1] and node["s"] in ([1], []):
        return {**children[0], "w": round(children[0]["w"] + node["w"], 2)}
    if len(children) == 2 and node["t"] == [1, 2] and node["s"] in ([1, 2], []):
        parts: list[dict[str, Any]] = []
        score = node["w"]
        for child in children:
            if child.get("glue"):
                parts += child["c"]
                score += child["w"]
            else:
                parts.append(child)
        numbers = list(range(1, len(parts) + 1))
        return {"s": numbers, "t": numbers, "w": round(score, 2), "c": parts, "glue": 1}
    return {**node, "c": children}
