"""What a translator is made of: the options of :func:`hopefear.creation.create`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopefear.corpus import CleaningRules
from hopefear.corpus.languages import check_languages
from hopefear.errors import OptionError
from hopefear.learning.journal import FILE as JOURNAL
from hopefear.model.options import BuildOptions
from hopefear.translator.folder import corrections_of
from hopefear.util.files import PathLike


@dataclass(frozen=True, kw_only=True)
class CreateOptions:
    """Everything that decides the translator, but for ``jobs``."""

    source_language: str
    target_language: str
    out: PathLike
    corpus: Sequence[PathLike] = ()
    source: Sequence[PathLike] = ()  #: plain files, whatever their names, with those of ``target``
    target: Sequence[PathLike] = ()
    columns: tuple[str, str] | None = None  #: of tables
    dev_source: PathLike | None = None  #: sentences to learn weights from; None: some of the corpus
    dev_refs: Sequence[PathLike] = ()
    test_source: PathLike | None = None  #: sentences to score the translator on; None: some of the corpus
    test_refs: Sequence[PathLike] = ()
    with_corrections: PathLike | None = None  #: a translator whose corrections are added to the corpus
    glossary: PathLike | None = None  #: terms, as a file; their weight is learnt too
    lm_text: Sequence[PathLike] = ()  #: more text of the target language, for a second language model
    tokenizer: str = BuildOptions.tokenizer  #: as :class:`hopefear.model.BuildOptions` has it
    rules: CleaningRules = field(default_factory=CleaningRules)
    name: str = ""  #: of the translator; none: that of its folder
    licence: str = ""  #: of the translator, for its card
    dev_text: bool = True  #: build the sentences that weights were learnt from into the final model
    curve: bool = True  #: build on a half and a quarter of the data too, to see what more of it would give
    seed: int = 1
    jobs: int = 0
    overwrite: bool = False

    def __post_init__(self) -> None:
        check_languages(self.source_language, self.target_language)
        BuildOptions(tokenizer=self.tokenizer)  # complains about one that is not known
        for part in ("dev", "test"):
            if bool(getattr(self, f"{part}_source")) != bool(getattr(self, f"{part}_refs")):
                raise OptionError(f"--{part}-source and --{part}-refs go together.")

    def fingerprint(self) -> dict[str, Any]:
        """What must be the same for interrupted work to continue: the options, and sizes and times of the files."""
        named: dict[str, Sequence[PathLike]] = {
            "corpus": self.corpus,
            "source": self.source,
            "target": self.target,
            "dev": [*([self.dev_source] if self.dev_source else []), *self.dev_refs],
            "glossary": [self.glossary] if self.glossary else [],
            "lm_text": self.lm_text,
            "test": [*([self.test_source] if self.test_source else []), *self.test_refs],
        }
        if self.with_corrections is not None:
            named["corrections"] = [corrections_of(self.with_corrections) / JOURNAL]
        return {
            "languages": [self.source_language, self.target_language],
            "columns": list(self.columns) if self.columns else None,
            "rules": [list(self.rules.off), self.rules.max_words, self.rules.max_ratio],
            "dev_text": self.dev_text,
            "curve": self.curve,
            "tokenizer": self.tokenizer,
            "seed": self.seed,
            "files": {role: [_state(path) for path in paths] for role, paths in named.items()},
        }


def _state(path: PathLike) -> list[Any]:
    try:
        if Path(path).is_dir():
            return [str(path), [_state(file) for file in sorted(Path(path).iterdir())]]
        state = Path(path).stat()
    except (OSError, ValueError):  # an address, or what files have in common
        return [str(path)]
    return [str(path), state.st_size, state.st_mtime_ns]
