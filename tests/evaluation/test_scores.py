"""Scores of systems, and of the best candidates of a pool."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu

import hopefear as hf
from hopefear._core import Pool
from hopefear.data.lists import Synthetic
from hopefear.errors import InputError
from hopefear.evaluation.scores import Resampling, System, best_of, evaluate, score_of
from hopefear.metrics import Bleu, Chrf, Metric, Ter, Wer

REFERENCES = [["a b c d e f", "g h i j k", "l m n o p q"], ["a b c d", "g h i j k l", "l m n o"]]
GOOD = ["a b c d e f", "g h i j k", "l m n o p"]
POOR = ["a b x d e", "g y i j", "l m z o p q"]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Pool:
    files = Synthetic(sentences=20, candidates=15, dense=4).write(tmp_path_factory.mktemp("lists"))
    return hf.read_nbest(files["nbest"], [files["ref.0"], files["ref.1"]])


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        (Bleu(), sacrebleu.BLEU(tokenize="none", force=True)),
        (Chrf(word_order=2), sacrebleu.CHRF(word_order=2)),
        (Ter(), sacrebleu.TER()),
    ],
)
def test_a_score_is_sacrebleus(metric: Metric, theirs: sacrebleu.metrics.base.Metric) -> None:
    (scored,) = evaluate([System("good", [POOR])], REFERENCES, metric)
    expected = theirs.corpus_score(POOR, REFERENCES)
    assert scored.value == pytest.approx(expected.score)
    assert (scored.label, scored.signature) == (expected.name, str(theirs.get_signature()))
    assert scored.comparison is None


def test_a_metric_that_sacrebleu_has_not_carries_our_signature() -> None:
    (scored,) = evaluate([System("good", [GOOD])], REFERENCES, Wer())
    assert scored.label == "WER" and "version:hopefear" in scored.signature


def test_systems_are_compared_with_the_first() -> None:
    many = [column * 20 for column in REFERENCES]
    first, same, other = (System(name, [lines * 20]) for name, lines in (("a", POOR), ("b", POOR), ("c", GOOD)))
    scored = evaluate([first, same, other], many, Bleu(), Resampling(samples=200))
    assert scored[0].comparison is None
    level, better = scored[1].comparison, scored[2].comparison
    assert level is not None and level.delta == 0 and set(level.p.values()) == {1.0}
    assert better is not None and better.delta == scored[2].value - scored[0].value > 0
    assert set(better.p) == {"bootstrap", "randomization"} and max(better.p.values()) < 0.05
    assert better.interval is not None and 0 < better.interval[0] <= better.delta <= better.interval[1]


def test_the_score_of_replicates_is_their_mean() -> None:
    both, good, poor = (
        evaluate([System("s", outputs)], REFERENCES, Bleu())[0] for outputs in ([GOOD, POOR], [GOOD], [POOR])
    )
    assert both.replicates == [good.value, poor.value] and both.value == pytest.approx((good.value + poor.value) / 2)
    assert both.deviation == pytest.approx(abs(good.value - poor.value) / 2**0.5)
    assert good.deviation == 0.0


def test_an_empty_reference_is_a_missing_one() -> None:
    holes = [REFERENCES[0], [REFERENCES[1][0], "", " "]]
    (scored,) = evaluate([System("s", [POOR])], holes, Bleu())
    expected = Bleu().corpus_score(POOR, [REFERENCES[0], [REFERENCES[1][0], None, None]])
    assert scored.value == pytest.approx(expected) and "nrefs:var" in scored.signature


def test_another_number_of_lines_is_refused() -> None:
    with pytest.raises(InputError, match="short: has 2 lines"):
        evaluate([System("short", [GOOD[:2]])], REFERENCES, Bleu())


def test_the_best_of_a_pool_knows_no_scale_and_no_foreign_weights(pool: Pool) -> None:
    weights = dict(zip(pool.feature_names, (1.0, -0.3, 0.2, 0.5), strict=True))
    other = {name: 7 * value for name, value in weights.items()} | {"nobody": 3.0}
    best, again = best_of(pool, weights, 1), best_of(pool, other, 2)
    assert [best.text(i, 0) for i in range(len(best))] == [again.text(i, 0) for i in range(len(again))]
    w = np.array(list(weights.values()))
    assert all(best[i].scores(w)[0] == pytest.approx(np.max(pool[i].scores(w))) for i in range(len(pool)))
    texts, references = [best.text(i, 0) for i in range(len(best))], [pool.references(i) for i in range(len(pool))]
    score = Bleu().corpus_score(texts, [list(column) for column in zip(*references, strict=True)])
    assert score_of(pool, Bleu(), weights, 1) == pytest.approx(score)


def test_without_weights_the_first_candidates_are_scored(pool: Pool) -> None:
    assert [best_of(pool, {}, 1).text(i, 0) for i in range(3)] == [pool.text(i, 0) for i in range(3)]
