"""Slow twins of the extraction core, written from the definitions: everything is enumerated, nothing is clever."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

Links = frozenset[tuple[int, int]]
Pair = tuple[Sequence[str], Sequence[str], Links]
X = "[X]"


class Phrase(NamedTuple):
    """Source words [i, j), target words [k, l)."""

    i: int
    j: int
    k: int
    l: int  # noqa: E741

    def links(self, links: Links) -> Links:
        return frozenset((s, t) for s, t in links if self.i <= s < self.j and self.k <= t < self.l)


def grow_diag_final_and(n: int, m: int, forward: Sequence[int], backward: Sequence[int]) -> set[tuple[int, int]]:
    """The published pseudo-code (Koehn et al. 2005), line by line. Points are (source, target)."""
    e2f = {(s, t) for t, s in enumerate(forward) if s >= 0}
    f2e = {(s, t) for s, t in enumerate(backward) if t >= 0}
    neighboring = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    alignment = e2f & f2e
    union = e2f | f2e

    def source_aligned(s: int) -> bool:
        return any(point[0] == s for point in alignment)

    def target_aligned(t: int) -> bool:
        return any(point[1] == t for point in alignment)

    while True:
        before = len(alignment)
        for t in range(m):
            for s in range(n):
                if (s, t) not in alignment:
                    continue
                for dt, ds in neighboring:
                    new = (s + ds, t + dt)
                    if new in union and (not source_aligned(new[0]) or not target_aligned(new[1])):
                        alignment.add(new)
        if len(alignment) == before:
            break
    for direction in (e2f, f2e):
        for t in range(m):
            for s in range(n):
                if (s, t) in direction and not source_aligned(s) and not target_aligned(t):
                    alignment.add((s, t))
    return alignment


def initial_phrases(pair: Pair, max_phrase: int, tight: bool) -> list[Phrase]:
    """Definition 1 of Chiang 2007; tight: of those with the same links only the smallest."""
    source, target, links = pair
    phrases = []
    for i, j in itertools.combinations(range(len(source) + 1), 2):
        for k, l in itertools.combinations(range(len(target) + 1), 2):  # noqa: E741
            phrase = Phrase(i, j, k, l)
            if j - i > max_phrase or l - k > max_phrase or not phrase.links(links):
                continue
            if any((i <= s < j) != (k <= t < l) for s, t in links):
                continue
            phrases.append(phrase)
    if not tight:
        return phrases
    return [
        p for p in phrases if not any(q != p and q.links(links) == p.links(links) and _inside(q, p) for q in phrases)
    ]


def _inside(q: Phrase, p: Phrase) -> bool:
    return p.i <= q.i and q.j <= p.j and p.k <= q.k and q.l <= p.l


class Rule(NamedTuple):
    gamma: tuple[str, ...]
    alpha: tuple[str, ...]


class Instance(NamedTuple):
    rule: Rule
    links: tuple[tuple[int, int], ...]
    weight: Fraction
    orientation: str


def instances(
    pair: Pair,
    max_phrase: int = 10,
    max_source_symbols: int = 5,
    max_nonterminals: int = 2,
    min_hole: int = 1,
    tight: bool = True,
    fractional: bool = True,
) -> Iterator[Instance]:
    """Every rule of every initial phrase, with its share of the phrase's weight of one."""
    phrases = initial_phrases(pair, max_phrase, tight)
    for phrase in phrases:
        inner = [q for q in phrases if _inside(q, phrase) and q != phrase and q.j - q.i >= min_hole]
        rules = []
        for size in range(max_nonterminals + 1):
            for holes in itertools.combinations(sorted(inner), size):
                if any(q.j >= r.i or not (q.l <= r.k or r.l <= q.k) for q, r in itertools.pairwise(holes)):
                    continue  # overlapping, or adjacent on the source side
                made = _rule(pair, phrase, holes)
                if len(made[0].gamma) <= max_source_symbols and made[1]:
                    rules.append(made)
        for rule, links in rules:
            weight = Fraction(1, len(rules)) if fractional else Fraction(1)
            yield Instance(rule, links, weight, _orientation(pair, phrase, phrases))


def _rule(pair: Pair, phrase: Phrase, holes: tuple[Phrase, ...]) -> tuple[Rule, tuple[tuple[int, int], ...]]:
    source, target, links = pair
    gamma: list[str] = []
    alpha: list[str] = []
    s_place, t_place = {}, {}
    for s in range(phrase.i, phrase.j):
        hole = next((h for h, q in enumerate(holes) if q.i <= s < q.j), None)
        if hole is None:
            s_place[s] = len(gamma)
            gamma.append(source[s])
        elif s == holes[hole].i:
            gamma.append(X)
    for t in range(phrase.k, phrase.l):
        hole = next((h for h, q in enumerate(holes) if q.k <= t < q.l), None)
        if hole is None:
            t_place[t] = len(alpha)
            alpha.append(target[t])
        elif t == holes[hole].k:
            alpha.append(f"[X,{hole + 1}]")
    inside = sorted((s_place[s], t_place[t]) for s, t in links if s in s_place and t in t_place)
    return Rule(tuple(gamma), tuple(alpha)), tuple(inside)


