"""Lines that users of pandas, scikit-learn and Hugging Face type, on the same candidates in every form they come in.

Whatever the form, the weights, the best texts and the scores are the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.filterwarnings("ignore:1 feature of the list without a weight"),
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SCORES = ["logprob", "reward_a", "reward_b"]
GROUPS, CANDIDATES = 60, 4


def groups() -> list[dict[str, Any]]:
    """Prompts with candidates, flat as most programs write them."""
    random = np.random.default_rng(5)
    records = []
    for number in range(GROUPS):
        candidates = []
        for place, errors in enumerate(random.permutation(CANDIDATES).tolist()):
            scores = {
                "logprob": -20 + random.normal(0, 3),
                "reward_a": random.normal(0, 1) - errors,
                "reward_b": random.normal(0, 1),
                "comet": 0.95 - 0.1 * errors + random.normal(0, 0.02),
            }
            candidates.append({"text": f"answer {number} {place}", **{k: round(v, 6) for k, v in scores.items()}})
        records.append({"prompt": f"question {number}", "references": ["an answer"], "candidates": candidates})
    return records


def rows(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"prompt": each["prompt"], **candidate} for each in records for candidate in each["candidates"]]


def write_lines(path: Path, records: list[Any]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))


def nested(record: dict[str, Any]) -> dict[str, Any]:
    """The same as our own format has it."""
    candidates = [
        {"text": each["text"], "features": {name: each[name] for name in SCORES}, "metrics": {"comet": each["comet"]}}
        for each in record["candidates"]
    ]
    return {"source": record["prompt"], "references": record["references"], "candidates": candidates}


def answers(record: dict[str, Any], number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same as vLLM has it, and as a chat server has it."""
    scores = [{name: value for name, value in each.items() if name != "text"} for each in record["candidates"]]
    texts = [each["text"] for each in record["candidates"]]
    outputs = [{"index": k, "text": texts[k], "token_ids": [1, 2], **scores[k]} for k in range(len(texts))]
    choices = [
        {"index": k, "message": {"role": "assistant", "content": texts[k]}, "finish_reason": "stop", **scores[k]}
        for k in range(len(texts))
    ]
    chat = {"id": f"chatcmpl-{number}", "created": 1_700_000_000 + number, "choices": choices}
    return {"request_id": str(number), "prompt": record["prompt"], "outputs": outputs}, chat


