"""A derivation as readable text: the words of each rule, and its part of the score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hopefear._core import Derivation
from hopefear.formats.lattices import edge_features
from hopefear.model.features import SMALL, template_of

MEANING = {
    "lm": "how well the translation reads (log probability)",
    "lm2": "the same, by the second language model",
    "lm3": "the same, by the third language model",
    "njm": "how well each word fits its source words and the words before it (log probability)",
    "phrase_ef": "how often these source sides are translated this way (log)",
    "phrase_fe": "how often these target sides translate such source sides (log)",
    "lexical_ef": "how well the words fit, from source to target (log)",
    "lexical_fe": "how well the words fit, from target to source (log)",
    "rule": "rules of the grammar",
    "word": "words of the translation",
    "glue": "parts joined one after the other",
    "identity": "known words copied because they have no rule",
    "unknown": "unknown words copied",
    "number": "numbers copied",
    "name": "names copied",
}
LEGEND = """\
[1] and [2] stand for the indented lines below. Before each rule: what it adds to the score. After it: the source words
that it covers, and its score feature by feature."""


def explanation(derivation: Derivation, source: Sequence[str], weights: Mapping[str, float]) -> str:
    """The best translation of a hierarchical decoder as a text: its features, then its rules as a tree."""
    tree = _Tree(derivation, source, weights)
    lines = [
        f"source       {' '.join(source)}",
        f"translation  {derivation.text}",
        f"score        {derivation.score:.3f}",
    ]
    if not source:
        return "\n".join(lines)
    parts = tree.parts()
    many = f", {len(parts)} parts one after the other" if len(parts) > 1 else ""
    lines += ["", *tree.totals(), "", f"How it was put together{many}:", "", LEGEND, ""]
    for part in parts:
        lines += [*tree.below(part, 0), ""]
    return "\n".join([*lines, *tree.joining()])


class _Tree:
    """The edges of a derivation, numbered from the goal in pre-order."""

    def __init__(self, derivation: Derivation, source: Sequence[str], weights: Mapping[str, float]) -> None:
        self.forest, self.source, self.weights = derivation.forest, source, weights
        self.edges, self.nodes = derivation.edges.tolist(), derivation.nodes.tolist()
        self.children: list[list[int]] = [[] for _ in self.edges]
        for position, parent in enumerate(derivation.parents.tolist()):
            if parent >= 0:
                self.children[parent].append(position)
        self.joins: list[int] = []  # the goal and the glue rules

    def parts(self) -> list[int]:
        """The parts joined by glue rules, left to right: the goal's child and the first children below it are S."""
        self.joins, parts = [0], []
        position = self.children[0][0]
        while len(self.children[position]) == 2:
            self.joins.append(position)
            position, right = self.children[position]
            parts.append(right)
        self.joins.append(position)
        return [*self.children[position], *reversed(parts)]

    def values(self, position: int) -> dict[str, float]:
        values = edge_features(self.forest, self.edges[position])
        return {name: value for name, value in values.items() if value != 0.0 and self.weights.get(name, 0.0) != 0.0}

    def totals(self) -> Iterator[str]:
        """All features with a weight; of sparse templates the sum."""
        values: dict[str, float] = {}
        adds: dict[str, float] = {}
        for position in range(len(self.edges)):
            for name, value in self.values(position).items():
                row = name if name in SMALL or "(" not in name else f"{template_of(name)}(...)"
                values[row] = values.get(row, 0.0) + value
                adds[row] = adds.get(row, 0.0) + value * self.weights[name]
        width = max([7, *map(len, adds)])
        yield f"{'feature':{width}}  {'value':>9}  {'weight':>9}  {'adds':>9}"
        for row in sorted(adds, key=lambda name: -abs(adds[name])):
            weight = f"{self.weights[row]:9.4g}" if row in self.weights else f"{'':9}"
            line = f"{row:{width}}  {values[row]:9.3f}  {weight}  {adds[row]:+9.3f}  {MEANING.get(row, '')}"
            yield line.rstrip()

    def below(self, position: int, depth: int) -> Iterator[str]:
        begin, end = self.span(position)
        covered = f"word {end}" if end == begin + 1 else f"words {begin + 1}-{end}"
        rule = f"{'   ' * depth}{' '.join(self.source_side(position))} -> {' '.join(self.target_side(position))}"
        yield self.line([position], f"{rule:44}  {covered:>11}")
        for child in self.children[position]:
            yield from self.below(child, depth + 1)

    def joining(self) -> Iterator[str]:
        yield self.line(self.joins, f"{'joining the parts, begin and end of sentence':44}  {'':11}")

    def line(self, places: Sequence[int], text: str) -> str:
        adds: dict[str, float] = {}
        for position in places:
            for name, value in self.values(position).items():
                adds[name] = adds.get(name, 0.0) + value * self.weights[name]
        terms = ", ".join(f"{name} {value:+.3f}" for name, value in adds.items())
        return f"{sum(adds.values()):+9.3f}  {text}  {terms}".rstrip()

    def span(self, position: int) -> tuple[int, int]:
        node = self.nodes[position]
        return int(self.forest.spans[2 * node]), int(self.forest.spans[2 * node + 1])

    def source_side(self, position: int) -> Iterator[str]:
        at, end = self.span(position)
        for number, child in enumerate(self.children[position], 1):
            child_begin, child_end = self.span(child)
            yield from self.source[at:child_begin]
            yield f"[{number}]"
            at = child_end
        yield from self.source[at:end]

    def target_side(self, position: int) -> Iterator[str]:
        forest, edge = self.forest, self.edges[position]
        for word in forest.words[forest.word_begin[edge] : forest.word_begin[edge + 1]].tolist():
            yield forest.vocab[word] if word >= 0 else f"[{-word}]"
