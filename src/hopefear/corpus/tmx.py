"""Translation memories in TMX, of any size: one pair per translation unit that has both languages.

Inline elements: what ``bpt``, ``ept``, ``ph``, ``it`` and ``ut`` hold is code of some other format and is left out; the
text inside ``hi`` is text of the sentence and stays. A ``ph`` leaves a blank, because it often stands for a line break.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import ClassVar

from hopefear.corpus.entries import Entry
from hopefear.corpus.languages import primary
from hopefear.corpus.pair import Pair
from hopefear.corpus.xml_files import XmlReader, read_xml
from hopefear.errors import input_error
from hopefear.runs.session import Session
from hopefear.util.files import printable
from hopefear.util.messages import some

_VARIANTS = 100  # of a unit in one language: all of them are paired with all of the other
_DOCUMENT = ("document", "filename", "file", "doc", "source-file")  # ends of the names of properties


def read_tmx(entry: Entry, source: str, target: str, domain: str, run: Session) -> Iterator[Pair]:
    """The pairs of a TMX file; languages are compared without country and script."""
    return read_xml(entry, _Memory(entry, source, target, domain, run))


class _Memory(XmlReader):
    CODES: ClassVar[frozenset[str]] = frozenset(["bpt", "ept", "ph", "it", "ut"])
    BREAKS: ClassVar[frozenset[str]] = frozenset(["ph"])

    def __init__(self, entry: Entry, source: str, target: str, domain: str, run: Session) -> None:
        super().__init__(entry)
        self._languages, self._domain, self._run = (source, target), domain, run
        self._seen: Counter[str] = Counter()
        self._language = ""
        self._variants: dict[str, list[str]] = {source: [], target: []}
        self._document: str | None = None
        self._property: list[str] | None = None
        self._begun = 0
        self._units = self._pairs = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self.in_segment:
            self.inline(name, 1)
        elif name == "tu":
            self._variants = {language: [] for language in self._languages}
            self._begun, self._document = self.line, None
        elif name == "tuv":
            code = next((v for k, v in attributes.items() if k.rpartition(":")[2].lower() == "lang"), "")
            self._language = primary(code)
            self._seen[code.strip()] += 1
        elif name == "seg":
            self.open_segment()
        elif name == "prop" and attributes.get("type", "").lower().endswith(_DOCUMENT):
            self._property = []

    def text(self, data: str) -> None:
        if self._property is not None:
            self._property = [("".join(self._property) + data)[:1000]]
        super().text(data)

    def end(self, name: str) -> None:
        if name == "seg" and self.in_segment:
            self._variant(self.close_segment())
        elif self.in_segment:
            self.inline(name, -1)
        elif name == "prop" and self._property is not None:
            self._document, self._property = "".join(self._property).strip() or None, None
        elif name == "tu":
            self._units += 1
            self._add()

    def _variant(self, text: str) -> None:
        if self._language not in self._languages:
            return
        texts = self._variants[self._language]
        texts.append(text)
        if len(texts) > _VARIANTS:
            finding = f"a unit has more than {_VARIANTS} texts in {self._language}. Give each sentence its own unit"
            raise input_error(self.name, self.line, finding)

    def _add(self) -> None:
        source, target = (self._variants[own] for own in self._languages)
        origin = f"{self.name}:{self._begun}"
        self.ready += [Pair(f, e, self._document, self._domain, origin) for f in source for e in target]
        self._pairs += bool(source and target)

    def finish(self) -> None:
        source, target = self._languages
        if self._pairs:
            if without := self._units - self._pairs:
                self._run.note(f"{self.name}: {without:,} of {self._units:,} units lack {source} or {target}")
            return
        codes = some([f"{printable(code)[:20] or 'none'} ({count:,})" for code, count in self._seen.most_common()])
        one = "only one language" if len(self._seen) == 1 else "no unit with both"
        finding = f"the TMX has {one}: asked for {source} and {target}, it has {codes}" if codes else "has no segments"
        raise input_error(self.name, None, f"{finding}. Check --from and --to, or export it again")
