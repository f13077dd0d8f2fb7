import threading
from pathlib import Path

import pytest

from hopefear.errors import InputError
from hopefear.learning.corrections import MOST_CHARACTERS, Corrections
from hopefear.learning.export import write_tmx
from hopefear.model.directory import Model
from hopefear.translator.translator import Translator
from tests.learning.conftest import ADJECTIVES, ENDS

SOURCE, TARGET = "Ein rotes Dingsda steht hier.", "A red gizmo stands here."


@pytest.fixture
def corrections(model: Model, tmp_path: Path) -> Corrections:
    return Corrections(model, tmp_path / "c", "de", "en")


def state(corrections: Corrections) -> tuple[object, ...]:
    """All that decides translations."""
    view = corrections.view()
    pairs = [(p.owner, p.part, p.text, p.correction, p.source, p.target, p.links) for p in view.memory.pairs]
    return [str(each) for each in corrections], pairs[: view.count], view.undone


def test_what_was_learnt_is_reported(corrections: Corrections) -> None:
    learnt = corrections.learn(SOURCE, TARGET)
    assert learnt.status == "learnt" and learnt.id == "1"
    assert ("dingsda", "gizmo") in learnt.phrases and ("rotes", "red") not in learnt.phrases
    assert str(learnt).startswith("1 learnt, ") and "dingsda = gizmo" in str(learnt)
    assert ("dingsda", "gizmo") not in corrections.learn("Ein altes Dingsda.", "An old gizmo.").phrases


@pytest.mark.parametrize("place", [".", "journal.jsonl", "lock", "layers", "layers/a", "layers/a/journal.jsonl"])
def test_nothing_is_written_through_a_link(place: str, model: Model, tmp_path: Path) -> None:
    """A translator of others may have corrections whose journal leads elsewhere: it would be emptied."""
    (tmp_path / "v" / "layers" / "a").mkdir(parents=True)
    for folder in ("v", "v/layers/a"):
        (tmp_path / folder / "journal.jsonl").write_text("mine, without the end of a line")
    link = tmp_path / "c" / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "v" / (place if place != "lock" else "new"))
    for layer in (None, "a"):
        with pytest.raises(InputError, match="is a link, through which files elsewhere would be written"):
            Corrections(model, tmp_path / "c", "de", "en", layer).learn(SOURCE, TARGET)
    assert (tmp_path / "v" / "journal.jsonl").read_text() == "mine, without the end of a line"
    assert not (tmp_path / "v" / "new").exists()


def test_a_replay_gives_the_same_state(corrections: Corrections, model: Model, tmp_path: Path) -> None:
    corrections.learn(SOURCE, TARGET, user="eve", project="p")
    corrections.learn("Ein altes Tor.\nDas Boot.", "An old gate.\nThe boat.")
    corrections.learn(SOURCE, "This red gizmo stands here.")
    corrections.undo("3")
    assert state(Corrections(model, tmp_path / "c", "de", "en")) == state(corrections)
    assert len(corrections.view().memory.pairs) == 4


def test_unmatched_sentences_are_learnt_as_one(corrections: Corrections, model: Model, tmp_path: Path) -> None:
    source = "Ein Tor. Ein rotes Haus gehört dem Kunden, ein altes Boot kostet zwei Euro hier."
    target = "A gate, a red house belongs to the customer, an old boat costs two euros. Here."
    assert corrections.learn(source, target).status == "learnt"
    assert [each.text for each in corrections.view().memory.pairs] == [source]
    assert state(Corrections(model, tmp_path / "c", "de", "en")) == state(corrections)


def test_undo_takes_back(corrections: Corrections) -> None:
    corrections.learn(SOURCE, TARGET)
    second = corrections.learn(SOURCE, "The red gizmo stands here.")
    assert "replaces 1" in str(second)
    found = corrections.view().exact(SOURCE)
    assert found is not None and found.correction.startswith("The")
    assert corrections.undo(second.id) == ["2"]
    assert corrections.undo(second.id) == []
    found = corrections.view().exact(SOURCE)
    assert found is not None and found.correction == TARGET
    assert [each.status for each in corrections] == ["learnt", "undone"]
    with pytest.raises(InputError, match="there is no correction 7"):
        corrections.undo("7")


