"""Documents translated: read by the end of their name, written complete or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hopefear.errors import input_error
from hopefear.util.files import PathLike, atomic_write, os_error, path_name, read_whole

if TYPE_CHECKING:
    from hopefear.documents.document import Document
    from hopefear.documents.protect import Protector
    from hopefear.documents.segment import Segment

#: The ends of names that are read, with the kind of file.
SUFFIXES = {
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".srt": "srt",
    ".vtt": "vtt",
    ".docx": "docx",
    ".xliff": "xliff",
    ".xlf": "xliff",
    ".po": "po",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
}
Translate = Callable[[list["Segment"]], Sequence["Segment | None"]]


def is_document(path: PathLike) -> bool:
    """Whether a name ends like that of a document which can be translated."""
    return Path(path).suffix.lower() in SUFFIXES


def read_document(
    data: bytes,
    name: str,
    *,
    encoding: str | None = None,
    column: str | int | Sequence[str | int] | None = None,
    fields: Sequence[str] = (),
    everything: bool = False,
) -> Document:
    """The document in these bytes; the end of its name says what it is.

    ``column`` is that of a table to translate (a name or a number from 1), ``fields`` are patterns of the values of a
    JSON file, ``everything`` also translates what a catalogue or an XLIFF file has a translation of.
    """
    kind = SUFFIXES.get(Path(name).suffix.lower())
    if kind is None:
        known = " ".join(SUFFIXES)
        raise input_error(name, None, f"is not a kind of document that hopefear knows. Its name may end in {known}")
    if kind == "text":
        from hopefear.documents.plain import read_text

        return read_text(data, name, encoding)
    if kind == "markdown":
        from hopefear.documents.markdown import read_markdown

        return read_markdown(data, name, encoding)
    if kind == "html":
        from hopefear.documents.html_pages import read_html

        return read_html(data, name, encoding)
    if kind in ("srt", "vtt"):
        from hopefear.documents.subtitles import read_srt, read_vtt

        return (read_srt if kind == "srt" else read_vtt)(data, name, encoding)
    if kind == "docx":
        from hopefear.documents.word import read_docx

        return read_docx(data, name)
    if kind == "json":
        from hopefear.documents.json_values import read_json

        return read_json(data, name, encoding, fields)
    if kind in ("csv", "tsv"):
        from hopefear.documents.tables import read_csv, read_tsv

        return (read_csv if kind == "csv" else read_tsv)(data, name, encoding, column)
    if kind == "po":
        from hopefear.documents.po import read_po

        return read_po(data, name, encoding, everything)
    from hopefear.documents.xliff import read_xliff

    return read_xliff(data, name, encoding, everything)


def translate_document(
    path: PathLike,
    out: PathLike,
    translate: Translate,
    *,
    protector: Protector | None = None,
    report: Callable[[str], None] | None = None,
    encoding: str | None = None,
    column: str | int | Sequence[str | int] | None = None,
    fields: Sequence[str] = (),
    everything: bool = False,
) -> Path:
    """Translate a file into ``out``, a file or a folder that is there; the path of what was written.

    ``translate`` gets segments and returns as many; None, or an exception for a segment by itself, leaves that segment
    as it is. So does a translation that loses a tag or a protected span. ``report`` gets each such segment in a
    line. With a ``protector``, protected spans are marked before. The file appears complete or not at all.
    """
    name = path_name(path)
    target = Path(out) / Path(path).name if Path(out).is_dir() else Path(out)
    try:
        if target.exists() and target.samefile(path):
            raise input_error(name, None, "would be overwritten by its translation. Choose another --out")
        data = read_whole(path)
    except OSError as error:
        raise os_error(path, error) from None
    try:
        document = read_document(data, name, encoding=encoding, column=column, fields=fields, everything=everything)
        written = translate_segments(document, translate, protector=protector, report=report)
    except RecursionError:
        raise input_error(name, None, "is nested too deeply. Make it flatter") from None
    try:
        with atomic_write(target, "wb") as file:
            file.write(written)
    except OSError as error:
        raise os_error(target, error) from None
    return target


def translate_segments(
    document: Document,
    translate: Translate,
    *,
    protector: Protector | None = None,
    report: Callable[[str], None] | None = None,
) -> bytes:
    """The bytes of a document with its translation, see :func:`translate_document`."""
    segments = [protector.segment(each) if protector else each for each in document.segments]
    new, reasons = _translations(segments, translate)
    for i, (segment, translation) in enumerate(zip(segments, new, strict=True)):
        fault = segment.fault_of(translation) if translation is not None else None
        if fault:
            new[i], reasons[i] = None, f"its translation {fault}"
    written = document.write(new)
    reasons.update(dict(document.unwritten))
    for i in sorted(reasons) if report else ():
        assert report is not None
        report(f"{document.place(i)}: left as it was ({reasons[i]}): {_short(segments[i].text)}")
    return written


def _translations(segments: list[Segment], translate: Translate) -> tuple[list[Segment | None], dict[int, str]]:
    """All at once; if that fails, one by one, so that only what is at fault is missing."""
    reasons: dict[int, str] = {}
    try:
        new = list(translate(segments))
        if len(new) != len(segments):
            raise ValueError(f"{len(new)} translations came for {len(segments)} segments")
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        new = []
        for i, segment in enumerate(segments):
            try:
                (translation,) = translate([segment])
            except (MemoryError, KeyboardInterrupt):
                raise
            except Exception as reason:
                translation, reasons[i] = None, " ".join(str(reason).split()) or type(reason).__name__
            new.append(translation)
        if len(reasons) == len(segments) > 1:  # not the fault of segments
            raise error  # noqa: TRY201
    for i, translation in enumerate(new):
        if translation is None:
            reasons.setdefault(i, "it could not be translated")
    return new, reasons


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
