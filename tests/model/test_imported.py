"""Models of other toolkits: the score of a derivation is theirs, by their own arithmetic."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.formats import write_weights
from hopefear.model.directory import Model
from hopefear.model.imported import export_model, import_model
from hopefear.model.joshua import read_joshua_config
from hopefear.model.language_model import LanguageModel
from hopefear.runs.events import Event, Warned
from hopefear.runs.session import Session

ARPA = """\\data\\
ngram 1=6
ngram 2=3

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.3
-1.0\t</s>
-0.7\tgreen\t-0.2
-0.4\tthe\t-0.1
-0.9\thouse\t-0.25

\\2-grams:
-0.2\tthe house
-0.6\tgreen the
-0.5\t<s> green

\\end\\
"""
LINE, SAID = "la casa verde zz", "green the house zz"  # two parts; green has a gap; zz is unknown
GRAMMARS = {
    "joshua": (
        "[X] ||| la casa ||| the house ||| 0.5 1.25 Extra=2 ||| 0-0 1-1\n"
        "[X] ||| [X,1] verde ||| green [X,1] ||| 0.25 0.5\n",
        "[GOAL] ||| <s> ||| <s> ||| 0\n"
        "[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1\n"
        "[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0\n",
        {"tm_pt_0": 0.8, "tm_pt_1": 0.3, "Extra": -0.7, "tm_glue_0": 0.4, "lm_0": 1.2, "WordPenalty": -2.0}
        | {"OOVPenalty": 0.9},
    ),
    "cdec": (
        "[X] ||| la casa ||| the house ||| -0.5 Lex=1.25 ||| 0-0 1-1\n"
        "[X] ||| [X,1] verde ||| green [1] ||| -0.25 Lex=0.5\n",
        "[S] ||| [X,1] ||| [1]\n[S] ||| [S,1] [X,2] ||| [1] [2] ||| Glue=1\n",
        {
            "PhraseModel_0": 0.8,
            "Lex": -0.3,
            "Glue": 0.4,
            "LanguageModel": 1.2,
            "WordPenalty": -2.0,
            "PassThrough": -7.0,
        },
    ),
    "moses": (
        "la casa [X] ||| the house [X] ||| 0.5 0.125 ||| 0-0 1-1 ||| 1 1 1\n"
        "[X][X] verde [X] ||| green [X][X] [X] ||| 0.25 0.75 ||| 0-1 1-0 ||| 1 1 1\n",
        "<s> [X] ||| <s> [S] ||| 1 |||  ||| 0\n"
        "[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 ||| 0\n"
        "[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718281828459045 ||| 0-0 1-1 ||| 0\n",
        {
            "TranslationModel0_0": 0.8,
            "TranslationModel0_1": 0.3,
            "TranslationModel1": 0.4,
            "LM0": 0.6,
            "WordPenalty0": -0.9,
        }
        | {"UnknownWordPenalty0": 1.0, "PhrasePenalty0": 0.2},
    ),
}


def theirs(format: str, log10: float) -> float:
    """The score as each toolkit computes it; ``log10`` is the language model's of the sentence."""
    if format == "joshua":  # unnamed values are costs; <s> and </s> are words; each part is joined to what is before
        rules = 0.8 * -(0.5 + 0.25) + 0.3 * -(1.25 + 0.5) - 0.7 * 2 + 0.4 * 2
        return rules + 1.2 * log10 - 2.0 * -math.log10(math.e) * (4 + 2) + 0.9 * -100
    if format == "cdec":  # the first part is not joined
        rules = 0.8 * -(0.5 + 0.25) - 0.3 * (1.25 + 0.5) + 0.4
        return rules + 1.2 * log10 - 2.0 * -math.log10(math.e) * 4 - 7.0
    # probabilities; natural logarithms; <s> and </s> are words, and all five rules and the unknown word are rules
    rules = 0.8 * math.log(0.5 * 0.25) + 0.3 * math.log(0.125 * 0.75) + 0.4 * 2 + 0.2 * (2 + 1 + 4)
    return rules + 0.6 * math.log(10) * log10 - 0.9 * -1 * (4 + 2) + 1.0 * -100


def written(folder: Path, format: str, **weights: float) -> dict[str, str]:
    grammar, glue, own = GRAMMARS[format]
    (folder / "grammar").write_text(grammar)
    (folder / "glue").write_text(glue)
    (folder / "lm.arpa").write_text(ARPA)
    write_weights({**own, **weights}, folder / "weights")
    names = {"grammar": "grammar", "glue": "glue", "lm": "lm.arpa", "weights": "weights"}
    return {name: str(folder / file) for name, file in names.items()}


