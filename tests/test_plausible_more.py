"""More lines as people type them: references as texts, answers of client libraries, columns given to ``fit``."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.sklearn import Weigher

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

SCORES = ["logprob", "reward"]


class Answer:
    """What the client of a server returns (pydantic)."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record

    def model_dump(self) -> dict[str, Any]:
        return self.record


def completions(record: dict[str, Any], number: int) -> dict[str, Any]:
    """A completion with several choices and the log probabilities of their tokens."""
    choices = [
        {
            "index": k,
            "text": each["text"],
            "logprobs": {"token_logprobs": [None, each["logprob"]], "tokens": ["a", "b"]},
        }
        for k, each in enumerate(record["candidates"])
    ]
    return {"id": f"cmpl-{number}", "object": "text_completion", "choices": choices}


def output(record: dict[str, Any]) -> SimpleNamespace:
    """The object that vLLM returns."""
    outputs = [
        SimpleNamespace(index=k, token_ids=[1, 2], finish_reason="stop", **each)
        for k, each in enumerate(record["candidates"])
    ]
    return SimpleNamespace(request_id="1", prompt=record["prompt"], outputs=outputs, metrics=None)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the lines may use; files lie in the working directory."""
    folder = tmp_path_factory.mktemp("more")
    random = np.random.default_rng(5)
    records = []
    for number in range(40):
        candidates = []
        for place, good in enumerate(random.permutation(4).tolist()):
            text = " ".join(["the cat sat down here now"] * good + [f"dog {place}"])
            scores = {"logprob": -20 + random.normal(0, 3), "reward": good + random.normal(0, 0.5), "comet": good / 4}
            candidates.append({"text": text, **scores})
        records.append({"prompt": f"question {number}", "candidates": candidates})
    rows = [{"prompt": each["prompt"], **candidate} for each in records for candidate in each["candidates"]]
    refs = ["the cat sat down here now"] * len(records)
    (folder / "refs.txt").write_text("\n".join(refs) + "\n")
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "lists.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    answers = [completions(each, number) for number, each in enumerate(records)]
    (folder / "completions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    pandas.DataFrame(rows).to_csv(folder / "rows.csv", index=False)
    frame = pandas.DataFrame(rows)
    return {
        **{"folder": folder, "hf": hf, "pd": pandas, "pl": polars, "np": np, "Path": Path, "Weigher": Weigher},
        **{"records": records, "rows": rows, "frame": frame, "refs": refs, "scores": SCORES, "answers": answers},
        "pool": hf.read_nbest(records, references=refs),
        "clients": [Answer(each) for each in answers],
        "outputs": [output(each) for each in records],
        "reference": hf.Mert().fit(frame, group="prompt", outcome="comet").weights,
        "tuned": hf.tune(frame, "prompt", "comet", trainer="mert"),
    }


def run(line: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(names["folder"])
    return eval(line, dict(names))


@pytest.mark.parametrize(
    "line",
    [
        'hf.Mert(metric="comet").fit(records)',
        'hf.Mert(metric="comet").fit(frame, group="prompt")',
        'hf.Mert(metric="comet").fit("lists.jsonl")',
        'hf.Mert(metric="comet").fit(Path("rows.csv"), group="prompt", features=scores)',
        'hf.Mert().fit(rows, group="prompt", outcome="comet")',
        'hf.Mert().fit("rows.json", group="prompt", outcome=["comet"])',
        'hf.Mert().fit(iter(records), outcome="comet")',
        'hf.Mert().fit(hf.Pool.from_table(frame, group="prompt", outcome="comet"))',
        'hf.Mert().fit(hf.Pool.from_table(frame, "prompt", outcome="comet"))',
        'hf.Mert().fit(pl.from_pandas(frame).lazy(), group="prompt", outcome="comet")',
        'hf.Mert().fit({each["prompt"]: each["candidates"] for each in records}, outcome="comet")',
        'hf.Mert().fit([each["candidates"] for each in records], outcome="comet")',
        'hf.Mert().fit(outputs, outcome="comet")',
        'hf.tune(records, hf.Mert(metric="comet"), holdout=0)',
        'hf.tune(records, trainer=hf.Mert(metric="comet"), holdout=0)',
        'hf.tune(records, "mert", outcome="comet", holdout=0)',
        'hf.tune(outputs, outcome="comet", trainer="MERT", holdout=0)',
        'hf.tune("rows.json", "prompt", "comet", trainer="Mert", holdout=0)',
        'hf.tune(frame, ["prompt"], ["comet"], trainer="mert", features=np.array(scores), holdout=0)',
        'hf.tune(frame, "prompt", "comet", trainer="mert", features=frame.columns[2:4], holdout=0)',
    ],
)
def test_the_same_weights_from_everything(line: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(line, names, monkeypatch).weights == pytest.approx(names["reference"], rel=1e-6)


@pytest.mark.parametrize(
    "line",
    [
        'hf.tune(records, references=refs, features=scores, trainer="pro")',
        'hf.tune(records, refs="refs.txt", features=scores, trainer="pro")',
        'hf.tune(records, "refs.txt", features=scores, trainer="pro")',
        'hf.tune("lists.jsonl", "refs.txt", features=scores, trainer="pro")',
        'hf.tune("lists.jsonl", refs=[refs], features=scores, trainer="pro")',
        'hf.tune("lists.jsonl", references=[[each] for each in refs], features=scores, trainer="pro")',
        'hf.tune("lists.jsonl", refs=pd.Series(refs), features=scores, trainer="pro")',
        'hf.tune(pool, refs=refs, features=scores, trainer="pro")',
        'hf.tune(pool, features=scores, trainer="pro", metric="BLEU")',
        'hf.tune(pool, features=scores, trainer="pro", metric=hf.Bleu)',
        "hf.tune(pool, features=scores, trainer=hf.Pro(metric=hf.Bleu))",
    ],
)
def test_references_as_people_have_them(line: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = run(line, names, monkeypatch)
    assert tuned.metric.key == "bleu" and set(tuned.weights) == set(SCORES)
    assert tuned.weights["reward"] > 0


@pytest.mark.filterwarnings("ignore:1 feature of the list without a weight")
@pytest.mark.parametrize("key", ["responses", "completions", "samples", "outputs", "hypotheses", "answers"])
def test_lists_under_any_usual_name(key: str, names: dict[str, Any], tmp_path: Path) -> None:
    records = [{"prompt": each["prompt"], key: each["candidates"]} for each in names["records"]]
    path = tmp_path / "lists.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    for data in (records, path):
        assert hf.Mert(metric="comet").fit(data).weights == pytest.approx(names["reference"], rel=1e-6)
        assert hf.rerank(data, names["tuned"]) == hf.rerank(names["records"], names["tuned"])


def test_scores_in_an_object_of_their_own(names: dict[str, Any]) -> None:
    records = [
        {
            "candidates": [
                {"output": c["text"], "scores": {s: c[s] for s in (*SCORES, "comet")}} for c in each["candidates"]
            ]
        }
        for each in names["records"]
    ]
    assert hf.Mert(metric="comet").fit(records).weights == pytest.approx(names["reference"], rel=1e-6)


def test_two_objects_of_one_trainer(names: dict[str, Any], tmp_path: Path) -> None:
    data: dict[str, Any] = {"group": "prompt", "outcome": "comet", "seeds": 1}
    two = [hf.Kbmira(C=0.1, passes=2), hf.Kbmira(C=1.0, passes=2)]
    compared = hf.compare(names["frame"], trainers=two, out=tmp_path / "run", **data)
    assert {each.name for each in compared.recipes} == {"Kbmira(C=0.1, passes=2)", "Kbmira(C=1.0, passes=2)"}
    assert len(list((tmp_path / "run" / "weights").iterdir())) == 2
    named = hf.compare(names["frame"], trainers={"soft": two[0], "hard": two[1]}, **data)
    assert {each.name for each in named.recipes} == {"soft", "hard"}


@pytest.mark.parametrize(
    "line",
    [
        "hf.features(clients)",
        "hf.features(answers)",
        'hf.features("completions.jsonl")',
        'hf.features(frame, group="prompt", text="text")',
        'hf.features("rows.csv", group="prompt", text="text")',
        "hf.features(rows, group='prompt')",
        'hf.combine(frame, frame, group="prompt", text="text")',
        'hf.combine("rows.csv", "rows.json", group="prompt", text="text", names=["a", "b"])',
        "hf.combine(clients, outputs)",
    ],
)
def test_lists_with_more_features(line: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pool = run(line, names, monkeypatch)
    assert len(pool) == 40 and len(pool.feature_names) > 5


@pytest.mark.filterwarnings("ignore:.* is the output itself")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("hf.score(['the cat sat down'], ['the cat sat down']).bleu", 100),
        ("hf.score(pd.Series(['the cat sat down']), pd.Series(['the cat sat down'])).score", 100),
        ("hf.score((line for line in ['the cat sat down']), [['the cat sat down']]).value", 100),
        ("hf.score(predictions=['the cat sat down'], references=[['a', 'the cat sat down']]).score", 100),
        ("hf.score('refs.txt', 'refs.txt', metrics=['bleu', 'chrf']).chrf", 100),
        ("hf.score('refs.txt', 'refs.txt', metric=hf.Chrf()).chrf", 100),
        ("hf.score('refs.txt', 'refs.txt', metric=hf.Bleu).score", 100),
        ("hf.score('refs.txt', references=refs).to_pandas()['bleu'].iloc[0]", 100),
        ("hf.score('refs.txt', refs='refs.txt').to_dict()['systems'][0]['bleu']", 100),
        ("hf.score(frame.assign(score=frame.comet), 'prompt', 'comet').score", 0.75),
        ("hf.score(tuned.rerank(rows), group='prompt', outcome='comet').score > 0.7", True),
        ("hf.score(records, outcome='comet').score", "first"),
        ("hf.score(pool).score > 0", True),
    ],
)
def test_score(line: str, expected: Any, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    if expected == "first":
        expected = np.mean([each["candidates"][0]["comet"] for each in names["records"]])
    assert run(line, names, monkeypatch) == pytest.approx(expected)


def test_initial_weights_of_any_kind(names: dict[str, Any], tmp_path: Path) -> None:
    hf.write_weights(names["tuned"], tmp_path / "w.txt")
    weights = names["tuned"].weights
    assert hf.read_weights(tmp_path / "w.txt") == weights
    for initial in (weights, names["tuned"], hf.Reranker(weights), tmp_path / "w.txt"):
        tuned = hf.tune(names["frame"], "prompt", "comet", trainer="mert", initial=initial)
        assert tuned.before["dev"]["comet"] == pytest.approx(names["tuned"].score)
    assert hf.load(names["tuned"]).weights == weights and hf.Reranker(names["tuned"]).weights == weights


@pytest.mark.parametrize("learn", [hf.tune, hf.weigh])
def test_the_policy_for_missing_scores_stays_with_the_weights(
    learn: Any, names: dict[str, Any], tmp_path: Path
) -> None:
    holes = names["frame"].assign(reward=names["frame"]["reward"].where(names["frame"].index != 7))
    for missing in ("zero", "mean"):
        result = learn(holes, "prompt", "comet", missing=missing, out=tmp_path / missing)
        assert np.isfinite(result.predict(holes)).all()
        assert result.to_dict()["missing"] == hf.load(result.save(tmp_path / "w.json")).missing == missing
        again = hf.load(tmp_path / missing)  # of the run directory
        assert (again.missing, again.means, again.group) == (missing, result.means, "prompt")
        np.testing.assert_array_equal(again.predict(holes), result.predict(holes))


def test_options_of_a_trainer_by_name(names: dict[str, Any], tmp_path: Path) -> None:
    hf.tune(names["pool"], trainer="kbmira", C=0.5, set={"passes": 3}, out=tmp_path / "run")
    options = hf.read_run(tmp_path / "run").trainer["options"]
    assert (options["C"], options["passes"]) == (0.5, 3)
    assert repr(hf.Kbmira(C=0.5)) == "Kbmira(C=0.5)"
    assert "restarts" in inspect.signature(hf.Mert).parameters


def test_rows_of_numbers(names: dict[str, Any]) -> None:
    reranker = hf.Reranker({"a": 1.0, "b": 2.0})
    assert reranker.predict([[1, 2], [3, 4]]).tolist() == [5.0, 11.0]
    assert reranker.best([[1, 2], [3, 4]]) == 1 and reranker.rerank([[1, 2], [3, 4]]).tolist() == [1, 0]
    record = names["records"][0]
    assert hf.rerank(record, names["tuned"]) == hf.rerank([record], names["tuned"])


def test_an_array_of_rows_is_ranked(names: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "ranked.json"
    hf.rerank(names["folder"] / "rows.json", names["tuned"].weights, "prompt", out=str(out))
    ranked = json.loads(out.read_text())
    assert len(ranked) == 160 and sum(row["rank"] == 1 for row in ranked) == 40


def test_warnings_point_to_the_line_that_asked(names: dict[str, Any]) -> None:
    worse = names["frame"].assign(comet=names["frame"]["comet"].sample(frac=1, random_state=1).to_numpy())
    with pytest.warns(UserWarning, match=".") as warned:
        hf.tune(worse, "prompt", "comet", trainer="mert", initial={"reward": 1.0})
    assert {each.filename for each in warned} == {__file__}


def test_results_show_themselves(names: dict[str, Any]) -> None:
    tuned = names["tuned"]
    assert repr(tuned) == str(tuned) and "held out: 0." in str(tuned)
    numbers = str(tuned).partition("held out: ")[2].partition(" (")[0].split(" -> ")
    assert all(len(number.partition(".")[2]) == 4 for number in numbers)
    assert repr(hf.Mert().fit(names["pool"])).startswith("<Result: score ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hf.Mert(restart=3)", r"Mert\(\) has no option 'restart'. Did you mean 'restarts'\?"),
        ("hf.Mert(20)", r"Mert\(\) takes options by name: Mert\(restarts=...\)"),
        ('hf.Mert(restarts="3")', "restarts is a whole number, not '3'"),
        ("hf.tune([])", "the list is empty"),
        ('hf.tune(frame, frame["prompt"], "comet")', "group is the name of a column, not Series"),
        ('hf.compare(frame, "prompt", "comet", trainers=["mert"], seeds=0)', "seeds must be 1 or more, not 0"),
        ('hf.compare(frame, "prompt", "comet", trainers=["mert"], seeds=[1, 2])', r"seeds is a number, not \[1, 2\]"),
        ('hf.weigh(frame, "prompt", "comet", trainer="mert")', r"To choose one yourself, use tune\(\) or compare\(\)"),
        ("hf.score()", r"score\(\) needs outputs and references"),
        ('hf.score("refs.txt")', r"score\(\) needs outputs and references"),
        ("hf.read_nbest(frame)", r"read by Pool.from_table, with group"),
        ('hf.read_nbest("rows.csv")', r"Name its format if not \(format\)"),
        ('hf.Pool.from_table(frame, group="nope")', "no column 'nope' for group"),
        ('hf.rerank(frame, {"logprob": 1.0}, group="nope")', "no column 'nope' for group"),
        ("hf.rerank(frame, [1.0, 2.0])", "weights map names to numbers: a dict, not list"),
        ('hf.Reranker({"a": "x"})', "the weight of a is 'x', not a number"),
        ("hf.Mert().fit([1])", "learns from the candidates of a pool, not from list. Give group"),
        ('hf.Mert(metric="nope").fit(records)', "there is no metric 'nope'"),
        ('hf.rerank("lists.jsonl", {"gone": 1.0, "reward": 1.0})', r'missing="zero"'),
    ],
)
def test_errors_speak_python(line: str, said: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(hf.InputError, match=said) as error:
        run(line, names, monkeypatch)
    assert "--" not in str(error.value) and "\n" not in str(error.value)


def test_the_command_line_names_options(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    from hopefear.cli.main import main

    folder = names["folder"]
    (folder / "w.txt").write_text("gone 1\nreward 1\n")
    assert main(["rerank", "--nbest", str(folder / "lists.jsonl"), "--weights", str(folder / "w.txt")]) == 2
    assert "--missing zero" in capsys.readouterr().err
    out = folder / "more.jsonl"
    given = ["features", str(folder / "rows.csv"), "--group", "prompt", "--text", "text", "--out", str(out)]
    assert main(given) == 0
    assert "text_words" in hf.read_nbest(out).feature_names
