"""What is in a model: counts, sizes, the most frequent rules, perplexities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from hopefear.model.bitext import read_text
from hopefear.model.directory import LM_NAMES, Model
from hopefear.model.features import template_of
from hopefear.model.grammar import iter_rules, write_grammar_text
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike

_LOOKED_AT = 50_000  # of the most frequent rules, to find some of each kind


def inspect_model(
    path: PathLike,
    top: int,
    source: str | None = None,
    perplexity: Sequence[PathLike] = (),
    jobs: int = 0,
    export: PathLike | None = None,
    run: Session = SILENT,
) -> dict[str, Any]:
    """A description of a model, ready to be JSON.

    ``top``: how many of the most frequent rules, those with and those without nonterminals. ``source``: the rules of
    one source side (``de [X,1]``) in their place. ``perplexity``: texts of the target language.
    ``export``: a file to write all rules to, as text.
    """
    model = Model.open(path, jobs=jobs)
    grammar = model.grammar
    sizes = {file.name: file.stat().st_size for file in sorted(model.path.iterdir()) if file.is_file()}
    about: dict[str, Any] = {
        "model": str(path),
        "kind": model.kind,
        "hopefear": model.info["hopefear"],
        "text": model.info["text"],
        "options": model.info["options"],
        "counts": model.info["counts"],
        "bytes": {**sizes, "total": sum(sizes.values())},
        "features": {"dense": model.info["features"], "sparse": dict(Counter(map(template_of, model.sparse_names)))},
        "weights": model.weights,
    }
    if source is not None:
        rules = _rules(model, range(*grammar.find(source)))
        about["rules"] = {source: rules}
    else:
        about["rules"] = _most_frequent(model, top)
    if perplexity:
        lines = read_text(perplexity, model.target_text)
        about["perplexity"] = {}
        for name, language_model in zip(LM_NAMES, model.language_models, strict=False):
            got = language_model.evaluate(lines, jobs)
            about["perplexity"][name] = {
                "perplexity": got.perplexity,
                "without_unknown": got.perplexity_without_unknown,
                "tokens": got.tokens,
                "unknown": got.unknown,
            }
    if export is not None:
        write_grammar_text(grammar, export)
        run.note(f"{export}: {about['counts']['rules']:,} rules")
    return about


def _most_frequent(model: Model, top: int) -> dict[str, list[dict[str, Any]]]:
    grammar = model.grammar
    if "count" not in grammar.names:
        return {}
    counts = grammar.columns[:, grammar.names.index("count")]
    kinds: dict[str, list[int]] = {"phrases": [], "hierarchical": []}
    for rule in np.argsort(-counts, kind="stable")[:_LOOKED_AT].tolist():
        rules = kinds["hierarchical" if "[X,1]" in grammar.target(rule).split() else "phrases"]
        if len(rules) < top:
            rules.append(rule)
        elif all(len(rules) >= top for rules in kinds.values()):
            break
    return {kind: _rules(model, rules) for kind, rules in kinds.items() if rules}


def _rules(model: Model, rules: Sequence[int]) -> list[dict[str, Any]]:
    return [
        {"source": rule.source, "target": rule.target, **rule.values, "links": rule.links}
        for rule in iter_rules(model.grammar, rules)
    ]
