"""How long does each trainer take on candidate lists, and how far does it get?

python bench/tuning.py [--sentences N --candidates K --dense D --sparse S] [--json]
python bench/tuning.py --nbest LIST --refs REF0 REF1 ... [--initial WEIGHTS] [--json]

Lists are made by ``hopefear.data.lists``, or given. Every trainer runs in a fresh process: CPU seconds (user and
system, all threads) and peak memory include starting Python, reading the text and computing the metric. Wall-clock
seconds are given with one and with two threads. Scores are those on the lists, before and after.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# The settings that are measured; everything else is the trainer's default.
RUNS = {
    "mert": "mert",
    "pro": "pro",
    "kbmira": "kbmira",
    "mira_1": "kbmira constraints=10 passes=10",
    "cmira": "cmira",
    "rampion": "rampion",
    "minrisk": "minrisk",
    "logloss": "logloss",
    "perceptron": "perceptron",
    "pa": "pa",
}

CHILD = """
import json, os, sys, time
task = json.loads(sys.argv[1])
begun = time.perf_counter()
import hopefear as hf
from hopefear.trainers import find
pool = hf.read_nbest(task["nbest"], task["refs"])
initial = hf.read_weights(task["initial"]) if task["initial"] else None
read = time.perf_counter()
result = find(task["trainer"], "candidates")(jobs=task["jobs"], seed=task["seed"], **task["options"]).fit(pool, initial)
print(json.dumps({
    "wall": time.perf_counter() - begun, "read_wall": read - begun,
    "before": result.initial_score, "after": result.score,
}))
"""


def parsed(run):
    """A trainer's name and options out of ``name option=value ...``."""
    name, *options = run.split()
    pairs = (option.split("=", 1) for option in options)
    return name, {key: json.loads(value) if value[:1] in "-0123456789tf" else value for key, value in pairs}


def measure(task):
    """One run in a process of its own; its CPU seconds and peak memory are what it adds to those of our children."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([sys.executable, "-c", CHILD, json.dumps(task)], stdout=out, env=os.environ)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"bench/tuning.py: trainer {task['trainer']} failed")
        out.seek(0)
        row = json.load(out)
    peak = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return row | {"cpu": usage.ru_utime + usage.ru_stime, "peak_mb": peak}


def made(options, folder):
    from hopefear.data.lists import Synthetic

    data = Synthetic(
        sentences=options.sentences,
        candidates=options.candidates,
        references=options.references,
        dense=options.dense,
        sparse=options.sparse,
        seed=options.data_seed,
    )
    files = data.write(folder)
    references = [str(files[f"ref.{i}"]) for i in range(options.references)]
    return {"nbest": str(files["nbest"]), "refs": references, "initial": str(files["initial"])}


def show(table):
    if len(table) == 1:
        print(f"{'trainer':24} {'CPU s':>7} {'wall, 1':>8} {'wall, 2':>8} {'MB':>6} {'before':>7} {'after':>7}")
    row = table[-1]
    times = f"{row['cpu_seconds']:7.2f} {row['wall_1']:8.2f} {row['wall_2']:8.2f}"
    print(f"{row['trainer']:24} {times} {row['peak_mb']:6.0f} {row['before']:7.2f} {row['after']:7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--references", type=int, default=4)
    parser.add_argument("--dense", type=int, default=14)
    parser.add_argument("--sparse", type=int, default=0)
    parser.add_argument("--data-seed", type=int, default=1)
    parser.add_argument("--nbest", help="candidate lists to use instead")
    parser.add_argument("--refs", nargs="+", default=[], help="their references")
    parser.add_argument("--initial", help="weights to start from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--run",
        action="append",
        metavar="'TRAINER OPTION=VALUE ...'",
        help="measure this; may be repeated (default: all)",
    )
    options = parser.parse_args()
    runs = {run: run for run in options.run} if options.run else RUNS
    with tempfile.TemporaryDirectory() as folder:
        if options.nbest:
            task = {"nbest": str(Path(options.nbest)), "refs": options.refs, "initial": options.initial}
        else:
            task = made(options, folder)
        table = []
        for label, run in runs.items():
            name, settings = parsed(run)
            one, two = (
                measure(task | {"trainer": name, "options": settings, "seed": options.seed, "jobs": jobs})
                for jobs in (1, 2)
            )
            assert abs(one["after"] - two["after"]) < 1e-9, "threads change the result"
            row = {
                "trainer": label,
                "cpu_seconds": one["cpu"],
                "wall_1": one["wall"],
                "wall_2": two["wall"],
                "reading": one["read_wall"],
                "peak_mb": one["peak_mb"],
                "before": one["before"],
                "after": one["after"],
            }
            table.append(row)
            if not options.json:
                show(table)
    if options.json:
        print(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
