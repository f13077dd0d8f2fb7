"""What the server needs of a translator: a part of ``hopefear.translator.Translator``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from hopefear.learning.corrections import Correction


class Alternative(Protocol):
    """Another translation of a text, and the model's score of it."""

    @property
    def text(self) -> str: ...
    @property
    def score(self) -> float: ...


class Quality(Protocol):
    """How far a translation can be trusted: ``score`` from 0 to 1, and what it was made of."""

    @property
    def score(self) -> float: ...
    @property
    def unknown_share(self) -> float: ...
    @property
    def agreement(self) -> float: ...


class Translation(Protocol):
    """A text and its translation; ``alignment`` has spans of characters of both that belong together."""

    @property
    def source(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def alternatives(self) -> Sequence[Alternative]: ...
    @property
    def alignment(self) -> Sequence[Sequence[int]]: ...
    @property
    def quality(self) -> Quality: ...


class Term(Protocol):
    """A line of a glossary."""

    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


class Learnt(Protocol):
    """What was learnt from a correction; its ``str`` is for people."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def phrases(self) -> Sequence[tuple[str, str]]: ...
    @property
    def weights(self) -> Mapping[str, float]: ...
    @property
    def notes(self) -> Sequence[str]: ...


class Corrections(Protocol):
    """The attribute ``corrections`` of a translator that learns."""

    def learn(self, source: str, correction: str, /, *, user: str = "", project: str = "") -> Learnt: ...
    def undo(self, *ids: str) -> Sequence[str]: ...
    def hold(self) -> None: ...
    def __iter__(self) -> Iterator[Correction]: ...


class Translator(Protocol):
    """A translator from one language to another."""

    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def card(self) -> dict[str, Any]: ...
    @property
    def glossary(self) -> Sequence[Term]: ...

    def __call__(self, text: list[str], /) -> list[str]:
        """The translations of texts and nothing else: quicker than :meth:`translations`."""

    def translations(self, texts: Sequence[str], *, n: int = 1, format: str = "text") -> Sequence[Translation]:
        """A translation of each text, with the ``n`` best alternatives."""

    def explain(self, text: str) -> object:
        """Why a text is translated as it is; its ``str`` is for people."""

    def document(self, path: Path, out: Path, *, report: Callable[[str], None] | None = None, **options: Any) -> object:
        """Translate a file into another; ``report`` is told of each part that is left as it was.

        The option ``column`` is the name or number of the column of a table.
        """
