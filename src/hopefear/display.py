"""What a notebook shows of a pool, a forest, a derivation and a result. All text in it is escaped.

The classes have ``_repr_html_`` or ``_repr_svg_``, which call a function here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from hopefear._core import Derivation, Forest, Pool
from hopefear.util.messages import digits_for
from hopefear.util.svg import Curve, line_chart, style, tag

if TYPE_CHECKING:
    from hopefear.evaluation.weigh_result import Weighed
    from hopefear.train.replicates import Tuned
    from hopefear.trainers import Result

SENTENCES, ROWS, WEIGHTS = 5, 10, 20  # as many are shown


def pool_html(pool: Pool) -> str:
    """The first sentences: how many candidates, the first of them, a reference."""
    rows = []
    for i, forest in enumerate(islice(pool, SENTENCES)):
        refs = pool.references(i)
        first = _text(forest, 0) if forest.is_list and forest.edge_count else ""
        rows.append([pool.ids[i], f"{forest.edge_count:,}", first, refs[0] if refs else ""])
    what = "candidates" if all(forest.is_list for forest in islice(pool, SENTENCES)) else "edges"
    more = f"{len(pool) - SENTENCES:,} more sentences" if len(pool) > SENTENCES else ""
    return _table(repr(pool).strip("<>"), ["id", what, "first candidate", "reference"], rows, more)


def forest_html(forest: Forest) -> str:
    """A list: its candidates. Else the edges from the goal down; [3] stands for what node 3 says."""
    count, most = forest.edge_count, ROWS if forest.is_list else 2 * ROWS
    if forest.is_list:
        rows = [[str(e), _text(forest, e)] for e in range(min(count, most))]
        return _table(f"A list of {count:,} candidates", ["", "candidate"], rows, _more(count, most, "candidates"))
    head = [0] * count
    for v in range(forest.node_count):
        for e in range(int(forest.edge_begin[v]), int(forest.edge_begin[v + 1])):
            head[e] = v
    edges = sorted(range(count), key=lambda e: (-head[e], e))[:most]
    rows = [[str(head[e]), _span(forest, head[e]), _text(forest, e)] for e in edges]
    title = f"A forest of {forest.node_count:,} nodes, {count:,} edges, {forest.count_derivations():,.4g} derivations"
    return _table(title, ["node", "source words", "says"], rows, _more(count, most, "edges"))


def derivation_svg(derivation: Derivation) -> str:
    """The tree of edges, words below."""
    forest, edges = derivation.forest, derivation.edges.tolist()
    children: list[list[int]] = [[] for _ in edges]
    for at_edge, parent in enumerate(derivation.parents.tolist()):
        if parent >= 0:
            children[parent].append(at_edge)
    depth, x, right, drawn = [0] * len(edges), [0.0] * len(edges), 10.0, []
    for at_edge, parent in enumerate(derivation.parents.tolist()):
        depth[at_edge] = depth[parent] + 1 if parent >= 0 else 0
    labels = [_shorten(_text(forest, edge)) for edge in edges]
    for at_edge in reversed(range(len(edges))):  # children before parents: right to left, mirrored below
        half = 4.0 * len(labels[at_edge]) + 8
        if not children[at_edge]:
            x[at_edge], right = right + half, right + 2 * half
        else:
            x[at_edge] = sum(x[child] for child in children[at_edge]) / len(children[at_edge])
            right = max(right, x[at_edge] + half)
    width, height = right + 10, 46.0 * (max(depth, default=0) + 1) + 34
    for at_edge, edge in enumerate(edges):
        at, y = width - x[at_edge], 46.0 * depth[at_edge] + 44
        for child in children[at_edge]:
            to = width - x[child]
            drawn.append(tag("line", x1=at, y1=y + 5, x2=to, y2=y + 30, stroke="var(--grid)", stroke_width=2))
        hint = tag("title", f"edge {edge}, node {derivation.nodes[at_edge]} {_span(forest, derivation.nodes[at_edge])}")
        drawn.append(tag("text", labels[at_edge], hint, x=at, y=y, text_anchor="middle", fill="var(--ink)"))
    score = tag("text", f"score {derivation.score:.4g}", x=10, y=16, fill="var(--faint)")
    ground = tag("rect", width=width, height=height, fill="var(--paper)")
    return tag(
        "svg",
        inside=f"<style>{style('svg')}</style>" + ground + score + "".join(drawn),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        role="img",
        aria_label=f"derivation of: {derivation.text}",
        font_family="system-ui,sans-serif",
        font_size=13,
    )


def result_html(result: Result) -> str:
    """Scores before and after, the curve of the epochs, the largest weights, and the warnings."""
    largest = sorted(result.weights.items(), key=lambda pair: -abs(pair[1]))
    rows = [[name, f"{value:.6g}", f"{result.initial.get(name, 0.0):.6g}"] for name, value in largest[:WEIGHTS]]
    title = f"Score {result.initial_score:.2f} before, {result.score:.2f} after, {result.seconds:.1f} seconds"
    table = _table(title, ["feature", "weight", "began with"], rows, _more(len(largest), WEIGHTS, "weights"))
    epochs = [(float(e["epoch"]), float(e["score"])) for e in result.history if {"epoch", "score"} <= e.keys()]
    curve = ""
    if len(epochs) > 1:
        x, y = zip(*epochs, strict=True)
        curve = line_chart("Score by epoch", "epoch", "score", [Curve("score", x, y)], standalone=True, height=240)
    warnings = "".join(tag("p", f"Warning: {line}") for line in result.warnings)
    return table + curve + warnings


def tuned_html(tuned: Tuned) -> str:
    """Scores before and after, and the largest weights."""
    parts, key = list(tuned.best.scores), tuned.metric.key
    d = digits_for(tuned.best.scores[part][key] for part in parts)
    rows = [
        [when, *(f"{scores[part][key]:.{d}f}" for part in parts)]
        for when, scores in (("before", tuned.before), ("after", tuned.best.scores))
        if scores
    ]
    return _table(f"{key}, before and after", ["", *parts], rows) + _weights_html(tuned.weights)


def weighed_html(weighed: Weighed) -> str:
    """The verdict, and the tables of it."""
    scores, weights, curve = weighed.tables()
    titles = ("Scores on groups that were not learnt from", "Weights", "Learning curve")
    tables = [rows_html(title, rows) for title, rows in zip(titles, (scores, weights, curve), strict=True)]
    return tag("p", inside=tag("strong", weighed.verdict)) + "".join(tables)


def rows_html(title: str, rows: Sequence[Sequence[str]]) -> str:
    """A table of cells, of which the first row is the head."""
    return _table(title, rows[0], rows[1:])


def _weights_html(weights: Mapping[str, float]) -> str:
    largest = sorted(weights.items(), key=lambda pair: -abs(pair[1]))
    rows = [[name, f"{value:.6g}"] for name, value in largest[:WEIGHTS]]
    return _table("Weights", ["feature", "weight"], rows, _more(len(largest), WEIGHTS, "weights"))


def _text(forest: Forest, edge: int) -> str:
    """The target side of an edge; [3] stands for what node 3 says."""
    words = forest.words[forest.word_begin[edge] : forest.word_begin[edge + 1]].tolist()
    tails = forest.tails[forest.tail_begin[edge] : forest.tail_begin[edge + 1]].tolist()
    return " ".join(f"[{tails[-1 - word]}]" if word < 0 else forest.vocab[word] for word in words)


def _span(forest: Forest, node: int) -> str:
    if not len(forest.spans):
        return ""
    return f"{forest.spans[2 * node]} to {forest.spans[2 * node + 1]}"


def _shorten(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _more(count: int, limit: int, what: str) -> str:
    return f"{count - limit:,} more {what}" if count > limit else ""


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], more: str = "") -> str:
    cells = "".join(tag("tr", inside="".join(tag("td", cell or " ") for cell in row)) for row in rows)
    top = tag("tr", inside="".join(tag("th", cell or " ") for cell in head))
    below = tag("p", f"... and {more}") if more else ""
    body = tag("thead", inside=top) + tag("tbody", inside=cells)
    return tag("p", inside=tag("strong", title)) + tag("table", inside=body) + below
