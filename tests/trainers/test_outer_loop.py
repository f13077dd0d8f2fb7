"""The outer loop around a decoder command: what it learns, what it does when the decoder misbehaves, and resuming."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hopefear as hf
from hopefear.errors import InputError
from hopefear.runs.events import Decoded, Epoch
from hopefear.runs.session import Session
from hopefear.train.decoder_command import DecoderCommand
from hopefear.trainers.outer_loop import OuterLoop

TOY = Path(__file__).parents[2] / "examples" / "toy_decoder.py"
INITIAL = {"tm": 0.5, "lm": 0.5, "words": 0.2}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    subprocess.run([sys.executable, TOY, "make", folder], check=True)
    for name in ("source.txt", "ref.txt"):  # a small set
        lines = (folder / name).read_text().splitlines(keepends=True)[:12]
        (folder / name).write_text("".join(lines))
    return folder


def toy(data: Path, more: str = "", **options: Any) -> DecoderCommand:
    command = f"{sys.executable} {TOY} {data}/source.txt {{weights}} --beam 10 {more}"
    return DecoderCommand(command, (data / "ref.txt",), **options)


def loop(decoder: DecoderCommand, **options: Any) -> OuterLoop:
    return OuterLoop(hf.Kbmira(jobs=1), decoder, **{"iterations": 3, **options})


def files(folder: Path) -> dict[str, bytes]:
    """What a loop leaves: everything but the clock-free lists' own folder names."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def undisturbed(data: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("undisturbed") / "not" / "there" / "yet"
    return folder, loop(toy(data)).run(INITIAL, Session(folder=folder))


def test_learns_and_returns_the_best_decoding(undisturbed: Any) -> None:
    _, outcome = undisturbed
    scores = [decoding.scores["dev"] for decoding in outcome.decoded]
    assert outcome.best.scores["dev"] == max(scores) > scores[0] + 5
    assert outcome.weights == outcome.decoded[scores.index(max(scores))].weights
    assert outcome.decoded[0].weights == INITIAL