def test_undo_since_a_time(corrections: Corrections) -> None:
    corrections.learn(SOURCE, TARGET)
    assert corrections.undo_since("2999-01-01") == []
    assert corrections.undo_since("2020-01-01T00:00:00+02:00") == ["1"]
    with pytest.raises(InputError, match="is not a time"):
        corrections.undo_since("yesterday")


def test_of_ten_contradictory_corrections_the_last_counts(corrections: Corrections) -> None:
    learnt = [corrections.learn(SOURCE, f"A red gizmo number {n} stands here.") for n in range(10)]
    assert all(f"replaces {n}" in str(each) for n, each in enumerate(learnt[1:], 1))
    found = corrections.view().exact(SOURCE)
    assert found is not None and "number 9" in found.correction
    rules = corrections.rules(corrections.view(), ["dingsda", "steht"])
    assert not any("0" in rule.target for rule in rules)


@pytest.mark.parametrize(("source", "target"), [("", TARGET), (SOURCE, " \n"), (SOURCE, "x" * (MOST_CHARACTERS + 1))])
def test_what_cannot_be_learnt_is_an_error(corrections: Corrections, source: str, target: str) -> None:
    with pytest.raises(InputError):
        corrections.learn(source, target)
    assert list(corrections) == []


@pytest.mark.parametrize("target", [SOURCE, "The old boat belongs to the customer tomorrow.", "wort " * 60])
def test_what_does_not_fit_is_set_aside(corrections: Corrections, target: str) -> None:
    learnt = corrections.learn(SOURCE, target)
    assert learnt.status == "set aside" and "nothing was learnt" in str(learnt)
    assert not corrections.view() and corrections.view().exact(SOURCE) is None
    assert [each.status for each in corrections] == ["set aside"]


def test_swapped_sides_are_set_aside(corrections: Corrections) -> None:
    assert "swapped" in str(corrections.learn("A red house stands here.", "Ein rotes Haus steht hier."))


def test_strange_characters_are_taken(corrections: Corrections, model: Model, tmp_path: Path) -> None:
    corrections.learn("Ein \udc80 Tor\x00.", "A \u2028 gate\x1b.")
    assert state(Corrections(model, tmp_path / "c", "de", "en")) == state(corrections)


def test_layers(model: Model, tmp_path: Path) -> None:
    shared = Corrections(model, tmp_path, "de", "en")
    own = Corrections(model, tmp_path, "de", "en", layer="eve")
    shared.learn(SOURCE, TARGET)
    assert own.learn(SOURCE, "This red gizmo stands here.").id == "eve:1"
    found, theirs = own.view().exact(SOURCE), shared.view().exact(SOURCE)
    assert found is not None and found.correction.startswith("This")
    assert theirs is not None and theirs.correction == TARGET
    with pytest.raises(InputError, match="there is no correction"):
        own.undo("2")
    own.undo("eve:1")
    found = own.view().exact(SOURCE)
    assert found is not None and found.correction == TARGET


def test_two_of_one_process_may_learn(model: Model, tmp_path: Path) -> None:
    first, second = Corrections(model, tmp_path, "de", "en"), Corrections(model, tmp_path, "de", "en")
    first.learn(SOURCE, TARGET)
    assert second.view().exact(SOURCE) is not None
    assert second.learn(SOURCE, TARGET).id == "2"
    assert first.undo("2") == ["2"]


