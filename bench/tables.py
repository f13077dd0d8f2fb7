"""How fast tables are read, and how much memory they take.

    python bench/tables.py [--rows 1000000] [--features 10] [--group 10] [--kinds csv jsonl parquet plain]

``plain`` is JSON lines by Python's own reader, without pyarrow; CSV never needs it. Each kind runs in a process of its
own; ``cpu`` is its CPU time, which on a busy machine says more than the clock. ``peak`` is the largest resident memory
without the imports.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def make(folder: Path, rows: int, features: int, group: int) -> None:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    random = np.random.default_rng(1)
    columns = {"query": np.arange(rows) // group}
    columns |= {f"score{j}": random.normal(size=rows) for j in range(features)}
    columns["reward"] = random.normal(size=rows)
    table = pyarrow.table(columns)
    pyarrow.csv.write_csv(table, folder / "t.csv")
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    with (folder / "t.jsonl").open("w") as file:
        names = list(columns)
        for start in range(0, rows, 10_000):
            part = [column[start : start + 10_000].tolist() for column in columns.values()]
            file.writelines(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in zip(*part, strict=True))


def measure(path: str, kind: str) -> None:
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet  # noqa: F401

    from hopefear.formats import table_files
    from hopefear.formats.table import TableSpec, read_table

    if kind == "plain":
        table_files._pyarrow = lambda: None
    spec = TableSpec("query", outcome="reward")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    start = now()
    table = read_table(path, spec)
    read = now()
    pool = table.pool(spec)
    done = now()
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    read_seconds, pool_seconds = ([b - a for a, b in zip(*two, strict=True)] for two in ((start, read), (read, done)))
    print(json.dumps({"read": read_seconds, "pool": pool_seconds, "peak": peak, "groups": len(pool)}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--group", type=int, default=10)
    parser.add_argument("--kinds", nargs="+", default=["csv", "jsonl", "parquet", "plain"])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        make(options.make, options.rows, options.features, options.group)
        return
    if options.one:
        measure(*options.one)
        return
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: what this one takes would count as the peak of those that it starts.
        subprocess.run([sys.executable, *sys.argv, "--make", folder], check=True)
        values = 8 * options.rows * (options.features + 2)
        print(
            f"{options.rows} rows of {options.features} features in groups of {options.group}: "
            f"{values / 1e6:.0f} MB of numbers"
        )
        for kind in options.kinds:
            path = Path(folder) / f"t.{'jsonl' if kind == 'plain' else kind}"
            said = subprocess.run(
                [sys.executable, __file__, "--one", str(path), kind], check=True, capture_output=True, text=True
            ).stdout
            found, size = json.loads(said), path.stat().st_size
            (wall, cpu), (pool_wall, pool_cpu) = found["read"], found["pool"]
            print(
                f"{kind:8} {size / 1e6:6.0f} MB  read {wall:6.2f} s (cpu {cpu:6.2f}) {size / 1e6 / cpu:6.0f} MB/CPU s  "
                f"pool {pool_wall:5.2f} s (cpu {pool_cpu:5.2f})  peak {found['peak'] / 1e6:5.0f} MB = "
                f"{found['peak'] / size:.1f} x file, {found['peak'] / values:.1f} x numbers"
            )


if __name__ == "__main__":
    main()