def test_scores_are_those_of_the_decoders_first_translations(data: Any, undisturbed: Any, tmp_path: Path) -> None:
    _, outcome = undisturbed
    hf.write_weights(outcome.weights, tmp_path / "w")
    command = [sys.executable, TOY, data / "source.txt", tmp_path / "w", "--beam", "10"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    best: dict[str, str] = {}
    for line in out.splitlines():
        label, text, *_ = line.split(" ||| ")
        best.setdefault(label, text)
    references = (data / "ref.txt").read_text().splitlines()
    assert hf.Bleu().corpus_score(list(best.values()), [references]) == pytest.approx(outcome.best.scores["dev"])


def test_candidates_are_joined_without_duplicates(undisturbed: Any) -> None:
    folder, outcome = undisturbed
    whole = OuterLoop(hf.Kbmira(), DecoderCommand(""), 10).candidates(folder, len(outcome.decoded))
    distinct = set()
    for k in range(len(outcome.decoded)):
        own = hf.read_forests(folder / f"iteration-{k + 1}" / "candidates.forests")
        for i in range(len(own)):
            for j in range(len(own[i].edge_begin) and int(own[i].edge_begin[-1])):
                values = dict(zip(own.feature_names, own[i].dense[j].tolist(), strict=True))
                distinct.add((own.ids[i], own.text(i, j), *sorted(values.items())))
    assert whole.row_begin()[-1] == len(distinct) == outcome.decoded[-1].candidates
    assert sum(decoding.new for decoding in outcome.decoded) == len(distinct)
    assert whole.ids == [str(i) for i in range(12)]


@pytest.mark.parametrize("recent", [1, 2])
def test_recent_lists_are_all_that_is_learnt_from(data: Any, tmp_path: Path, recent: Any) -> None:
    own = loop(toy(data), recent=recent)
    outcome = own.run(INITIAL, Session(folder=tmp_path))
    for number, decoding in enumerate(outcome.decoded, 1):
        lists = hf.merged([own.decoding(tmp_path, k) for k in range(max(1, number - recent + 1), number + 1)])
        assert decoding.candidates == lists.row_begin()[-1] == own.candidates(tmp_path, number).row_begin()[-1]
        if number < len(outcome.decoded):
            learner = replace(own.trainer, seed=own.trainer.seed + 7919 * (number - 1))
            assert learner.fit(lists, decoding.weights).weights == outcome.decoded[number].weights
    assert own.run(INITIAL, Session(folder=tmp_path)) == outcome


@pytest.mark.parametrize("lost", range(9))
def test_a_loop_that_was_killed_anywhere_ends_with_the_same_files(
    data: Any, undisturbed: Any, tmp_path: Path, lost: Any
) -> None:
    # Killed before the last `lost` files were written, with the rubbish of a killed decoder left behind.
    folder, outcome = undisturbed
    order = []
    for k in range(1, len(outcome.decoded) + 1):
        names = ("weights.txt", "candidates.forests", "decoded.json", "learnt.txt", "learnt.json")
        order += [f"iteration-{k}/{name}" for name in names if (folder / f"iteration-{k}" / name).exists()]
    for name in order[: len(order) - lost]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    rubbish = tmp_path / f"iteration-{len(outcome.decoded)}" / "decoding-old"
    rubbish.mkdir(parents=True)
    (rubbish / "nbest").write_text("0 ||| half a li")
    again = loop(toy(data)).run(INITIAL, Session(folder=tmp_path))
    assert again == outcome
    if lost > 3:
        assert files(tmp_path) == files(folder)


def test_what_is_there_is_not_decoded_again(undisturbed: Any) -> None:
    folder, outcome = undisturbed
    assert loop(DecoderCommand("exit 3 # {weights}")).run(INITIAL, Session(folder=folder)) == outcome


def test_stops_when_a_decoding_brings_nothing_new(tmp_path: Path) -> None:
    (tmp_path / "ref").write_text("a b c d e\n")
    (tmp_path / "list").write_text("0 ||| a b c d x ||| f= 1 ||| 0\n0 ||| a b c d e ||| f= 2 ||| 0\n")
    decoder = DecoderCommand(f"cat {tmp_path}/list # {{weights}}", (tmp_path / "ref",))
    outcome = loop(decoder, iterations=9).run({"f": -0.1}, Session(folder=tmp_path / "run"))
    assert outcome.stopped == "the last decoding found nothing new"
    assert [decoding.new for decoding in outcome.decoded] == [2, 0]
    assert outcome.best.number == 1  # this decoder does not listen


def test_stops_when_the_weights_hardly_move(data: Any, tmp_path: Path) -> None:
    outcome = loop(toy(data), tolerance=1e9).run(INITIAL, Session(folder=tmp_path))
    assert outcome.stopped == "the weights hardly change any more" and len(outcome.decoded) == 1


def test_weights_of_features_that_no_candidate_has_are_kept(data: Any, tmp_path: Path) -> None:
    outcome = loop(toy(data), iterations=1).run({**INITIAL, "decoder:secret": 7.0}, Session(folder=tmp_path))
    assert all(decoding.weights["decoder:secret"] == 7.0 for decoding in outcome.decoded)


def test_initial_weights_of_another_decoder_are_refused(data: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the initial weights"):
        loop(toy(data)).run({"LM0": 1.0}, Session(folder=tmp_path))


def test_without_initial_weights_the_first_file_is_empty(data: Any, tmp_path: Path) -> None:
    outcome = loop(toy(data), iterations=1).run(None, Session(folder=tmp_path))
    assert (tmp_path / "iteration-1" / "weights.txt").read_text() == ""
    assert set(outcome.decoded[1].weights) == {"tm", "lm", "words"}


def test_a_part_is_kept_aside(data: Any, tmp_path: Path) -> None:
    it = loop(toy(data), iterations=1, holdout=0.25)
    parts = it.parts(12)
    assert len(parts["holdout"]) == 3 and sorted([*parts["dev"], *parts["holdout"]]) == list(range(12))
    outcome = it.run(INITIAL, Session(folder=tmp_path))
    assert set(outcome.best.scores) == {"dev", "holdout"}


def test_learnt_only_leaves_the_first_weights_out(data: Any, tmp_path: Path, undisturbed: Any) -> None:
    best = undisturbed[1].weights
    outcome = loop(toy(data), iterations=1).run(best, Session(folder=tmp_path), learnt_only=True)
    assert len(outcome.decoded) == 1 or outcome.best.number > 1


def test_folders_with_blanks_and_quotes_work(data: Any, tmp_path: Path) -> None:
    outcome = loop(toy(data, "> {nbest}"), iterations=1).run(INITIAL, Session(folder=tmp_path / 'it\'s a "folder"'))
    assert outcome.decoded[0].candidates > 12


def test_warnings_of_the_trainer_are_passed_on(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it = loop(toy(data), iterations=2)
    fit = type(it.trainer).fit

    def warns(self: Any, pool: Any, initial: Any = None, *, run: Any = None) -> Any:
        return replace(fit(self, pool, initial, run=run), warnings=["weights diverged"])

    monkeypatch.setattr(type(it.trainer), "fit", warns)
    assert it.run(INITIAL, Session(folder=tmp_path)).warnings == ["weights diverged"]
    assert it.run(INITIAL, Session(folder=tmp_path)).warnings == ["weights diverged"]  # from its memory


def test_rampion_is_pulled_towards_the_weights_of_the_loop(
    data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Algorithm 1: theta_0 of line 1 is that of line 11 in every decoding, while theta goes on."""
    fit = hf.Rampion.fit_towards

    def seen(self: Any, anchor: Any, pool: Any, initial: Any = None, *, run: Any = None) -> Any:
        (tmp_path / f"seen-{self.seed}").write_text(repr((anchor, initial)))  # it is in a process of its own
        return fit(self, anchor, pool, initial, run=run)

    monkeypatch.setattr(hf.Rampion, "fit_towards", seen)
    outcome = OuterLoop(hf.Rampion(jobs=1), toy(data), 2).run(INITIAL, Session(folder=tmp_path / "run"))
    fits = [eval(path.read_text()) for path in sorted(tmp_path.glob("seen-*"))]
    assert [anchor for anchor, _ in fits] == [INITIAL, INITIAL]
    assert [initial for _, initial in fits] == [outcome.decoded[0].weights, outcome.decoded[1].weights]
    assert outcome.decoded[1].weights != INITIAL


def test_a_trainer_that_fails_later_keeps_the_best_so_far(
    data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = loop(toy(data))
    fit = type(it.trainer).fit

    def breaks(self: Any, pool: Any, initial: Any = None, *, run: Any = None) -> Any:
        if self.seed > 1:
            raise InputError("weights diverged")
        return fit(self, pool, initial, run=run)

    monkeypatch.setattr(type(it.trainer), "fit", breaks)
    outcome = it.run(INITIAL, Session(folder=tmp_path))
    assert len(outcome.decoded) == 2 and outcome.stopped == "weights diverged"
    assert "the best weights so far are kept" in outcome.warnings[0]


def test_events_of_the_loop(data: Any, tmp_path: Path) -> None:
    """Decodings, and the epochs of each fit with the iteration that they belong to; no progress of the fits."""
    events: list[Any] = []
    outcome = OuterLoop(hf.Mert(jobs=1, restarts=1), toy(data), 2).run(INITIAL, Session(events.append, tmp_path))
    assert all(isinstance(event, Epoch) for event in events)
    decoded = [event for event in events if isinstance(event, Decoded)]
    assert [event.epoch for event in decoded] == [decoding.number for decoding in outcome.decoded]
    assert [event.score for event in decoded] == [decoding.scores["dev"] for decoding in outcome.decoded]
    inner = [event for event in events if not isinstance(event, Decoded)]
    assert [event.context["iteration"] for event in inner] == [1, 1, 2, 2]
    assert inner[0].record() == {"iteration": 1, "epoch": 0, "score": inner[0].score, **inner[0].figures}
