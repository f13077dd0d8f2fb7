"""Learn from corrections of translations; list, export and undo them.

Each line of --target corrects the translation of the same line of --source; a TMX file, a table (TSV, CSV) or XLIFF has
both. A correction takes effect with the next translation, also in running servers, and is stored in the translator's
journal, TRANSLATOR/corrections. Prints a line for each correction: its id, what is new in it, or why it was skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hopefear.commands.base import Command, arg
from hopefear.errors import InputError, OptionError

if TYPE_CHECKING:
    from hopefear.runs.session import Session
    from hopefear.translator.translator import Translator


class Learn(Command[Iterator[str]]):
    translator: str = arg("A translator.", positional=True, kw_only=False, file=True, folder=True, metavar="TRANSLATOR")
    source: str | None = arg("The source text, one sentence per line.", default=None, file=True, needs="target")
    target: str | None = arg(
        "The corrections, line by line; or TMX, TSV, CSV, XLIFF with both sides.", default=None, file=True
    )
    layer: str | None = arg(
        "A layer of corrections, for a project or a user; they apply only with the same --layer.",
        default=None,
        metavar="NAME",
        shown="the shared ones",
    )
    user: str = arg("Who made the corrections.", default="", metavar="NAME", shown="", needs="target")
    project: str = arg("What they were made for.", default="", metavar="NAME", shown="", needs="target")
    undo: Sequence[str] = arg("Undo these corrections.", default=(), metavar="ID")
    since: str | None = arg(
        "Undo all corrections since then, e.g. 2026-01-31T12:00 (UTC).", default=None, metavar="TIME"
    )
    list: bool = arg("Print all corrections: id, time, user, state, source, correction.", default=False)
    export: str | None = arg("Write the active corrections to this TMX file.", default=None, metavar="FILE")

    examples = """
    hopefear learn translator --source day.de --target day.corrected.en
    hopefear learn translator --target memory.tmx --layer brochure
    hopefear learn translator --list
    hopefear learn translator --undo 17 18
    hopefear learn translator --since 2026-01-31
    hopefear learn translator --export corrections.tmx
    """

    def check(self) -> None:
        self.check_origin("target", "undo", "since", "list", "export")
        if self.target is not None and self.source is None:
            from hopefear.corpus.reading import has_both_sides

            if not has_both_sides(self.target):
                raise OptionError("--target needs --source, unless it is TMX, TSV, CSV or XLIFF.")

    def run(self, session: Session) -> Iterator[str]:
        from hopefear.translator.translator import Translator

        translator = Translator(self.translator, layer=self.layer, jobs=self.jobs)
        corrections = translator.corrections
        if self.list:
            return (f"{correction}\n" for correction in corrections)
        if self.export is not None:
            from hopefear.learning.export import write_tmx
            from hopefear.util.messages import plural

            self._check_languages(translator)
            count = write_tmx(self.export, corrections, translator.source, translator.target)
            session.note(f"{self.export}: {plural(count, 'correction')}")
            return iter(())
        if self.target is not None:
            pairs = self._pairs(translator, session)
            self._check_order(translator, pairs, session)
            return self._learn(translator, pairs, session)
        undone = corrections.undo_since(self.since) if self.since is not None else corrections.undo(*self.undo)
        corrections.close()
        return (f"{name} undone\n" for name in undone)

    def _pairs(self, translator: Translator, session: Session) -> Sequence[tuple[str, str]]:
        assert self.target is not None
        if self.source is None:
            from hopefear.corpus.reading import read_pairs

            self._check_languages(translator)
            pairs = read_pairs([self.target], translator.source, translator.target, run=session)
            return [(pair.source, pair.target) for pair in pairs]
        from hopefear.util.files import read_lines

        source, target = read_lines(self.source), read_lines(self.target)
        if len(source) != len(target):
            finding = f"has {len(target)} lines, but {self.source} has {len(source)}"
            raise InputError(f"{self.target}: {finding}. Give exactly one correction per line")
        return list(zip(source, target, strict=True))

    def _check_languages(self, translator: Translator) -> None:
        from hopefear.translator.folder import CARD, UNKNOWN

        if UNKNOWN in (translator.source, translator.target):
            finding = f"its languages have no codes, which TMX needs. Name source and target in its {CARD}"
            raise InputError(f"{self.translator}: {finding}")

    def _check_order(self, translator: Translator, pairs: Sequence[tuple[str, str]], session: Session) -> None:
        """Corrections that seem to be those of other lines: refused in plain files, mentioned in a memory."""
        from hopefear.evaluation.reference_mismatch import translated_fit

        corrections = [correction for _, correction in pairs]
        for finding in translated_fit(
            lambda rows: translator([pairs[row][0] for row in rows]),
            [corrections],
            [str(self.target)],
            what="corrections",
        ):
            if self.source is not None:
                raise InputError(f"{finding}. Nothing was learnt")
            session.warn(finding)

    def _learn(self, translator: Translator, pairs: Sequence[tuple[str, str]], session: Session) -> Iterator[str]:
        step = session.progress("learn", len(pairs))
        counts = {"learnt": 0, "set aside": 0, "empty": 0}
        translator.corrections.hold()
        try:
            for source, correction in pairs:
                if source.strip() and correction.strip():
                    learnt = translator.learn(source, correction, user=self.user, project=self.project)
                    counts[learnt.status] += 1
                    yield f"{learnt}\n"
                else:
                    counts["empty"] += 1
                step()
        finally:
            translator.corrections.close()
            session.note(
                ", ".join(f"{count} {status}" for status, count in counts.items() if count) or "no corrections"
            )
