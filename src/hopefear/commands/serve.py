"""Serve translators: LibreTranslate's API, our own API, and a page in the browser.

Prints "listening on http://127.0.0.1:5000" when it is ready, and a line of JSON for each request, without its text.
A request selects one of several translators by its languages. After Ctrl-C or SIGTERM, the server answers all accepted
requests and stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.errors import OptionError
from hopefear.serve.settings import Keys, Limits, Settings, lower_names

if TYPE_CHECKING:
    from hopefear.runs.session import Session
    from hopefear.translator.translator import Translator

LOGS = ("requests", "text", "errors")


class Serve(Command[None]):
    translator: Sequence[str] = arg(
        "Translators: folders, or files made by hopefear pack.",
        positional=True,
        kw_only=False,
        file=True,
        folder=True,
        metavar="TRANSLATOR",
    )
    host: str = arg("The address to listen on; 0.0.0.0 is all addresses of this machine.", default=Settings.host)
    port: int = arg("The port; 0 selects a free port.", default=Settings.port, least=0, most=65535)
    workers: int = arg("Processes, which share memory and port.", default=Settings.workers, least=1, most=64)
    api_keys: str | None = arg("A file of keys, one per line; requests need one of them.", default=None, file=True)
    allowed_host: Sequence[str] = arg(
        "Host names of this server; requests to other names are rejected.",
        default=(),
        metavar="NAME",
        shown="those of this machine; with another --host, any",
    )
    public_url: str = arg(
        "The public address, if the server is behind a proxy.", default="", metavar="URL", shown="as asked"
    )
    glossary: str | None = arg("Terms and their translations: TSV.", default=None, file=True)
    protect: Sequence[str] = shared.protect()
    keep: str | None = arg("Words that stay as they are, one per line.", default=None, file=True)
    log: str = arg("A line for each request, the same with its text, or errors only.", default=LOGS[0], choices=LOGS)
    max_characters: int = arg("Maximum characters per request.", default=Limits.characters, least=1)
    max_texts: int = arg("Maximum texts per request.", default=Limits.texts, least=1)
    max_megabytes: int = arg("Maximum size of a document.", default=Limits.file_bytes >> 20, least=1, most=1024)
    max_seconds: float = arg("Time limit for one request.", default=Limits.seconds, least=0.1)
    max_waiting: int = arg("Maximum texts in the queue; others are rejected with 503.", default=Limits.queue, least=1)
    max_per_minute: int = arg("Requests per minute of one client; 0: no limit.", default=Limits.per_minute, least=0)

    examples = """
    hopefear serve translator
    hopefear serve de-en en-de.hft --port 8080
    hopefear serve translator --api-keys keys.txt --workers 2 --public-url https://translate.example.org
    """

    def check(self) -> None:
        from urllib.parse import urlsplit

        if self.public_url and (urlsplit(self.public_url).scheme not in ("http", "https") or " " in self.public_url):
            raise OptionError("--public-url must begin with http:// or https://, as in https://translate.example.org.")

    def run(self, session: Session) -> None:
        from hopefear.serve.server import require_packages

        require_packages()
        from hopefear.serve import serve

        limits = Limits(
            characters=self.max_characters,
            texts=self.max_texts,
            file_bytes=self.max_megabytes << 20,
            seconds=self.max_seconds,
            queue=self.max_waiting,
            per_minute=self.max_per_minute,
        )
        settings = self.as_options(
            Settings,
            limits=limits,
            keys=Keys.read(self.api_keys) if self.api_keys else Keys(),
            hosts=lower_names(self.allowed_host),
            url=self.public_url,
            log=self.log != "errors",
            log_text=self.log == "text",
            protect=tuple(self.protect),
            keep=self._words(),
        )
        serve(self._open, settings, session.note)

    def _words(self) -> tuple[str, ...]:
        from hopefear.documents.protect import read_words

        return tuple(read_words(self.keep)) if self.keep else ()

    def _open(self) -> list[Translator]:
        from hopefear.translator.translator import Translator

        how: dict[str, Any] = {"glossary": self.glossary, "protect": tuple(self.protect), "jobs": self.jobs}
        return [Translator(path, keep=self._words(), **how) for path in self.translator]
