"""XLIFF 1.2 and 2.0: one pair per unit that has a translation. Codes inside are left out, marked text stays.

A target whose state says that nobody has translated it yet (often a copy of the source) is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from hopefear.corpus.entries import Entry
from hopefear.corpus.languages import primary
from hopefear.corpus.pair import Pair
from hopefear.corpus.xml_files import XmlReader, read_xml
from hopefear.errors import input_error
from hopefear.util.files import printable


def read_xliff(entry: Entry, source: str, target: str, domain: str) -> Iterator[Pair]:
    """The pairs of an XLIFF file; one that translates the other way round is read the other way round."""
    return read_xml(entry, _Units(entry, source, target, domain))


_UNTRANSLATED = frozenset(["new", "initial", "needs-translation"])


class _Units(XmlReader):
    CODES: ClassVar[frozenset[str]] = frozenset(["bpt", "ept", "ph", "it", "cp"])
    BREAKS: ClassVar[frozenset[str]] = frozenset(["ph", "x"])

    def __init__(self, entry: Entry, source: str, target: str, domain: str) -> None:
        super().__init__(entry)
        self._languages, self._domain = (source, target), domain
        self._own: tuple[str, str] = ("", "")  # of the whole document, in version 2.0
        self._reverse = False
        self._document: str | None = None
        self._skipped = 0  # how many open elements repeat or propose text: <alt-trans>, <seg-source>, <matches>
        self._source: str | None = None
        self._untranslated = False
        self._begun = 0
        self._units = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self.in_segment:
            self.inline(name, 1)
        elif name == "xliff" and "srcLang" in attributes:
            self._own = attributes["srcLang"], attributes.get("trgLang", "")
        elif name == "file":
            self._document = attributes.get("original") or attributes.get("id")
            self._check(
                attributes.get("source-language", self._own[0]), attributes.get("target-language", self._own[1])
            )
        elif name in ("alt-trans", "seg-source", "matches", "glossary"):
            self._skipped += 1
        elif name in ("trans-unit", "segment"):
            self._source, self._begun = None, self.line
            self._untranslated = attributes.get("state") in _UNTRANSLATED
        elif name in ("source", "target") and not self._skipped:
            self._untranslated = self._untranslated or attributes.get("state") in _UNTRANSLATED
            self.open_segment()

    def _check(self, source: str, target: str) -> None:
        codes = primary(source), primary(target)
        self._reverse = codes == self._languages[::-1]
        if source and target and not self._reverse and codes != self._languages:
            here, asked = printable(f"{source} to {target}"), " to ".join(self._languages)
            raise input_error(
                self.name, self.line, f"the XLIFF is from {here}, asked for {asked}. Check --from and --to"
            )

    def end(self, name: str) -> None:
        if name == "source" and self.in_segment:
            self._source = self.close_segment()
        elif name == "target" and self.in_segment:
            self._add(self.close_segment())
        elif self.in_segment:
            self.inline(name, -1)
        elif name in ("alt-trans", "seg-source", "matches", "glossary"):
            self._skipped -= 1

    def _add(self, target: str) -> None:
        if self._source is None or self._untranslated:
            return
        self._units += 1
        texts = (target, self._source) if self._reverse else (self._source, target)
        self.ready.append(Pair(*texts, self._document, self._domain, f"{self.name}:{self._begun}"))

    def finish(self) -> None:
        if not self._units:
            raise input_error(self.name, None, "the XLIFF has no translated unit. Export it with its translations")
