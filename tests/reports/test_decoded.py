"""The report of a run of ``hopefear train``: sentences are decoded again, and their derivations are drawn."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from hopefear.cli.main import main
from hopefear.data.language import SyntheticParallel
from hopefear.metrics import Bleu
from hopefear.model import BuildOptions, build
from hopefear.reports.gather import RunReader
from hopefear.reports.numbers import learning_curve
from hopefear.reports.page import unpacked
from tests.reports.pages import parsed


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    language = SyntheticParallel(seed=1)
    for stream, (part, count) in enumerate({"train": 300, "dev": 24, "test": 24}.items()):
        pairs = language.pairs(count, stream=stream, noise=None if part == "train" else 0)
        columns = {"source": [pair.source for pair in pairs], "target": [pair.target for pair in pairs]}
        references = [language.references(pair, 2) for pair in pairs]
        columns |= {f"ref.{r}": [texts[r] for texts in references] for r in range(2)}
        for name, texts in columns.items():
            (folder / f"{part}.{name}").write_text("".join(text + "\n" for text in texts))
    model = folder / "model"
    parts = [folder / "dev.source", folder / "test.source"]
    build(
        folder / "train.source", folder / "train.target", model, BuildOptions(max_options=20), filter_to=parts, jobs=2
    )
    data = ["--source", str(parts[0]), "--refs", *(str(folder / f"dev.ref.{r}") for r in (0, 1))]
    dev = ["--dev-source", str(parts[1]), "--dev-refs", *(str(folder / f"test.ref.{r}") for r in (0, 1))]
    options = [
        "--trainer",
        "mira",
        "--set",
        "epochs=2",
        "eta=0.1",
        "--jobs",
        "2",
        "--quiet",
        "--out",
        str(folder / "run"),
    ]
    assert main(["train", str(model), *data, *dev, *options]) == 0
    return folder / "run"


def test_clouds_and_trees(trained: Path, tmp_path: Path) -> None:
    assert main(["report", str(trained), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    page = parsed(tmp_path / "r.html")
    assert {"sentences", "candidates", "surface", "length", "curves"} <= set(page.ids)
    data = unpacked((tmp_path / "r.html").read_text())
    sentences = data["runs"][0]["sentences"]
    assert len(sentences) > 5
    for sentence in sentences:
        for when in ("before", "after"):
            assert set(sentence[when]["trees"]) == set(sentence[when]["marks"]) == {"best", "hope", "fear"}
    shown = " ".join("".join(page.text).split())
    assert "Of a sample: " in shown and "as on all of dev" in shown  # an error surface of some sentences says so


def test_what_was_said_before_is_what_the_run_saw(trained: Path) -> None:
    run = RunReader(jobs=1).read(trained)
    examples = json.loads((trained / "examples.json").read_text())
    assert set(run.said_before.values()) <= {example["before"] for example in examples}
    assert len(learning_curve(run).x) == len(run.record.epochs)


def test_the_record_is_that_of_every_run(trained: Path) -> None:
    run = RunReader(jobs=1).read(trained)
    assert (run.trainer, run.key, run.metric) == ("mira", "bleu", Bleu())
    assert run.options["epochs"] == 2 and "eta" in run.options
    assert set(run.record.files()) == {"source", "refs", "dev_source", "dev_refs"}
    assert run.initial == run.record.initial


def test_without_examples_the_development_data_is_read_again(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path / "run")
    (tmp_path / "run" / "examples.json").unlink()
    kept, again = (RunReader(jobs=1).read(path) for path in (trained, tmp_path / "run"))
    assert again.missing is None
    assert again.said_before == kept.said_before  # translated anew
    pools = [run.parts["examples"] for run in (kept, again)]
    assert [pools[0].references(i) for i in range(len(pools[0]))] == [
        pools[1].references(i) for i in range(len(pools[1]))
    ]
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    next(file for file in record["inputs"] if file["role"] == "dev_source")["sha256"] = "0"
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    assert "was changed since" in str(RunReader(jobs=1).read(tmp_path / "run").missing)


def test_without_the_model(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    record["model"] = "nowhere"
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    page = parsed(tmp_path / "r.html")
    assert "candidates" not in page.ids and "scores" in page.ids
    assert "nowhere is gone" in "".join(page.text)


def test_runs_are_compared_by_what_they_kept(trained: Path, tmp_path: Path) -> None:
    run = RunReader(jobs=1).read(trained)
    kept = run.kept["dev"]
    final = run.record.final
    assert Bleu().score(kept.after.sum(axis=0)) == pytest.approx(final["dev"]["bleu"])
    assert Bleu().score(kept.before.sum(axis=0)) == pytest.approx(final["before"]["dev"]["bleu"])
    for name in ("same", "others", "damaged", "flipped", "misshapen"):
        shutil.copytree(trained, tmp_path / name)
    with np.load(trained / "stats.npz") as held:
        changed = dict(held)
    changed["dev_references"] = np.array("of other sentences")
    np.savez(tmp_path / "others" / "stats.npz", **changed)
    (tmp_path / "damaged" / "stats.npz").write_bytes((trained / "stats.npz").read_bytes()[:100])
    flipped = bytearray((trained / "stats.npz").read_bytes())
    flipped[120:160] = bytes(255 - byte for byte in flipped[120:160])
    (tmp_path / "flipped" / "stats.npz").write_bytes(flipped)
    np.savez(tmp_path / "misshapen" / "stats.npz", **{**changed, "dev_after": changed["dev_after"][:-1]})
    names = ("same", "others", "damaged", "flipped", "misshapen")
    runs = [str(trained), *(str(tmp_path / name) for name in names)]
    assert main(["report", *runs, "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    text = (tmp_path / "r.html").read_text()
    pairs = text[text.index('<section id="pairs"') : text.index('<section id="scores"')]
    assert pairs.count('<th scope="row">') == 1 and "<td>1.00</td>" in pairs  # the copy, and it alone
    scores = text[text.index('data-name="scores"') : text.index('<section id="warnings"')]
    assert scores.count(" to ") == 3  # intervals of all but the damaged ones
