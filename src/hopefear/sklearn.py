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

import dataclasses
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-not-found,import-untyped,unused-ignore]
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data  # type: ignore[import-not-found,import-untyped,unused-ignore]

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.formats.table import Table, TableSpec
from hopefear.metrics import METRICS, External, Metric, from_text, split_text
from hopefear.trainers.batch.base import CandidateTrainer
from hopefear.trainers.registry import by_name, find_batch, settable
from hopefear.util.messages import some, suggestion

Vector = NDArray[np.float64]
_ORDERS = [name for name, kind in METRICS.items() if kind.whole_order]


class Weigher(BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Weights for scores of candidates, such that the best candidate of each group is good.

    trainer: a name such as ``mert`` or ``kbmira``, ``auto`` (chosen by cross-validation), or an object: ``hf.Mert()``
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
        trainer: Any = "mert",
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
        numbers = self._groups(X, groups)
        _check_differences(rows, np.asarray(y, dtype=np.float64), numbers)
        features = _features(names)
        pool = self._pool(rows, y, numbers, features)
        with _said():
            trainer = self._trainer(pool)
            result = (trainer if self.bag is None else trainer.bagged(self.bag)).fit(pool)
        self.coef_: Vector = np.array([result.weights[name] for name in features])
        self.weights_ = dict(zip(names, self.coef_.tolist(), strict=True))
        self.result_ = result
        return self

    def _trainer(self, pool: Pool) -> CandidateTrainer:
        """The trainer with its options, for y."""
        if isinstance(self.trainer, CandidateTrainer):
            if self.options:
                raise InputError("options are those of a trainer that is named. Give them to the object instead")
            return dataclasses.replace(self.trainer, metric=self._metric(pool))
        try:
            kind = find_batch(self.trainer)
        except InputError:
            known = [each.name for kinds in by_name().values() for each in kinds if issubclass(each, CandidateTrainer)]
            raise InputError(f"trainer is {self.trainer!r}. Choose one of {', '.join(known)}") from None
        if not isinstance(self.options, Mapping | None):
            raise InputError(f'options are a dict such as {{"l2": 0.01}}, not {self.options!r}')
        options = settable(kind)
        if wrong := [name for name in self.options or {} if name not in options]:
            meant = suggestion(wrong[0], options)
            raise InputError(f"options: {kind.name} has no {wrong[0]!r}.{meant} There are: {some(options, 20)}")
        return kind(metric=self._metric(pool), seed=self.seed, jobs=self.jobs, **(self.options or {}))

    def predict(self, X: ArrayLike) -> Vector:
        """The weighted sum of each row: the larger, the better."""
        check_is_fitted(self)
        rows, _ = self._validated(X, None, reset=False)
        return np.asarray(rows @ self.coef_)

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None, sample_weight: None = None) -> float:
        """The metric of what the weights choose; with its sign turned where lower is better.

        ``sample_weight`` must be None: it is here because ``Pipeline`` passes it on under metadata routing.
        """
        check_is_fitted(self)
        if sample_weight is not None:
            raise InputError("sample_weight: rows have no weights here, groups count alike. Leave it out")
        rows, names = self._validated(X, y, reset=False)
        pool = self._pool(rows, y, self._groups(X, groups), _features(names))
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
                raise ValueError("X has no column other than the group column")
        return check_array(rows, dtype=np.float64), names

    def _group_at(self, names: list[str]) -> int:
        at = self.group_column
        if isinstance(at, str):
            if at not in names:
                raise ValueError(
                    f"X has no column {at!r}, the group column.{suggestion(at, names)} There are: {some(names)}"
                )
            return names.index(at)
        if not isinstance(at, Integral):
            raise InputError(f"group_column is the number or the name of a column of X, not {at!r}")
        if not -len(names) <= at < len(names):
            raise ValueError(f"X has {len(names)} columns, and the group column is number {at}")
        return int(at) % len(names)

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
        if isinstance(groups, str):
            raise InputError(f"groups has a label for each row. For a column of X use group_column={groups!r}")
        labels = column_or_1d(groups)
        if len(labels) != rows:
            raise ValueError(f"groups has {len(labels)} entries, and X has {rows} rows")
        gone = [row for row, label in enumerate(labels.tolist()) if label is None or label != label]
        if gone:
            raise ValueError(f"row {gone[0]} has no group. Fill it, or leave the row out")
        return np.unique(labels.astype(str), return_inverse=True)[1]

    def _pool(self, rows: Vector, y: ArrayLike, groups: NDArray[Any], names: list[str]) -> Pool:
        outcome = np.asarray(y, dtype=np.float64)
        order = np.argsort(groups, kind="stable")
        columns = {"group": groups[order], "y": outcome[order]}
        columns |= {name: rows[order, j] for j, name in enumerate(names)}
        return Table(columns, duplicates=True).pool(TableSpec("group", names, outcome=("y",)))

    def _metric(self, pool: Pool) -> Metric:
        if self.metric is None:
            largest = float(np.abs(External("y").stats(pool)[:, 0]).max()) or 1.0
            return External("y", not self.lower_is_better, largest)
        name, rest = split_text(self.metric) if isinstance(self.metric, str) else ("", "")
        if name not in METRICS or not METRICS[name].whole_order:
            known = ", ".join({"recall-at": "recall@5", "ndcg": "ndcg@10"}.get(each, each) for each in _ORDERS)
            raise InputError(f"metric is {self.metric!r}. Choose one of {known}, or None for the mean of y")
        return from_text(f"{name}:{','.join(filter(None, [rest, 'column=y']))}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _features(names: list[str]) -> list[str]:
    """The names of columns as those of features, if options can name them: ``{"frozen": "lm"}``."""
    plain = len({*names, "group", "y"}) == len(names) + 2 and all(re.fullmatch(r"[\w.-]+", name) for name in names)
    return names if plain else [f"x{j}" for j in range(len(names))]


def _check_differences(rows: Vector, y: Vector, groups: NDArray[Any]) -> None:
    """Complain about data from which nothing can be learnt."""
    order = np.argsort(groups, kind="stable")
    same = np.diff(groups[order]) == 0
    if len(rows) < 2:
        raise ValueError("n_samples=1: one sample cannot compete with any other")
    if not same.any():
        raise InputError("every group has one row only: there is nothing to learn. Which rows compete?")
    if not np.diff(y[order])[same].any():
        raise InputError("y is the same for all rows of each group: there is nothing to learn")
    if not np.diff(rows[order], axis=0)[same].any():
        raise InputError("no column of X differs within a group: there is nothing to learn")


@contextmanager
def _said() -> Iterator[None]:
    """Errors in the words of this estimator."""
    try:
        yield
    except InputError as error:
        text = re.sub(r"^--metric (\w+): |^metric [\w-]+: ", "metric: ", str(error))
        text = re.sub(r"^trainer (?:bagged: )?(?!is )", "", text).rstrip(".")
        text = text.replace("--metric: ", "metric: ").replace("sentences or groups are", "groups are")
        raise InputError(text) from None
