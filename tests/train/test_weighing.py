"""hopefear weigh: what it refuses, what it warns of, and that its verdicts fit the truth that was planted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hopefear as hf
from hopefear.cli.main import main
from hopefear.commands.weigh import Weigh
from hopefear.errors import InputError, OptionError
from hopefear.runs.session import SILENT
from hopefear.train.weighing import Weighing, scaled
from hopefear.trainers.auto import choose
from hopefear.trainers.bagged import resampled
from hopefear.trainers.cross_validation import folds_of, out_of_fold
from hopefear.trainers.estimators import ESTIMATORS, SINGLE, Fitting

Columns = dict[str, NDArray[Any]]


def table(groups: int, truth: list[float], noise: float = 1.0, seed: int = 1, k: int = 5) -> Columns:
    random = np.random.default_rng(seed)
    scores = random.normal(size=(groups * k, len(truth)))
    outcome = scores @ np.array(truth) + noise * random.normal(size=groups * k)
    columns = {"group": np.repeat(np.arange(groups), k).astype(float), "outcome": outcome}
    return columns | {f"s{j}": scores[:, j] for j in range(len(truth))}


def write(columns: Columns, path: Path) -> str:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def weigh(columns: Columns, **options: Any) -> Any:
    return hf.weigh(columns, group="group", outcome="outcome", jobs=1, **options)


def test_one_informative_score_among_noise_beats_equal_weights() -> None:
    weighed = weigh(table(80, [2.0, 0.0, 0.0, 0.0]))
    assert weighed.better_than_equal is True
    assert weighed.held_out["chosen"].score > weighed.held_out["equal"].score
    assert weighed.best_single == "s0"
    assert weighed.verdict.startswith("Better than equal weights by")
    lost = {entry.feature: entry for entry in weighed.without}
    assert lost["s0"].p < 0.05
    assert lost["s0"].loss > max(lost[name].loss for name in ("s1", "s2", "s3"))
    assert weighed.curve[-1].groups == 64
    assert weighed.better_than_chance is True


def test_equal_scores_are_left_equal() -> None:
    weighed = weigh(table(60, [1.0, 1.0, 1.0], noise=2.0))
    assert weighed.better_than_equal is None
    assert "equal weights" in weighed.verdict
    spread = [weighed.equal[f"s{j}"] for j in range(3)]
    assert np.ptp(spread) < 0.2 * np.mean(spread)


def test_uninformative_scores_are_not_trusted() -> None:
    weighed = weigh(table(60, [0.0, 0.0, 0.0]))
    assert weighed.better_than_equal is None
    assert "Do not trust this: no better than a random candidate" in weighed.verdict


def test_few_groups_get_no_verdict() -> None:
    weighed = weigh(table(12, [3.0, 0.0]))
    assert weighed.better_than_equal is None
    assert "Do not trust this: 12 groups" in weighed.verdict


def test_lower_is_better_is_the_same_upside_down() -> None:
    columns = table(40, [2.0, 0.0])
    one = weigh(columns)
    other = weigh(columns | {"outcome": -columns["outcome"]}, lower_is_better=True)
    assert other.gain == pytest.approx(one.gain)
    assert other.held_out["chosen"].score == pytest.approx(-one.held_out["chosen"].score)


def test_the_order_of_candidates_tells_nothing() -> None:
    """Where all candidates tie, the best must not win because the table has it first."""
    columns = table(60, [0.0, 0.0])
    columns["s0"][:] = np.round(columns["s0"]) // 2
    columns["s1"][:] = columns["group"]
    order = np.lexsort((-columns["outcome"], columns["group"]))
    with pytest.warns(UserWarning, match="constant within each group, so the weight means nothing: s1"):
        weighed = weigh({name: values[order] for name, values in columns.items()})
    assert weighed.better_than_chance is None


def test_the_same_seed_gives_the_same_result_whatever_jobs_is() -> None:
    columns = table(30, [1.0, 0.0])
    serial, other = (hf.weigh(columns, group="group", outcome="outcome", jobs=jobs, seed=5).record() for jobs in (1, 3))
    assert serial == other


def test_held_out_groups_were_not_learnt_from() -> None:
    """Outcomes of one fold do not change the weights that choose for it."""
    columns = table(40, [1.0, 0.0])
    command = Weigh(table=columns, group="group", outcome="outcome", jobs=1)
    pool = command.read()
    fold = folds_of(len(pool), command.folds, command.seed)[0]
    changed = dict(columns)
    inside = np.isin(columns["group"].astype(int), fold)
    changed["outcome"] = np.where(inside, -columns["outcome"], columns["outcome"])
    learnt = []
    for one in (columns, changed):
        own = Weigh(table=one, group="group", outcome="outcome", jobs=1)
        groups = own.read()
        rest = np.setdiff1d(np.arange(len(groups)), fold)
        metric = hf.External("outcome", True, 10.0)
        learnt.append(Weighing(groups, metric, SILENT, folds=5, jobs=1).choose_and_fit(groups.subset(rest)))
    assert learnt[0] == learnt[1]


def test_out_of_fold_statistics_are_those_of_each_fold() -> None:
    command = Weigh(table=table(20, [1.0, 0.5]), group="group", outcome="outcome", jobs=1)
    pool = command.read()
    metric, folds = scaled(command.measure(), pool), folds_of(20, 4, 1)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(20))
    how = Fitting(metric, jobs=1)
    stats = out_of_fold(pool, folds, lambda part: ESTIMATORS["equal"].fit(part, how), metric)
    for fold in folds:
        weights = ESTIMATORS["equal"].fit(pool.subset(np.setdiff1d(np.arange(20), fold)), how)
        for i in fold:
            scores = np.asarray(pool[int(i)].dense) @ [weights["s0"], weights["s1"]]
            row = int(pool.row_begin()[i]) + int(scores.argmax())
            assert stats[i, 0] == metric.stats(pool)[row, 0]


def test_the_best_single_score_may_point_downwards() -> None:
    pool = Weigh(table=table(50, [0.0, -2.0]), group="group", outcome="outcome").read()
    assert SINGLE.fit(pool, Fitting(hf.External("outcome"), jobs=1)) == {"s0": 0.0, "s1": -1.0}


def test_resampled_groups_keep_their_candidates() -> None:
    pool = Weigh(table=table(4, [1.0]), group="group", outcome="outcome").read()
    drawn = resampled(pool, np.array([2, 2, 0]))
    assert len(drawn) == 3
    assert len({*drawn.ids}) == 3
    np.testing.assert_array_equal(np.asarray(drawn[1].dense), np.asarray(pool[2].dense))


def test_choice_leaves_equal_weights_only_for_good_reason() -> None:
    how = Fitting(hf.External("outcome", True, 10.0), jobs=1)
    pool = Weigh(table=table(60, [1.0, 1.0]), group="group", outcome="outcome").read()
    assert choose(pool, how).name == "equal"
    pool = Weigh(table=table(60, [2.0, -1.0]), group="group", outcome="outcome").read()
    choice = choose(pool, how)
    assert choice.name != "equal"
    assert "standard error" in choice.why


# On the command line ------------------------------------------------------------------------------------------------


def test_command_keeps_the_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(table(30, [2.0, 0.0]), tmp_path / "t.csv")
    out = tmp_path / "out"
    arguments = ["weigh", path, "--group", "group", "--outcome", "outcome", "--out", str(out), "--seed", "2", "--json"]
    assert main(arguments) == 0
    record = json.loads(capsys.readouterr().out)
    assert {"chosen", "weights", "held_out", "better_than_equal", "verdict"} <= {*record}
    assert {*record["held_out"]} == {"chosen", "equal", "best_single"}
    assert all({*interval} == {"score", "low", "high"} for interval in record["held_out"].values())
    assert record["better_than_equal"] in (True, False, None)
    assert hf.read_weights(str(out / "weights.txt")) == record["weights"]
    page = (out / "weigh.html").read_text()
    assert record["verdict"] in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert main(arguments) == 2  # a result is there already
    assert "--overwrite" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0


def leak(columns: Columns) -> None:
    columns["s1"] = columns["outcome"] * 3 + 1


def constant(columns: Columns) -> None:
    columns["s1"] = columns["group"] * 2.0


@pytest.mark.parametrize(("change", "finding"), [(leak, "leak"), (constant, "constant within each group")])
def test_warnings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Columns], None], finding: str
) -> None:
    columns = table(25, [1.0, 0.0])
    change(columns)
    path = write(columns, tmp_path / "t.csv")
    assert main(["weigh", path, "--group", "group", "--outcome", "outcome"]) == 0
    captured = capsys.readouterr()
    assert finding in captured.err
    assert ("Do not trust this" in captured.out) >= (change is leak)


def spoil(name: str, value: object) -> Callable[[Columns], None]:
    def change(columns: Columns) -> None:
        columns[name] = np.array([*columns[name][:-1], value], dtype=object)

    return change


def drop(name: str) -> Callable[[Columns], None]:
    return lambda columns: columns.pop(name) is None


def alone(columns: Columns) -> None:
    columns["group"] = np.arange(len(columns["group"]))


def same_outcome(columns: Columns) -> None:
    columns["outcome"] = np.ones(len(columns["group"]))


def all_constant(columns: Columns) -> None:
    columns["s0"] = columns["s1"] = columns["group"] * 2.0


def constant_feature(columns: Columns) -> None:
    columns["s1"] = np.full(len(columns["group"]), 3.0)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (drop("group"), "group"),
        (drop("outcome"), "outcome"),
        (spoil("outcome", "good"), "good"),
        (spoil("s0", "inf"), "s0"),
        (alone, "one candidate only"),
        (same_outcome, "nothing to learn"),
        (all_constant, "nothing to weigh"),
        (constant_feature, "s1 is 3 in every row"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Columns], None], finding: str
) -> None:
    columns = table(8, [1.0, 0.0])
    change(columns)
    path = write(columns, tmp_path / "t.csv")
    out = tmp_path / "out"
    assert main(["weigh", path, "--group", "group", "--outcome", "outcome", "--features", "s*", "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert finding in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(OptionError, match="--group"):
        Weigh(table="t.csv", outcome="y")
    with pytest.raises(OptionError, match="--outcome"):
        Weigh(table="t.csv", group="g")
    with pytest.raises(InputError, match="compares text"):
        Weigh(table="t.csv", group="g", outcome="y", metric="bleu").measure()


def test_the_same_row_twice_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = table(25, [1.0, 0.0])
    for column in columns.values():
        column[1] = column[0]
    assert main(["weigh", write(columns, tmp_path / "t.csv"), "--group", "group", "--outcome", "outcome"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