def test_threads(corrections: Corrections, model: Model, tmp_path: Path) -> None:
    def work(name: str) -> None:
        for number in range(10):
            corrections.learn(f"Ein {name} Tor {number}.", f"A {name} gate {number}.")
            assert corrections.view().exact(f"Ein {name} Tor {number}.") is not None

    threads = [threading.Thread(target=work, args=(name,)) for name in ("rotes", "altes", "neues")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(corrections) == 30
    assert state(Corrections(model, tmp_path / "c", "de", "en")) == state(corrections)


def test_export(corrections: Corrections, tmp_path: Path) -> None:
    from hopefear.corpus.reading import read_pairs

    corrections.learn(SOURCE, "A <red> gizmo & \x07 stands here.", user='"eve"')
    corrections.learn("Das Tor", "The gate")
    corrections.undo("2")
    corrections.learn(SOURCE, SOURCE)
    assert write_tmx(tmp_path / "x.tmx", corrections, "de", "en") == 1
    ((source, target),) = [(p.source, p.target) for p in read_pairs([tmp_path / "x.tmx"], "de", "en")]
    assert (source, target) == (SOURCE, "A <red> gizmo & \ufffd stands here.")


class TestTranslator:
    def test_a_repetition_gives_the_corrected_text(self, translator: Translator, folder: Path) -> None:
        translator.learn(SOURCE, TARGET)
        assert translator(SOURCE) == TARGET
        assert translator(f"  {SOURCE} {SOURCE}\n{SOURCE}") == f"  {TARGET} {TARGET}\n{TARGET}"
        assert translator.alternatives(SOURCE, 3)[0].match == 1.0
        assert Translator(folder)(SOURCE) == TARGET

    def test_new_words_are_used_in_other_sentences(self, translator: Translator) -> None:
        assert "gizmo" not in translator("Ein altes Dingsda ist wichtig.")
        translator.learn(SOURCE, TARGET)
        assert translator("Ein altes Dingsda ist wichtig.") == "A old gizmo is important."

    def test_known_words_move_with_the_evidence(self, translator: Translator) -> None:
        sentence = "Ein kleines Tor ist wichtig."
        assert translator(sentence) == "A small gate is important."
        ids = []
        for adjective, other in ADJECTIVES:
            for end, ending in ENDS:
                ids.append(translator.learn(f"Ein {adjective} Tor {end}.", f"A {other} house {ending}.").id)
        assert translator(sentence) == "A small house is important."
        translator.undo(*ids)
        assert translator(sentence) == "A small gate is important."

    def test_a_sentence_like_one_is_offered(self, translator: Translator) -> None:
        translator.learn("Ein rotes Boot kostet 20 Euro.", "One red boat is 20 euros.")
        offers = translator.alternatives("Ein rotes Boot kostet 35 Euro.", 3)
        assert [each.text for each in offers if each.match] == ["One red boat is 35 euros."]
        assert offers[0].match is None

    def test_tags_stay(self, translator: Translator) -> None:
        translator.learn(SOURCE, TARGET)
        assert "<b>" in translator("Ein <b>rotes</b> Dingsda steht hier.")

    def test_what_was_corrected_as_a_whole_comes_back(self, translator: Translator) -> None:
        source = "Ein Tor steht hier. Ein Boot ist wichtig."
        translator.learn(source, "A gate stands here, and a boat is important.")
        assert translator(source) == "A gate stands here, and a boat is important."

    def test_a_correction_is_explained(self, translator: Translator) -> None:
        translator.learn(SOURCE, TARGET)
        assert f"corrected: {TARGET}" in str(translator.explain(SOURCE))

    def test_corrections_beside_a_packed_translator(self, folder: Path, tmp_path: Path) -> None:
        from hopefear.translator.folder import pack

        packed = pack(folder, tmp_path / "small.hft")
        Translator(packed).learn(SOURCE, TARGET)
        assert (tmp_path / "small.hft.corrections" / "journal.jsonl").is_file()
        assert Translator(packed)(SOURCE) == TARGET

    def test_a_translator_without_corrections_writes_nothing(self, translator: Translator, folder: Path) -> None:
        translator(SOURCE)
        list(translator.corrections)
        assert not (folder / "corrections").exists()
