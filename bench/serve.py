"""A server under load beside `hopefear translate`: throughput, times, memory, restart after kill -9, hostile requests.

    python bench/serve.py translator sentences.de
    python bench/serve.py translator sentences.de --soak 100000 --hostile 10000

Clients send a sentence, wait for its translation and send the next, each over a connection of its own. Throughput is
that of the whole text, as `translate` has it without the time to start; both are measured in turn, --rounds times, and
the ratio is of the sums. --soak sends the first four words of sentences. The client takes some of the machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
HOPEFEAR = [sys.executable, "-m", "hopefear.cli.main"]


@contextmanager
def server(command: list[str]) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        if not line.startswith("listening on "):
            raise SystemExit(line + process.stderr.read())
        yield int(line.rpartition(":")[2]), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=90)


def translated(translator: str, lines: list[str]) -> np.ndarray:
    """Seconds of `hopefear translate`, by the clock and of the cores."""
    begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    text = "".join(line + "\n" for line in lines)
    command = [*HOPEFEAR, "translate", translator, "--quiet"]
    subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return np.array([time.monotonic() - begin, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime])


def cpu(process: int) -> float:
    """Seconds of the cores that a process and those it started have used."""
    total = 0
    for each in [process, *children(process)]:
        words = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        total += int(words[11]) + int(words[12])
    return total / os.sysconf("SC_CLK_TCK")


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def request(line: str, source: str, target: str) -> bytes:
    body = json.dumps({"q": line, "source": source, "target": target}).encode()
    head = (
        f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    return f"{head}\r\n\r\n".encode() + body


async def answer(reader: asyncio.StreamReader) -> int:
    """Read an answer; its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    await reader.readexactly(length)
    return int(head[9:12])


async def load(port: int, requests: list[bytes], clients: int) -> tuple[float, list[float]]:
    """Seconds until all requests are answered, and of each."""
    waiting = iter(requests)
    times: list[float] = []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for data in waiting:
            begin = time.monotonic()
            writer.write(data)
            status = await answer(reader)
            assert status == 200, status
            times.append(time.monotonic() - begin)
        writer.close()

    begin = time.monotonic()
    await asyncio.gather(*(client() for _ in range(clients)))
    return time.monotonic() - begin, times


def memory(process: int, field: str = "Pss") -> float:
    """MB of a process and those it started; what they share counts once."""
    total = 0.0
    for each in [process, *children(process)]:
        lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024
    return total


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def throughput(options: argparse.Namespace, command: list[str], lines: list[str], requests: list[bytes]) -> None:
    theirs, ours = np.zeros(2), np.zeros(2)
    times: list[float] = []
    with server(command) as (port, process):
        asyncio.run(load(port, requests[:200], options.clients))
        for _ in range(options.rounds):
            theirs += translated(options.translator, lines) - translated(options.translator, lines[:1])
            before = cpu(process.pid)
            seconds, some = asyncio.run(load(port, requests, options.clients))
            ours += seconds, cpu(process.pid) - before
            times += some
        alone = asyncio.run(load(port, requests[:200], 1))[1]
    count = options.rounds * len(requests)
    rates, work = count / np.array([theirs[0], ours[0]]), 1000 * np.array([theirs[1], ours[1]]) / count
    print(f"translate  {rates[0]:8.1f} sentences/s, {work[0]:.2f} ms of a core for each")
    print(f"serve      {rates[1]:8.1f} sentences/s, {work[1]:.2f} ms, from {options.clients} clients")
    print(f"ratio      {rates[1] / rates[0]:8.2f} by the clock, {work[0] / work[1]:.2f} by the cores")
    middle, late = percentile(times, 0.5), percentile(times, 0.99)
    print(f"times      p50 {1000 * middle:.0f} ms, p99 {1000 * late:.0f} ms: {late / middle:.1f} times p50")
    print(
        f"alone      p50 {1000 * percentile(alone, 0.5):.1f} ms, p99 {1000 * percentile(alone, 0.99):.1f} ms",
        flush=True,
    )


