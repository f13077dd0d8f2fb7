"""Weights move with corrections, cannot be ruined by them, and follow from the journal."""

from pathlib import Path

import numpy as np
import pytest

from hopefear._core import learn
from hopefear.learning import weights
from hopefear.learning.corrections import Corrections
from hopefear.learning.decoding import Decoders
from hopefear.learning.journal import Journal, Record
from hopefear.model.directory import Model, put_weights
from hopefear.translator.folder import read_card, write_card
from hopefear.translator.translator import Translator
from tests.learning.conftest import ADJECTIVES, ENDS, NOUNS

SENTENCES = [(f"Ein {a} {n} {e}.", f"A {b} {m} {f}.") for n, m in NOUNS for a, b in ADJECTIVES for e, f in ENDS]
#: Another word for a known one: from the second correction on, the forest has it.
OTHER = [
    (f"Ein {a} {n} steht hier.", f"A {b} {m} stands here.")
    for a, b in ADJECTIVES
    for n, m in (("Haus", "building"), ("Tor", "door"))
]


@pytest.fixture
def corrections(model: Model, tmp_path: Path) -> Corrections:
    return Corrections(model, tmp_path / "c", "de", "en", decoders=Decoders(model, {}, {}))


def taught(corrections: Corrections, pairs: list[tuple[str, str]]) -> list[dict[str, float]]:
    return [dict(corrections.learn(*pair).weights) for pair in pairs]


def test_weights_move_by_what_the_journal_says(corrections: Corrections, model: Model, tmp_path: Path) -> None:
    changes = taught(corrections, OTHER)
    assert not any(changes[:2]) and any(changes)
    names = {name for change in changes for name in change}
    total = {name: sum(change.get(name, 0.0) for change in changes) for name in names}
    assert corrections.view().tuned == pytest.approx(total)
    again = Corrections(model, tmp_path / "c", "de", "en")
    assert again.view().tuned == corrections.view().tuned  # the same bits, and nothing is decoded
    corrections.undo("10")
    less = {name: sum(change.get(name, 0.0) for change in changes[:-1]) for name in names}
    assert corrections.view().tuned == pytest.approx({name: v for name, v in less.items() if name in less})
    corrections.undo(*map(str, range(1, 10)))
    assert not any(corrections.view().tuned.values())


def test_an_update_prefers_the_correction(model: Model, tmp_path: Path) -> None:
    """A correction's own rules take no part in its update: the first changes no weights, later ones do."""
    decoders = Decoders(model, {}, {})
    corrections = Corrections(model, tmp_path / "c", decoders=decoders)
    changes = taught(corrections, OTHER)
    assert "corrected_words" not in changes[0]
    assert sum(change.get("corrected_words", 0.0) for change in changes) > 0
    assert corrections.view().tuned.keys() <= set(decoders.of(corrections.view()).hiero.feature_names)


def test_lexical_weights_of_the_words_move_too(folder: Path) -> None:
    put_weights(folder, {**Model.open(folder).weights, "lex(haus,house)": 0.1})
    translator = Translator(folder)
    for pair in OTHER:
        translator.learn(*pair)
    tuned = translator.corrections.view().tuned
    assert tuned["lex(haus,house)"] < 0 and not any("boot" in name for name in tuned)


def test_what_was_corrected_before_changes_no_weights(corrections: Corrections) -> None:
    assert any(taught(corrections, OTHER))
    assert not any(taught(corrections, OTHER))


def test_ten_bad_corrections_do_not_ruin_a_translator(translator: Translator) -> None:
    good = [source for source, _ in SENTENCES[:60]]
    before = translator(good)
    for number in range(10):
        source = f"Ein neues Dings{number} ist wichtig hier und dort."
        translator.learn(source, f"word word the the {number} costs costs a a")
    after = translator(good)
    assert sum(a == b for a, b in zip(before, after, strict=True)) >= 57


