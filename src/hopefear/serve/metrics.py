"""Counters in memory that all workers share, shown in the text format of Prometheus.

Every series is known before the workers are forked: each has a row of numbers, writes to no other, and reads all.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

STATUSES = (
    "200",
    "304",
    "400",
    "403",
    "404",
    "405",
    "408",
    "413",
    "415",
    "421",
    "429",
    "499",
    "500",
    "503",
    "504",
    "other",
)
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
BATCHES = (1, 2, 4, 8, 16, 32, 64)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of a server. ``worker`` says whose row :meth:`add` and :meth:`set` write to."""

    def __init__(self, paths: Sequence[str], pairs: Sequence[str] = (), workers: int = 1) -> None:
        self.paths = (*paths, "other")
        self.worker = 0
        self._index: dict[tuple[str, str], int] = {}
        self._help: dict[str, tuple[str, str]] = {}
        self._declare("hopefear_requests_total", "counter", "Requests answered.", self._request_labels())
        self._declare_histogram(
            "hopefear_request_seconds",
            "From a request to its answer.",
            [_label(path=path) for path in self.paths],
            SECONDS,
        )
        self._declare("hopefear_texts_total", "counter", "Texts translated.", [_label(pair=pair) for pair in pairs])
        self._declare(
            "hopefear_characters_total", "counter", "Their characters.", [_label(pair=pair) for pair in pairs]
        )
        self._declare(
            "hopefear_documents_total", "counter", "Documents translated.", [_label(pair=pair) for pair in pairs]
        )
        self._declare_histogram("hopefear_batch_texts", "Texts translated in one call.", [""], BATCHES)
        self._declare("hopefear_waiting_texts", "gauge", "Texts that wait in the queue.", [""])
        self._declare("hopefear_open_requests", "gauge", "Requests that are being answered.", [""])
        self._declare("hopefear_worker_starts_total", "counter", "How often a worker was started.", [""])
        self._declare(
            "hopefear_resident_bytes", "gauge", "Memory of all workers; what they share counts for each.", [""]
        )
        self._memory = mmap.mmap(-1, 8 * len(self._index) * workers)  # shared with forked processes
        self._rows = memoryview(self._memory).cast("d")

    def _request_labels(self) -> list[str]:
        return [_label(path=path, status=status) for path in self.paths for status in STATUSES]

    def _declare(self, name: str, kind: str, text: str, labels: Sequence[str]) -> None:
        self._help[name] = (kind, text)
        for label in labels:
            self._index[name, label] = len(self._index)

    def _declare_histogram(self, name: str, text: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._help[name] = ("histogram", text)
        for label in labels:
            inner = f"{label[1:-1]}," if label else ""
            for bound in [*map(_number, bounds), "+Inf"]:
                self._index[f"{name}_bucket", f'{{{inner}le="{bound}"}}'] = len(self._index)
            self._index[f"{name}_sum", label] = len(self._index)
            self._index[f"{name}_count", label] = len(self._index)

    def add(self, name: str, amount: float = 1.0, **labels: str) -> None:
        self._rows[self.worker * len(self._index) + self._index[name, _label(**labels)]] += amount

    def set(self, name: str, value: float) -> None:
        self._rows[self.worker * len(self._index) + self._index[name, ""]] = value

    def observe(self, name: str, value: float, bounds: Sequence[float], **labels: str) -> None:
        """Add a value to a histogram; the rows hold each bucket alone, sums are made when they are shown."""
        label = _label(**labels)
        at = bisect_left(bounds, value)
        bound = _number(bounds[at]) if at < len(bounds) else "+Inf"
        inner = f"{label[1:-1]}," if label else ""
        first = self.worker * len(self._index)
        self._rows[first + self._index[f"{name}_bucket", f'{{{inner}le="{bound}"}}']] += 1
        self._rows[first + self._index[f"{name}_sum", label]] += value
        self._rows[first + self._index[f"{name}_count", label]] += 1

    def request(self, path: str, status: int, seconds: float) -> None:
        path = path if path in self.paths else "other"
        code = str(status) if str(status) in STATUSES else "other"
        self.add("hopefear_requests_total", path=path, status=code)
        self.observe("hopefear_request_seconds", seconds, SECONDS, path=path)

    def text(self) -> str:
        """All counters, summed over the workers; series at which nothing happened are left out."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        count = len(self._index)
        totals = [sum(self._rows[index::count]) for index in range(count)]
        last_family = ""
        running = 0.0
        for (name, label), index in self._index.items():
            family = name if name in self._help else name.rpartition("_")[0]
            value = totals[index]
            if name.endswith("_bucket"):
                value = running = running + value
            if name.endswith("_count") and family != name:
                running = 0.0
            if label and not totals[self._total_of(name, label, index)]:
                continue
            if family != last_family:
                kind, text = self._help[family]
                yield f"# HELP {family} {text}"
                yield f"# TYPE {family} {kind}"
                last_family = family
            yield f"{name}{label} {_number(value)}"

    def _total_of(self, name: str, label: str, index: int) -> int:
        """The series that says whether this one is shown: of a histogram its count."""
        family, _, part = name.rpartition("_")
        if family not in self._help or part not in ("bucket", "sum", "count"):
            return index
        outer = ",".join(entry for entry in label[1:-1].split(",") if not entry.startswith("le="))
        return self._index[f"{family}_count", f"{{{outer}}}" if outer else ""]


def _label(**labels: str) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}" if labels else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def resident_bytes() -> float:
    """The memory of this process, 0 where the system does not say."""
    try:
        return float(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return 0.0