def save_dataset(path: Path, table: Any) -> None:
    """A folder as ``Dataset.save_to_disk`` leaves it."""
    path.mkdir()
    (path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    (path / "dataset_info.json").write_text("{}")
    data = pyarrow.OSFile(str(path / "data-00000-of-00001.arrow"), "wb")
    with data, pyarrow.ipc.new_stream(data, table.schema) as writer:
        writer.write_table(table)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the lines may use; files lie in the working directory."""
    folder = tmp_path_factory.mktemp("lines")
    records = groups()
    frame = pandas.DataFrame(rows(records))
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_csv(folder / "rows.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "rows.parquet")
    write_lines(folder / "rows.jsonl", rows(records))
    write_lines(folder / "shuffled.jsonl", frame.sample(frac=1, random_state=1).to_dict("records"))
    write_lines(folder / "flat.jsonl", records)
    (folder / "flat.json").write_text(json.dumps(records))
    write_lines(folder / "nested.jsonl", [nested(each) for each in records])
    both = [answers(each, number) for number, each in enumerate(records)]
    write_lines(folder / "vllm.jsonl", [each for each, _ in both])
    write_lines(folder / "chat.jsonl", [each for _, each in both])
    parallel = ["text", "comet", *SCORES]
    columns = [{name: [candidate[name] for candidate in each["candidates"]] for name in parallel} for each in records]
    columns = [{"candidates": each.pop("text"), **each, "prompt": f"q{i}"} for i, each in enumerate(columns)]
    write_lines(folder / "columns.jsonl", columns)
    save_dataset(folder / "rows.dataset", pyarrow.Table.from_pandas(frame))
    save_dataset(folder / "lists.dataset", pyarrow.Table.from_pylist(records))
    (folder / "both.dataset").mkdir()
    (folder / "one.dataset").mkdir()
    for split in ("one.dataset/train", "both.dataset/train", "both.dataset/test"):
        save_dataset(folder / split, pyarrow.Table.from_pandas(frame))
    for name in ("one", "both"):
        (folder / f"{name}.dataset" / "dataset_dict.json").write_text("{}")
    weights = {"logprob": 0.3, "reward_a": 0.6, "reward_b": 0.01}
    (folder / "weights.txt").write_text("".join(f"{name} {value}\n" for name, value in weights.items()))
    (folder / "weights.json").write_text(json.dumps(weights))
    hf.Reranker(weights, group="prompt").save(folder / "saved.json")
    (folder / "my_trainers.py").write_text("import hopefear as hf\n\n\nclass Mine(hf.Mert):\n    pass\n")
    return {
        "folder": folder,
        "hf": hf,
        "pd": pandas,
        "pl": polars,
        "pa": pyarrow,
        "np": np,
        "json": json,
        "Path": Path,
        "records": records,
        "rows": rows(records),
        "frame": frame,
        "scores": SCORES,
        "weights": weights,
        "pool": hf.read_nbest(folder / "nested.jsonl"),
        "reference": hf.tune(frame, "prompt", "comet", trainer="mert").weights,
    }


def run(line: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(names["folder"])
    return eval(line, dict(names))


@pytest.mark.parametrize(
    "line",
    [
        'hf.tune(frame, group="prompt", outcome="comet", trainer="mert")',
        'hf.tune(frame, "prompt", "comet", features=scores, trainer="mert")',
        'hf.tune(frame, "prompt", "comet", features=["log*", "reward_*"], trainer=hf.Mert())',
        'hf.tune(frame.sample(frac=1, random_state=3).sort_index(), "prompt", "comet", trainer="mert")',
        'hf.tune(pl.from_pandas(frame), group="prompt", outcome="comet", trainer="mert")',
        'hf.tune(pa.Table.from_pandas(frame), group="prompt", outcome="comet", trainer="mert")',
        'hf.tune(frame.to_dict("list"), group="prompt", outcome="comet", trainer="mert")',
        'hf.tune(frame.to_dict("records"), group="prompt", outcome="comet", trainer="mert")',
        'hf.tune((row for row in rows), group="prompt", outcome="comet", trainer="mert")',
        'hf.tune({name: frame[name].to_numpy() for name in frame}, "prompt", "comet", trainer="mert")',
        'hf.tune("rows.csv", "prompt", "comet", trainer="mert")',
        'hf.tune(Path("rows.tsv"), "prompt", "comet", trainer="mert")',
        'hf.tune(Path("rows.parquet"), group="prompt", outcome="comet", trainer="mert")',
        'hf.tune("rows.jsonl", group="prompt", outcome="comet", trainer="mert")',
        'hf.tune("rows.dataset", group="prompt", outcome="comet", trainer="mert")',
        'hf.tune("one.dataset", group="prompt", outcome="comet", trainer="mert")',
        'hf.tune("both.dataset/train", group="prompt", outcome="comet", trainer="mert")',
        'hf.tune("lists.dataset", outcome="comet", trainer="mert")',
        'hf.tune("flat.jsonl", outcome="comet", trainer="mert")',
        'hf.tune(["flat.jsonl"], outcome="comet", features=scores, trainer="mert")',
        'hf.tune("flat.jsonl", metric="comet", trainer="mert")',
        'hf.tune("flat.json", outcome="comet", trainer="mert")',
        'hf.tune("nested.jsonl", outcome="comet", trainer="mert")',
        'hf.tune("nested.jsonl", trainer=hf.Mert(metric="comet"))',
        'hf.tune("vllm.jsonl", outcome="comet", trainer="mert")',
        'hf.tune("chat.jsonl", outcome="comet", trainer="mert")',
        'hf.tune("columns.jsonl", outcome="comet", trainer="mert")',
        'hf.tune(records, outcome="comet", trainer="mert")',
        'hf.tune((each for each in records), metric="comet", trainer="mert")',
        'hf.tune([json.loads(line) for line in open("chat.jsonl")], outcome="comet", trainer="mert")',
        'hf.tune(pd.DataFrame(records), outcome="comet", trainer="mert")',
        'hf.tune(pl.DataFrame(records), outcome="comet", trainer="mert")',
        'hf.tune(pool, outcome="comet", trainer="mert")',
        'hf.tune(pool, metric="comet", trainer=hf.Mert)',
        'hf.tune(pool, metric="comet", trainer="my_trainers:Mine")',
        'hf.tune(hf.read_nbest(records), outcome="comet", trainer="mert")',
        'hf.tune(hf.Pool.from_table(frame, group="prompt", outcome="comet"), metric="comet", trainer="mert")',
    ],
)
def test_the_same_weights_from_everything(line: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    weights = run(line, names, monkeypatch).weights
    if "sample" not in line:
        assert weights == pytest.approx(names["reference"], rel=1e-6)
    assert max(weights, key=lambda name: weights[name]) == "reward_a"


@pytest.mark.parametrize(
    "line",
    [
        'hf.weigh(frame, "prompt", "comet")',
        'hf.weigh(pl.from_pandas(frame), group="prompt", outcome="comet", features=["logprob", "reward_*"])',
        'hf.weigh(rows, "prompt", "comet")',
        'hf.weigh("shuffled.jsonl", "prompt", "comet")',
        'hf.weigh("flat.jsonl", outcome="comet")',
        'hf.weigh("nested.jsonl", outcome="comet")',
        'hf.weigh("chat.jsonl", outcome="comet")',
        'hf.weigh("lists.dataset", outcome="comet")',
        "hf.weigh(records, outcome='comet')",
        "hf.weigh(pool, outcome='comet')",
    ],
)
def test_weigh(line: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = run(line, names, monkeypatch)
    assert set(weighed.weights) == set(SCORES)
    assert weighed.better_than_equal and weighed.groups == GROUPS
    assert f"{weighed.held_out['chosen'].score:.4f}" in str(weighed)


@pytest.mark.parametrize(
    "line",
    [
        'hf.rerank("flat.jsonl", weights)',
        'hf.rerank("flat.jsonl", "weights.txt")',
        'hf.rerank("flat.jsonl", "weights.json")',
        'hf.rerank("flat.jsonl", hf.load("saved.json"))',
        'hf.rerank("nested.jsonl", "saved.json")',
        'hf.rerank("chat.jsonl", weights)',
        'hf.rerank("lists.dataset", weights)',
        "hf.rerank(records, weights)",
        "hf.rerank(pool, weights)",
        'hf.load("weights.json").rerank("vllm.jsonl")',
        "hf.Reranker(weights).rerank(records)",
        '[row["text"] for row in hf.rerank(rows, weights, "prompt")][::4]',
        '[row["text"] for row in hf.load("saved.json").rerank(rows)][::4]',
        'list(hf.rerank(frame, weights, group="prompt")["text"])[::4]',
        'list(hf.rerank(frame, "saved.json")["text"])[::4]',
        'hf.rerank(pl.from_pandas(frame), "saved.json").filter(pl.col("rank") == 1)["text"].to_list()',
        '[frame["text"][row] for row in hf.rerank("rows.csv", "saved.json").best]',
        '[frame["text"][row] for row in hf.rerank("rows.jsonl", weights, "prompt").best]',
        "[hf.rerank(each['candidates'], weights)[0]['text'] for each in records]",
        "[hf.rerank((one for one in each['candidates']), weights)[0]['text'] for each in records]",
    ],
)
def test_the_same_best_from_everything(line: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    weights = names["weights"]
    best = [
        max(each["candidates"], key=lambda item: sum(weights[name] * item[name] for name in SCORES))["text"]
        for each in names["records"]
    ]
    assert run(line, names, monkeypatch) == best


@pytest.mark.parametrize(
    "data",
    [
        "frame",
        "frame[scores].to_numpy()",
        "rows",
        "records",
        "pool",
        '"rows.parquet"',
        '"flat.jsonl"',
        '"nested.jsonl"',
        "frame.to_dict('list')",
        "pa.Table.from_pandas(frame)",
        "(row for row in rows)",
    ],
)
def test_the_same_scores_from_everything(data: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    scores = run(f"hf.Reranker(weights).predict({data})", names, monkeypatch)
    expected = names["frame"][SCORES].to_numpy() @ np.array(list(names["weights"].values()))
    np.testing.assert_allclose(scores, expected)
    row = run("hf.Reranker(weights).predict(frame[scores].iloc[0])", names, monkeypatch)
    np.testing.assert_allclose(row, expected[:1])


@pytest.mark.filterwarnings("ignore:a and b are the same list")
@pytest.mark.parametrize("lists", ["records", "pool", '"flat.jsonl"', '"chat.jsonl"', '"lists.dataset"'])
def test_features_and_combine(lists: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pool = run(f"hf.features({lists})", names, monkeypatch)
    assert {"text_words", *SCORES} <= set(pool.feature_names)
    both = run(f'hf.combine({lists}, {lists}, names=["a", "b"])', names, monkeypatch)
    assert len(both) == GROUPS and "a.logprob" in both.feature_names
    run(f'hf.features({lists}, "more.jsonl")', names, monkeypatch)
    assert hf.read_nbest("more.jsonl").feature_names == pool.feature_names


def test_compare(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    line = 'hf.compare(frame, "prompt", "comet", trainers=["mert", hf.Kbmira(C=0.1)], seeds=2)'
    compared = run(line, names, monkeypatch)
    table = compared.to_pandas()
    assert list(table.columns) == ["trainer", "seed", "dev", "score"] and len(table) == 4
    assert "kbmira" in compared._repr_html_() and "0.9" in compared._repr_html_()
    again = run('hf.compare(records, outcome="comet", trainers="mert,kbmira", seeds=2)', names, monkeypatch)
    assert {each.name for each in again.recipes} == {"mert", "kbmira"}


def test_scores_of_results(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = run('hf.tune(frame, "prompt", "comet", trainer="kbmira")', names, monkeypatch)
    assert 0.5 < tuned.score < 1 and tuned.history[0]["epoch"] == 1
    assert f"{tuned.score:.4f}" in str(tuned) and f"{tuned.score:.4f}" in tuned._repr_html_()
    assert run('hf.score(["the cat sat down"], [["the cat sat down"]]).scores', names, monkeypatch) == {"bleu": 100.0}
    ranked = run('hf.rerank(frame, weights, "prompt")', names, monkeypatch)
    best = hf.score(ranked, group="prompt", outcome="comet").value
    assert best > hf.score(names["frame"], group="prompt", outcome="comet").value
    assert f"= {best:.4f}" in str(hf.score(ranked, group="prompt", outcome="comet"))


def test_weights_remember_means_and_groups(names: dict[str, Any], tmp_path: Path) -> None:
    tuned = hf.tune(names["frame"], "prompt", "comet", trainer="mert")
    saved = json.loads(tuned.save(tmp_path / "w.json").read_text())
    assert saved["group"] == "prompt"
    assert saved["means"]["logprob"] == pytest.approx(names["frame"]["logprob"].mean(), abs=0.2)
    saved_by_weigh = hf.weigh(names["frame"], "prompt", "comet").reranker
    assert saved_by_weigh.means["logprob"] == pytest.approx(names["frame"]["logprob"].mean())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('hf.tune("rows.jsonl", outcome="comet", trainer="mert")', "group, the column that says which"),
        ('hf.weigh("rows.jsonl", outcome="comet")', "group is missing"),
        ('hf.tune("both.dataset", "prompt", "comet")', "both.dataset: holds several datasets. Choose one: .*train"),
        ("hf.features(3)", "there are no lists of candidates in this int"),
        ('hf.tune([{"candidates": [{"text": "a", "x": 1}]}, 3], outcome="x")', "entry 1 is int. Give a dict"),
        ('hf.rerank(records, {**weights, "gone": 1})', "lack gone, which has a weight"),
        ('hf.rerank("flat.jsonl", {**weights, "gone": 1})', "features that the list does not have: gone"),
    ],
)
def test_errors_name_no_options(line: str, said: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(hf.InputError, match=said) as error:
        run(line, names, monkeypatch)
    assert "--" not in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("form", ["flat", "chat", "rows"])
def test_a_score_that_one_candidate_lacks(form: str, names: dict[str, Any]) -> None:
    records = json.loads(json.dumps(names["records"]))
    del records[3]["candidates"][1]["reward_a"]
    data = [answers(each, k)[1] for k, each in enumerate(records)] if form == "chat" else records
    given: dict[str, Any] = {"outcome": "comet", "trainer": "mert"}
    if form == "rows":
        data, given["group"] = rows(records), "prompt"
    with pytest.raises(hf.InputError, match="reward_a"):
        hf.tune(data, **given)
    assert hf.tune(data, **given, missing="mean").weights["reward_a"] > 0
    assert hf.tune(data, **given, missing="zero").weights["reward_a"] > 0
