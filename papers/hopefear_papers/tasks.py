"""Translation tasks: known data sets, your own parallel text, or a generated language.

``--data DIR`` has tasks in folders of their own (``es-en-fisher``, ``de-en-multi30k``, ``ur-en-indian``, and
``es-en-kbest`` for lists), or is one task itself: ``train.source``, ``train.target``, ``dev.source``, ``dev.ref.0``
..., ``test.source``, ``test.ref.0`` ..., as ``hopefear corpus`` writes them. Without ``--data`` a small language is
generated. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hopefear.data.language import SyntheticParallel
from hopefear.errors import input_error
from hopefear.model import Model
from hopefear.util.files import atomic_write, iter_lines
from hopefear_papers.base import Lab


@dataclass(frozen=True)
class TranslationTask:
    """Files of one translation task."""

    name: str
    train: tuple[tuple[Path, Path], ...]
    dev: tuple[Path, tuple[Path, ...]]  # source, references
    test: tuple[Path, tuple[Path, ...]]
    strip: str = "none"

    @property
    def files(self) -> list[Path]:
        return [*(path for pair in self.train for path in pair), self.dev[0], *self.dev[1], self.test[0], *self.test[1]]


@dataclass(frozen=True)
class Part:
    """Sentences and their references, tokenised like the model's target side."""

    sources: list[str]
    references: list[list[str]]  # a list of lines for each reference
    raw: list[list[str]]  # the references as in the files

    def __len__(self) -> int:
        return len(self.sources)

    @cached_property
    def digest(self) -> str:
        """A checksum of the text."""
        text = "\0".join("\n".join(lines) for lines in (self.sources, *self.raw))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @classmethod
    def read(cls, model: Model, source: Path, references: Sequence[Path], most: int) -> Part:
        """The first lines that are not empty."""
        columns = [list(iter_lines(path)) for path in (source, *references)]
        if len({len(column) for column in columns}) > 1:
            raise input_error(source, None, "its references have another number of lines. Are they its translations?")
        sources: list[str] = []
        texts: list[list[str]] = [[] for _ in references]
        raw: list[list[str]] = [[] for _ in references]
        for line in zip(*columns, strict=True):
            if len(sources) == most:
                break
            if not model.source_text.tokens(line[0]):
                continue
            sources.append(line[0])
            for column, whole, text in zip(texts, raw, line[1:], strict=True):
                column.append(" ".join(model.target_text.tokens(text)))
                whole.append(text)
        return cls(sources, texts, raw)

    def subset(self, kept: Sequence[int]) -> Part:
        columns, raw = ([[column[i] for i in kept] for column in of] for of in (self.references, self.raw))
        return Part([self.sources[i] for i in kept], columns, raw)


def tasks(lab: Lab) -> list[TranslationTask]:
    """The translation tasks of ``--data``, the main one first."""
    if lab.data is None:
        return [_generated(lab)]
    if not lab.data.is_dir():
        raise input_error(lab.data, None, "no such directory. Give the folder of the data")
    data = lab.data.absolute()
    known = (_fisher(data), _multi30k(data), _urdu(data), _own(data))
    found = [task for task in known if task is not None]
    if not found:
        raise input_error(
            lab.data,
            None,
            "has neither es-en-fisher nor de-en-multi30k, nor a task of its own (train.source, train.target, "
            "dev.source, dev.ref.0, test.source, test.ref.0). Correct the path",
        )
    for task in found:
        for path in task.files:
            if not path.is_file():
                raise input_error(path, None, "no such file, and the experiment needs it. Fix --data")
    return found


def _references(folder: Path, stem: str) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.glob(f"{stem}.*") if path.suffix[1:].isdigit()))


def _fisher(data: Path) -> TranslationTask | None:
    folder = data / "es-en-fisher"
    if not folder.is_dir():
        return None
    train = (
        (folder / "train.callhome.oracle.es.xz", folder / "train.callhome.en.xz"),
        (folder / "train.tatoeba.es.xz", folder / "train.tatoeba.en.xz"),
    )
    dev = (folder / "dev.oracle.es", _references(folder, "dev.en"))
    test = (folder / "devtest.oracle.es", _references(folder, "devtest.en"))
    return TranslationTask("es-en-fisher", train, dev, test, "source")


def _multi30k(data: Path) -> TranslationTask | None:
    folder = data / "de-en-multi30k"
    if not folder.is_dir():
        return None
    dev, test = ((folder / f"{part}.de", (folder / f"{part}.en",)) for part in ("val", "test_2016_flickr"))
    return TranslationTask("de-en-multi30k", ((folder / "train.de.xz", folder / "train.en.xz"),), dev, test)


def _urdu(data: Path) -> TranslationTask | None:
    """Little data: a dictionary, a little text, and the dev part once for each reference."""
    folder = data / "ur-en-indian" / "raw"
    if not folder.is_dir():
        return None
    train = [(folder / "dict.ur.xz", folder / "dict.en.xz"), (folder / "train-1k.ur", folder / "train-1k.en")]
    train += [(folder / "dev.ur", reference) for reference in _references(folder, "dev.en")]
    dev, test = ((folder / f"{part}.ur", _references(folder, f"{part}.en")) for part in ("devtest", "test"))
    return TranslationTask("ur-en-indian", tuple(train), dev, test)


def _own(data: Path) -> TranslationTask | None:
    if not (data / "train.source").is_file():
        return None
    target = data / "train.target"
    dev, test = ((data / f"{part}.source", _references(data, f"{part}.ref")) for part in ("dev", "test"))
    return TranslationTask(data.resolve().name, ((data / "train.source", target),), dev, test)


def _generated(lab: Lab) -> TranslationTask:
    """A generated language, written to files so that it is read like other data."""
    folder = lab.out.absolute() / "generated"
    language = SyntheticParallel(seed=1)
    counts = {"train": lab.pick(tiny=300, small=3000, full=20000), "dev": lab.pick(tiny=24, small=200, full=1000)}
    counts["test"] = counts["dev"]
    stamp = folder / f"{lab.size}.done"
    if not stamp.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for stream, (part, count) in enumerate(counts.items()):
            pairs = language.pairs(count, stream=stream, noise=None if part == "train" else 0)
            columns: dict[str, list[str]] = {f"{part}.source": [pair.source for pair in pairs]}
            if part == "train":
                columns["train.target"] = [pair.target for pair in pairs]
            else:
                lines = [language.references(pair, 2) for pair in pairs]
                columns |= {f"{part}.ref.{r}": [line[r] for line in lines] for r in range(2)}
            for name, texts in columns.items():
                with atomic_write(folder / name) as file:
                    file.writelines(text + "\n" for text in texts)
        stamp.touch()
    task = _own(folder)
    assert task is not None
    return task
