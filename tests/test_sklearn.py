"""hopefear.sklearn.Weigher: scikit-learn's own checks, its searches, and what it learns."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("sklearn")

import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import hopefear as hf
from hopefear.sklearn import Weigher

Data = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
QUICK = {"restarts": 2, "kicks": 0}


@pytest.fixture(scope="module")
def data() -> Data:
    """100 groups of 5: the first score tells much, the second a little, the third misleads."""
    random = np.random.default_rng(3)
    X = random.normal(size=(500, 3))
    y = X @ [2.0, 0.5, -1.0] + random.normal(size=500)
    return X, y, np.repeat(np.arange(100), 5)


@pytest.mark.filterwarnings("ignore")
def test_passes_the_checks_of_scikit_learn() -> None:
    checks = check_estimator(Weigher(options=QUICK, jobs=1), on_fail=None)
    assert not [(check["check_name"], check["exception"]) for check in checks if check["status"] == "failed"]


@pytest.mark.parametrize("trainer", ["mert", "kbmira", "minrisk", "auto"])
def test_learns(data: Data, trainer: str) -> None:
    X, y, groups = data
    result = Weigher(trainer=trainer).fit(X, y, groups)
    share = result.coef_ / np.abs(result.coef_).sum()
    assert share[0] > 0.4
    assert share[2] < -0.1
    best = [y[groups == g][result.predict(X[groups == g]).argmax()] for g in range(100)]
    assert result.score(X, y, groups) == pytest.approx(np.mean(best))


def test_the_order_of_rows_does_not_matter(data: Data) -> None:
    X, y, groups = data
    order = np.argsort(np.arange(500) % 5, kind="stable")  # groups in pieces, candidates in the same order
    fitted = Weigher(options=QUICK).fit(X, y, groups)
    other = Weigher(options=QUICK).fit(X[order], y[order], groups[order])
    np.testing.assert_array_equal(fitted.coef_, other.coef_)


def test_lower_is_better(data: Data) -> None:
    X, y, groups = data
    fitted = Weigher(options=QUICK, lower_is_better=True).fit(X, -y, groups)
    other = Weigher(options=QUICK).fit(X, y, groups)
    assert fitted.score(X, -y, groups) == pytest.approx(other.score(X, y, groups))


def test_grid_search_with_a_group_column(data: Data) -> None:
    X, y, groups = data
    table = np.column_stack([groups, X])
    search = GridSearchCV(
        Weigher("minrisk", group_column=0), {"options": [{"l2": 0.001}, {"l2": 10.0}]}, cv=GroupKFold(3)
    )
    search.fit(table, y, groups=groups)
    assert search.best_estimator_.coef_.shape == (3,)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    scores = cross_val_score(Weigher(options=QUICK, group_column=0), table, y, cv=GroupKFold(3), groups=groups)
    assert scores.mean() > y.mean() + 1


def test_grid_search_with_metadata_routing(data: Data) -> None:
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(Weigher(options=QUICK), {"bag": [None, 3]}, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
    assert search.best_score_ > y.mean() + 1


def test_frames_name_the_weights(data: Data) -> None:
    pandas = pytest.importorskip("pandas")
    X, y, groups = data
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame.insert(1, "query", [f"q{g}" for g in groups])
    result = Weigher(options=QUICK, group_column="query").fit(frame, y)
    assert list(result.weights_) == ["a", "b", "c"]
    np.testing.assert_array_equal(result.coef_, Weigher(options=QUICK).fit(X, y, groups).coef_)


def test_a_trainer_may_be_an_object(data: Data) -> None:
    X, y, groups = data
    named = Weigher("minrisk", options={"l2": 0.5}, seed=4).fit(X, y, groups)
    np.testing.assert_array_equal(Weigher(hf.Minrisk(l2=0.5, seed=4)).fit(X, y, groups).coef_, named.coef_)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["lm", "tm", "length"])
    frozen = Weigher(options={**QUICK, "frozen": "tm"}).fit(frame, y, groups)
    assert frozen.weights_["tm"] == 0 != frozen.weights_["lm"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"trainer": "mertt"}, "trainer is 'mertt'. Choose one of cmira, kbmira, logloss, mert,"),
        ({"trainer": "arow"}, "trainer is 'arow'. Choose one of"),
        ({"trainer": None}, "trainer is None. Choose one of"),
        ({"options": {"restart": 1}}, "options: mert has no 'restart'. Did you mean 'restarts'? There are: restarts,"),
        ({"options": {"restarts": "many"}}, "mert: restarts is a whole number, not 'many'"),
        ({"options": {"restarts": -1}}, "mert: restarts must be at least 0, not -1"),
        ({"options": {"seed": 3}}, "options: mert has no 'seed'. There are:"),
        ({"options": "restarts=1"}, "options are a dict such as {\"l2\": 0.01}, not 'restarts=1'"),
        ({"trainer": hf.Mert(), "options": {"restarts": 1}}, "Give them to the object instead"),
        ({"metric": "bleu"}, "metric is 'bleu'. Choose one of ndcg@10, mrr, map, recall@5, or None for the mean of y"),
        ({"metric": 3}, "metric is 3. Choose one of"),
        ({"metric": "ndcg@x"}, "metric: k: 'x' is not a whole number"),
        ({"metric": "ndcg:foo=1"}, "metric: ndcg has no option 'foo=1'."),
        ({"trainer": "kbmira", "metric": "mrr"}, "kbmira cannot optimise mrr, a metric of the whole ranking. Use mert"),
        ({"bag": 0}, "bag must be at least 1, not 0"),
        ({"bag": "3"}, "bag is a whole number, not '3'"),
        ({"seed": -1}, "mert: seed must be at least 0, not -1"),
        ({"jobs": "all"}, "mert: jobs is a whole number, not 'all'"),
        ({"group_column": 9}, "X has 3 columns, and the group column is number 9"),
        ({"group_column": "q"}, "X has no column 'q', the group column. There are: x0, x1, x2"),
        ({"group_column": ["a"]}, "group_column is the number or the name of a column of X, not ['a']"),
        ({"groups": "q"}, "groups has a label for each row. For a column of X use group_column='q'"),
        ({"groups": [None] * 500}, "row 0 has no group. Fill it, or leave the row out"),
        ({"groups": np.full(500, np.nan)}, "row 0 has no group."),
        ({"groups": np.arange(500)}, "every group has one row only: there is nothing to learn."),
        ({"groups": [1, 2]}, "groups has 2 entries, and X has 500 rows"),
        ({"y": np.zeros(500)}, "y is the same for all rows of each group: there is nothing to learn"),
        ({"X": np.zeros((500, 3))}, "no column of X differs within a group: there is nothing to learn"),
        ({"trainer": "auto", "groups": np.arange(500) % 2}, "2 groups are too few to choose a trainer."),
    ],
)
def test_errors_speak_of_this_estimator(data: Data, how: dict[str, Any], said: str) -> None:
    """No options of the command line, no sentences and candidates, no classes of ours."""
    given = {"X": data[0], "y": data[1], "groups": None if "group_column" in how else data[2]}
    given |= {name: value for name, value in how.items() if name in given}
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        Weigher(**{name: value for name, value in how.items() if name not in given}).fit(**given)
    assert not re.search(r"--|sentence|candidate|hopefear|Trainer|\n", str(error.value))
