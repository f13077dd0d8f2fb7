"""The verdict of the page: which run is best, whether that may be chance, and what to do next."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pytest

from hopefear.evaluation.comparison import compared, p_text, p_value
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.metrics import Bleu
from hopefear.reports.gather import RunReader
from hopefear.reports.run_view import MetricGroup, RunView, by_metric
from hopefear.reports.scores import pairs, scores
from hopefear.reports.verdict import Ranking, _enough, judged, next_steps, running, verdict


def group_of(runs: Path, *names: str) -> MetricGroup:
    reader = RunReader(jobs=1)
    (group,) = by_metric([RunView(reader.read(runs / name), k, 0, 1) for k, name in enumerate(names)])
    return group


def judged_of(runs: Path, *names: str) -> Ranking:
    group = group_of(runs, *names)
    for view in group.runs:
        view.run.record = replace(view.run.record, warnings=[])
    ranking = judged(group, 1)
    assert ranking is not None
    return ranking


def test_the_best_is_the_best_mean_on_held_out_data(runs: Path) -> None:
    ranking = judged_of(runs, "kbmira", "mert")
    means = {system.name: np.mean(system.after("holdout")) for system in ranking.order}
    assert (
        ranking.part == "holdout" and ranking.unseen and ranking.best.name == max(means, key=lambda name: means[name])
    )
    stats = [system.stats("holdout") for system in ranking.order]
    assert stats[0] is not None and stats[1] is not None
    pair = ranking.pair(*ranking.order)
    test = paired_bootstrap(stats[0], stats[1], ranking.group.runs[0].run.metric, 1000, 1, 1)
    assert pair is not None and pair.adjusted == test.p
    text = verdict(ranking)
    assert text.startswith(
        f"{ranking.best.name} {'is best' if test.p < 0.05 else 'scores best'} on 8 held-out sentences"
    )
    assert f"{max(means.values()):.2f} BLEU (95 % interval " in text
    assert p_text(test.p) in text and ("cannot be told apart" in text) == (test.p >= 0.05)


def test_less_is_better_where_it_is(runs: Path) -> None:
    ranking = judged_of(runs, "ter")
    change = ranking.best.score("holdout") - (ranking.best.before("holdout") or 0.0)
    p = ranking.best.first.scored["holdout"].p
    wanted = "may be chance" if p >= 0.05 else "improves" if change < 0 else "worsens"
    assert wanted in verdict(ranking)


def test_every_p_of_the_page_is_the_same(runs: Path) -> None:
    """The verdict, the table of pairs and the table of scores speak of one test each."""
    ranking = judged_of(runs, "kbmira", "mert")
    assert ranking.compared is not None
    (pair,) = ranking.compared.pairs
    section = pairs([ranking.compared], True)
    assert section is not None
    cells = re.findall(r"<td>(.*?)</td>", section.content)
    assert re.sub("<.*?>", "", cells[2]) == p_value(pair.adjusted) and p_text(pair.adjusted) in verdict(ranking)
    rows = re.findall(r'scope="row">(.*?)</th>(.*?)</tr>', scores([ranking.group], 1).content)
    for name, row in rows:
        system = next(system for system in ranking.order if system.name == name)
        part = "holdout" if "held out" in row else "dev"
        p, _ = system.gain(part, 1) or (None, None)
        assert p is not None and re.sub("<.*?>", "", row).endswith(escape(p_value(p)))


def test_a_lead_that_is_more_than_chance_is_said_plainly() -> None:
    random = np.random.default_rng(1)
    good = random.integers(5, 10, (3, 200, 9)).astype(float)
    stats = {"good": good, "same": good[:, ::1], "bad": np.minimum(good, 5)}
    stats = {name: np.concatenate([matrix[:, :, :4].cumsum(2)[:, :, ::-1], np.full((3, 200, 5), 40.0)], 2)
             for name, matrix in stats.items()}  # fmt: skip
    none = {name: [0.0] for name in stats}
    comparison = compared(Bleu(), "test", none, stats, {}, {}, jobs=1)
    assert "cannot be told apart from" in comparison.verdict and "It is better than bad (by " in comparison.verdict
    clear = compared(Bleu(), "test", none, {name: stats[name] for name in ("good", "bad")}, {}, {}, jobs=1)
    assert (
        clear.verdict.startswith("good is best on 200 test sentences: ")
        and "p < .001" not in clear.verdict.split(":")[0]
    )
    alone = compared(Bleu(), "test", none, {"good": stats["good"]}, {}, {}, jobs=1)
    assert alone.verdict.startswith("good scores ") and alone.pairs == []


def test_a_loss_is_called_a_loss(runs: Path) -> None:
    ranking = judged_of(runs, "kbmira")
    view = ranking.best.first
    record = view.run.record
    worse = {"holdout": {"bleu": 1.0}, "dev": {"bleu": 1.0}}
    view.run.record = replace(
        record, final={**record.final, "replicates": [{"seed": 1, **worse}, {"seed": 2, **worse}]}
    )
    view.scored["holdout"] = replace(view.scored["holdout"], p=0.01)
    assert "worsens" in verdict(ranking)
    (keep, *rest) = next_steps(ranking)
    assert keep.startswith("Keep your old weights") and not any("rerank" in step for step in rest)


def test_a_gain_that_may_be_chance_is_not_counted_on(runs: Path) -> None:
    ranking = judged_of(runs, "kbmira")
    view = ranking.best.first
    view.scored["holdout"] = replace(view.scored["holdout"], p=0.3, interval=(-3.0, 5.0))
    assert "but this may be chance (" in verdict(ranking) and "p = .30)" in verdict(ranking)
    assert next_steps(ranking)[0].startswith("Do not count on the gain yet: score about ")


def test_without_held_out_data_nothing_is_known_of_other_sentences(runs: Path) -> None:
    ranking = judged_of(runs, "kbmira")
    view = ranking.best.first
    final = {k: v for k, v in view.run.record.final.items() if k not in ("holdout", "replicates")}
    view.run.record = replace(view.run.record, final=final)
    again = judged(ranking.group, 1)
    assert again is not None and again.part == "dev" and not again.unseen
    assert "they say nothing about others" in verdict(again)
    assert any("--holdout" in step for step in next_steps(again))


def test_runs_on_other_sentences_are_not_compared(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "mert", tmp_path / "other")
    reader = RunReader(jobs=1)
    view = [RunView(reader.read(path), k, 0, 1) for k, path in enumerate((runs / "mert", tmp_path / "other"))]
    view[1].scored["holdout"] = replace(view[1].scored["holdout"], of="others")
    (group,) = by_metric(view)
    got = judged(group, 1)
    assert (
        got is not None
        and [system.name for system in got.order] == ["mert"]
        and [system.name for system in got.apart] == ["other"]
    )
    assert "Not compared" in verdict(got) and "other" in verdict(got)


def test_inputs_that_are_gone_leave_a_verdict_without_a_test(runs: Path, tmp_path: Path) -> None:
    for name in ("kbmira", "mert"):
        shutil.copytree(runs / name, tmp_path / name)
        record = json.loads((tmp_path / name / "run.json").read_text())
        record["inputs"][0]["path"] = "nowhere"
        (tmp_path / name / "run.json").write_text(json.dumps(record))
    found = judged_of(tmp_path, "kbmira", "mert")
    assert len(found.order) == 2 and found.compared is None and "cannot be tested" in verdict(found)
    assert next_steps(found)


def test_the_weights_to_use_are_named(runs: Path) -> None:
    found = judged_of(runs, "mert")
    assert "mert/weights.txt</code>" in next_steps(found)[-1]
    assert any("--replicates 5" in step for step in next_steps(found))
    assert not any("--replicates 5" in step for step in next_steps(judged_of(runs, "kbmira")))


def test_warnings_come_before_use(runs: Path) -> None:
    found = judged_of(runs, "kbmira")
    run = found.best.first.run
    run.record = replace(run.record, warnings=["a", "b"])
    steps = next_steps(found)
    assert any("the 2 warnings</a> about kbmira" in step for step in steps[:-1])


def test_names_are_text(runs: Path) -> None:
    found = judged_of(runs, "mert")
    found = replace(found, order=[replace(found.best, name="<b>")])
    assert "<b><b>" not in verdict(found) and "&lt;b&gt;" in verdict(found)


@pytest.mark.parametrize(("n", "ci", "delta", "says"), [(100, (-1, 1), 1.0, "200"), (90, (0, 1), 0.1, "4,500")])
def test_how_many_sentences_are_enough(n: int, ci: tuple[float, float], delta: float, says: str) -> None:
    assert f"about {says} sentences (there are {n} now)" in _enough(n, ci, delta)
    assert "many more" in _enough(n, ci, 0.0)


def test_a_run_that_goes_on_says_how_far_it_is(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "kbmira", tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps(record | {"status": "running"}))
    run = RunReader(jobs=1, unfinished=True).read(tmp_path / "run")
    (text,) = running([run])
    assert "was stopped: epoch 5" in text and "--resume" in text
    run.stopped = False
    assert "is running" in running([run])[0] and "--resume" not in running([run])[0]