@pytest.mark.parametrize("format", GRAMMARS)
def test_a_derivation_has_their_score(format: str, tmp_path: Path) -> None:
    model = import_model(**written(tmp_path, format), format=format, out=tmp_path / "model")
    best = Hiero(model, pop_limit=0).decode([LINE])[0].viterbi(model.weights)
    assert best.text == SAID
    assert best.score == pytest.approx(theirs(format, LanguageModel.read(tmp_path / "lm.arpa").score(SAID)), abs=1e-4)
    assert set(model.grammar.names) < set(model.feature_names)


@pytest.mark.parametrize("format", ["cdec", "moses"])
@pytest.mark.parametrize("origin", GRAMMARS)
def test_what_is_exported_scores_alike(origin: str, format: str, tmp_path: Path) -> None:
    model = import_model(**written(tmp_path, origin), format=origin, out=tmp_path / "model")
    export_model(model, format, tmp_path / "out")
    names = {"cdec": ("grammar.gz", "glue", "weights"), "moses": ("rule-table.gz", "glue-grammar", "moses.ini")}[format]
    grammar, glue, weights = (tmp_path / "out" / name for name in names)
    lm = tmp_path / "out" / "lm0.arpa.gz"
    again = import_model(grammar, glue, lm, weights, format, tmp_path / "again", max_span=20)
    for line in (LINE, "la casa", "zz zz la casa"):
        wanted, translations = (
            Hiero(translation, pop_limit=0).decode([line])[0].kbest(translation.weights, 5)
            for translation in (model, again)
        )
        assert [d.text for d in translations] == [d.text for d in wanted]
        assert [d.score for d in translations] == pytest.approx([d.score for d in wanted], abs=1e-3)


def test_names_that_match_nothing_are_told(tmp_path: Path) -> None:
    heard: list[Event] = []
    files = written(tmp_path, "cdec", Stranger=1.0)
    (tmp_path / "grammar").write_text("[X] ||| la ||| the ||| -0.5 More=1\n")
    import_model(**files, format="cdec", out=tmp_path / "model", run=Session(heard.append))
    message = [event.text for event in heard if isinstance(event, Warned)]
    assert len(message) == 2 and "Stranger" in message[0] and "Lex" in message[0] and "More" in message[1]
    (tmp_path / "grammar").write_text("[X] ||| la ||| the ||| Other=1\n")
    with pytest.raises(InputError, match="no weight matches a feature of the grammar"):
        import_model(**files, format="cdec", out=tmp_path / "other")


