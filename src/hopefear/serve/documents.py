"""Documents: uploaded, translated into a folder of the server's own, fetched by an address that nobody can guess."""

from __future__ import annotations

import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hopefear.documents.translate import SUFFIXES, read_document
from hopefear.errors import InputError
from hopefear.serve.multipart import Upload, plain_name
from hopefear.serve.settings import Limits, RequestError, client_error
from hopefear.translator.translator import Translator

FORMATS = tuple(SUFFIXES)
_ADDRESS = re.compile(r"([A-Za-z0-9_-]{32})\.(.{1,160})", re.DOTALL)


@dataclass(frozen=True)
class Documents:
    """The folder of translated documents. Names of users never become names of files."""

    folder: Path
    limits: Limits

    def translate(
        self, translator: Translator, upload: Upload, column: str | int | None = None
    ) -> tuple[str, list[str]]:
        """Translate a document and keep the result; its id, ``TOKEN.NAME``, and what was left as it was.

        In a thread: it takes its time.
        """
        suffix = check_name(upload)
        self.sweep(len(upload.data))
        token = secrets.token_urlsafe(24)
        source, target = self.folder / f"{token}.in{suffix}", self.folder / f"{token}{suffix}"
        left: list[str] = []

        def named(line: str) -> str:
            """As the user calls the file."""
            return line.replace(str(source), upload.name).replace(source.name, upload.name)

        try:
            source.write_bytes(upload.data)
            options = {} if column is None else {"column": column}
            translator.document(source, target, report=lambda line: left.append(named(line)), **options)
        except InputError as error:
            raise client_error(error, named(str(error))) from None
        finally:
            source.unlink(missing_ok=True)
        stem, _, _ = upload.name.rpartition(".")
        return f"{token}.{stem or 'document'}.{translator.target}{suffix}", left

    def read(self, identity: str) -> tuple[bytes, str]:
        """The bytes of a translated document and the name under which to save it, or a RequestError."""
        match = _ADDRESS.fullmatch(identity)
        if match is not None:
            token, name = match[1], plain_name(match[2])
            suffix = Path(name).suffix.lower()
            if suffix in FORMATS:
                with suppress(OSError):
                    return (self.folder / f"{token}{suffix}").read_bytes(), name
        raise RequestError(404, "no such document: it does not exist, or has expired")

    def sweep(self, more: int = 0) -> None:
        """Remove what has had its time, and the oldest where ``more`` bytes would not fit."""
        kept = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                with suppress(OSError):
                    state = path.stat()
                    if time.time() - state.st_mtime > self.limits.stored_seconds:
                        path.unlink(missing_ok=True)
                    else:
                        kept.append((state.st_mtime, state.st_size, path))
        size = more + sum(entry[1] for entry in kept)
        for _, own, path in sorted(kept):
            if size <= self.limits.stored_bytes:
                break
            path.unlink(missing_ok=True)
            size -= own


def texts_of(upload: Upload, most: int, column: str | int | None = None) -> list[str]:
    """The text of a document, or a RequestError: it cannot be read, or has more than so many characters."""
    try:
        document = read_document(upload.data, upload.name, column=column)
        texts = [segment.plain for segment in document.segments]
    except InputError as error:
        raise RequestError(400, str(error).replace("with --column", "in the field column")) from None
    except RecursionError:
        raise RequestError(400, f"{upload.name}: is nested too deeply") from None
    if (characters := sum(map(len, texts))) > most:
        raise RequestError(413, f"the document is too large: it has {characters} characters, and {most} are translated")
    return texts


def check_name(upload: Upload) -> str:
    """The suffix of a document that can be translated, or a RequestError."""
    suffix = Path(upload.name).suffix.lower()
    if not upload.name or not upload.data:
        raise RequestError(400, "Invalid request: empty file")
    if suffix not in FORMATS:
        raise RequestError(400, f"Invalid request: file format not supported; choose from {' '.join(FORMATS)}")
    return suffix
