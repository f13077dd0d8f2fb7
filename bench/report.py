"""How long does a report take, and how large is it? 5 runs on the same 1000 sentences; the goal is 10 s and 5 MB.

    python bench/report.py [--runs 5] [--sentences 1000] [--candidates 200] [--json]

The runs (generated lists, quick trainers, three replicates each) are made first and not counted.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

from hopefear.commands.tune import Tune
from hopefear.data.lists import Synthetic
from hopefear.reports.make import make_report
from hopefear.runs.session import SILENT

TRAINERS = (("kbmira", "passes=5"), ("pro", "keep=20"), ("rampion", "cccp=2"), ("perceptron", "iterations=5"),
            ("pa", "iterations=5"))  # fmt: skip


def measure(runs: int, sentences: int, candidates: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = Synthetic(sentences=sentences, candidates=candidates).write(folder)
        lists = {
            "nbest": [str(files["nbest"])],
            "refs": [str(files[f"ref.{r}"]) for r in range(4)],
            "initial": str(files["initial"]),
        }
        made = []
        for k in range(runs):
            trainer, option = TRAINERS[k % len(TRAINERS)]
            out = folder / f"{trainer}-{k}"
            Tune(**lists, trainer=trainer, set=[option], replicates=3, out=str(out)).run(SILENT)
            made.append(out)
        began, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        page = make_report(made, folder / "report.html")
        after = resource.getrusage(resource.RUSAGE_SELF)
        seconds = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
        return {"wall": time.perf_counter() - began, "cpu": seconds, "megabytes": page.stat().st_size / 1e6}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.runs, given.sentences, given.candidates)
    if given.json:
        print(json.dumps(found))
    else:
        print(f"{given.runs} runs x {given.sentences} sentences: {found['wall']:.1f} s, {found['cpu']:.1f} CPU s, "
              f"{found['megabytes']:.1f} MB")  # fmt: skip
