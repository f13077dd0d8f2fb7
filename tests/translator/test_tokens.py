"""The words of a segment: where each of them stands in the text."""

from hopefear.documents.segment import Segment
from hopefear.model.text import TextPipeline
from hopefear.translator.tokens import words_of


def spans(text: str, pipeline: TextPipeline) -> list[str]:
    words = words_of(Segment((text,)), pipeline)
    return [words.text[word.start : word.stop] for word in words.words]


def test_a_piece_of_punctuation_may_have_no_words() -> None:
    pipeline = TextPipeline("unicode", strip_punctuation=True)
    assert spans("hola , que tal . . .", pipeline) == ["hola", "que", "tal"]
    assert spans("...", pipeline) == []


def test_words_cover_their_piece() -> None:
    assert spans("a-b c.", TextPipeline("unicode")) == ["a", "-", "b", "c", "."]
