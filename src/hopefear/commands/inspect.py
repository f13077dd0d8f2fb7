"""Show what is in a model.

Prints counts, sizes and the most frequent rules. --perplexity also evaluates the language models on a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopefear.commands.base import Command, arg

if TYPE_CHECKING:
    from hopefear.runs.session import Session


@dataclass(frozen=True)
class Description:
    """The content of a model."""

    about: dict[str, Any]

    def record(self) -> dict[str, Any]:
        """The output of ``--json``."""
        return self.about

    def __str__(self) -> str:
        return "\n".join(_lines(self.about))


class Inspect(Command[Description]):
    model: str = arg("The model.", positional=True, kw_only=False, file=True, folder=True, metavar="MODEL")
    top: int = arg("The most frequent rules to show, of each kind.", default=10, least=0)
    rules: str | None = arg("The rules of one source side instead, as in 'de [X,1]'.", default=None, metavar="SOURCE")
    perplexity: Sequence[str] = arg("Text of the target language for the language models.", default=(), file=True)
    export: str | None = arg("Write all rules as text, in the format of cdec and Joshua.", default=None, metavar="FILE")
    json: bool = arg("Everything as JSON.", default=False, terminal=True)

    examples = """
    hopefear inspect model
    hopefear inspect model --rules "de [X,1]"
    hopefear inspect model --perplexity dev.en --json
    hopefear inspect model --export rules.txt.gz
    """
    python = """
    >>> print(hf.inspect("translator", rules="das haus"))
    model            translator (hiero, 0.6 MB)
    ...
      das haus -> the house                             count 2.333  phrase_ef 0  phrase_fe 0
    """

    def run(self, session: Session) -> Description:
        from hopefear.model.inspection import inspect_model

        about = inspect_model(
            self.model, self.top, self.rules, self.perplexity, jobs=self.jobs, export=self.export, run=session
        )
        return Description(about)


def _lines(about: Mapping[str, Any]) -> list[str]:
    counts, options = about["counts"], about["options"]
    rows = [
        ("model", f"{about['model']} ({about['kind']}, {about['bytes']['total'] / 1e6:,.1f} MB)"),
        ("text", ", ".join(f"{side}: {_pipeline(about['text'][side])}" for side in ("source", "target"))),
        ("pairs", f"{counts['pairs']:,} ({sum(counts['skipped'].values()):,} left out)"),
        ("words", f"{counts['source_words']:,} source, {counts['target_words']:,} target"),
        ("vocabulary", f"{counts['source_vocabulary']:,} source, {counts['target_vocabulary']:,} target"),
        ("alignment", "given" if options["own_alignment"] else f"{options['aligner']}, {counts['links']:,} links"),
        ("rules", f"{counts['rules']:,} of {counts['rules_seen']:,} seen, {counts['source_sides']:,} source sides"),
    ]
    for name, ngrams in zip(("lm", "lm2", "lm3"), counts["ngrams"], strict=False):
        rows.append((name, f"order {len(ngrams)}, n-grams " + ", ".join(f"{n:,}" for n in ngrams)))
    for name, got in about.get("perplexity", {}).items():
        unknown = f"{got['unknown']:,} of {got['tokens']:,} tokens unknown, {got['without_unknown']:.2f} without them"
        rows.append((f"perplexity of {name}", f"{got['perplexity']:.2f} ({unknown})"))
    if sparse := about["features"]["sparse"]:
        rows.append(("sparse features", ", ".join(f"{n:,} {name}" for name, n in sparse.items())))
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {text}" for name, text in rows]
    for kind, rules in about["rules"].items():
        lines += [
            "",
            f"{kind}: {len(rules)} rules" if kind not in ("phrases", "hierarchical") else f"most frequent {kind}",
        ]
        lines += [
            f"  {rule['source']} -> {rule['target']}".ljust(50)
            + "".join(f"  {name} {rule[name]:.4g}" for name in ("count", "phrase_ef", "phrase_fe") if name in rule)
            for rule in rules
        ]
    return lines


def _pipeline(options: dict[str, Any]) -> str:
    extras = [
        name for name, on in (("lower case", "lowercase"), ("no punctuation", "strip_punctuation")) if options[on]
    ]
    return " ".join([f"{options['tokenizer']}", *(f"+ {extra}" for extra in extras)])
