"""Figure 1 of Chiang (2012): hope and fear searched for in the forest, and in a k-best list.

These forests are small; the ten best are to them what the hundred best are to real ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import hopefear as hf
from hopefear.decode import Hiero
from tests.models import corpus


def test_forests_hold_better_hopes_and_worse_fears(decoder: Hiero, task: Path) -> None:
    data = corpus(task, "dev")
    weights = dict.fromkeys(("lm", "phrase_ef", "phrase_fe"), 1.0)
    pool = decoder.decode(data.lines, weights)
    references = [
        [decoder.model.target_text.text(reference[i]) for reference in data.references] for i in range(len(data))
    ]
    document = hf.OracleDocument()
    hopes: dict[str, list[float]] = {"forest": [], "kbest": []}
    fears: dict[str, list[float]] = {"forest": [], "kbest": []}
    for i in range(len(pool)):
        for how in hopes:
            choice = pool[i].hope_fear(weights, references[i], document, approximation=how, k=10)
            hopes[how].append(choice.hope.score + choice.hope.gain)
            fears[how].append(choice.fear.score - choice.fear.gain)
    # On average, not always: matches are not clipped inside the search (5.1), and a node keeps one derivation (5.2).
    assert np.mean(hopes["forest"]) >= np.mean(hopes["kbest"])
    assert np.mean(fears["forest"]) >= np.mean(fears["kbest"])
    assert fears["forest"] != fears["kbest"]
