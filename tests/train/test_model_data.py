"""train as a library call: what the command does, for Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hopefear as hf
from hopefear.commands.train import Train
from hopefear.decode import Blocks, Hiero
from hopefear.errors import InputError, OptionError
from hopefear.formats import read_weights
from hopefear.model.directory import Model
from hopefear.runs import read_run
from hopefear.runs.events import Epoch, Event, Note, Warned
from hopefear.runs.session import Session
from hopefear.train.model_trainers import model_trainer, team
from hopefear.trainers.online.minrisk import OnlineMinrisk
from hopefear.trainers.online.teams import Learners
from tests.models import write_block_task


def config(task: Path, out: Path, **more: Any) -> Train:
    common: dict[str, Any] = {"model": str(task / "model"), "source": str(task / "tune.source")}
    common |= {"refs": [str(task / f"tune.ref.{k}") for k in range(2)], "trainer": "mira", "set": {"epochs": 1}}
    common |= {"dev_source": str(task / "dev.source"), "dev_refs": [str(task / f"dev.ref.{k}") for k in range(2)]}
    return Train(**(common | {"pop_limit": 20, "out": str(out)} | more))


def test_the_record_has_everything_that_decides_the_result(task: Path, tmp_path: Path) -> None:
    events: list[Event] = []
    trained = config(task, tmp_path).run(Session(events.append))
    record = read_run(tmp_path)
    assert (record.kind, record.status, record.model) == ("train", "done", str(task / "model"))
    assert record.metric == f"bleu|{hf.Bleu().signature()}"
    assert record.measure == {"name": "bleu", "options": {**record.measure["options"]}}
    assert [input["role"] for input in record.inputs] == [
        "source",
        "refs",
        "refs",
        "dev_source",
        "dev_refs",
        "dev_refs",
    ]
    options = record.settings["trainer"]["options"]
    assert record.trainer == record.settings["trainer"] == {"name": "mira", "options": options}
    every = hf.Mira(epochs=1).options()
    assert options == {name: every[name] for name in every if name not in ("seed", "jobs", "learners")}
    assert {"features", "pop_limit", "max_options", "parallel", "learners", "simulated"} <= set(record.settings)
    assert trained.result is not None
    assert trained.weights == pytest.approx(dict(trained.result.weights))
    assert trained.final == record.final
    assert record.epochs == [
        {"epoch": event.epoch, "score": event.score, **event.figures} for event in events if isinstance(event, Epoch)
    ]
    notes = [event.text for event in events if isinstance(event, Note)]
    assert notes[0].startswith("epoch 0: bleu ") and "  moved: " in notes[1]


def test_a_default_that_changed_does_not_slip_past_resume(task: Path, tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, Epoch):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        config(task, tmp_path).run(Session(interrupt))
    assert read_run(tmp_path).status == "running"
    other = {"epochs": 1, "eta": 0.02}  # as if it were the default of another version
    with pytest.raises(InputError, match=r"started with another trainer options eta \(0.01, now 0.02\)"):
        config(task, tmp_path, set=other, resume=True).run(Session())
    assert (
        config(task, tmp_path, resume=True).run(Session()).final
        == config(task, tmp_path / "whole").run(Session()).final
    )
    again = config(task, tmp_path, resume=True).run(Session())
    assert again.result is None and again.final == read_run(tmp_path).final


@pytest.mark.parametrize("name", ["pop_limit", "max_options", "max_span", "rescore_edges", "rescore_limit"])
def test_every_limit_of_the_decoder_decides_a_run(task: Path, tmp_path: Path, name: str) -> None:
    config(task, tmp_path / "run").run(Session())
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    record["settings"][name] += 1
    record["status"] = "running"  # a run of another version, with another default
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match=f"started with another {name} "):
        config(task, tmp_path / "run", resume=True).run(Session())


def test_weights_that_are_not_trained_are_warned_of(task: Path, tmp_path: Path) -> None:
    initial = tmp_path / "initial"
    initial.write_text("lm 1\nlex(a|b) 2\n")
    events: list[Event] = []
    config(task, tmp_path / "run", features="small", initial=str(initial)).run(Session(events.append))
    message = f"{initial}: 1 weight for features that are not trained: lex(a|b)"
    assert Warned(message) in events
    assert message not in read_run(tmp_path / "run").warnings
    assert read_run(tmp_path / "run").initial == {"lm": 1.0}


def test_the_loop_of_a_batch_trainer_is_reported(task: Path, tmp_path: Path) -> None:
    events: list[Event] = []
    more = {"trainer": "kbmira", "set": {"passes": 2}, "iterations": 1, "kbest": 10}
    config(task, tmp_path, **more).run(Session(events.append))
    record = read_run(tmp_path)
    assert (record.settings["kbest"], record.settings["iterations"]) == (10, 1)
    assert record.settings["trainer"]["options"]["passes"] == 2
    epochs = len([event for event in events if isinstance(event, Epoch)])
    assert epochs == len([event for event in events if isinstance(event, Note) and "bleu" in event.text]) >= 4


def test_a_run_does_not_end_below_the_untrained_model(task: Path, tmp_path: Path) -> None:
    untrained = Model.open(task / "model").weights
    weak = tmp_path / "weak.txt"
    weak.write_text("word -3.0\n")
    made = config(task, tmp_path / "run", trainer="sgd", set={"eta": 1e-9, "epochs": 1}, initial=str(weak)).run(
        Session()
    )
    assert made.final["dev"]["bleu"] == made.final["untrained"]["dev"]["bleu"] > made.final["before"]["dev"]["bleu"]
    assert made.final["epoch"] == 0 and dict(made.weights) == untrained
    assert any("its weights are kept" in text for text in read_run(tmp_path / "run").warnings)
    plain = config(task, tmp_path / "plain", trainer="sgd", set={"epochs": 1}).run(Session())
    assert "untrained" not in plain.final  # it began with them
    assert plain.final["before"]["dev"]["bleu"] == made.final["untrained"]["dev"]["bleu"]


def test_learners(task: Path, tmp_path: Path) -> None:
    assert team(config(task, tmp_path)) == Learners()
    assert team(config(task, tmp_path, parallel="mix", learners=3)) == Learners("mix", 3)
    assert team(config(task, tmp_path, simulate_learners=4)) == Learners("async", 4, simulate=True)
    assert team(config(task, tmp_path, cluster="auto", learners=2)) == Learners("async", 2, cluster="auto")


def test_trainers_with_their_options(task: Path, tmp_path: Path) -> None:
    minrisk = model_trainer(config(task, tmp_path, trainer="minrisk", seed=4))
    assert minrisk.trainer == OnlineMinrisk(epochs=1, seed=4)
    pro = model_trainer(config(task, tmp_path, trainer="pro", set=["samples=9"]))
    assert pro.trainer.of == hf.Pro(samples=9, interpolation=0.1)  # type: ignore[attr-defined]  # as in every loop
    for more, message in (
        ({"trainer": "pro", "set": (), "parallel": "mix"}, "pro is a batch trainer: it has one learner"),
        ({"trainer": "costmargin", "set": (), "pop_limit": 3}, "--pop-limit is not for costmargin. Use --set"),
        ({"trainer": "costmargin", "set": (), "pop_limit": None, "kbest": 3}, "--kbest is not for costmargin. Leave"),
    ):
        with pytest.raises(OptionError, match=message):
            model_trainer(config(task, tmp_path, **more))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"dev_refs": ()}, "--dev-source and --dev-refs go together"),
        ({"test_source": "t"}, "--test-source and --test-refs go together"),
        ({"simulate_learners": 2, "cluster": "auto"}, "--simulate-learners cannot be combined"),
        ({"cluster": "auto", "parallel": "none"}, "--cluster needs --parallel"),
    ],
)
def test_options_that_do_not_go_together(task: Path, tmp_path: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        config(task, tmp_path, **more)


def test_features(task: Path, tmp_path: Path) -> None:
    model = Model.open(task / "model")

    def templates(trainer: str, **more: Any) -> object:
        given = config(task, tmp_path, trainer=trainer, set=(), **more)
        decoder = model_trainer(given).decoder(model)
        assert isinstance(decoder, Hiero) and decoder.pop_limit == 20
        return decoder.templates

    assert templates("mira") == ("lex",)
    assert templates("kbmira") == ()
    assert templates("kbmira", features="large") == ("lex",)
    with pytest.raises(InputError, match="has no features 'magic'"):
        templates("mira", features="lex,magic")


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blocks")
    write_block_task(folder, {"train": 40}, max_phrase=2)
    return folder


def test_what_costmargin_refuses_leaves_no_run(blocks: Path, task: Path, tmp_path: Path) -> None:
    def given(**more: Any) -> Train:
        common: dict[str, Any] = {"model": str(blocks / "model"), "source": str(blocks / "train.de"), "out": str(out)}
        return Train(**(common | {"refs": [str(blocks / "train.en")], "trainer": "costmargin"} | more))

    out = tmp_path / "run"
    for more, message in (
        ({"refs": [str(blocks / "train.en")] * 2}, "one reference per sentence"),
        ({"set": {"real": "lm,glue"}}, "real: there is no feature 'glue'"),
        ({"set": {"ties": "all"}}, "ties: 'all' is not known"),
        ({"model": str(task / "model")}, "is a model of hiero, and costmargin learns block sequences"),
        ({"source": str(task / "tune.source"), "refs": [str(blocks / "train.en")]}, "References go line by line"),
    ):
        with pytest.raises(InputError, match=message):
            given(**more).run(Session())
        assert not out.exists()
    events: list[Event] = []
    trained = given(set={"iterations": 2}, test_source=str(blocks / "train.de"),
                           test_refs=[str(blocks / "train.en")]).run(Session(events.append))  # fmt: skip
    record = read_run(out)
    assert record.settings["trainer"]["options"]["iterations"] == 2
    assert "parallel" not in record.settings and record.settings["holdout"] == 0
    assert [input["role"] for input in record.inputs] == ["source", "refs", "test_source", "test_refs"]
    assert [input["epoch"] for input in record.epochs] == [1, 2]
    assert set(trained.final) == {"epoch", "features", "train", "test"}
    assert len(trained.weights) == trained.final["features"]
    assert [event.text.split(":")[0] for event in events if isinstance(event, Note)] == [
        "truths",
        "iteration 1",
        "iteration 2",
        "weights",
    ]
    assert not (out / "checkpoint" / "relevant").exists()


def test_a_decoder_of_blocks_has_its_own_limits(blocks: Path, tmp_path: Path) -> None:
    given = Train(model=str(blocks / "model"), source="s", refs=["r"], trainer="mira", out=str(tmp_path))
    decoder = model_trainer(given).decoder(Model.open(blocks / "model"))
    assert isinstance(decoder, Blocks)
    assert (decoder.pop_limit, decoder.max_options, decoder.features) == (Blocks.pop_limit, Blocks.max_options, "none")


def test_weights_of_a_run_are_read_back(task: Path, tmp_path: Path) -> None:
    trained = config(task, tmp_path).run(Session())
    assert trained.weights == read_weights(tmp_path / "weights.txt")
