"""Build a translation model from parallel text.

Tokenises the text, aligns words in both directions, extracts rules (or blocks), estimates language models, and
writes a model directory. Counts and skips unusable sentence pairs. Text files may be compressed (.gz, .xz, .zst).
--from and --to accept a corpus in any form that create reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.errors import OptionError
from hopefear.model.options import BLOCK_COUNT, BLOCK_PROBABILITY, MEMORY, PHRASE, BuildOptions

if TYPE_CHECKING:
    from hopefear.model.builder import BuildReport
    from hopefear.runs.session import Session


class Build(Command["BuildReport"]):
    corpus: Sequence[str] = arg(
        "Translated text of any kind: TMX, TSV, zip files of OPUS, ...; each file is a domain.",
        default=(),
        positional=True,
        kw_only=False,
        metavar="CORPUS",
        needs=("from_", "to"),
    )
    from_: str | None = shared.source_language(default=None, needs="corpus")
    to: str | None = shared.target_language(default=None, needs="corpus")
    source: Sequence[str] = arg("Text of the source language, one sentence per line.", default=(), file=True)
    target: Sequence[str] = arg("Its translation, line by line.", default=(), file=True)
    out: str = shared.new_model()
    kind: str = arg(
        "Hierarchical rules, or phrase pairs with orientations.", default=BuildOptions.kind, choices=("hiero", "blocks")
    )
    tokenizer: str = arg(
        "unicode, european, characters (each letter of a script without spaces is a word), sub-words (rare words in "
        "parts, for languages with many endings), none (the text is already "
        "tokenised), or two for source and target: characters,unicode. auto: characters for a side without spaces "
        "between its words, unicode otherwise.",
        default=BuildOptions.tokenizer,
        metavar="NAME",
    )
    keep_case: bool = arg(
        "Keep capitals. By default, the model is lower-case and translate restores capitals.", default=False
    )
    strip_punctuation: str = arg(
        "Sides to strip of punctuation, as in speech.",
        default=BuildOptions.strip_punctuation,
        choices=("none", "source", "target", "both"),
    )
    domains: Sequence[str] = arg(
        "A name for each pair of files; a small domain gets its own language model.",
        default=BuildOptions.domains,
        metavar="NAME",
    )
    align: Sequence[str] = arg(
        "Your own word alignments, 0-0 1-2 ..., one file per source file.", default=(), file=True
    )
    aligner: str = arg(
        "fastalign, eflomal (takes five times as long), or the rules of both: fastalign+eflomal.",
        default=BuildOptions.aligner,
        metavar="NAME[+NAME]",
    )
    save_alignment: str | None = arg("Write the word alignment too.", default=None, metavar="FILE")
    lm_text: Sequence[str] = shared.lm_text("for a second language model")
    lm_order: int = arg("Longest n-grams of the language models.", default=BuildOptions.lm_order, least=1, most=6)
    joint_model: bool = arg("Train a neural joint model as well, which takes some minutes.", default=False)
    filter: Sequence[str] = arg("Keep only rules that can apply to these source texts.", default=(), file=True)
    max_words: int = arg("Skip pairs with a longer side.", default=BuildOptions.max_words, least=1, most=1000)
    max_phrase: int = arg(
        f"Words of an initial phrase; 0 is {PHRASE['hiero']}, for blocks {PHRASE['blocks']}.",
        default=BuildOptions.max_phrase,
        least=0,
        most=15,
    )
    max_symbols: int = arg(
        "Symbols on the source side of a rule.", default=BuildOptions.max_source_symbols, least=1, most=15
    )
    max_options: int = arg("Rules kept per source side; 0 is all.", default=BuildOptions.max_options, least=0)
    min_probability: float | None = arg(
        "Drop rules with a smaller p(e|f); 0 keeps all.",
        default=None,
        metavar="P",
        shown=f"0, for blocks {BLOCK_PROBABILITY}",
    )
    min_symmetric: float = arg("The same for sqrt(p(e|f) p(f|e)).", default=BuildOptions.min_symmetric, metavar="P")
    min_count: int | None = arg(
        "Drop phrase pairs seen less often.", default=None, least=1, shown=f"1, for blocks {BLOCK_COUNT}"
    )
    min_rule_count: int = arg(
        "Drop rules with nonterminals seen less often.", default=BuildOptions.min_hierarchical, least=1
    )
    loose: bool = arg("Phrases may begin and end with unaligned words.", default=False)
    lex_frequency: int = arg(
        "Minimum count of a word with its own lex features; 0: 1 in 16,000.",
        default=BuildOptions.lex_frequency,
        least=0,
    )
    memory: float = arg(
        "Memory limit for rules and n-grams; the rest goes to disk.", default=MEMORY, metavar="GB", least=0
    )
    cluster: str | None = shared.cluster()
    overwrite: bool = shared.overwrite_model()

    examples = """
    hopefear build --source train.es --target train.en --out model
    hopefear build memory.tmx --from es --to en --out model
    hopefear build --source a.es b.es.xz --target a.en b.en.xz --strip-punctuation source --out model
    hopefear build --source train.tok.es --target train.tok.en --tokenizer none --align train.gdfa --out model
    hopefear build --source train.es --target train.en --kind blocks --out blocks
    """

    def check(self) -> None:
        if bool(self.corpus) == bool(self.source or self.target):
            raise OptionError("give a corpus with --from and --to, or --source and --target.")
        if self.corpus and not (self.from_ and self.to):
            raise OptionError("a corpus needs --from and --to, the languages to translate between.")
        if self.corpus and (self.align or self.domains):
            raise OptionError("--align and --domains need --source and --target: a corpus has its own domains.")

    def run(self, session: Session) -> BuildReport:
        from pathlib import Path

        from hopefear.corpus import read_pairs, refuse_markup, write_plain
        from hopefear.model.directory import check_out
        from hopefear.util.files import scratch_folder

        for path in (*self.source, *self.target, *self.lm_text):
            refuse_markup(path)
        if not self.corpus:
            return self._build(self.source, self.target, self.options(), session)
        out = Path(self.out)
        check_out(out, self.overwrite)
        languages = str(self.from_), str(self.to)
        out.absolute().parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(out) as folder:
            files = write_plain(read_pairs(self.corpus, *languages, run=session), folder, "train", *languages)
            options = self.options(files.domains if len(files.domains) > 1 and self.kind == "hiero" else ())
            return self._build([*map(str, files.source)], [*map(str, files.target)], options, session)

    def _build(
        self, source: Sequence[str], target: Sequence[str], options: BuildOptions, session: Session
    ) -> BuildReport:
        from hopefear.model.builder import build

        report = build(
            source,
            target,
            self.out,
            options,
            align=self.align,
            lm_text=self.lm_text,
            filter_to=self.filter,
            save_alignment=self.save_alignment,
            overwrite=self.overwrite,
            memory=self.memory,
            cluster=self.cluster,
            seed=self.seed,
            jobs=self.jobs,
            run=session,
        )
        for step, seconds in report.seconds.items():
            session.note(f"{step}: {seconds:.1f} s")
        return report

    def options(self, domains: Sequence[str] = ()) -> BuildOptions:
        """The options of the model, as ``model.json`` records them."""
        return self.as_options(
            BuildOptions,
            lowercase=not self.keep_case,
            domains=tuple(domains or self.domains),
            max_source_symbols=self.max_symbols,
            tight=not self.loose,
            min_occurrences=self.min_count,
            min_hierarchical=self.min_rule_count,
        )
