"""Files of older versions: read, or rejected with the real cause."""

from pathlib import Path

import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.formats import read_forests, read_nbest, read_weights
from hopefear.formats.weights import matched_numbers

Capture = pytest.CaptureFixture[str]

OLD_LIST = """\
0||| the old house ||| d: 0 -1.5 lm: -12.5 w: -3 tm: -1 -2 -3 0.999 ||| -8.25
0||| an old house||| d: 0 -2 lm: -13 w: -3 tm: -1 -2.5 -3 0.999||| -9
1||| yes ||| d: 0 0 lm: -2 w: -1 tm: -1 -1 -1 0.999 ||| -1
"""
OLD_INI = """\
# MERT optimized configuration
[input-factors]
0

[ttable-file]
0 0 0 5 phrase-table.gz

# distortion weight
[weight-d]
0.3
0.2

[weight-l]
0.5

[weight-t]
0.1
0.2
0.3
-0.4

[weight-w]
-1

[weight-file]
sparse.weights
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_lists_of_old_moses_and_their_configuration(tmp_path: Path) -> None:
    pool = read_nbest(write(tmp_path / "list", OLD_LIST))
    assert pool.feature_names == ["d_0", "d_1", "lm", "w", "tm_0", "tm_1", "tm_2", "tm_3"]
    assert [pool.text(0, 0), pool.text(0, 1), pool.text(1, 0)] == ["the old house", "an old house", "yes"]
    assert pool[0].dense[0].tolist() == [0, -1.5, -12.5, -3, -1, -2, -3, 0.999]
    weights = read_weights(write(tmp_path / "moses.ini", OLD_INI))
    assert weights == {
        "d_0": 0.3,
        "d_1": 0.2,
        "lm": 0.5,
        "tm_0": 0.1,
        "tm_1": 0.2,
        "tm_2": 0.3,
        "tm_3": -0.4,
        "w": -1.0,
    }
    assert set(weights) == set(pool.feature_names)


def test_dense_weights_of_the_moses_loop(tmp_path: Path) -> None:
    """mert-moses.pl writes one name= value per line, the name again for each value of a feature."""
    dense = "Distortion0= 0.3\nLM0= 0.5\nWordPenalty0= -1\nTranslationModel0= 0.2\n" + "TranslationModel0= 0.1\n" * 3
    weights = read_weights(write(tmp_path / "run1.dense", dense))
    assert list(weights) == ["Distortion0", "LM0", "WordPenalty0", *(f"TranslationModel0_{k}" for k in range(4))]
    assert [weights[f"TranslationModel0_{k}"] for k in range(4)] == [0.2, 0.1, 0.1, 0.1]
    for wrong in ("a 1\na= 2\n", "a= 1\na 2\n", "a= 1\na= 2\na_1 3\n", "a= 1 2\na= 3\na= 4\n"):
        with pytest.raises(hf.InputError, match="is given twice"):
            read_weights(write(tmp_path / "wrong", wrong))


def test_numbers_from_one_meet_numbers_from_zero(tmp_path: Path, capsys: Capture) -> None:
    weights = {"LM0": 0.5, "TM0_0": 1.0, "TM0_1": 2.0}
    matched, note = matched_numbers("w", weights, ["LM0", "TM0_1", "TM0_2"])
    assert matched == {"LM0": 0.5, "TM0_1": 1.0, "TM0_2": 2.0}
    assert note == "w: numbers begin at a different value than those of the features: TM0_0 is TM0_1, and so on"
    assert matched_numbers("w", matched, ["TM0_0", "TM0_1"])[0] == weights
    assert matched_numbers("w", weights, ["TM0_0", "TM0_1", "TM0_2"]) == (weights, None)
    assert matched_numbers("w", weights, ["x_1", "TM0_5", "TM0_7"]) == (weights, None)
    with pytest.raises(hf.InputError, match=r"w: TM0 has the numbers 0 to 1 here and 1 to 3 in the features. Renumber"):
        matched_numbers("w", weights, ["TM0_1", "TM0_2", "TM0_3"])

    graph = "# target ||| features ||| source-covered\n1 2\n# node 0\n2\n"
    (tmp_path / "graphs").mkdir()
    write(tmp_path / "graphs" / "0", graph + "a ||| TM0_1=1 TM0_2=0 ||| 1\nb ||| TM0_1=0 TM0_2=0.75 ||| 1\n")
    write(tmp_path / "moses.ini", "[weight]\nTM0= 0.5 1\n")
    command = ["rerank", "--forests", str(tmp_path / "graphs"), "--weights", str(tmp_path / "moses.ini")]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert out == "b\n"
    assert "TM0_0 is TM0_1" in err


def test_an_empty_lattice_is_an_empty_sentence(tmp_path: Path) -> None:
    pool = read_forests(write(tmp_path / "plf", "((('a',0.5,1),),)\n()\n( )\n"))
    assert [translation.text for translation in pool.viterbi({})] == ["a", "", ""]


MARIAN = "1 ||| the house ||| 0-0 1-1 ||| WordScores= -0.5 -0.25 -0.75 ||| F0= -1.5 ||| -0.5\n"


def test_marian(tmp_path: Path) -> None:
    """--n-best --alignment --word-scores: two fields more, and word scores of any number."""
    lines = [
        MARIAN,
        "1 ||| house ||| 1-0 ||| WordScores= -1 -0.5 ||| F0= -1.5 ||| -0.75\n",
        "2 |||  |||  ||| WordScores= -2 ||| F0= -2 ||| -2\n",
    ]
    pool = read_nbest(write(tmp_path / "list", "".join(lines)), write(tmp_path / "refs", "the house\nyes\n"))
    assert pool.ids == ["1", "2"]
    assert pool.feature_names == ["WordScores_sum", "WordScores_mean", "WordScores_min", "F0"]
    assert pool[0].dense.tolist() == [[-1.5, -0.5, -0.75, -1.5], [-1.5, -0.75, -1, -1.5]]
    assert pool.text(1, 0) == ""
    plain = read_nbest(write(tmp_path / "plain", "0 ||| a ||| 0.9,0.1 0.2,0.8 ||| F0= 1 F1= 2 ||| 3\n"))
    assert plain[0].dense.tolist() == [[1, 2]]
    with pytest.raises(hf.InputError, match=r"only 2 sentences, but the references have 3 lines. Its ids begin with 1"):
        read_nbest(tmp_path / "list", write(tmp_path / "refs", "a\nb\nc\n"))


def test_travatar_has_the_score_before_the_features(tmp_path: Path) -> None:
    pool = read_nbest(write(tmp_path / "list", "0 ||| a b ||| -2.5 ||| lm=-1.5 tm=2\n0 ||| b ||| -3 ||| lm=-1\n"))
    assert pool[0].dense[0].tolist() == [-1.5]
    assert pool.feature_names == ["lm", "tm"]


def test_json_over_several_lines_and_in_arrays(tmp_path: Path) -> None:
    import json

    entry = {"id": 0, "candidates": [{"text": "a [b", "features": {"lm": 1.5}}], "references": ["a"]}
    two = {"id": 1, "candidates": [{"text": "}", "features": {"lm": 2}}, {"text": "c", "features": {}}]}
    lines = read_nbest(write(tmp_path / "list.jsonl", f"{json.dumps(entry)}\n{json.dumps(two)}\n"))
    shapes = (
        json.dumps([entry, two]),
        json.dumps([entry, two], indent=2),
        json.dumps(entry, indent=1) + "\n" + json.dumps(two, indent=1),
    )
    for text in shapes:
        pool = read_nbest(write(tmp_path / "list.json", text))
        assert [pool.ids, pool.references(0)] == [["0", "1"], ["a"]]
        assert [pool.text(i, j) for i, j in ((0, 0), (1, 0), (1, 1))] == ["a [b", "}", "c"]
        assert [forest.dense.tolist() for forest in pool] == [forest.dense.tolist() for forest in lines]
    for text, finding in (
        (json.dumps([entry, two])[:-1], "the JSON text ends too soon. Was the file cut off?"),
        ("[" + json.dumps(entry) + json.dumps(two) + "]", "a comma is missing"),
        ("[]", "the file is empty"),
        ("[1, 2]", "expected an object"),
        (json.dumps([entry, 3, two]), "expected an object"),
    ):
        with pytest.raises(hf.InputError, match=finding):
            read_nbest(write(tmp_path / "wrong.json", text))


def test_candidates_in_another_case_than_the_references(tmp_path: Path, capsys: Capture) -> None:
    texts = ("the house of mr smith", "the house of Mr Smith", "a house of Mr Smith")
    rows = [f"{i} ||| {texts[j]} {i} ||| lm= {j} ||| 0\n" for i in range(12) for j in range(3)]
    write(tmp_path / "list", "".join(rows))
    write(tmp_path / "refs", "".join(f"The House of Mr Smith {i}\n" for i in range(12)))
    command = ["tune", "--nbest", str(tmp_path / "list"), "--refs", str(tmp_path / "refs"), "--trainer", "kbmira"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    assert "if case is ignored. Give --lowercase" in capsys.readouterr().err
    assert main([*command, "--lowercase", "--out", str(tmp_path / "run2")]) == 0
    assert "case" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("just a sentence\n", "Is this a list as Moses writes it? Name its format if not (format)"),
        ("0 ||| a ||| x= 1 ||| a b c\n", "Is this a list as Moses writes it? Name its format if not (format)"),
        (OLD_LIST + "1||| cut", "Was the file cut off?"),
    ],
)
def test_the_cause_is_the_format(tmp_path: Path, text: str, cure: str) -> None:
    with pytest.raises(hf.InputError) as raised:
        read_nbest(write(tmp_path / "list", text))
    assert str(raised.value).endswith(cure)