def soak(options: argparse.Namespace, command: list[str], requests: list[bytes]) -> None:
    with server(command) as (port, process):
        done = 0
        while done < options.soak:
            part = [requests[k % len(requests)] for k in range(done, min(options.soak, done + options.soak // 10))]
            asyncio.run(load(port, part, options.clients))
            done += len(part)
            print(f"memory     {memory(process.pid):8.1f} MB after {done} requests", flush=True)


def restart(command: list[str], data: bytes) -> None:
    """Kill a server without warning, start it on the same port, ask until it answers."""
    process = subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    port = int(process.stderr.readline().rpartition(":")[2])
    again = [*command, "--port", str(port)]
    process.kill()
    process.communicate()
    begin = time.monotonic()
    process = subprocess.Popen(again, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                asyncio.run(load(port, [data], 1))
                break
            except ConnectionError:
                time.sleep(0.005)
        seconds = time.monotonic() - begin
        print(f"restart    {seconds:.2f} s from the start to the first translation, {cpu(process.pid):.2f} s of a core")
    finally:
        process.terminate()
        process.wait()


def hostile(options: argparse.Namespace, command: list[str], good: bytes) -> None:
    """Damaged requests over sockets, by lines of HTTP that are sometimes damaged, too."""
    import random

    sys.path.insert(0, str(ROOT))
    from tests.serve.hostile import requests

    statuses: dict[int, int] = {}
    waiting = enumerate(requests(2, options.hostile))

    async def send(port: int) -> None:
        for number, (method, path, query, headers, body) in waiting:
            rng = random.Random(number)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            address = path.encode("utf-8", "replace") + (b"?" + query if query else b"")
            head = b"".join(f"{name}: {value}\r\n".encode("latin-1", "replace") for name, value in headers.items())
            if "content-length" not in headers:
                head += b"Content-Length: %d\r\n" % len(body)
            data = method.encode("utf-8", "replace") + b" " + address + b" HTTP/1.1\r\n" + head + b"\r\n" + body
            if rng.random() < 0.1:
                at = rng.randrange(len(data))
                data = data[:at] + rng.randbytes(3) + data[at + 2 :]
            writer.write(data)
            try:
                line = await asyncio.wait_for(reader.readline(), 2)
                status = int(line[9:12] or b"0")
            except (ConnectionError, TimeoutError):
                status = 0
            statuses[status] = statuses.get(status, 0) + 1
            writer.close()

    async def run(port: int) -> None:
        await asyncio.gather(*(send(port) for _ in range(options.clients)))

    with server(command) as (port, process):
        before = memory(process.pid)
        asyncio.run(run(port))
        asyncio.run(load(port, [good], 1))
        shown = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))
        print(f"hostile    {shown} (0: no answer); {memory(process.pid) - before:+.1f} MB; it still translates")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translator")
    parser.add_argument("text", help="sentences, one per line")
    parser.add_argument("--source", default="de")
    parser.add_argument("--target", default="en")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--soak", type=int, default=0, help="requests, with the memory after each tenth")
    parser.add_argument("--hostile", type=int, default=0, help="damaged requests")
    parser.add_argument("--serve", default=shlex.join([*HOPEFEAR, "serve", "--quiet"]), help="how to start it")
    options = parser.parse_args()
    lines = Path(options.text).read_text(encoding="utf-8").splitlines()
    requests = [request(line, options.source, options.target) for line in lines if line.strip()]
    bare = [*shlex.split(options.serve), options.translator, "--workers", str(options.workers)]
    command = [*bare, "--port", "0"]
    throughput(options, command, lines, requests)
    restart(bare, requests[0])
    if options.soak:
        heads = [" ".join(line.split()[:4]) for line in lines if line.strip()]
        soak(options, command, [request(head, options.source, options.target) for head in heads])
    if options.hostile:
        hostile(options, command, requests[0])


if __name__ == "__main__":
    main()
