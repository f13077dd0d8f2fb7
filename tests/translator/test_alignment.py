"""Alignments of derivations against the rules they are made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hopefear.decode import Hiero
from hopefear.decode.hiero import Prepared, SentenceRule
from hopefear.model.grammar import read_grammar
from hopefear.translator.alignment import Aligner
from tests.decode.models import model_of


def test_links_of_rules_meet_in_the_derivation(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text(
        "[X] ||| a [X,1] c ||| z [X,1] y ||| phrase_ef=9 ||| 0-2 2-0\n"
        "[X] ||| b b ||| x w ||| phrase_ef=5 ||| 0-1 1-0\n"
        "[X] ||| d [X,1] [X,2] ||| [X,2] [X,1] v ||| phrase_ef=9 |||\n"
        "[X] ||| e ||| u ||| phrase_ef=1 ||| 0-0\n"
    )
    model = replace(model_of(tmp_path, [], []), grammar=read_grammar(tmp_path / "grammar"))
    decoder = Hiero(model, {"phrase_ef": 1.0, "glue": -1.0})
    words = ["a", "b", "b", "c", "?", "d", "e", "n"]
    own = [SentenceRule(7, 8, ["p", "q"], forced=True)]
    derivation = decoder.decode(Prepared([words], ["w" * 8], [own]))[0].viterbi(decoder.weights)
    aligned = Aligner(model.grammar).align(derivation, words)
    assert " ".join(aligned.words) == derivation.text == "z x w y ? p q u v"
    wanted = [(0, 3), (1, 2), (2, 1), (3, 0), (4, 4), (5, 8), (6, 7), (7, 5), (7, 6)]
    assert aligned.links == wanted  # without links of its own, the word v is spread to d
    spans = [(p.begin, p.end, p.start, p.stop) for p in aligned.phrases]
    assert spans == [(1, 3, 1, 3), (4, 5, 4, 5), (7, 8, 5, 7), (6, 7, 7, 8)]


def test_an_empty_sentence(tmp_path: Path) -> None:
    decoder = Hiero(model_of(tmp_path, [(("a",), ("u",), {})], []), {"lm": 1.0})
    assert Aligner(decoder.model.grammar).align(decoder.decode([""])[0].viterbi(decoder.weights), []).words == []
