"""Missing scores: an error without a policy. Sparse features may be absent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.decode.ranking import rank_table
from hopefear.decode.reranking import Reranking, rerank, rerank_forests
from hopefear.formats import iter_nbest, read_lists, read_nbest, write_forests, write_nbest
from hopefear.formats.missing import check_weights, filled
from hopefear.formats.streaming import iter_pools
from hopefear.formats.table import TableSpec
from tests.fuzzing import FAIRSEQ
from tests.shared_data import SHARED

CANDIDATES = 12


def jsonl(path: Path, gone: Sequence[tuple[int, int]] = (), *, zeros: bool = False, sentences: int = 10) -> Path:
    """A list with a score that the candidates of these sentences and places lack, and sparse features."""
    rng = np.random.default_rng(1)
    lines = []
    for i in range(sentences):
        candidates = []
        for j in range(CANDIDATES):
            features = {"lm": -20 - 5 * rng.random(), "words": float(rng.integers(5, 9))}
            features |= {"d": float(rng.integers(0, 2))} if zeros else {}
            features |= {"w(.)": 1.0} if rng.random() < 0.95 else {}  # nearly all sentences end so
            features |= {"w(the)": 2.0} if rng.random() < 0.3 else {}
            if (i, j) in gone:
                del features["lm"]
            candidates.append({"text": f"a {i} {j}", "features": features})
        lines.append(json.dumps({"id": i, "candidates": candidates}) + "\n")
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("zeros", [False, True])
def test_a_score_that_one_candidate_lacks_is_an_error(tmp_path: Path, zeros: bool) -> None:
    path = jsonl(tmp_path / "l.jsonl", [(4, 2)], zeros=zeros)
    message = r'l\.jsonl: candidate 3 of sentence "4" has no "lm", which 11 of its 12 candidates have\. Complete'
    for read in (read_nbest, lambda p: list(iter_nbest(p)), lambda p: list(iter_pools(p)), lambda p: read_lists([p])):
        with pytest.raises(hf.InputError, match=message):
            read(path)
    with pytest.raises(hf.InputError, match=message):
        rerank(path, {"lm": 1.0})


def test_the_candidate_without_a_score_does_not_win(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "l.jsonl", [(4, 2)])
    zero, mean = (list(rerank(path, {"lm": 1.0}, how=Reranking(missing=policy))) for policy in ("zero", "mean"))
    assert zero[4] == "a 4 2"  # 0 is better than any log probability
    assert mean[4] != "a 4 2"
    pool = read_nbest(path, missing="mean")
    column = pool[4].dense[:, pool.feature_names.index("lm")]
    assert column[2] == pytest.approx(np.delete(column, 2).mean(), abs=1e-12)
    with pytest.raises(hf.InputError, match="missing is 'drop'"):
        read_nbest(path, missing="drop")


def test_long_lists_know_their_scores_by_the_beginning(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "l.jsonl", [(190, 0)], sentences=200)
    with pytest.raises(hf.InputError, match='candidate 1 of sentence "190" has no "lm"'):
        list(iter_nbest(path))


def test_sparse_features_are_not_missed(tmp_path: Path) -> None:
    """In 95 % of the candidates, but a whole number that is never written as 0."""
    pool = read_nbest(jsonl(tmp_path / "l.jsonl", zeros=True))
    assert "w(.)" in pool.feature_names[: pool.dense_width]


def test_a_score_that_no_candidate_of_a_sentence_has(tmp_path: Path) -> None:
    """It is the same for all of them, for example if the model had no rule for the sentence."""
    read_nbest(jsonl(tmp_path / "l.jsonl", [(4, j) for j in range(CANDIDATES)]))


def test_programs_that_leave_out_zeros(tmp_path: Path) -> None:
    """cdec: a zero that is near the others' values may be meant, one that is far from them may not."""
    line = "{} ||| a {} ||| TM={} LM={}\n"
    near = "".join(
        line.format(i, j, -0.25 * j, -9.5 - j / 7).replace("TM=-0.0 ", "").replace("\n", " ||| 0\n")
        for i in range(40)
        for j in range(20)
    )
    (tmp_path / "near").write_text(near)
    assert "TM" in read_nbest(tmp_path / "near").feature_names[:2]
    (tmp_path / "far").write_text(near.replace(f"LM={-9.5 - 3 / 7} ", "", 1))
    with pytest.raises(hf.InputError, match=r'candidate 4 of sentence "0" has no "LM"'):
        read_nbest(tmp_path / "far")


def test_a_fairseq_file_that_was_cut_off(tmp_path: Path) -> None:
    text = FAIRSEQ.rpartition("P-1")[0] + "H-1\t-2\tD\nP-1\t-2\n"
    (tmp_path / "gen").write_text(text)
    message = r"gen: candidate 1 of sentence '1' has no 'logprob_sum', which 1 of its 2 candidates have\. Was the"
    with pytest.raises(hf.InputError, match=message):
        read_nbest(tmp_path / "gen", format="fairseq")
    pool = read_nbest(tmp_path / "gen", format="fairseq", missing="mean")
    assert pool[1].dense[:, pool.feature_names.index("logprob_sum")].tolist() == [-2.0, -2.0]
    pool = read_nbest(tmp_path / "gen", format="fairseq", missing="zero")
    assert pool[1].dense[:, pool.feature_names.index("logprob_sum")].tolist() == [0.0, -2.0]


