"""Make a model from a grammar, a language model and weights of Joshua, cdec or Moses.

Rules keep the names of their features, and a derivation keeps its model score. import reports weights whose names
match nothing and features without a weight. translate and train accept the result like any other model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.errors import OptionError

if TYPE_CHECKING:
    from hopefear.runs.session import Session


_THERE = "that of the joshua.config"


@dataclass(frozen=True)
class Imported:
    """The size of the model that was made."""

    model: str
    rules: int
    features: int

    def record(self) -> dict[str, Any]:
        """The result as plain values."""
        return {"model": self.model, "rules": self.rules, "features": self.features}

    def __str__(self) -> str:
        return f"{self.model}\t{self.rules} rules\t{self.features} features"


class Import(Command[Imported]):
    settings: str | None = arg(
        "The joshua.config, which names all files. The options below override it.",
        default=None,
        positional=True,
        kw_only=False,
        file=True,
        metavar="JOSHUA.CONFIG",
    )
    grammar: Sequence[str] = arg(
        "The rules, in one file or several, which may be compressed.", default=(), file=True, shown=_THERE
    )
    glue: str | None = arg("The glue grammar.", default=None, file=True, shown="in the grammar; cdec: built in")
    lm: Sequence[str] = arg("A language model (ARPA), or two.", default=(), file=True, shown=_THERE)
    weights: str | None = arg("Weights, or a moses.ini.", default=None, file=True, shown=_THERE)
    format: str = arg("The program that wrote the files.", choices=("joshua", "cdec", "moses"))
    out: str = shared.new_model()
    max_span: int = arg("Source words below a rule with gaps; 0: 20, and 10 for cdec.", default=0, least=0)
    overwrite: bool = shared.overwrite_model()

    examples = """
    hopefear import joshua.config --format joshua --out model
    hopefear import --grammar grammar.gz --glue grammar.glue --lm lm.gz --weights weights --format joshua --out model
    hopefear import --grammar rule-table.gz --glue glue-grammar --lm lm.arpa --weights moses.ini \\
        --format moses --out model
    hopefear translate model < source > target
    """
    python = """
    >>> folder = hf.export("translator", format="cdec", out="cdec")  # to have files of cdec
    >>> files = {"grammar": "cdec/grammar.gz", "lm": "cdec/lm0.arpa.gz", "weights": "cdec/weights"}
    >>> imported = hf.import_(**files, format="cdec", out="imported")
    >>> hf.Hiero("imported").translate(["das haus steht hier ."])
    ['the house stands here .']
    """

    def check(self) -> None:
        if self.settings is not None and self.format != "joshua":
            raise OptionError(f"{self.settings}: a joshua.config needs --format joshua.")
        if self.settings is None and not (self.grammar and self.lm and self.weights):
            cure = "the joshua.config, or " if self.format == "joshua" else ""
            raise OptionError(f"Give {cure}--grammar, --lm and --weights.")

    def run(self, session: Session) -> Imported:
        from hopefear.model.imported import import_model
        from hopefear.model.joshua import JoshuaConfig, read_joshua_config

        config = JoshuaConfig() if self.settings is None else read_joshua_config(self.settings)
        model = import_model(
            self.grammar or config.grammar,
            self.glue or config.glue,
            self.lm or config.lm,
            self.weights or self.settings or "",
            self.format,
            self.out,
            values=None if self.weights else config.weights,
            max_span=self.max_span or config.max_span,
            overwrite=self.overwrite,
            jobs=self.jobs,
            run=session,
        )
        return Imported(self.out, len(model.grammar), len(model.feature_names))
