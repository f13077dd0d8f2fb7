"""How good is the translator that `hopefear create` makes from N random pairs of a corpus?

python bench/little_data.py CORPUS.es CORPUS.en [...] --from es --to en --pairs 10000 30000 [--draws 3]
    --dev-source F --dev-refs F [F...] --test-source F --test-refs F [F...] [--plain] [--out FOLDER] [--json]

Draws the pairs from all files together (those of one file stay a domain), runs the commands as a user would, and scores
the translations of the whole test set: sacreBLEU's default, or with --plain in lower case without punctuation, as
transcripts of speech are scored. `--pairs 0` takes all pairs, once.
"""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import hopefear as hf
from hopefear.util.files import read_lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--to", dest="target", required=True)
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000])
    parser.add_argument("--draws", type=int, default=3)
    for option in ("--dev-source", "--test-source"):
        parser.add_argument(option, required=True)
    for option in ("--dev-refs", "--test-refs"):
        parser.add_argument(option, nargs="+", required=True)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--out")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(given.out or temporary)
        rows = [
            row(folder / f"{size or 'all'}-{draw}", size, draw, given)
            for size in given.pairs
            for draw in range(1, given.draws + 1 if size else 2)
        ]
    if given.json:
        print(json.dumps(rows))
        return
    for size in given.pairs:
        scores = [row["bleu"] for row in rows if row["pairs"] == size]
        print(f"{size or 'all'} pairs: {np.mean(scores):.2f} on average, from {min(scores):.2f} to {max(scores):.2f}")


def row(folder, size, draw, given):
    """One translator: its score on the whole test set, and what it took."""
    files = drawn(folder, size, draw, given)
    language = ["--from", given.source, "--to", given.target]
    dev = ["--dev-source", given.dev_source, "--dev-refs", *given.dev_refs]
    test = ["--test-source", given.test_source, "--test-refs", *given.test_refs]
    began, before = time.monotonic(), cpu()
    more = ["--jobs", given.jobs, "--no-curve", "--overwrite", "--quiet"]
    hopefear("create", *files, *language, *dev, *test, "--out", folder / "translator", *more)
    seconds, used = time.monotonic() - began, cpu() - before
    text = "".join(f"{line}\n" for line in read_lines(given.test_source))
    output = hopefear("translate", folder / "translator", "--jobs", given.jobs, "--quiet", text=text)
    hypotheses = output.split("\n")[:-1]
    references = [list(read_lines(path)) for path in given.test_refs]
    if given.plain:
        hypotheses, references = plain(hypotheses), [plain(lines) for lines in references]
    metric = hf.Bleu(tokenize="none" if given.plain else "13a")
    [score] = hf.score(hypotheses, references, metric=metric).scores.values()
    print(f"{size or 'all'} pairs, draw {draw}: {score:.2f} BLEU; create {seconds:.0f} s, {used:.0f} CPU s", flush=True)
    return {"pairs": size, "draw": draw, "bleu": score, "seconds": seconds, "cpu": used}


def drawn(folder, size, draw, given):
    """The files of a draw, as `create` takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = [path for path in given.corpus if path.endswith(f".{given.source}")]
    targets = [path for path in given.corpus if path.endswith(f".{given.target}")]
    pairs = [
        (number, *pair)
        for number, paths in enumerate(zip(sources, targets, strict=True))
        for pair in zip(*map(read_lines, paths), strict=True)
    ]
    if size:
        random.Random(draw).shuffle(pairs)
    files = []
    for number, paths in enumerate(zip(sources, targets, strict=True)):
        for side, path in enumerate(paths, start=1):
            files.append(folder / Path(path).name)
            lines = [pair[side] for pair in pairs[: size or None] if pair[0] == number]
            files[-1].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return files


def hopefear(*arguments, text=None):
    command = [sys.executable, "-m", "hopefear", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=True).stdout


def cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def plain(lines):
    """Lower case, without punctuation but apostrophes."""
    return [" ".join(re.sub(r"[^\w\s']", " ", line.lower()).split()) for line in lines]


if __name__ == "__main__":
    main()
