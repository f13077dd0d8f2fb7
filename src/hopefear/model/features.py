"""The features of a model: the thirteen of the small model, and the sparse ones that a model declares.

Small (Chiang 2012, section 7), all natural logarithms or counts:

==============  ====================================================================================================
``lm``          log probability of the first language model
``lm2``         of the second, if the model has one
``phrase_ef``   log p(e|f) of each rule, the relative frequency of fractional counts
``phrase_fe``   log p(f|e)
``lexical_ef``  log lexical weight of the target words given the source words of each rule
``lexical_fe``  and the other way round
``rule``        number of rules from the grammar
``word``        number of target words
``glue``        number of glue rules
``identity``    number of known source words that are copied because no rule says so
``unknown``     number of unknown source words that are copied
``number``      number of words with a digit that are copied
``name``        number of words with a capital, inside a sentence, that are copied
==============  ====================================================================================================

Sparse features are declared by name, one per line, in the model's ``features.txt``; the n-th has the id 13 + n (n from
0), whichever of them a training run uses. Templates and their names are described in ``docs/model-directory.md``. The
groups of section 4 of Tan et al. 2013 are printed as "4×55", where all pairs of subranges of [1, 10] would be 4×55×55:
we read it as the same subrange for both sides.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hopefear._core import FeatureTemplates, LexicalTable, ParallelText, RuleTable, feature_name

#: The dense features, in the order of their ids.
SMALL = (
    "lm",
    "lm2",
    "phrase_ef",
    "phrase_fe",
    "lexical_ef",
    "lexical_fe",
    "rule",
    "word",
    "glue",
    "identity",
    "unknown",
    "number",
    "name",
)
#: The columns of a grammar that are features.
PROBABILITIES = ("phrase_ef", "phrase_fe", "lexical_ef", "lexical_fe")

#: Where decoding starts without training: about the mean of what tuning found (docs/model-directory.md).
DEFAULT_WEIGHTS = {
    "lm": 1.0,
    "lm2": 0.0,
    "phrase_ef": 0.8,
    "phrase_fe": 0.8,
    "lexical_ef": 0.3,
    "lexical_fe": 0.3,
    "rule": 0.0,
    "word": 1.4,
    "glue": 1.3,
    "identity": -3.0,
    "unknown": -3.0,
    "number": 0.0,
    "name": -1.0,
}
#: The same for a neural joint model, if there is one (docs/joint-model.md).
JOINT_WEIGHT = 0.5
#: What the templates are called; the first part of a feature's name.
TEMPLATES = ("lex", "group", "shape", "distance", "pair", "unigram", "bigram", "trigram", "trigger")
#: How many of each Gimpel and Smith (2012, section 4.3) take.
EXTENDED_SIZES = {"pair": 1000, "unigram": 200, "bigram": 1000, "trigram": 1000, "trigger": 4000}
#: Marks in place of words (no word has a null byte).
NULL, UNK = "\0NULL", "\0UNK"

_TRIGGER_WORDS = 5000  # triggers are looked for among the most frequent words
_TRIGGER_LEAST = 5  # occurrences


def template_of(name: str) -> str:
    """The template of a sparse feature's name: ``lex`` of ``lex(casa,house)``."""
    return name.partition("(")[0]


def lex_frequency(words: int) -> int:
    """How often a word must occur to have lex features of its own: 10,000 times in the paper's 160 million words."""
    return max(5, round(words * 10_000 / 160e6))


def lex_features(text: ParallelText, lexical: LexicalTable, frequency: int) -> list[str]:
    """lex(e), lex(f,e) and lex(NULL,e) for all pairs that are linked in the text; rarer words are UNK."""
    frequent = []
    for words, vocab in ((text.source, text.source_vocab), (text.target, text.target_vocab)):
        counts = np.bincount(words, minlength=len(vocab))
        frequent.append({int(i): vocab[int(i)] for i in np.flatnonzero(counts >= frequency)})
    sources, targets = frequent
    names = [feature_name(["lex", e]) for e in [UNK, *targets.values()]]
    names += [feature_name(["lex", NULL, e]) for e in [UNK, *targets.values()]]
    pairs = {(UNK, UNK)}  # unknown words are copied
    pairs |= {(UNK, e) for e in targets.values()} | {(f, UNK) for f in sources.values()}
    fs, es, _ = lexical.pairs()
    pairs |= {
        (sources.get(f, UNK), targets.get(e, UNK)) for f, e in zip(fs.tolist(), es.tolist(), strict=True) if f >= 0 <= e
    }
    return names + [feature_name(["lex", f, e]) for f, e in sorted(pairs)]


def distance_features() -> list[str]:
    """distance(keep,n) and distance(swap,n): the source words below a nonterminal, and whether its rule reorders it."""
    widths = range(1, FeatureTemplates.DISTANCES + 1)
    return [feature_name(["distance", order, str(n)]) for order in ("keep", "swap") for n in widths]


