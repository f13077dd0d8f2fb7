"""Lines and files through a translator: what ``hopefear translate`` does with one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hopefear.documents.segment import Segment
from hopefear.documents.translate import SUFFIXES, is_document, translate_document
from hopefear.errors import InputError, input_error
from hopefear.model.directory import Model
from hopefear.model.familiar import input_warning
from hopefear.runs.session import Session
from hopefear.translator.translation import Translation
from hopefear.translator.translator import Translator
from hopefear.util.files import PathLike, path_name

_BLOCK = 256  # lines translated at a time


def translated_lines(
    translator: Translator,
    lines: Iterable[str],
    session: Session,
    *,
    scores: bool = False,
    quality: bool = False,
    alignments: bool = False,
) -> Iterator[str]:
    """A line of output for each line of input, in pieces of text.

    It begins with the model's score (``scores``) and the three numbers of its quality (``quality``). It ends with the
    characters that belong together (``alignments``), as ``0-3:0-1`` for the first three and the first one; tabs are
    between.
    """
    for block in _blocks(lines, translator.model, session):
        if scores or quality or alignments:
            rows = [_row(each, scores, quality, alignments) for each in translator.translations(block)]
        else:
            rows = translator(block)
        yield "".join(f"{_one_line(row)}\n" for row in rows)


def candidate_lines(translator: Translator, lines: Iterable[str], n: int, session: Session) -> Iterator[str]:
    """The ``n`` best translations of each line, as a candidate list whose only feature is the model's score."""
    number = 0
    for block in _blocks(lines, translator.model, session):
        rows = []
        for translation in translator.translations(block, n=n):
            for other in translation.alternatives:
                text = _one_line(other.text).replace("|||", "¦¦¦")
                rows.append(f"{number} ||| {text} ||| model= {other.score!r} ||| {other.score!r}\n")
            number += 1
        yield "".join(rows)


def _blocks(lines: Iterable[str], model: Model, session: Session) -> Iterator[list[str]]:
    source, done = iter(lines), 0
    update = session.progress("translate")
    update(0)
    while block := list(itertools.islice(source, _BLOCK)):
        if done == 0 and (warning := input_warning(model, block)):
            session.warn(warning)
        yield block
        done += len(block)
        update(done)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def learning_lines(translator: Translator, lines: Iterable[str], session: Session) -> Iterator[str]:
    """A line of output for each line of input; the correction behind its tab, if there is one, is learnt then."""
    translator.corrections.hold()
    try:
        for number, line in enumerate(lines, 1):
            source, _, correction = line.partition("\t")
            yield f"{_one_line(translator(source))}\n"
            if source.strip() and correction.strip():
                learnt = translator.learn(source, correction)
                if learnt.status != "learnt":
                    session.warn(f"line {number}: {learnt}")
    finally:
        translator.corrections.close()


def _row(translation: Translation, scores: bool, quality: bool, alignments: bool) -> str:
    of = translation.quality
    columns = [f"{translation.alternatives[0].score:.3f}"] if scores else []
    columns += [f"{of.score:.3f}", f"{of.unknown_share:.3f}", f"{of.agreement:.3f}"] if quality else []
    columns.append(translation.text)
    if alignments:
        columns.append(" ".join(f"{a}-{b}:{c}-{d}" for a, b, c, d in translation.alignment))
    return "\t".join(columns)


def _checked(translator: Translator, name: str, session: Session, segments: Sequence[Segment]) -> list[Segment]:
    """The segments of a document translated, with a warning if they are in another language."""
    texts = ["".join(part for part in each.parts if isinstance(part, str)) for each in segments]
    if warning := input_warning(translator.model, texts):
        session.warn(f"{name}: {warning}")
    return translator.segments(segments)


def translate_files(
    translator: Translator, files: Sequence[PathLike], out: PathLike, session: Session, **options: Any
) -> list[Path]:
    """Each file translated into one of the same name in the folder ``out``, which is made.

    The options are those of :func:`hopefear.documents.translate.translate_document`.
    """
    folder = Path(out)
    names: dict[str, PathLike] = {}
    for file in files:
        name = Path(file).name
        if not is_document(file):
            known = " ".join(SUFFIXES)
            raise input_error(file, None, f"is not a kind of document that hopefear knows. Its name may end in {known}")
        if name in names:
            raise InputError(f"{names[name]} and {file} would both become {folder / name}. Translate them one by one")
        names[name] = file
    if folder.exists() and not folder.is_dir():
        raise input_error(folder, None, "is not a folder. Choose another --out")
    folder.mkdir(parents=True, exist_ok=True)
    update = session.progress("translate", len(files))
    made = []
    for number, file in enumerate(files):
        update(number, text=Path(file).name)
        translate = partial(_checked, translator, path_name(file), session)
        made.append(translate_document(file, folder, translate, report=session.warn, **options))
    update(len(files))
    return made
