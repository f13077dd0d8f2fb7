"""Lists for the joint model: the scores of their words are what the decoder gave their derivations."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from hopefear.decode import Hiero
from hopefear.model.joint_lists import candidate_lists
from hopefear.model.joint_training import hidden_layer
from tests.decode.models import random_rules, random_weights
from tests.decode.test_joint import linked, model_of, random_joint


@pytest.mark.parametrize("seed", range(12))
def test_words_have_the_contexts_of_the_decoder(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    joint = random_joint(seed)
    model = model_of(tmp_path, linked(rng, random_rules(rng, 40)), 3, rng, joint)
    weights = random_weights(rng) | {"njm": 0.6}
    lines = ["a b c a b", "", "c", "? a 7", "b b b b b b", "a ? ? c"]
    pool = Hiero(model, weights, 30, 0, max_span=5).decode(lines)
    wanted = [pool[i].kbest(weights, 8, distinct=True) for i in range(len(pool))]
    made = list(candidate_lists(pool, model.grammar, joint, weights, 8))
    assert len(made) == len(lines) and sum(len(each.rest) for _, each in made) > 20
    for line, best, (texts, each) in zip(lines, wanted, made, strict=True):
        assert [" ".join(words) for words in texts] == [derivation.text for derivation in best]
        if not line:  # one candidate, which nothing is learnt from
            assert texts == [[]]
            continue
        assert len(np.unique(np.column_stack([each.words, each.contexts]), axis=0)) == len(each.words)
        _, h = hidden_layer(joint.arrays, each.contexts)
        scores = np.einsum("ij,ij->i", h, joint.arrays["output"][each.words])
        scores += joint.arrays["output_bias"][each.words]
        summed = (each.scores(scores, 1.0) - each.rest).tolist()
        assert summed == pytest.approx([derivation.features.get("njm", 0.0) for derivation in best], abs=1e-4)
        assert each.scores(scores, 0.6).tolist() == pytest.approx([d.score for d in best], abs=1e-4)
