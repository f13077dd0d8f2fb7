"""Create a translator from your translation memory or parallel text.

Reads the corpus (TMX, XLIFF, TSV, CSV, PO, JSON lines, Parquet, zip files of OPUS, or two plain files), cleans it,
holds out sentences, builds a model, learns its weights, and scores it on held-out sentences. The folder has everything
that translate and serve need, its card, and report.html. After an interruption, the same command continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.errors import OptionError
from hopefear.model.options import BuildOptions

if TYPE_CHECKING:
    from hopefear.creation import Created
    from hopefear.runs.session import Session


class Create(Command["Created"]):
    corpus: Sequence[str] = arg(
        "Translated text, or two plain files whose names end in their languages.",
        default=(),
        positional=True,
        metavar="CORPUS",
        kw_only=False,
    )
    from_: str = shared.source_language()
    to: str = shared.target_language()
    out: str = arg("The translator to create.", metavar="DIR")
    source: Sequence[str] = arg("Plain files of the source language.", default=(), file=True, needs="target")
    target: Sequence[str] = arg("Their translations, line by line.", default=(), file=True, needs="source")
    columns: str | None = arg(
        "Columns of tables, by name or number: source,target.",
        default=None,
        metavar="A,B",
        shown="those named as the languages, or the first two",
    )
    dev_source: str | None = arg(
        "Sentences to learn weights from.", default=None, file=True, shown="some of the corpus", needs="dev_refs"
    )
    dev_refs: Sequence[str] = arg("Their references.", default=(), file=True, needs="dev_source")
    test_source: str | None = arg(
        "Sentences to score the translator on.", default=None, file=True, shown="some of the corpus", needs="test_refs"
    )
    test_refs: Sequence[str] = arg("Their references.", default=(), file=True, needs="test_source")
    with_corrections: str | None = arg(
        "Build in the corrections of this translator.",
        default=None,
        file=True,
        folder=True,
        metavar="TRANSLATOR",
        shown="none",
    )
    glossary: str | None = arg(
        "Terms of the translator; the weight of preferred ones is learnt.",
        default=None,
        file=True,
        metavar="TSV",
        shown="none",
    )
    lm_text: Sequence[str] = shared.lm_text("which needs no translation: it makes the output more fluent")
    without: Sequence[str] = arg("Cleaning rules to switch off, such as ratio.", default=(), metavar="RULE")
    tokenizer: str = arg(
        "As in build: auto, unicode, characters, sub-words, ...; or one per side: sub-words,unicode.",
        default=BuildOptions.tokenizer,
        metavar="NAME",
    )
    name: str = arg("The name of the translator.", default="", shown="as its folder")
    licence: str = arg("Its licence, for its card.", default="", metavar="TEXT", shown="none")
    no_dev_text: bool = arg(
        "Learn weights from held-out sentences, but do not build them into the model afterwards.", default=False
    )
    no_curve: bool = arg("Leave out the learning curve, which takes about a third of the time.", default=False)
    overwrite: bool = arg("Replace an existing translator.", default=False)
    json: bool = arg("Counts and scores as JSON.", default=False, terminal=True)

    examples = """
    hopefear create memory.tmx --from de --to en --out translator
    hopefear create europarl.zip local.tsv notes.de notes.en --from de --to en --out translator
    hopefear create --source train.es --target train.en --from es --to en \\
        --test-source test.es --test-refs test.en --out translator
    hopefear translate translator < text.de
    """
    python = """
    >>> created = hf.create(source="train.de", target="train.en", from_="de", to="en", no_curve=True, out="new")
    >>> created.pairs["kept"], hf.Translator("new")("Ein rotes Haus steht hier.")
    (224, 'A red house stands here.')
    """

    def check(self) -> None:
        if not self.corpus and not self.source:
            raise OptionError("give a corpus, or --source and --target.")
        if self.columns is not None and self.columns.count(",") != 1:
            raise OptionError("--columns takes two names or numbers: --columns 1,2.")

    def run(self, session: Session) -> Created:
        from hopefear.corpus import CleaningRules
        from hopefear.creation import CreateOptions, create

        first, _, second = (self.columns or "").partition(",")
        options = self.as_options(
            CreateOptions,
            source_language=self.from_,
            target_language=self.to,
            columns=(first, second) if self.columns else None,
            rules=CleaningRules(off=tuple(self.without)),
            dev_text=not self.no_dev_text,
            curve=not self.no_curve,
        )
        return create(options, session)
