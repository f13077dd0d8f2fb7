"""A scikit-learn estimator: weights for the columns of X, learnt from groups of rows that compete.

    from hopefear.sklearn import Weigher
    weigher = Weigher(trainer="mert").fit(X, y, groups)      # y: how good each row is
    weigher.coef_, weigher.predict(X_new), weigher.score(X_test, y_test, groups_test)

Rows of one group compete (the candidates of a sentence, query or prompt); without groups, all rows are one group. In
``GridSearchCV`` and the like groups reach ``fit`` and ``score`` by scikit-learn's metadata routing
(``sklearn.set_config(enable_metadata_routing=True)``), or as a column of X: ``Weigher(group_column=0)``, or its name in
a frame. scikit-learn is an extra: pip install 'hopefear[sklearn]'.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-not-found,import-untyped,unused-ignore]
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data  # type: ignore[import-not-found,import-untyped,unused-ignore]

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.formats.table import Table, TableSpec
from hopefear.metrics import METRICS, External, Metric, from_text, split_text
from hopefear.trainers.registry import find_batch, options_from

Vector = NDArray[np.float64]


class Weigher(BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Weights for scores of candidates, such that the best candidate of each group is good.

    trainer: a name of ``hopefear trainers`` that learns from candidates, or ``auto`` (chosen by cross-validation)
    metric: None is the mean of y over the chosen rows; of whole orders: ``ndcg@10``, ``mrr``, ``map``, ``recall@5``
    lower_is_better: y is an error or a cost
    bag: the mean of so many fits on resampled groups; None: one fit
    options: options of the trainer, such as ``{"l2": 0.01}``
    group_column: the column of X, by number or name, that holds the group of each row
    """

    # With metadata routing, groups are asked for without further words.
    __metadata_request__fit: ClassVar = {"groups": True}
    __metadata_request__score: ClassVar = {"groups": True}

    def __init__(
        self,
        trainer: str = "mert",
        metric: str | None = None,
        *,
        lower_is_better: bool = False,
        bag: int | None = None,
        options: Mapping[str, Any] | None = None,
        group_column: int | str | None = None,
        seed: int = 1,
        jobs: int = 0,
    ) -> None:
        self.trainer = trainer
        self.metric = metric
        self.lower_is_better = lower_is_better
        self.bag = bag
        self.options = options
        self.group_column = group_column
        self.seed = seed
        self.jobs = jobs

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Weigher:
        """Learn weights from rows of scores, how good each row is, and which rows compete."""
        rows, names = self._validated(X, y, reset=True)
        pool = self._pool(rows, y, self._groups(X, groups))
        kind = find_batch(self.trainer)
        given = options_from(kind, self.options or {})
        trainer = kind(metric=self._metric(pool), seed=self.seed, jobs=self.jobs, **given)
        if self.bag is not None:
            trainer = trainer.bagged(self.bag)
        result = trainer.fit(pool)
        self.coef_: Vector = np.array([result.weights[f"x{j}"] for j in range(rows.shape[1])])
        self.weights_ = dict(zip(names, self.coef_.tolist(), strict=True))
        self.result_ = result
        return self

    def predict(self, X: ArrayLike) -> Vector:
        """The weighted sum of each row: the larger, the better."""
        check_is_fitted(self)
        rows, _ = self._validated(X, None, reset=False)
        return np.asarray(rows @ self.coef_)

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """The metric of what the weights choose; with its sign turned where lower is better."""
        check_is_fitted(self)
        rows, _ = self._validated(X, y, reset=False)
        pool = self._pool(rows, y, self._groups(X, groups))
        metric = self._metric(pool)
        value = metric.score(metric.chosen_stats(pool, self.coef_, self.jobs).sum(axis=0))
        return value if metric.higher_is_better else -value

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Vector, list[str]]:
        """The scores, without the groups, and their names."""
        if y is None and reset:
            raise ValueError("This Weigher estimator requires y to be passed, but the target y is None")
        given = {"y": y, "y_numeric": True} if y is not None else {}
        values = validate_data(self, X, **given, reset=reset, dtype="numeric" if self.group_column is None else None)
        rows = values[0] if y is not None else values
        names = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(rows.shape[1])]))
        if self.group_column is not None:
            at = self._group_at(names)
            rows, names = np.delete(rows, at, axis=1), [*names[:at], *names[at + 1 :]]
            if rows.shape[1] == 0:
                raise ValueError("X has no column besides the group column")
        return check_array(rows, dtype=np.float64), names

    def _group_at(self, names: list[str]) -> int:
        if isinstance(self.group_column, str):
            if self.group_column not in names:
                raise ValueError(f"there is no column {self.group_column!r} in X, the group column")
            return names.index(self.group_column)
        at = int(self.group_column or 0)
        if not -len(names) <= at < len(names):
            raise ValueError(f"X has {len(names)} columns, and the group column is number {at}")
        return at % len(names)

    def _groups(self, X: Any, groups: ArrayLike | None) -> NDArray[Any]:
        """The number of the group of each row."""
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if self.group_column is not None:
            if groups is not None:
                raise ValueError("groups are given twice: as a column of X and as groups")
            at = self._group_at([*map(str, getattr(X, "columns", range(np.shape(X)[1])))])
            groups = X.iloc[:, at] if hasattr(X, "iloc") else np.asarray(X, dtype=object)[:, at]
        if groups is None:
            return np.zeros(rows, dtype=np.int64)
        labels = column_or_1d(groups)
        if len(labels) != rows:
            raise ValueError(f"groups has {len(labels)} entries, and X has {rows} rows")
        return np.unique(labels.astype(str), return_inverse=True)[1]

    def _pool(self, rows: Vector, y: ArrayLike, groups: NDArray[Any]) -> Pool:
        outcome = np.asarray(y, dtype=np.float64)
        order = np.argsort(groups, kind="stable")
        columns = {"group": groups[order], "y": outcome[order]}
        columns |= {f"x{j}": rows[order, j] for j in range(rows.shape[1])}
        if len(rows) < 2:
            raise ValueError("n_samples=1: one sample cannot compete with any other")
        spec = TableSpec("group", [f"x{j}" for j in range(rows.shape[1])], outcome=("y",))
        return Table(columns, duplicates=True).pool(spec)

    def _metric(self, pool: Pool) -> Metric:
        if self.metric is None:
            largest = float(np.abs(External("y").stats(pool)[:, 0]).max()) or 1.0
            return External("y", not self.lower_is_better, largest)
        name, rest = split_text(self.metric)
        if name not in METRICS or not METRICS[name].whole_order:
            known = ", ".join(name for name, kind in METRICS.items() if kind.whole_order)
            raise InputError(f"metric {self.metric!r}: of y there are {known}, or None for its mean")
        return from_text(f"{name}:{','.join(filter(None, [rest, 'column=y']))}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
