"""How fast does the hierarchical decoder translate, and what does a smaller pop limit cost in model score?

    python bench/decode.py MODEL SOURCE [--refs REF...] [--lines 100] [--pop-limits 50 200 1000] [--jobs 1] [--json]

Forests are made in every run. Model scores are averages a sentence under the same weights, so that rows compare.
"""

import argparse
import json
import resource
import time

from hopefear.decode import Hiero
from hopefear.files import read_lines
from hopefear.formats import read_weights
from hopefear.metrics import Bleu
from hopefear.model.directory import Model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("source")
    parser.add_argument("--refs", nargs="*", default=[])
    parser.add_argument("--weights")
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--pop-limits", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--max-options", type=int, default=20)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    model = Model.open(options.model, verify=False)
    weights = read_weights(options.weights) if options.weights else model.weights
    lines = read_lines(options.source)[: options.lines]
    refs = [[model.target_text.text(line) for line in read_lines(path)[: options.lines]] for path in options.refs]
    words = sum(len(model.source_text.tokens(line)) for line in lines)
    rows = []
    for pop_limit in options.pop_limits:
        decoder = Hiero(model, weights, pop_limit, options.max_options)
        decoder.translate(lines[:5])  # pages of the model
        for jobs in options.jobs:
            began, began_cpu = time.perf_counter(), time.process_time()
            lists = decoder.kbest(lines, 1, jobs=jobs)
            seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
            w = [decoder.weights.get(name, 0.0) for name in lists.feature_names]
            score = sum(float((lists[i].dense @ w[: lists.dense_width])[0]) for i in range(len(lists))) / len(lists)
            row = {
                "pop limit": pop_limit,
                "jobs": jobs,
                "words/s": words / seconds,
                "words/CPU s": words / cpu,
                "model score": score,
            }
            if refs:
                bleu = Bleu(lowercase=True)
                texts = [lists.text(i, 0) for i in range(len(lists))]
                row["BLEU"] = bleu.score(bleu.corpus_stats(texts, refs).sum(0))
            rows.append(row)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if options.json:
        print(json.dumps({"words": words, "lines": len(lines), "peak MB": memory, "rows": rows}))
        return
    print(f"{len(lines)} lines, {words} words, peak {memory:.0f} MB (the mapped model included)")
    print("".join(f"{name:>14}" for name in rows[0]))
    for row in rows:
        print("".join(f"{value:>14}" if isinstance(value, int) else f"{value:>14.3f}" for value in row.values()))


if __name__ == "__main__":
    main()
