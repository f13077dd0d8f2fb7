from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.data.lists import Synthetic
from hopefear.formats.lattices import share_prefixes, with_features

Capture = pytest.CaptureFixture[str]

LIST = """\
0 ||| the old house ||| lm= -1 tm= 0.5 ||| 0
0 ||| the old home ||| lm= -2 tm= 0.25 rare= 1 ||| 0
0 ||| the ||| lm= -3 tm= 1 ||| 0
0 ||| a house ||| lm= -4 tm= 0 ||| 0
0 ||| the old house ||| lm= -5 tm= 2 ||| 0
1 |||  ||| lm= 0 tm= 0 ||| 0
"""
LATTICE = "utt\n0 1 the 1.5,2.25,\n0 1 a 1,3,\n1 2 house 0.5,0.125,\n2\n\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("list.nbest").write_text(LIST)
    return tmp_path


def derivations(pool: hf.Pool) -> list[list[tuple[str, dict[str, float]]]]:
    return [
        sorted(
            (
                (translation.text, {n: v for n, v in translation.features.items() if v})
                for translation in forest.kbest({}, 1000)
            ),
            key=str,
        )
        for forest in pool
    ]


def convert(*arguments: str) -> None:
    assert main(["convert", "--quiet", *arguments]) == 0


@pytest.mark.parametrize("out", ["b.jsonl.gz", "b.nbest", "b.forests"])
def test_lists_round_trip(here: Path, out: str) -> None:
    convert("list.nbest", out)
    convert(out, "back.nbest", "--from", "native") if out == "b.forests" else convert(out, "back.nbest")
    assert derivations(hf.read_nbest("back.nbest")) == derivations(hf.read_nbest("list.nbest"))


@pytest.mark.parametrize("to", ["native", "moses", "cdec", "travatar", "cicada"])
def test_forests_round_trip(here: Path, to: str) -> None:
    convert("list.nbest", "shared.forests", "--share-prefixes")
    convert("shared.forests", "out", "--to", to)
    convert("out", "back.forests")
    assert derivations(hf.read_forests("back.forests")) == derivations(hf.read_nbest("list.nbest"))


@pytest.mark.parametrize(("to", "graph"), [("kaldi", "graph"), ("slf", "lm"), ("openfst", "score")])
def test_lattices_round_trip(here: Path, to: str, graph: str) -> None:
    Path("lat.txt").write_text(LATTICE)
    convert("lat.txt", "lat.forests")
    pool = hf.read_forests("lat.forests")
    features = {"graph": graph, "acoustic": "acoustic" if to != "openfst" else None, "words": "words"}
    expected = [
        sorted((text, {new: h[old] for old, new in features.items() if new}) for text, h in derivation)
        for derivation in derivations(pool)
    ]
    if to != "kaldi":
        text = LATTICE if to == "slf" else LATTICE.replace(",2.25", ",0").replace(",3,", ",0,").replace(",0.125", ",0")
        Path("lat.txt").write_text(text)
        arrays = hf.read_forests("lat.txt")
        renamed = {"graph": graph, "acoustic": "acoustic", "words": "words"}
        pool = hf.Pool()
        for name in arrays.feature_names:
            if to == "slf" or name != "acoustic":
                pool.features.add(renamed[name])
        for k in range(len(arrays.vocab)):
            pool.vocab.add(arrays.vocab[k])
        f = arrays[0]
        keep = [k for k, name in enumerate(arrays.feature_names) if to == "slf" or name != "acoustic"]
        dense = np.ascontiguousarray(f.dense[:, keep])
        pool.append(
            "utt",
            hf.Forest.from_arrays(
                f.edge_begin, f.tail_begin, f.tails, f.word_begin, f.words, dense, pool.vocab, pool.features
            ),
        )
        hf.write_forests(pool, "lat.forests")
    convert("lat.forests", "out", "--to", to)
    convert("out", "back.forests")
    assert derivations(hf.read_forests("back.forests")) == expected


def test_what_a_format_cannot_say(here: Path, capsys: Capture) -> None:
    for arguments, finding in (
        (["list.nbest", "out.slf"], "slf cannot store the feature 'tm'"),
        (["list.nbest", "out", "--to", "marvin"], "--to: there is no format 'marvin'"),
        (["list.nbest", "out", "--from", "weights", "--to", "jsonl"], "weights are only converted to weights"),
        (["-", "out.nbest"], "Give it with --from"),
    ):
        assert main(["convert", *arguments]) == 2
        assert finding in capsys.readouterr().err
    Path("lat.txt").write_text(LATTICE)
    assert main(["convert", "lat.txt", "out.jsonl"]) == 2
    assert "hopefear rerank --forests --nbest-out" in capsys.readouterr().err
    assert not list(Path().glob("out*"))


def test_weights(here: Path) -> None:
    Path("moses.ini").write_text("[weight]\nLM0= 0.5\nTM0= 1 2\n")
    convert("moses.ini", "w.txt", "--from", "weights", "--to", "weights")
    assert Path("w.txt").read_text() == "LM0 0.5\nTM0_0 1.0\nTM0_1 2.0\n"


def test_references_and_sources_go_in(here: Path) -> None:
    Path("refs").write_text("the old house\nyes\n")
    Path("src").write_text("das alte Haus\nja\n")
    convert("list.nbest", "out.jsonl", "--refs", "refs", "--sources", "src")
    pool = hf.read_nbest("out.jsonl")
    assert (pool.references(1), pool.source(0)) == (["yes"], "das alte Haus")


def test_shared_prefixes_are_the_same_candidates(here: Path) -> None:
    Synthetic(sentences=20, candidates=30).write("lists")
    for name in ("lists/nbest.txt", "list.nbest"):
        lists = hf.read_nbest(name)
        shared = share_prefixes(lists)
        assert derivations(shared) == derivations(lists)
        assert shared.ids == lists.ids
        words = [sum(int((forest.words >= 0).sum()) for forest in pool) for pool in (lists, shared)]
        assert words[1] < words[0]
    first = share_prefixes(hf.read_nbest("list.nbest"))[0]
    assert first.node_count == 4  # "the", "the old", "the old house" (twice), and the goal


def test_features_from_outside(here: Path) -> None:
    lists = hf.read_nbest("list.nbest")
    more = with_features(lists, ["x", "y"], [[k, -k] for k in range(6)])
    for i, (old, new) in enumerate(zip(derivations(lists), derivations(more), strict=True)):
        begin = lists.edge_offsets()[i]
        assert sorted(h["x"] for _, h in new if "x" in h) == [float(begin + k) for k in range(len(old)) if begin + k]
        assert [
            (t, {n: v for n, v in h.items() if n not in "xy"})
            for t, h in sorted(new, key=lambda item: item[1].get("x", 0))
        ]
    assert more[0].kbest({"lm": -1.0, "y": 0.0}, 1)[0].features["y"] == -4
    with pytest.raises(hf.InputError, match="5 values for 6 edges"):
        with_features(lists, ["x"], np.zeros(5))
    with pytest.raises(hf.InputError, match="already a feature 'lm'"):
        with_features(lists, ["lm"], np.zeros(6))
