"""Counters: what they add up to, and the format of Prometheus."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from hopefear.serve.metrics import SECONDS, Metrics
from tests.serve.conftest import App

LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? (\+Inf|[0-9.e+-]+)')


def test_rows_of_workers_are_summed() -> None:
    metrics = Metrics(["/a"], ["de-en"], workers=2)
    metrics.request("/a", 200, 0.003)
    process = os.fork()
    if process == 0:  # another worker writes to memory that both see
        metrics.worker = 1
        metrics.request("/a", 200, 0.3)
        metrics.request("/b", 599, 100.0)
        os._exit(0)
    os.waitpid(process, 0)
    lines = metrics.text().splitlines()
    assert 'hopefear_requests_total{path="/a",status="200"} 2' in lines
    assert 'hopefear_requests_total{path="other",status="other"} 1' in lines
    assert 'hopefear_request_seconds_bucket{path="/a",le="0.005"} 1' in lines
    assert 'hopefear_request_seconds_bucket{path="/a",le="0.25"} 1' in lines
    assert 'hopefear_request_seconds_bucket{path="/a",le="0.5"} 2' in lines
    assert 'hopefear_request_seconds_bucket{path="/a",le="+Inf"} 2' in lines
    assert 'hopefear_request_seconds_sum{path="/a"} 0.303' in lines
    assert 'hopefear_request_seconds_count{path="/a"} 2' in lines
    assert 'hopefear_request_seconds_bucket{path="other",le="60"} 0' in lines
    assert 'hopefear_request_seconds_bucket{path="other",le="+Inf"} 1' in lines


def test_the_format(start: Callable[..., App]) -> None:
    app = start()
    app.post("/translate", json={"q": ["das Haus", "ein Hund"], "source": "de", "target": "en"})
    app.post("/translate", json={})
    answer = app.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'hopefear_texts_total{pair="de-en"} 2' in lines
    assert 'hopefear_characters_total{pair="de-en"} 16' in lines
    assert 'hopefear_requests_total{path="/translate",status="400"} 1' in lines
    assert "hopefear_batch_texts_count 1" in lines and "hopefear_open_requests 1" in lines
    told: list[str] = []
    for line in lines:
        if line.startswith("# TYPE "):
            told.append(line.split()[2])
        elif not line.startswith("#"):
            assert LINE.fullmatch(line), line
            assert line.startswith(told[-1])
    assert len(told) == len({*told})
    for family in ('path="/translate"', 'path="other"'):
        counts = [
            int(line.split()[-1]) for line in lines if line.startswith("hopefear_request_seconds_bucket{" + family)
        ]
        assert counts == sorted(counts) and len(counts) in (0, len(SECONDS) + 1)
