"""Settings of a server: limits, keys, names it answers to."""

from __future__ import annotations

import hashlib
import hmac
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hopefear.errors import InputError, input_error
from hopefear.util.files import PathLike, iter_lines, path_name

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_NAME = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")


class RequestError(Exception):
    """A request that is not answered: the status, and what to say. ``wait`` seconds later it may be."""

    def __init__(self, status: int, text: str, wait: int | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.wait = status, text, wait


@dataclass(frozen=True)
class Limits:
    """How much a request may ask for, and how much the server takes on."""

    characters: int = 20_000  #: of all texts of a request together
    texts: int = 200  #: of one request
    alternatives: int = 20  #: of one text
    file_bytes: int = 16 << 20  #: of an uploaded document
    seconds: float = 60.0  #: until a request must be answered, from its first byte
    queue: int = 2_000  #: texts that wait, of all requests
    connections: int = 900  #: at once
    idle_seconds: float = 30.0  #: that a connection may wait for the next request, or for the rest of its head
    documents: int = 4  #: that wait or are being translated
    stored_bytes: int = 256 << 20  #: of translated documents that wait to be fetched
    stored_seconds: float = 3600.0  #: that they are kept
    corrections: int = 60  #: that a worker takes in a minute
    per_minute: int = 0  #: requests of one client; 0: any number
    batch: int = 32  #: texts that are translated in one call
    pause: float = 0.002  #: seconds in which more texts are waited for

    @property
    def document_characters(self) -> int:
        """Of the text of a document."""
        return 25 * self.characters

    @property
    def document_seconds(self) -> float:
        """For a document."""
        return 10 * self.seconds

    @property
    def body_bytes(self) -> int:
        """Of a request without a document: a character takes up to 12 bytes in JSON and in forms."""
        return 12 * self.characters + 64 * self.texts + 16_384


@dataclass(frozen=True)
class Keys:
    """API keys, of which only digests are kept in memory. Without any, everyone may ask."""

    digests: tuple[bytes, ...] = ()

    @classmethod
    def read(cls, path: PathLike) -> Keys:
        """One key per line; empty lines and lines that begin with ``#`` are skipped, and so is what follows a blank."""
        digests = []
        for number, line in enumerate(iter_lines(path), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words[0]) < 8:
                finding = "a key of fewer than 8 characters is easy to guess. Make one: openssl rand -hex 16"
                raise input_error(path_name(path), number, finding)
            digests.append(_digest(words[0]))
        if not digests:
            raise input_error(path_name(path), None, "has no key. Write one per line: openssl rand -hex 16")
        return cls(tuple(digests))

    def __bool__(self) -> bool:
        return bool(self.digests)

    def holds(self, key: str) -> bool:
        """Whether this is one of the keys; it takes as long whichever it is, and if it is none."""
        digest = _digest(key)
        return sum(hmac.compare_digest(digest, known) for known in self.digests) > 0


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True)
class Settings:
    """All of a server but its translators."""

    host: str = "127.0.0.1"
    port: int = 5000
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    keys: Keys = field(default_factory=Keys)
    hosts: tuple[str, ...] = ()  #: names in the header Host that are answered, besides those of the machine itself
    url: str = ""  #: by which others reach the server, if it is behind a proxy
    log: bool = True  #: one line of JSON per request
    log_text: bool = False  #: with the texts
    protect: tuple[str, ...] = ()  #: regular expressions that the translators were given
    keep: tuple[str, ...] = ()  #: and words
    folder: Path = Path()  #: of translated documents, while the server runs

    def answers(self, host: str) -> bool:
        """Whether a request for this ``Host`` is meant for us.

        A page of somebody else can give its own name the address 127.0.0.1, and would then be of our origin.
        """
        match = _NAME.fullmatch(host)
        if match is None:
            return False
        name = match[1].strip("[]").lower().rstrip(".")
        if name in self.hosts or name == host_of(self.url):
            return True
        local = self.host in LOOPBACK
        return name in LOOPBACK or name.endswith(".localhost") or name == self.host or (not local and not self.hosts)


def host_of(url: str) -> str:
    """The name in a URL, in small letters."""
    from urllib.parse import urlsplit

    return (urlsplit(url).hostname or "").lower()


def lower_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of hosts in lower case, without brackets."""
    return tuple(name.strip().strip("[]").lower() for name in names)


def client_error(error: InputError, text: str) -> Exception:
    """A wrong input is the client's; what the system refused, such as a full disk, is ours."""
    cause = error.__context__
    return cause if isinstance(cause, OSError) else RequestError(400, text)


def say(line: str) -> None:
    """A line on standard error."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
