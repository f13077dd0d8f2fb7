import pytest

from hopefear.learning.alignment import WordTable, misfit
from hopefear.model.directory import Model


@pytest.fixture(scope="module")
def table(model: Model) -> WordTable:
    return WordTable(model)


def linked(table: WordTable, source: str, target: str) -> set[str]:
    left, right = source.split(), target.split()
    return {f"{left[s]}-{right[t]}" for s, t in table.align(left, right).links}


def test_known_words_are_linked_by_their_probabilities(table: WordTable) -> None:
    links = linked(table, "ein rotes haus kostet zwei euro .", "a red house costs two euros .")
    assert links == {"ein-a", "rotes-red", "haus-house", "kostet-costs", "zwei-two", "euro-euros", ".-."}


def test_the_order_of_words_may_differ(table: WordTable) -> None:
    links = linked(table, "rotes haus ist wichtig", "important is house red")
    assert links == {"rotes-red", "haus-house", "ist-is", "wichtig-important"}


def test_unknown_words_are_linked_by_their_place(table: WordTable) -> None:
    links = linked(table, "ein rotes dingsda steht hier .", "a red gizmo stands here .")
    assert "dingsda-gizmo" in links


def test_unknown_words_are_linked_by_their_spelling(table: WordTable) -> None:
    links = linked(table, "quuxa blorka steht hier", "blorke quuxe stands here")
    assert {"quuxa-quuxe", "blorka-blorke"} <= links
    assert "77-77" in linked(table, "haus 77 xx", "yy 77 house")


def test_words_of_the_model_have_its_probabilities(table: WordTable, model: Model) -> None:
    ef, fe = table.of("haus")["house"]
    assert ef == pytest.approx(1, abs=0.1) and 0 < fe <= 1
    assert table.of("never") == {} and table.of("[X,1]") == {}


SOURCE, TARGET = "ein rotes haus kostet zwei euro .", "a red house costs two euros ."


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (SOURCE, TARGET, ""),
        (SOURCE, "a red horse costs two euros .", ""),
        (SOURCE, SOURCE, "the same"),
        (TARGET, SOURCE, "swapped"),
        (SOURCE, "une maison rouge coûte deux francs suisses", "another language"),
        (SOURCE, "the old boat belongs to the customer", "does not seem to translate"),
        (SOURCE, " ".join(["house"] * 60), "60 words do not translate 7"),
        (SOURCE, "", "no words"),
        ("haus", "building", ""),
        ("ikea", "ikea", ""),
    ],
)
def test_what_does_not_fit_is_set_aside(table: WordTable, source: str, target: str, reason: str) -> None:
    left, right = source.split(), target.split()
    finding = misfit(table, left, right, table.align(left, right))
    assert (reason in finding) if reason else finding == ""