@pytest.mark.parametrize(
    ("format", "line", "finding"),
    [
        ("joshua", "[X] ||| la", "fields"),
        ("cdec", "[X] ||| la ||| the ||| a=b", "finite number"),
        ("moses", "la ||| the ||| 1", "end with their labels"),
        ("moses", "[X][X] la [X] ||| the [X][X] [X] ||| 1 ||| 1-0", "aligned to none"),
    ],
)
def test_damaged_lines(format: str, line: str, finding: str, tmp_path: Path) -> None:
    files = written(tmp_path, format)
    (tmp_path / "grammar").write_text(GRAMMARS[format][0] + line + "\n")
    with pytest.raises(InputError, match=f"grammar:3: .*{finding}"):
        import_model(**files, format=format, out=tmp_path / "model")


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = written(tmp_path, "joshua")
    given = [word for name, path in files.items() for word in (f"--{name}", path)]
    assert main(["import", *given, "--format", "joshua", "--out", str(tmp_path / "model"), "--quiet"]) == 0
    assert "2 rules" in capsys.readouterr().out
    (tmp_path / "source").write_text(f"{LINE}\nla casa\n")
    (tmp_path / "refs").write_text("the green house zz\nthe house\n")
    options = ["--source", str(tmp_path / "source"), "--refs", str(tmp_path / "refs"), "--holdout", "0", "--quiet"]
    run = [
        "train",
        str(tmp_path / "model"),
        *options,
        "--trainer",
        "mira",
        "--set",
        "epochs=1",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main(run) == 0
    assert "tm_pt_0" in (tmp_path / "run" / "weights.txt").read_text()
    out = str(tmp_path / "moses")
    assert main(["export", str(tmp_path / "model"), "--format", "moses", "--out", out, "--quiet"]) == 0
    assert Model.open(tmp_path / "model").info["options"]["format"] == "joshua"
    assert "[weight]" in (tmp_path / "moses" / "moses.ini").read_text()


def test_cdec_brings_its_glue_and_copies_unknown_words_only(tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("[X] ||| A ||| a ||| Cost=0.1\n[X] ||| B7 ||| b ||| Cost=0.2\n")
    (tmp_path / "weights").write_text("WordPenalty 1\nGlue 0.5\nCost -1\n")
    LanguageModel.estimate(["a b"] * 3, 2).write_arpa(tmp_path / "lm.arpa")
    files = (tmp_path / "rules", None, tmp_path / "lm.arpa", tmp_path / "weights")
    model = import_model(*files, "cdec", tmp_path / "m")
    lists = Hiero(model, model.weights).kbest(["A B7"], 10)
    assert [lists.text(0, k) for k in range(len(lists[0].dense))] == ["a b"]
    w, names = model.weights, model.feature_names
    score = sum(w[name] * value for name, value in zip(names, lists[0].dense[0], strict=False))
    assert score == pytest.approx(0.5 - 0.3 - 2 / math.log(10), abs=1e-6)
    with pytest.raises(InputError, match="no glue rules"):
        import_model(*files, "joshua", tmp_path / "j")


JOSHUA_6 = """# the pipeline of Joshua 6
tm = hiero -owner pt -maxspan 12 -path grammar
tm = hiero -owner glue -maxspan -1 -path glue
feature-function = LanguageModel -lm_type kenlm -lm_order 2 -lm_file lm.arpa
feature_function = OOVPenalty
mark-oovs = false
output-format = %i ||| %s ||| %f ||| %c
"""
JOSHUA_5 = "tm = thrax pt 12 grammar\ntm=thrax glue -1 glue\nlm = kenlm 2 false false 100 lm.arpa\n"


@pytest.mark.parametrize("settings", [JOSHUA_6, JOSHUA_5])
@pytest.mark.parametrize("apart", [False, True])
def test_a_joshua_config_names_the_files(
    settings: str, apart: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, "joshua")
    weights = "weights-file = weights\n" if apart else Path(files["weights"]).read_text()
    (tmp_path / "joshua.config").write_text(settings + weights)
    out = ["--out", str(tmp_path / "model")]
    assert main(["import", str(tmp_path / "joshua.config"), "--format", "joshua", *out]) == 0
    assert "warning" not in capsys.readouterr().err
    model, wanted = Model.open(tmp_path / "model"), import_model(**files, format="joshua", out=tmp_path / "wanted")
    assert dict(model.weights) == dict(wanted.weights) and len(model.grammar) == len(wanted.grammar)
    assert model.info["options"]["max_phrase"] == 12
    best = Hiero(model, pop_limit=0).decode([LINE])[0].viterbi(model.weights)
    assert best.score == pytest.approx(theirs("joshua", LanguageModel.read(tmp_path / "lm.arpa").score(SAID)), abs=1e-4)


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("tm = hiero -owner pt", ":9: the grammar has no owner or no file"),
        ("tm = packed -owner pt -path packed", ":9: .*packed is a packed grammar of Joshua. Give the text"),
        ("tm = hiero -owner pt -maxspan x -path grammar", ":9: -maxspan 'x' is not a number of words"),
        ("tm = hiero -owner custom -path grammar", ":9: a grammar of custom"),
        ("feature-function = LanguageModel -lm_order 5", ":9: the language model has no file"),
        ("feature-function = LanguageModel -lm_file a -lm_class", ":9: a language model of word classes"),
        ("weights-file =", ":9: the file is missing"),
        ("phrasemodel pt 0 0.5", ":9: 'phrasemodel pt 0 0.5' is neither key = value nor a weight"),
        ("WordPenalty nan", ":9: the weight of 'WordPenalty' is 'nan'"),
        ("tm_pt_0 0.5", ":9: the weight of 'tm_pt_0' is given twice"),
    ],
)
def test_a_line_of_a_joshua_config(line: str, finding: str, tmp_path: Path) -> None:
    (tmp_path / "packed").mkdir()
    (tmp_path / "joshua.config").write_text(f"{JOSHUA_6}tm_pt_0 1\n{line}\n")
    with pytest.raises(InputError, match=f"joshua.config{finding}"):
        read_joshua_config(tmp_path / "joshua.config")


def test_without_a_joshua_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "joshua.config").write_text(JOSHUA_6)
    out = ["--out", str(tmp_path / "model")]
    assert main(["import", str(tmp_path / "joshua.config"), "--format", "joshua", *out]) == 2
    assert 'joshua.config: no line such as "tm_pt_0 0.5". Is this a joshua.config?' in capsys.readouterr().err
    assert main(["import", str(tmp_path / "joshua.config"), "--format", "moses", *out]) == 2
    assert "a joshua.config needs --format joshua" in capsys.readouterr().err
    assert main(["import", "--format", "joshua", *out]) == 2
    assert "Give the joshua.config, or --grammar, --lm and --weights." in capsys.readouterr().err
