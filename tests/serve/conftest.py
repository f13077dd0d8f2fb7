"""A client of an application in this process, and servers in processes of their own."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


class App:
    """An application, the client that asks it, and the lines of its log."""

    def __init__(self, client: Any, log: list[dict[str, Any]], translators: list[Any]) -> None:
        self.client, self.log, self.translators = client, log, translators
        self.get, self.post = client.get, client.post


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., App]]:
    """Starts an application: ``start(*translators, **settings)``; limits are settings, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would like another version of its client
        from starlette.testclient import TestClient

    from hopefear.serve import Limits, Settings, make_app
    from tests.serve.fake import english, german

    with contextlib.ExitStack() as stack:

        def run(*translators: Any, **options: Any) -> App:
            limits = Limits(**{name: options.pop(name) for name in [*options] if name in Limits.__dataclass_fields__})
            log: list[dict[str, Any]] = []
            some = list(translators) or [german(), english()]
            settings = Settings(limits=limits, folder=tmp_path, **options)

            def write(line: str) -> None:
                log.append(json.loads(line))

            app = make_app(some, settings, None, write, write)
            client = TestClient(app, base_url="http://127.0.0.1:5000", raise_server_exceptions=False)
            return App(stack.enter_context(client), log, some)

        yield run


@pytest.fixture
def app(start: Callable[..., App]) -> App:
    return start()


class Server:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; the exit code and what was said on standard error."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


@contextlib.contextmanager
def launched(*arguments: str) -> Iterator[Server]:
    """``python -m tests.serve.launch``, ready to answer; killed at the end if it still runs."""
    command = [sys.executable, "-m", "tests.serve.launch", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("listening on http://127.0.0.1:"), line
        yield Server(process, line.removeprefix("listening on ").strip())
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
