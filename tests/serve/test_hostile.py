"""Damaged and hostile requests: never an error of the server, nothing read or written that is not its own."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from pathlib import Path

from tests.serve.hostile import Raw, Request, requests


def test_no_request_breaks_it(tmp_path: Path) -> None:
    from hopefear.serve import Limits, Settings, make_app
    from tests.serve.fake import english, german

    lines: list[str] = []
    limits = Limits(file_bytes=100_000, seconds=10)
    app = make_app([german(), english()], Settings(folder=tmp_path, limits=limits), None, lines.append, lines.append)
    statuses: Counter[int] = Counter()

    async def run() -> None:
        rng = random.Random(1)
        async with Raw(app) as raw:
            for number, request in enumerate(requests(1, 10_000)):
                status, answer = await raw.send(request, cut=rng.random() < 0.05)
                assert 200 <= status < 500, (number, status, request, answer)
                if status >= 400 and request[0] != "HEAD":
                    assert list(json.loads(answer)) == ["error"], (number, request, answer)
                statuses[status] += 1
            good: Request = ("POST", "/translate", b"", {"host": "localhost"}, b"q=Das+Haus&source=de&target=en")
            assert await raw.send(good) == (200, b'{"translatedText":"The house"}')

    asyncio.run(run())
    assert {200, 400, 403, 404, 405, 413, 415, 421} <= {*statuses}  # each of its answers was had
    assert statuses[200] + statuses[201] > 500
    assert not any("error" in json.loads(line) for line in lines)
    assert {path.suffix for path in tmp_path.iterdir()} <= {".txt", ".docx"}  # what was translated, and no rests
    assert not (tmp_path.parent / "a.txt").exists()