def test_a_run_that_does_harm_is_rolled_back(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corrections = Corrections(model, tmp_path / "c", "de", "en", decoders=Decoders(model, {}, {}))
    taught(corrections, SENTENCES[:40])
    sane = dict(corrections.view().tuned)
    monkeypatch.setattr(weights.Updates, "_learner_at", lambda self, decoder: _Broken(self, decoder))
    learnt = [corrections.learn(*pair) for pair in SENTENCES[60:70]]
    assert "later steps made old corrections worse" in str(learnt[-1])
    assert corrections.view().tuned == pytest.approx(sane)
    assert Corrections(model, tmp_path / "c", "de", "en").view().tuned == corrections.view().tuned
    assert [each.status for each in corrections][-10:] == ["learnt"] * 10  # their phrases count
    kinds = [record.kind for record in Journal(tmp_path / "c").read()]
    assert kinds[-1] == "rollback" and kinds.count("rollback") == 1


def test_a_full_disk_during_a_rollback_loses_no_correction(
    corrections: Corrections, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights.Updates, "harmful", lambda self, view: [(0, 1)])
    write = Journal._write

    def fails(journal: Journal, line: bytes) -> None:
        if b'"rollback"' in line:
            raise OSError(28, "No space left on device")
        write(journal, line)

    monkeypatch.setattr(Journal, "_write", fails)
    learnt = corrections.learn(*OTHER[0])
    assert learnt.status == "learnt" and "could not be undone" in str(learnt)
    assert corrections.learn(*OTHER[2]).id == "2"
    assert len(Corrections(model, tmp_path / "c", "de", "en")) == 2


class _Broken:
    """A learner that prefers short translations."""

    def __init__(self, updates: weights.Updates, decoder: object) -> None:
        self._names = updates._names = decoder.hiero.feature_names  # type: ignore[attr-defined]
        self._at = decoder.vector  # type: ignore[attr-defined]

    @property
    def weights(self) -> np.ndarray:
        return self._at + np.array([-3.0 if name in ("word", "lm") else 0.0 for name in self._names])


@pytest.fixture(autouse=True)
def _no_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken learner is none of the core's."""
    real = learn
    monkeypatch.setattr(
        weights, "learn", lambda learners, *rest: isinstance(learners[0], _Broken) or real(learners, *rest)
    )


def test_a_recipe_may_ask_for_the_language_model_of_corrections(folder: Path) -> None:
    card = read_card(folder)
    write_card(folder, {**card, "recipe": {"corrected_ngrams": 0.5}})
    translator = Translator(folder)
    sentence = "Ein altes Tor kostet zwei Euro."
    before = translator(sentence)
    learnt = translator.learn("Ein rotes Dingsda steht hier.", "A red gizmo stands here.")
    view = translator.corrections.view()
    assert view.ngrams is not None and "gizmo" in view.ngrams
    assert "lm2" in translator.explain("Ein altes Dingsda ist wichtig.").text
    assert translator("Ein altes Dingsda ist wichtig.").count("gizmo") == 1
    translator.undo(learnt.id)
    assert translator.corrections.view().ngrams is None and translator(sentence) == before


def test_weights_of_a_journal_must_be_numbers(tmp_path: Path) -> None:
    record = Record(1, "correction", "2026-01-01T00:00:00Z", source="a", target="b", weights={"word": 0.5})
    assert Record.from_dict(record.as_dict()) == record
    for wrong in ({"word": float("nan")}, {"word": "x"}, [1]):
        with pytest.raises((ValueError, TypeError, AttributeError)):
            Record.from_dict({**record.as_dict(), "weights": wrong})


def test_with_corrections_the_decoder_looks_at_less_and_knows_the_same_words(model: Model, tmp_path: Path) -> None:
    decoders = Decoders(model, {"pop_limit": 100}, {})
    corrections = Corrections(model, tmp_path / "c", decoders=decoders)
    before = decoders.of(corrections.view())
    learnt = corrections.learn("Ein rotes Dingsda.", "A red gizmo.")
    after = decoders.of(corrections.view())
    assert (before.hiero.pop_limit, after.hiero.pop_limit) == (100, 60)
    assert after.hiero.decode(["x"], after.vector).vocab is before.hiero.decode(["x"], before.vector).vocab
    corrections.undo(learnt.id)
    assert decoders.of(corrections.view()).hiero.pop_limit == 100