def test_lists_that_are_merged_have_the_same_scores(tmp_path: Path) -> None:
    a, b = jsonl(tmp_path / "a.jsonl"), tmp_path / "b.jsonl"
    b.write_text(a.read_text().replace('"lm"', '"tm"').replace('"a ', '"b '))
    with pytest.raises(hf.InputError, match=r"a\.jsonl: has no feature 'tm', and .*b\.jsonl has\. Give lists"):
        read_nbest([a, b], merge=True)
    pool = read_nbest([a, b], merge=True, missing="mean")
    k = pool.feature_names.index("tm")
    assert pool[0].dense[0, k] == pytest.approx(pool[0].dense[CANDIDATES:, k].mean())
    assert read_nbest([a, b], merge=True, missing="zero")[0].dense[0, k] == 0.0


# weights -------------------------------------------------------------------------------------------------------------


def test_weights_whose_features_no_candidate_has(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "l.jsonl")
    message = r"weights: 2 weights for features that the list does not have: tm, length\. Use the weights of the"
    with pytest.raises(hf.InputError, match=message):
        rerank(path, {"lm": 1.0, "tm": 0.5, "length": -1.0, "idle": 0.0})
    assert len(list(rerank(path, {"lm": 1.0, "tm": 0.5}, how=Reranking(missing="zero")))) == 10
    pool = read_nbest(path)
    write_nbest(pool, tmp_path / "l.nbest")
    write_forests(pool, tmp_path / "f.forests")
    with pytest.raises(hf.InputError, match="1 weight for features that the forests do not have: tm"):
        rerank_forests(tmp_path / "f.forests", {"lm": 1.0, "tm": 0.5})


def test_weights_of_sparse_features_may_have_nothing_to_do() -> None:
    names, sparse = ["lm", "tm_0", "w(the)", "phr_a|b"], ["w(the)", "phr_a|b"]
    message = check_weights("w", {"lm": 1.0, "w(cat)": 2.0, "phr_c|d": 1.0}, names, sparse=sparse)
    assert message == "w: 2 weights for features that the list does not have: w(cat), phr_c|d"
    with pytest.raises(hf.InputError, match="1 weight for features that the list does not have: tm_1"):
        check_weights("w", {"lm": 1.0, "w(cat)": 2.0, "tm_1": 1.0}, names, sparse=sparse)
    assert check_weights("w", {"lm": 1.0}, names) is None


def test_weights_of_columns_that_a_table_lacks() -> None:
    table = {"q": [1, 1, 2], "a": [1.0, 2.0, 3.0]}
    with pytest.raises(hf.InputError, match=r"weights: 1 weight for features that the table does not have: b\. Use"):
        rank_table(table, {"a": 1.0, "b": 1.0}, TableSpec("q"))
    assert rank_table(table, {"a": 1.0, "b": 1.0}, TableSpec("q", missing="zero")).rank.tolist() == [2, 1, 1]


# tables --------------------------------------------------------------------------------------------------------------

TABLE = {"q": [1, 1, 1, 2, 2, 3], "a": [1.0, 2.0, 4.0, 5.0, None, None], "b": [1.0, None, 3.0, 1.0, 1.5, 2.0]}


@pytest.mark.parametrize(
    ("missing", "a", "b"),
    [
        ("zero", [1, 2, 4, 5, 0, 0], [1, 0, 3, 1, 1.5, 2]),
        ("mean", [1, 2, 4, 5, 5, 3], [1, 2, 3, 1, 1.5, 2]),  # of the group; of the column where the group has none
    ],
)
def test_tables_take_the_same_policies(missing: str, a: list[float], b: list[float]) -> None:
    pool = hf.Pool.from_table(TABLE, group="q", missing=missing)
    assert pool.feature_names == ["a", "b"]
    assert np.concatenate([forest.dense for forest in pool]).T.tolist() == [a, b]
    ranked = rank_table(TABLE, {"a": 1.0}, TableSpec("q", missing=missing))
    assert ranked.rank.tolist() == ([3, 2, 1, 1, 2, 1])


def test_rows_of_a_group_need_not_stand_together() -> None:
    values = np.array([1.0, np.nan, 3.0, 10.0, np.nan])
    assert filled(values, np.array([0, 1, 0, 1, 0]), "mean").tolist() == [1.0, 10.0, 3.0, 10.0, 2.0]
    assert filled(values, np.array([0, 1, 0, 1, 0]), "zero").tolist() == [1.0, 0.0, 3.0, 10.0, 0.0]


@pytest.mark.skipif(SHARED is None, reason="needs the shared data")
@pytest.mark.parametrize("name", ["es-en-kbest/dev.nbest.xz", "es-en-neural/dev.jsonl.xz"])
def test_real_lists_raise_no_alarm(name: str) -> None:
    assert sum(1 for _ in iter_nbest(SHARED / "data" / name)) > 400
