from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import hopefear as hf
from hopefear.formats import GrammarRule, Nonterminal, iter_grammar, write_grammar


def test_cdec_and_joshua(tmp_path: Path) -> None:
    path = tmp_path / "g"
    path.write_text(
        "[X] ||| [X,1] de [NP,2] ||| [2] 's [1] ||| EgivenF=0.5 a=b=-2 ||| 1-1\n"
        "[S] ||| [X,1] de [NP,2] ||| [NP,2] 's [X,1] ||| 0.5;1e-300 Glue=1\n"
        "[X] ||| ich ||| \n"
    )
    x, np = Nonterminal("X", 1), Nonterminal("NP", 2)
    assert list(iter_grammar(path)) == [
        GrammarRule("X", (x, "de", np), (np, "'s", x), {"EgivenF": 0.5, "a=b": -2.0}, ((1, 1),)),
        GrammarRule("S", (x, "de", np), (np, "'s", x), {"PhraseModel_0": 0.5, "PhraseModel_1": 1e-300, "Glue": 1.0}),
        GrammarRule("X", ("ich",), ()),
    ]
    assert next(iter_grammar(path)).arity == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "g:1: expected at least 3 fields"),
        ("[X] ||| a", "g:1: expected at least 3 fields"),
        ("[X] ||| a ||| b ||| ||| ||| ", "g:1: expected at most 5 fields"),
        ("X ||| a ||| b", "g:1: 'X' is not a label"),
        ("[X] ||| ||| b", "g:1: the source side is empty"),
        ("[X] ||| [X,2] ||| [2]", "g:1: the gaps of the source side are numbered [2]"),
        ("[X] ||| [X,1] ||| b", "g:1: the two sides do not have the same gaps"),
        ("[X] ||| a ||| [1]", "g:1: the two sides do not have the same gaps"),
        ("[X] ||| [X,1] ||| [1] [1]", "g:1: the two sides do not have the same gaps"),
        ("[X] ||| a ||| b ||| f=x", "g:1: the feature 'f=x' is not name=value"),
        ("[X] ||| a ||| b ||| f=inf", "g:1: the feature 'f' has the value 'inf'"),
        ("[X] ||| a ||| b ||| =1", "g:1: the feature '=1' has no name"),
        ("[X] ||| a ||| b ||| f=1 f=2", "g:1: the feature 'f' occurs twice"),
        ("[X] ||| a ||| b ||| ||| 0:0", "g:1: the link '0:0' is not two numbers"),
        ("[X] ||| a ||| b ||| ||| 0-1", "g:1: the link '0-1' is outside of the rule"),
    ],
)
def test_bad_grammars(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "g"
    path.write_text(text + "\n")
    with pytest.raises(hf.InputError) as raised:
        list(iter_grammar(path))
    assert str(raised.value).startswith(message.replace("g:", f"{path}:", 1))


words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs"], exclude_characters="[]|=;"), min_size=1, max_size=4
)
values = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def rules(draw: st.DrawFn) -> GrammarRule:
    gaps = [Nonterminal(draw(words.filter(lambda w: "," not in w)), k) for k in range(1, draw(st.integers(0, 2)) + 1)]
    target: list[str | Nonterminal] = draw(st.permutations(gaps)) + draw(st.lists(words, max_size=2))
    source: list[str | Nonterminal] = [*gaps, *draw(st.lists(words, min_size=0 if gaps else 1, max_size=2))]
    features = draw(st.dictionaries(words, values, max_size=2))
    alignment = draw(st.sampled_from([(), ((0, 0),)])) if target else ()
    return GrammarRule(draw(words), tuple(source), tuple(target), features, alignment)


@settings(derandomize=True, deadline=None)
@given(st.lists(rules(), max_size=3), st.sampled_from(["cdec", "joshua"]))
def test_write_read_equal(tmp_path_factory: pytest.TempPathFactory, some: list[GrammarRule], style: str) -> None:
    path = tmp_path_factory.mktemp("grammar") / "g.gz"
    write_grammar(some, path, style)
    assert list(iter_grammar(path)) == some


def test_what_cannot_be_written(tmp_path: Path) -> None:
    for rule in [GrammarRule("X", ("|||",), ()), GrammarRule("X", ("a b",), ()), GrammarRule("X", ("[X,1]",), ("b",))]:
        with pytest.raises(hf.InputError, match="cannot be written"):
            write_grammar([rule], tmp_path / "g")
    with pytest.raises(hf.InputError, match="there is no style 'moses'"):
        write_grammar([], tmp_path / "g", "moses")
    assert list(tmp_path.iterdir()) == []
