"""Good documents, packed translators and journals, for tests/fuzzing.py to damage."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import hopefear as hf
from hopefear.documents.protect import Protector, read_words
from hopefear.documents.segment import Segment
from hopefear.documents.translate import read_document, translate_document
from hopefear.learning.corrections import Corrections
from hopefear.learning.journal import _FIRST, _MARK, FILE, Journal, _checksum
from hopefear.model.directory import Model
from hopefear.model.packed import pack
from hopefear.serve import Keys
from hopefear.translator.folder import CARD, read_card, write_card
from hopefear.translator.glossary import read_glossary
from tests.corpus.files import opus_zip
from tests.documents.samples import column_of, samples

KINDS = ("page.html", "page.md", "film.srt", "film.vtt", "plain.txt", "wrapped.txt", "values.json", "table.csv")
KINDS += ("table.tsv", "messages.po", "one.xliff", "two.xlf", "text.docx")
MEMBER = b"--member--"
Reader = Callable[[Path], object]


def members(data: bytes) -> bytes:
    """What is in a zip file, so that its members can be damaged one by one."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return MEMBER.join(part for name in file.namelist() for part in (name.encode(), file.read(name)))


def zipped(data: bytes) -> bytes:
    """A zip file of these members, with checksums that are right."""
    parts = data.split(MEMBER)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in dict(zip(parts[::2], parts[1::2], strict=False)).items():
            file.writestr(name.decode("latin-1").replace("\0", "") or "_", content)
    return out.getvalue()


def opus(folder: Path) -> bytes:
    """A zip file with a corpus."""
    return opus_zip(folder / "opus.zip").read_bytes()


def swapped(segments: list[Segment]) -> list[Segment]:
    """As a translator might: other words, in the same places."""
    return [
        Segment(tuple(part.swapcase() if isinstance(part, str) else part for part in each.parts)) for each in segments
    ]


def _document(name: str, changed: Callable[[bytes], bytes] = bytes) -> Reader:
    """Reads a document, writes it as it was, and translates it; what was written can be read again."""
    column = column_of(name)

    def read(path: Path) -> None:
        file = path.replace(path.with_suffix(Path(name).suffix))
        data = changed(file.read_bytes())
        file.write_bytes(data)
        out = translate_document(
            file, file.with_name(f"out{file.suffix}"), swapped, protector=Protector(), column=column
        )
        for everything in (False, True):
            document = read_document(data, str(file), column=column, everything=everything)
            assert document.write([None] * len(document.segments)) == data
            for number, segment in enumerate(document.segments):
                assert document.place(number) and segment.has_words
        read_document(out.read_bytes(), str(out), column=column)

    return read


def _translator(folder: Path) -> Path:
    """A model of a few words with a card."""
    (folder / "de").write_text("ein Haus\ndas Haus\n" * 3)
    (folder / "en").write_text("a house\nthe house\n" * 3)
    (folder / "links").write_text("0-0 1-1\n" * 6)
    options = hf.model.BuildOptions(tokenizer="none", lm_order=2, sparse=False)
    hf.model.build(folder / "de", folder / "en", folder / "translator", options, align=[folder / "links"])
    write_card(folder / "translator", {"name": "small", "source": "de", "target": "en", "scores": {"bleu": 9.5}})
    return folder / "translator"


def _read_packed(path: Path) -> None:
    os.environ["HOPEFEAR_CACHE"] = str(path.parent / "cache")
    try:
        Model.open(path)
        read_card(path)
    except hf.InputError as error:  # which may be about what was unpacked
        assert str(error).startswith((str(path), str(path.parent / "cache"))), error
        raise hf.InputError(f"{path}: {error}") from None


def _repacked(path: Path) -> None:
    """The members of a packed translator, compressed again under a manifest that is right."""
    parts = path.read_bytes().split(MEMBER)
    files = dict(zip(parts[::2], parts[1::2], strict=False))
    about = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for name, content in files.items():
            packed, shown = lzma.compress(content), name.decode("latin-1").replace("\0", "") or "_"
            file.writestr(f"{shown}.xz", packed)
            digest = hashlib.sha256(content).hexdigest()
            about[shown] = {"bytes": len(content), "packed": len(packed), "sha256": digest}
        head = {"format": "hopefear packed translator", "version": 1, "hopefear": "0", "files": about}
        file.writestr("manifest.json", json.dumps(head))
    _read_packed(path)


def _unpacked(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        names = [name for name in file.namelist() if name.endswith(".xz")]
        return MEMBER.join(
            part for name in names for part in (name.removesuffix(".xz").encode(), lzma.decompress(file.read(name)))
        )


def _journal(translator: Path) -> bytes:
    corrections = Corrections(Model.open(translator), translator / "corrections", "de", "en")
    corrections.learn("das Haus ist rot", "the house is red", user="Ü")
    corrections.learn("ein Haus. das Haus!", "a house. the house!")
    corrections.undo("1")
    corrections.close()
    return (translator / "corrections" / FILE).read_bytes()


def _in_folder(path: Path, read: Callable[[Path], object]) -> None:
    """The damaged journal is read in a folder of its own."""
    folder = path.parent / "journal"
    folder.mkdir(exist_ok=True)
    path.replace(folder / FILE)
    try:
        read(folder)
    except hf.InputError as error:
        raise hf.InputError(f"{path}: {error}") from None


def _read_journal(path: Path) -> None:
    _in_folder(path, lambda folder: Journal(folder).read())


def _forged_journal(model: Model) -> Reader:
    """Checksums are made anew; what is in the lines is learnt."""

    def read(path: Path) -> None:
        check, lines = _FIRST, []
        for line in path.read_bytes().split(b"\n"):
            body, mark, _ = line.rpartition(_MARK)
            if mark:
                check = _checksum(check, body)
                lines.append(body + mark + check.encode() + b'"}\n')
        path.write_bytes(b"".join(lines))

        def learn(folder: Path) -> None:
            corrections = Corrections(model, folder, "de", "en")
            list(corrections)
            corrections.rules(corrections.view(), ["das", "Haus"])

        _in_folder(path, learn)

    return read


def _read_card(translator: Path) -> Reader:
    def read(path: Path) -> None:
        path.replace(translator / CARD)
        try:
            read_card(translator)
        except hf.InputError as error:
            raise hf.InputError(f"{path}: {error}") from None

    return read


def document_targets(folder: Path) -> dict[str, tuple[bytes, Reader]]:
    """For each kind: a good file and its reader."""
    files = samples()
    targets = {f"document {name}": (files[name], _document(name)) for name in KINDS}
    targets["docx, inside"] = (members(files["text.docx"]), _document("text.docx", zipped))
    translator = _translator(folder)
    pack(translator, folder / "small.hft")
    packed, model = (folder / "small.hft").read_bytes(), Model.open(translator)
    targets["packed translator"] = (packed, _read_packed)
    targets["packed translator, forged"] = (_unpacked(packed), _repacked)
    journal = _journal(translator)
    targets["journal"] = (journal, _read_journal)
    targets["journal, forged"] = (journal, _forged_journal(model))
    targets["card.json"] = ((translator / CARD).read_bytes(), _read_card(translator))
    targets["glossary"] = (b"# Begriffe\nTor\tgoal\tpreferred\nFisch*\tfish\tforced\tcase\n", read_glossary)
    targets["words"] = (b"IKEA\n  ACME Inc.\n", lambda path: list(read_words(path)))
    targets["keys"] = (b"a-long-enough-key-of-somebody\nanother-key-0123456789\n", Keys.read)
    return targets
