"""Grid search over the weights of lattices, to compare with: docs/speech.md.

python speech_grid.py dev.forests dev.text test.forests test.text

The weight of the language model is 1; the acoustic scale and the word penalty go over a grid of 20 x 20. What is best
on dev is scored on test.
"""

import sys
import time
from itertools import product

import numpy as np

import hopefear as hf

dev, test = (hf.read_forests(sys.argv[k], sys.argv[k + 1]) for k in (1, 3))
wer = hf.metrics.Wer()


def score(pool: hf.Pool, weights: dict[str, float]) -> float:
    w = np.array([weights.get(name, 0.0) for name in pool.feature_names])
    return wer.score(wer.chosen_stats(pool, w, 1).sum(axis=0))


begun = time.process_time()
points = [
    {"lm": 1.0, "acoustic": a, "words": p} for a, p in product(np.geomspace(0.002, 1, 20), np.linspace(-5, 5, 20))
]
best = min(points, key=lambda point: score(dev, point))
print(f"{len(points)} points, {time.process_time() - begun:.1f} CPU s: {best}")
print(f"WER dev {score(dev, best):.2f}, test {score(test, best):.2f}")
