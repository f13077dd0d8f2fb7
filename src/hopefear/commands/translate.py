"""Translate text and documents; also candidate lists and forests.

Reads standard input, or files, whose translations appear in the folder --out under the same names: text, Markdown,
HTML, subtitles, Word, XLIFF, PO, JSON, tables. One line of standard input per sentence, in order; an empty line gives
an empty line. Text is tokenised as the model was. A translator (a folder with a card.json), and any model with
--glossary, --protect, --keep, --scores, --quality or --alignments, leaves tags, placeholders, addresses and names as
they are; a plain model translates everything, and so does a translator with the options of its model, such as --tokens
or --weights. With --learn, a line is source, tab, correction. The scores of a lattice's arcs are the features
Feature_0, Feature_1, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, arg, flag_of
from hopefear.decode.limits import MAX_OPTIONS, POP_LIMIT
from hopefear.errors import OptionError

if TYPE_CHECKING:
    from hopefear.runs.session import Session


#: Options of plain models, and those of translators.
OF_MODELS = (
    *("weights", "input", "distinct", "forests", "max_edges", "explain", "mbr", "scale", "tokens"),
    *("pop_limit", "max_options", "max_span", "cluster", "ship_model"),
)
MARKS = ("scores", "quality", "alignments")
OF_TRANSLATORS = ("documents", "column", "encoding", "glossary", "protect", "keep", *MARKS, "layer", "learn")


class Translate(Command[Iterator[str]]):
    model: str = arg(
        "A translator or a model.", positional=True, kw_only=False, file=True, folder=True, metavar="TRANSLATOR"
    )
    documents: Sequence[str] = arg(
        "Documents, in place of standard input.", default=(), positional=True, kw_only=False, metavar="FILE"
    )
    out: str | None = arg("The folder for translated files.", default=None, metavar="DIR")
    glossary: str | None = arg(
        "Terms, one per line: source, tab, target; then optionally forced or preferred, case, a note.",
        default=None,
        file=True,
        metavar="TSV",
    )
    protect: Sequence[str] = shared.protect()
    keep: str | None = arg(
        "Words and phrases that stay as they are, one per line.", default=None, file=True, metavar="TXT"
    )
    column: Sequence[str] = arg(
        "Columns of tables to translate, by name or number.", default=(), metavar="NAME", shown="the only one with text"
    )
    encoding: str | None = arg(
        "The encoding of files that do not name theirs, such as latin-1.", default=None, metavar="NAME", shown="UTF-8"
    )
    scores: bool = arg("Print the model's score, a logarithm, before each line.", default=False)
    quality: bool = arg(
        "Print before each line a confidence (0 to 1), the share of unknown words, and the agreement of the model.",
        default=False,
    )
    alignments: bool = arg("Print after each line the aligned characters, 0-3:0-1 ...", default=False)
    layer: str | None = arg(
        "A layer of corrections, of a project or a user.", default=None, metavar="NAME", shown="shared ones only"
    )
    learn: bool = arg("Lines are source, tab, correction: translate the source, then learn.", default=False)
    weights: str | None = shared.weights(default=None, shown="those of the model")
    nbest: int = arg(
        "Print the N best candidates per sentence, as a candidate list: texts of a translator, tokens of a model.",
        default=0,
        least=0,
    )
    input: str = arg("Lines of text, or word lattices in PLF, one per line.", default="text", choices=("text", "plf"))
    distinct: bool = arg("With --nbest: distinct strings only.", default=False)
    forests: str | None = arg(
        "Also write all forests to this file, which appears at the end.", default=None, metavar="FILE"
    )
    max_edges: int = arg("With --forests: the best N edges of each forest; 0 is all.", default=0, least=0)
    explain: bool = arg("Print derivations: which rule produced what, and its cost.", default=False)
    mbr: str | None = arg(
        "Minimum Bayes risk over the forest: the highest expected bleu, chrf or ter.", default=None, metavar="METRIC"
    )
    scale: float = shared.scale()
    tokens: bool = arg("Print the model's tokens, separated by spaces, instead of text with capitals.", default=False)
    pop_limit: int | None = arg(
        f"Rule applications kept per span; 0 is all. Blocks: {POP_LIMIT['blocks']} per place.",
        default=None,
        least=0,
        shown=str(POP_LIMIT["hiero"]),
    )
    max_options: int | None = arg(
        f"Target sides kept per source side; 0 is all. Blocks: {MAX_OPTIONS['blocks']}.",
        default=None,
        least=0,
        shown=str(MAX_OPTIONS["hiero"]),
    )
    max_span: int = arg("Longest span of a rule with nonterminals; 0: as in the model.", default=0, least=0)
    cluster: str | None = shared.cluster()
    ship_model: bool = arg(
        "With --cluster: send the model. Otherwise all machines open it by its path.", default=False, needs="cluster"
    )

    examples = """
    hopefear translate translator < source > target
    hopefear translate translator page.html letter.docx --out translated --glossary terms.tsv
    hopefear translate model --weights run/weights.txt --nbest 100 < dev.source > dev.nbest
    hopefear translate model --weights run/weights.txt --mbr bleu < test.source > test.target
    hopefear translate model --forests dev.forests < dev.source > dev.target
    echo "la casa verde" | hopefear translate model --explain
    """

    def check(self) -> None:
        if self.documents and self.out is None:
            text = f"the text comes from standard input: hopefear translate {self.model} < {self.documents[0]}"
            raise OptionError(f"{text}. Documents need a folder for their translations: --out DIR.")
        if self.out is not None and not self.documents:
            raise OptionError("--out is for files, and none is given. List the files after the translator.")
        old, new = ([name for name in names if self.given(name)] for names in (OF_MODELS, OF_TRANSLATORS))
        if old and new:
            raise OptionError(f"{flag_of(new[0])} cannot be combined with {flag_of(old[0])}.")
        for name in ("column", "encoding"):
            if self.given(name) and not self.documents:
                raise OptionError(f"--{name} is for files. List the files after the translator.")
        marks = [flag_of(name) for name in (*MARKS, "nbest") if self.given(name)]
        if self.documents and marks:
            raise OptionError(f"{marks[0]} is for lines of text, not for files.")
        if self.learn and (self.documents or marks):
            raise OptionError(f"--learn is for lines of text, without {marks[0] if marks else 'files'}.")
        if self.nbest and len(marks) > 1:
            raise OptionError(f"--nbest cannot be combined with {marks[0]}.")
        if self.explain and (self.nbest or self.forests or self.input == "plf"):
            raise OptionError("--explain cannot be combined with --nbest, --forests or --input plf.")
        if self.mbr is not None:
            from hopefear.decode.consensus import CONSENSUS
            from hopefear.util.values import check_choice

            check_choice("mbr", self.mbr, CONSENSUS)
            if self.nbest or self.forests or self.explain:
                raise OptionError("--mbr cannot be combined with --nbest, --forests or --explain.")

    def run(self, session: Session) -> Iterator[str]:
        if not self._by_translator():
            from hopefear.decode.translation import translate

            return translate(self, run=session)
        from hopefear.documents.protect import read_words
        from hopefear.translator.streams import candidate_lines, learning_lines, translate_files, translated_lines
        from hopefear.translator.translator import Translator
        from hopefear.util.files import iter_lines

        words = read_words(self.keep) if self.keep else ()
        own: dict[str, Any] = {"glossary": self.glossary, "protect": self.protect, "keep": words, "layer": self.layer}
        translator = Translator(self.model, **own, jobs=self.jobs)
        if self.learn:
            return learning_lines(translator, iter_lines("-"), session)
        if self.documents:
            assert self.out is not None
            options = {"column": self.column or None, "encoding": self.encoding}
            translate_files(translator, self.documents, self.out, session, **options)
            return iter(())
        if self.nbest:
            return candidate_lines(translator, iter_lines("-"), self.nbest, session)
        marks = {name: getattr(self, name) for name in MARKS}
        return translated_lines(translator, iter_lines("-"), session, **marks)

    def _by_translator(self) -> bool:
        """Whether more than the model is asked for."""
        from hopefear.translator.folder import has_card

        if any(self.given(name) for name in OF_MODELS):
            return False
        return any(self.given(name) for name in OF_TRANSLATORS) or has_card(self.model)