def _orientation(pair: Pair, phrase: Phrase, phrases: list[Phrase]) -> str:
    if phrase.k == 0:
        return "right" if phrase.i == 0 else "neutral"
    if any(q.j == phrase.i and q.l == phrase.k for q in phrases):
        return "right"
    return "left" if any(q.i == phrase.j and q.l == phrase.k for q in phrases) else "neutral"


class Scored(NamedTuple):
    phrase_ef: float
    phrase_fe: float
    lexical_ef: float
    lexical_fe: float
    count: float  # type: ignore[assignment]
    links: tuple[tuple[int, int], ...]
    orientations: dict[str, float]
    seen: int


class Lexical:
    """w(e|f) and w(f|e), None is NULL."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.counts: Counter[tuple[str | None, str | None]] = Counter()
        for source, target, links in pairs:
            self.counts.update((source[s], target[t]) for s, t in links)
            self.counts.update((f, None) for s, f in enumerate(source) if not any(link[0] == s for link in links))
            self.counts.update((None, e) for t, e in enumerate(target) if not any(link[1] == t for link in links))

    def ef(self, f: str | None, e: str | None) -> float:
        return self.counts[f, e] / sum(count for pair, count in self.counts.items() if pair[0] == f)

    def fe(self, f: str | None, e: str | None) -> float:
        return self.counts[f, e] / sum(count for pair, count in self.counts.items() if pair[1] == e)

    def weights(self, rule: Rule, links: tuple[tuple[int, int], ...]) -> tuple[float, float]:
        ef = fe = 0.0
        for t, e in enumerate(rule.alpha):
            if e.startswith("[X,"):
                continue
            partners = [rule.gamma[s] for s, t2 in links if t2 == t]
            ef += math.log(sum(self.ef(f, e) for f in partners) / len(partners) if partners else self.ef(None, e))
        for s, f in enumerate(rule.gamma):
            if f == X:
                continue
            partners = [rule.alpha[t] for s2, t in links if s2 == s]
            fe += math.log(sum(self.fe(f, e) for e in partners) / len(partners) if partners else self.fe(f, None))
        return ef, fe


def score(pairs: Sequence[Pair], **options: int | bool) -> dict[Rule, Scored]:
    """The whole table: relative frequencies, lexical weights, most frequent alignment."""
    counts: dict[Rule, Fraction] = defaultdict(Fraction)
    alignments: dict[Rule, dict[tuple[tuple[int, int], ...], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    orientations: dict[Rule, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    seen: Counter[Rule] = Counter()
    for pair in pairs:
        for instance in instances(pair, **options):
            counts[instance.rule] += instance.weight
            alignments[instance.rule][instance.links] += instance.weight
            orientations[instance.rule][instance.orientation] += instance.weight
            seen[instance.rule] += 1
    gamma_totals: dict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    alpha_totals: dict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    for rule, count in counts.items():
        gamma_totals[rule.gamma] += count
        alpha_totals[rule.alpha] += count
    lexical = Lexical(pairs)
    table = {}
    for rule, count in counts.items():
        links = min(alignments[rule], key=lambda a: (-alignments[rule][a], a))
        table[rule] = Scored(
            math.log(count / gamma_totals[rule.gamma]),
            math.log(count / alpha_totals[rule.alpha]),
            *lexical.weights(rule, links),
            float(count),
            links,
            {name: float(value) for name, value in orientations[rule].items()},
            seen[rule],
        )
    return table


def probable(
    pairs: Sequence[Pair], table: dict[Rule, Scored], min_probability: float, min_symmetric: float
) -> dict[Rule, Scored]:
    """The rules that are probable enough, and the best of each single word (ties: words that the text has first)."""
    best: dict[tuple[str, ...], Rule] = {}
    words = [word for _, target, _ in pairs for word in target]
    for rule in sorted(table, key=lambda r: (-table[r].count, [words.index(word) for word in r.alpha])):
        best.setdefault(rule.gamma, rule)
    kept = {}
    for rule, scored in table.items():
        ef, fe = math.exp(scored.phrase_ef), math.exp(scored.phrase_fe)
        enough = ef >= min_probability * (1 - 1e-6) and math.sqrt(ef * fe) >= min_symmetric * (1 - 1e-6)
        if enough or (len(rule.gamma) == 1 and best[rule.gamma] == rule):
            kept[rule] = scored
    return kept
