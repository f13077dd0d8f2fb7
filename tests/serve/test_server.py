"""Processes: ready, several workers, signals, a port that is taken."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from tests.serve.conftest import ROOT, launched


def ask(url: str, text: str = "das Haus") -> Any:
    data = json.dumps({"q": text, "source": "de", "target": "en"}).encode()
    request = urllib.request.Request(f"{url}/translate", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)["translatedText"]


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_was_accepted_is_answered_before_the_end(workers: str, number: int) -> None:
    with launched("--workers", workers, "--seconds", "0.3") as server:
        answers: list[str] = []
        threads = [threading.Thread(target=lambda: answers.append(ask(server.url))) for _ in range(6)]
        for thread in threads:
            thread.start()
        time.sleep(0.25)
        code, said = server.end(number)
        for thread in threads:
            thread.join()
        assert answers == ["the house"] * 6
        assert code == 0 and "Traceback" not in said
        with pytest.raises(URLError):
            ask(server.url)


def test_a_worker_that_dies_is_started_again() -> None:
    with launched("--workers", "2") as server:
        first = children(server.process.pid)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        for _ in range(200):
            if len(now := children(server.process.pid)) == 2 and first[0] not in now:
                break
            time.sleep(0.02)
        else:
            raise AssertionError("it was not started again")
        assert [ask(server.url) for _ in range(8)] == ["the house"] * 8
        of_all = 'hopefear_requests_total{path="/translate",status="200"} 8'
        for _ in range(100):  # the last one counts when its answer is out
            with urllib.request.urlopen(f"{server.url}/metrics") as answer:
                counters = answer.read().decode()
            if of_all in counters:
                break
        assert of_all in counters and "hopefear_worker_starts_total 3" in counters
        code, said = server.end(signal.SIGTERM)
        assert code == 0 and '"ended": "signal 9"' in said


def test_workers_end_with_their_parent() -> None:
    with launched("--workers", "2") as server:
        workers = children(server.process.pid)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        for _ in range(200):
            if not any(Path(f"/proc/{worker}/cmdline").exists() for worker in workers):
                return
            time.sleep(0.02)
        raise AssertionError("workers go on")


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "tests.serve.launch", "--port", port]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert (
        done.stderr
        == f"--host 127.0.0.1 --port {port}: address already in use. Choose another port, or 0 for a free one\n"
    )


def test_a_request_that_is_no_http() -> None:
    with launched() as server:
        host, port = server.url.removeprefix("http://").split(":")
        for sent in (
            b"\x16\x03\x01\x02\0",
            b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000,
            b"\r\n\r\n\r\n",
            b"GET\r\n\r\n",
        ):
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(1000)
                assert answer == b"" or answer.startswith(b"HTTP/1.1 400")
        with pytest.raises(HTTPError) as refused:
            urllib.request.urlopen(f"{server.url}/nothing")
        assert refused.value.code == 404
        assert ask(server.url) == "the house"
        code, said = server.end(signal.SIGTERM)
        assert code == 0 and all(json.loads(line)["event"] == "request" for line in said.splitlines())


def test_a_connection_that_says_nothing_is_closed() -> None:
    with launched("--idle", "0.2") as server:
        host, port = server.url.removeprefix("http://").split(":")
        for sent in (
            b"",
            b"POST /translate HTTP/1.1\r\nHost: local",
            b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ):
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                connection.sendall(sent)
                while connection.recv(1000):
                    pass


def test_a_connection_that_is_used_stays() -> None:
    with launched("--idle", "0.9") as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
        connection.connect()
        first = connection.sock
        for _ in range(30):
            connection.request("GET", "/health")
            assert connection.getresponse().read() == b'{"status":"ok"}'
            time.sleep(0.1)
        assert connection.sock is first is not None
        connection.close()


def test_a_client_that_leaves_is_not_waited_for() -> None:
    with launched("--seconds", "0.3") as server:
        host, port = server.url.removeprefix("http://").split(":")
        for _ in range(20):
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                body = b"q=das+Haus&source=de&target=en"
                head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
                connection.sendall(head + body)
        assert ask(server.url) == "the house"
        code, said = server.end(signal.SIGTERM)
        assert code == 0 and '"status": 499' in said
