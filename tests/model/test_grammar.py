"""The grammar file and the text format."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear import _core
from hopefear.errors import InputError
from hopefear.model import BuildOptions
from hopefear.model.grammar import Grammar, Rule, iter_rules, read_grammar, write_grammar, write_grammar_text
from hopefear.runs import Session
from tests.model.test_extract import extract, random_pairs, rules_of


def as_dict(grammar: Grammar) -> dict[tuple[str, str], Any]:
    return {(rule.source, rule.target): (rule.values, rule.links) for rule in iter_rules(grammar)}


@pytest.fixture(scope="module")
def table() -> _core.RuleTable:
    return extract(random_pairs(40, seed=21), max_options=7)


@pytest.fixture(scope="module")
def grammar(table: _core.RuleTable) -> Grammar:
    return Grammar.build(table)


def test_every_rule_is_found_under_its_source_side(table: _core.RuleTable, grammar: Grammar) -> None:
    wanted = rules_of(table)
    assert len(grammar) == len(wanted) > 500
    for rule in iter_rules(grammar):
        gamma = tuple("[X]" if token.startswith("[X,") else token for token in rule.source.split())
        scored = wanted.pop((gamma, tuple(rule.target.split())))
        assert list(rule.values.values()) == list(scored[:5])
        assert tuple(rule.links) == scored.links
        begin, end = grammar.find(rule.source)
        assert rule.target in [grammar.target(r) for r in range(begin, end)]
    assert not wanted
    assert grammar.find("f0 f1 f2 f3 f4 f5 f6") == (0, 0)
    assert grammar.find("nowhere") == (0, 0)
    assert grammar.find("") == (0, 0)
    assert grammar.max_source_symbols == 5


def test_file_is_what_was_written(grammar: Grammar, tmp_path: Path) -> None:
    write_grammar(grammar, tmp_path / "grammar.bin")
    again = Grammar.open(str(tmp_path / "grammar.bin"))
    assert as_dict(again) == as_dict(grammar)
    assert np.array_equal(again.bytes, grammar.bytes)
    again_built = Grammar.build(again.table())
    assert np.array_equal(again_built.bytes, grammar.bytes)


def test_empty_grammar(tmp_path: Path) -> None:
    empty = Grammar.build(_core.GrammarTextReader().finish())
    write_grammar(empty, tmp_path / "grammar.bin")
    opened = Grammar.open(str(tmp_path / "grammar.bin"))
    assert len(opened) == 0
    assert opened.find("a") == (0, 0)
    assert len(opened.filtered(["a b"], 10)) == 0


def test_a_cut_file_is_named(grammar: Grammar, tmp_path: Path) -> None:
    data = bytes(grammar.bytes)
    path = tmp_path / "grammar.bin"
    for size in (0, 10, 100, 700, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        for verify in (True, False):
            with pytest.raises(
                InputError, match=r"grammar\.bin: (not a grammar|has \d+ bytes instead of|the header is)"
            ):
                Grammar.open(str(path), verify=verify)


def test_any_flipped_bit_is_found(grammar: Grammar, tmp_path: Path) -> None:
    data = bytearray(grammar.bytes)
    path = tmp_path / "grammar.bin"
    padding = flips = 0
    for place in itertools.chain(range(0, 600, 7), range(600, len(data), len(data) // 250)):
        data[place] ^= 1 << (place % 8)
        path.write_bytes(data)
        try:
            Grammar.open(str(path))
            padding += 1
        except InputError as error:
            assert str(error).startswith(str(path))
            flips += 1
        data[place] ^= 1 << (place % 8)
    assert flips > 250
    assert padding <= 15  # between sections there are bytes that nobody reads


def test_nonsense_with_right_checksums_is_refused(tmp_path: Path) -> None:
    """Not damage but malice: a file with a wrong index and mended checksums."""
    grammar = read_text(tmp_path, "[X] ||| a [X,1] ||| u [X,1] ||| f=1 ||| 0-0\n[X] ||| b ||| v ||| f=1 ||| 0-0\n")
    sections = {
        "symbol": (1, 99),
        "symbols": (0, -2),
        "rule_begin": (1, 9),
        "child_begin": (1, 77),
        "first_side": (1, 44),
    }
    for section, (place, value) in sections.items():
        data = bytearray(grammar.bytes)
        rewrite(data, section, place, value)
        path = tmp_path / "bad.bin"
        path.write_bytes(data)
        with pytest.raises(InputError, match=f"section {section} "):
            Grammar.open(str(path))


def rewrite(data: bytearray, section: str, place: int, value: int) -> None:
    """Change one number of a section and fix the checksums the way the core computes them."""
    header, entry = 48, 40
    for i in range(14):
        at = header + entry * i
        if data[at : at + 16].rstrip(b"\0").decode() == section:
            offset, size = (int.from_bytes(data[at + 16 + 8 * k : at + 24 + 8 * k], "little") for k in range(2))
            data[offset + 4 * place : offset + 4 * place + 4] = value.to_bytes(4, "little", signed=True)
            data[at + 32 : at + 40] = checksum(bytes(data[offset : offset + size])).to_bytes(8, "little")
            data[32:40] = bytes(8)
            data[32:40] = checksum(bytes(data[: header + entry * 14])).to_bytes(8, "little")
            return
    raise AssertionError(section)


def checksum(data: bytes) -> int:
    mask = (1 << 64) - 1
    prime, other = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9

    def rotate(x: int, n: int) -> int:
        return (x << n | x >> (64 - n)) & mask

    lanes = [1, 2, 3, 4]
    whole = len(data) // 32 * 32
    for i in range(0, whole, 32):
        for k in range(4):
            block = int.from_bytes(data[i + 8 * k : i + 8 * k + 8], "little")
            lanes[k] = rotate(lanes[k] ^ block, 29) * prime & mask
    total = len(data)
    for value in lanes:
        total = (rotate(total, 23) ^ value) * other & mask
    for i in range(whole, len(data), 8):
        total = (rotate(total, 23) ^ int.from_bytes(data[i : i + 8], "little")) * other & mask
    total = (total ^ total >> 32) * prime & mask
    return total ^ total >> 29


def test_another_version_is_refused(grammar: Grammar, tmp_path: Path) -> None:
    data = bytearray(grammar.bytes)
    data[16] = 7
    path = tmp_path / "grammar.bin"
    path.write_bytes(data)
    with pytest.raises(InputError, match="a grammar of version 7, this hopefear reads version 1"):
        Grammar.open(str(path))


def read_text(folder: Path, text: str) -> Grammar:
    path = folder / "rules.txt"
    path.write_text(text, encoding="utf-8")
    return read_grammar(path)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_text_written_and_read_back_is_the_same(grammar: Grammar, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rules.txt{suffix}"
    write_grammar_text(grammar, path)
    assert as_dict(read_grammar(path)) == as_dict(grammar)


def test_words_that_look_like_markup_survive(tmp_path: Path) -> None:
    text = _core.ParallelText()
    text.add(["[X,1] [laughter] \\x \\[ a|||b"], ["[X,2] [1] \\\\ [X] ="])
    text.add_links([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    extractor = _core.Extractor(text, **BuildOptions().extraction())
    extractor.run(0, 1)
    grammar = Grammar.build(extractor.finish())
    write_grammar_text(grammar, tmp_path / "rules.txt")
    assert as_dict(read_grammar(tmp_path / "rules.txt")) == as_dict(grammar)


def test_grammars_of_other_toolkits(tmp_path: Path) -> None:
    notes: list[str] = []
    path = tmp_path / "rules.txt"
    path.write_text(
        "[X] ||| de [X,1] ||| of [1] ||| EgivenFCoherent=0.4 IsSingletonF=1 ||| 0-0\n"  # cdec
        "[X] ||| [X,2] ne [X,1] pas ||| [X,1] not [X,2] ||| 0.25 -1.5e-3\n"  # Joshua, numbered against the source order
        "[X] ||| de [X,1] ||| 's [1] |||  ||| 0-0 1-1\n"  # no features; nonterminals aligned
        "[X] ||| supprimé ||| ||| 1\n"  # an empty target side
        "[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| Glue=1\n"
        "[X] ||| de [X,1] ||| of [1] ||| 7 ||| 0-0\n"
    )
    grammar = read_grammar(path, run=Session(lambda event: notes.append(event.text)))  # type: ignore[attr-defined]
    rules = list(iter_rules(grammar))
    assert grammar.names == ["EgivenFCoherent", "IsSingletonF", "PhraseModel_0", "PhraseModel_1"]
    zeros = dict.fromkeys(grammar.names, 0.0)
    of = Rule("de [X,1]", "of [X,1]", zeros | {"EgivenFCoherent": np.float32(0.4), "IsSingletonF": 1.0}, [(0, 0)])
    assert rules == [
        Rule(
            "[X,1] ne [X,2] pas",
            "[X,2] not [X,1]",
            zeros | {"PhraseModel_0": 0.25, "PhraseModel_1": np.float32(-1.5e-3)},
            [],
        ),
        of,
        Rule("de [X,1]", "'s [X,1]", zeros, [(0, 0)]),
        Rule("supprimé", "", zeros | {"PhraseModel_0": 1.0}, []),
    ]
    assert notes == ["1 glue rules skipped: the decoder has its own", "1 repeated rules left out"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[X] ||| a", "expected .* found 2 fields"),
        ("[NP] ||| a ||| b ||| 1", r'"\[NP\]" is not \[X\]'),
        ("[X] ||| [NP,1] a ||| [NP,1] b ||| 1", "only X is read"),
        ("[X] ||| a [X,1] ||| b ||| 1", "missing on the target side"),
        ("[X] ||| a ||| b [X,1] ||| 1", "is not on the source side"),
        ("[X] ||| a [X,1] ||| [1] [1] ||| 1", "stands twice on the target side"),
        ("[X] ||| [X,1] a [X,1] ||| [1] ||| 1", "stands twice on the source side"),
        ("[X] ||| [X,1] a [X,2] [X,3] ||| [1] [2] [3] ||| 1", "has 3 nonterminals"),
        ("[X] ||| ||| b ||| 1", "the source side is empty"),
        ("[X] ||| [X,1] ||| [1] ||| 1", "has no word"),
        ("[X] ||| a ||| b ||| p=nan", "not a finite number"),
        ("[X] ||| a ||| b ||| p=1 p=2", "stands twice"),
        ("[X] ||| a ||| b ||| =1", "has no name"),
        ("[X] ||| a ||| b ||| 1 ||| 0-1", "outside the rule"),
        ("[X] ||| a ||| b ||| 1 ||| 00", "no alignment point"),
        ("[X] ||| a ||| b ||| 1 ||| 0-0 ||| x", "more than 5 fields"),
        ("[X] ||| " + "a " * 300 + "||| b ||| 1", "more than 255 symbols"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=r"rules\.txt:2: .*" + message):
        read_text(tmp_path, "[X] ||| a ||| b ||| 1\n" + line + "\n")


def matches(side: list[str], words: list[str], max_span: int) -> bool:
    """Does a source side cover some stretch of the words?"""

    def behind(k: int, at: int) -> bool:
        if k == len(side):
            return True
        if side[k].startswith("[X,"):
            return any(behind(k + 1, end) for end in range(at + 1, min(at + max_span, len(words)) + 1))
        return at < len(words) and words[at] == side[k] and behind(k + 1, at + 1)

    return any(behind(0, at) for at in range(len(words)))


@pytest.mark.parametrize("max_span", [1, 2, 20])
def test_filtered_to_sentences(grammar: Grammar, max_span: int) -> None:
    sentences = ["f0 f1 f2 unknown f3 f4", "", "f5 f5 f6"]
    kept = as_dict(Grammar.build(grammar.filtered(sentences, max_span, jobs=2)))
    wanted = {
        key: value
        for key, value in as_dict(grammar).items()
        if any(matches(key[0].split(), sentence.split(), max_span) for sentence in sentences)
    }
    assert 0 < len(wanted) < len(grammar)
    assert kept == wanted


def test_a_file_that_is_cut_off_while_it_is_mapped(model_path: Path, tmp_path: Path) -> None:
    """The system's signal becomes one line that names the file."""
    path = tmp_path / "grammar.bin"
    path.write_bytes((model_path / "grammar.bin").read_bytes())
    code = (
        "import os, sys; from hopefear._core import Grammar; grammar = Grammar.open(sys.argv[1], False, 1); "
        "os.truncate(sys.argv[1], 0); grammar.columns.sum()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"hopefear: {path}: was cut off") and done.stderr.count("\n") == 1
