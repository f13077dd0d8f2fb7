"""How fast are lists and forests read, and how much memory do they take?

python bench/formats.py [--sentences 1000] [--candidates 200] [--json]

Each row is a process of its own: seconds of CPU for reading, MB of the file per second, and the peak memory of the
whole process (an interpreter with NumPy included). Candidates have 14 features and 24 words, drawn with a seed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def make(folder: Path, sentences: int, candidates: int) -> dict[str, tuple[str, Path]]:
    """name -> (reader, file)"""
    import hopefear as hf

    generator = random.Random(1)
    words = [f"w{int(generator.paretovariate(0.7))}" for _ in range(100_000)]
    names = ["Distortion0", "LM0", "WordPenalty0", "PhrasePenalty0"]
    moses = folder / "list.txt"
    with moses.open("w") as file:
        for i in range(sentences):
            for _ in range(candidates):
                at = generator.randrange(len(words) - 40)
                text = " ".join(words[at : at + generator.randint(12, 36)])
                v = [f"{generator.gauss(0, 5):.4f}" for _ in range(14)]
                dense = " ".join(f"{name}= {x}" for name, x in zip(names, v, strict=False))
                several = f"TranslationModel0= {' '.join(v[4:8])} LexicalReordering0= {' '.join(v[8:])}"
                file.write(f"{i} ||| {text} ||| {dense} {several} ||| {v[0]}\n")
    packed = folder / "list.txt.gz"
    packed.write_bytes(gzip.compress(moses.read_bytes(), 6))
    pool = hf.read_nbest(moses)
    hf.write_nbest(pool, folder / "list.jsonl")
    hf.write_nbest(pool, folder / "list.txt.zst")
    hf.write_forests(pool, folder / "list.native")
    lattices(folder / "forests.json", max(10, sentences // 10), generator)
    forests = hf.read_forests(folder / "forests.json")
    hf.write_forests(forests, folder / "forests.native")
    return {
        "Moses list": ("read_nbest", moses),
        "Moses list, gzip": ("read_nbest", packed),
        "Moses list, zstd": ("read_nbest", folder / "list.txt.zst"),
        "JSONL list": ("read_nbest", folder / "list.jsonl"),
        "native list": ("read_forests", folder / "list.native"),
        "cdec forests": ("read_forests", folder / "forests.json"),
        "native forests": ("read_forests", folder / "forests.native"),
    }


def lattices(path: Path, sentences: int, generator: random.Random) -> None:
    """Forests of about 14,000 edges with two tails and 14 features, in cdec's JSON."""
    rules = ",".join(f'{k},"[X] ||| [1] w{k} [2]"' for k in range(1, 500))
    names = ",".join(f'"f{k}"' for k in range(14))
    with path.open("w") as file:
        for _ in range(sentences):
            parts = [f'{{"rules":[500,"[X] ||| w",{rules}],"features":[{names}]']
            edge = 0
            for v in range(1000):
                count = 1 if v < 2 else 14
                edges = []
                for _ in range(count):
                    h = ",".join(f"{k},{generator.gauss(0, 5):.4f}" for k in range(14))
                    tails = f"{v - 1},{generator.randrange(v)}" if v > 1 else ""
                    rule = generator.randint(1, 499) if v > 1 else 500
                    edges.append(f'{{"tail":[{tails}],"spans":[-1,-1,-1,-1],"feats":[{h}],"rule":{rule}}}')
                into = ",".join(str(edge + k) for k in range(count))
                edge += count
                parts.append(f'"edges":[{",".join(edges)}],"node":{{"in_edges":[{into}],"cat":"X"}}')
            file.write(",".join(parts) + "}\n")


def measure(reader: str, path: str) -> None:
    import hopefear as hf

    read = getattr(hf, reader)
    before = time.process_time(), time.perf_counter()
    pool = read(path)
    cpu, wall = time.process_time() - before[0], time.perf_counter() - before[1]
    edges = sum(pool[i].edge_count for i in range(len(pool)))
    status = Path("/proc/self/status").read_text().split()  # ru_maxrss would still know the parent
    peak = int(status[status.index("VmHWM:") + 1]) / 1024
    print(json.dumps({"cpu": cpu, "wall": wall, "edges": edges, "peak MB": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3, help="the quickest counts")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    rows = []
    with tempfile.TemporaryDirectory(prefix="hopefear-bench-") as folder:
        for name, (reader, path) in make(Path(folder), options.sentences, options.candidates).items():
            best: dict[str, float] = {}
            for _ in range(options.repeats):
                command = [sys.executable, __file__, "--measure", reader, str(path)]
                row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                if not best or row["cpu"] < best["cpu"]:
                    best = row
            size = path.stat().st_size / 1e6
            rows.append({"what": name, "MB": size, "MB/s": size / best["cpu"], **best})
    if options.json:
        print(json.dumps({"machine": platform.machine(), "rows": rows}))
        return
    columns = [("MB", "8.1f"), ("edges", "10.0f"), ("cpu", "8.3f"), ("MB/s", "8.0f"), ("peak MB", "8.0f")]
    print(f"{'what':18}" + "".join(f" {name:>{form.split('.')[0]}}" for name, form in columns))
    for row in rows:
        print(f"{row['what']:18}" + "".join(f" {row[name]:{form}}" for name, form in columns))


if __name__ == "__main__":
    main()