def group_features() -> list[str]:
    """The 220 group features: each log probability of a rule, by the range of its sides' lengths."""
    ranges = [(a, b) for a in range(1, 11) for b in range(a, 11)]
    return [feature_name(["group", name, str(a), str(b)]) for name in PROBABILITIES for a, b in ranges]


def extended_features(
    text: ParallelText, rules: RuleTable, sizes: dict[str, int] | None = None, jobs: int = 0
) -> list[str]:
    """The most frequent word pairs, unigrams, bigrams, trigrams, and trigger pairs by mutual information."""
    sizes = {**EXTENDED_SIZES, **(sizes or {})}
    words = text.target_vocab
    names = [feature_name(["pair", *pair]) for pair in _word_pairs(rules, sizes["pair"])]
    for order, template in enumerate(("unigram", "bigram", "trigram"), 1):
        ngrams = _frequent_ngrams(text.target, text.target_begin, order, sizes[template])
        names += [feature_name([template, *(words[i] for i in ids)]) for ids in ngrams]
    return names + [feature_name(["trigger", words[d], words[e]]) for d, e in _triggers(text, sizes["trigger"], jobs)]


def _word_pairs(rules: RuleTable, size: int) -> list[tuple[str, str]]:
    """The most frequent phrase pairs of one word per side."""
    lengths = rules.source_begin[1:] - rules.source_begin[:-1]
    of_rule = np.repeat(np.arange(rules.sides), rules.rule_begin[1:] - rules.rule_begin[:-1])
    single = (lengths[of_rule] == 1) & (rules.target_begin[1:] - rules.target_begin[:-1] == 1)
    chosen = np.flatnonzero(single)
    sources = rules.source[rules.source_begin[of_rule[chosen]]]
    targets = rules.target[rules.target_begin[chosen]]
    counts = rules.columns[chosen, rules.names.index("count")]
    word = (sources >= 0) & (targets >= 0)
    order = np.lexsort((targets[word], sources[word], -counts[word]))[:size]
    f, e = rules.source_vocab, rules.target_vocab
    return [(f[int(sources[word][i])], e[int(targets[word][i])]) for i in order]


def _frequent_ngrams(
    words: NDArray[np.int32], begin: NDArray[np.int64], order: int, size: int
) -> Iterator[tuple[int, ...]]:
    if len(words) < order:
        return
    inside = np.ones(len(words) - order + 1, bool)  # positions whose n-gram does not cross a sentence's end
    for back in range(1, order):
        ends = begin[1:-1] - back
        inside[ends[(ends >= 0) & (ends < len(inside))]] = False
    ids = words[: len(inside)].astype(np.int64)
    for k in range(1, order):  # n-grams get numbers, which keep their order
        following = words[k : k + len(inside)]
        pairs = ids * (int(words.max()) + 1) + following
        ids = np.unique(pairs, return_inverse=True)[1]
    distinct, first, counts = np.unique(ids[inside], return_index=True, return_counts=True)
    places = np.flatnonzero(inside)[first]
    for i in np.lexsort((distinct, -counts))[:size]:
        yield tuple(int(w) for w in words[places[i] : places[i] + order])


def _triggers(text: ParallelText, size: int, jobs: int) -> list[tuple[int, int]]:
    """Pairs d, e where d earlier in a sentence makes e more likely, by average mutual information (Rosenfeld 1996).

    The events are, at each place of the text: "d is in the history" and "e is the next word".
    """
    words, begin, vocab = text.target, text.target_begin, len(text.target_vocab)
    n = len(words)
    if n == 0:
        return []
    counts = np.bincount(words, minlength=vocab)
    rank = np.empty(vocab, np.int32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(vocab, dtype=np.int32)
    rows = text.trigger_counts(rank, _TRIGGER_WORDS, jobs)
    rows = rows[rows[:, 2] >= _TRIGGER_LEAST]
    sentence = np.repeat(np.arange(len(text), dtype=np.int64), np.diff(begin))
    keys, first = np.unique(
        sentence * vocab + words, return_index=True
    )  # the first position of a word in each sentence
    behind = np.maximum(0, begin[sentence[first] + 1] - first - FeatureTemplates.TRIGGER_DISTANCE)
    history = np.bincount(keys % vocab, weights=behind, minlength=vocab)  # places with a word in their history
    d, e, both = rows[:, 0], rows[:, 1], rows[:, 2] / n
    p_d, p_e = history[d] / n, counts[e] / n
    information = np.zeros(len(rows))
    for joint, p, q in (
        (both, p_d, p_e),
        (p_d - both, p_d, 1 - p_e),
        (p_e - both, 1 - p_d, p_e),
        (1 - p_d - p_e + both, 1 - p_d, 1 - p_e),
    ):
        possible = (joint > 1e-12) & (p > 1e-12) & (q > 1e-12)
        information[possible] += joint[possible] * np.log(joint[possible] / (p[possible] * q[possible]))
    information[both <= p_d * p_e] = -1.0  # d makes e less likely
    order = np.lexsort((e, d, -information))[:size]
    return [(int(d[i]), int(e[i])) for i in order if information[i] > 0]
