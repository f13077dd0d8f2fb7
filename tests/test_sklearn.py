"""hopefear.sklearn.Weigher: scikit-learn's own checks, its searches, and what it learns."""

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("sklearn")

import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

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


@pytest.mark.parametrize(
    ("how", "finding"),
    [
        ({"group_column": 9}, "9"),
        ({"group_column": "no"}, "no"),
        ({"metric": "bleu"}, "ndcg"),
        ({"trainer": "no"}, "no trainer"),
        ({"options": {"no": 1}}, "no"),
    ],
)
def test_complaints(data: Data, how: dict[str, object], finding: str) -> None:
    X, y, groups = data
    with pytest.raises(ValueError, match=finding):
        Weigher(**how).fit(X, y, None if "group_column" in how else groups)
