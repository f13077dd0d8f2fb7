import gzip
import json
import pickle
import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import hopefear as hf
from hopefear.decode import decoder_for
from hopefear.formats import read_forests, write_forests
from hopefear.formats.forests import forest_writer, joining
from hopefear.model.directory import Model
from tests.decode.models import model_of, random_lm, random_rules
from tests.models import write_block_task
from tests.reference import enumeration
from tests.strategies import WORDS, build, forests

quick = settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))

ARRAYS = ["edge_begin", "tail_begin", "tails", "word_begin", "words", "spans", "dense"]
ARRAYS += ["sparse_begin", "sparse_ids", "sparse_values"]

Derivations = Counter[tuple[tuple[str, ...], tuple[tuple[str, float], ...]]]


def meaning(forest: hf.Forest, names: list[str] | None = None) -> Derivations:
    """The derivations of a forest: their words, and the features that are not 0, by name."""
    names = names or forest.features.names()
    out: Derivations = Counter()
    for d in enumeration.derivations(forest):
        text = tuple(forest.vocab[w] for w in enumeration.yielded(forest, d))
        h = enumeration.features(forest, d)
        out[text, tuple(sorted((name, float(x)) for name, x in zip(names, h, strict=True) if x))] += 1
    return out


def pool_of(*some: hf.Forest) -> hf.Pool:
    """The forests, which have the same vocabularies, over those of one pool."""
    pool = hf.Pool()
    for name in some[0].vocab.names():
        pool.vocab.add(name)
    for name in some[0].features.names():
        pool.features.add(name)
    for number, f in enumerate(some):
        sparse = {"sparse_begin": f.sparse_begin, "sparse_ids": f.sparse_ids, "sparse_values": f.sparse_values}
        copy = hf.Forest.from_arrays(
            *(f.edge_begin, f.tail_begin, f.tails, f.word_begin, f.words, f.dense, pool.vocab, pool.features),
            **(sparse if len(f.sparse_begin) else {}),
            spans=f.spans if len(f.spans) else None,
        )
        pool.append(str(number), copy)
    return pool


@quick
@given(forests())
@pytest.mark.parametrize("format", ["native", "cdec", "travatar", "cicada", "moses"])
def test_write_read_equal(tmp_path_factory: pytest.TempPathFactory, format: str, forest: hf.Forest) -> None:
    path = tmp_path_factory.mktemp("forests") / "out"
    write_forests(pool_of(forest), path, format)
    again = read_forests(path)
    assert meaning(again[0]) == meaning(forest)
    assert again.ids == ["0"]
    if len(forest.spans) and format != "cicada":
        assert again[0].source_length == forest.source_length
    write_forests(again, path.parent / "again", format)
    third = read_forests(path.parent / "again")
    assert (third[0].node_count, third[0].edge_count) == (again[0].node_count, again[0].edge_count)
    assert meaning(third[0]) == meaning(forest)


@quick
@given(forests(shape="lattice"))
def test_lattices(tmp_path_factory: pytest.TempPathFactory, forest: hf.Forest) -> None:
    path = tmp_path_factory.mktemp("forests") / "out.plf.gz"
    tails = np.diff(forest.tail_begin)
    alive = {e for d in enumeration.derivations(forest) for e in d}
    first = [forest.words[forest.word_begin[e]] < 0 for e in range(forest.edge_count) if tails[e] and e in alive]
    if not all(first):
        with pytest.raises(hf.InputError, match="this is no lattice"):
            write_forests(pool_of(forest), path, "plf")
        assert not path.exists()
        return
    write_forests(pool_of(forest), path, "plf")
    again = read_forests(path)
    assert max(np.diff(again[0].tail_begin)) <= 1
    names = [forest.features.names()[int(name.removeprefix("Feature_"))] for name in again.feature_names]
    assert meaning(again[0], names) == meaning(forest)


@quick
@given(forests())
def test_the_native_file_keeps_every_array(tmp_path_factory: pytest.TempPathFactory, forest: hf.Forest) -> None:
    path = tmp_path_factory.mktemp("forests") / "out"
    write_forests(pool_of(forest, forest), path)
    for again in (read_forests(path), read_forests(path, verify=False)):
        assert again.feature_names == forest.features.names()
        assert again.vocab.names() == forest.vocab.names()
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(again[1], name), getattr(forest, name))


def test_the_native_file_keeps_lists_and_their_company(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_text(
        '{"id": "ä", "source": "s", "references": ["r s", "t"], "candidates": [{"text": "a", "features": {"f": 1e-300},'
        ' "metrics": {"m": 0.1}}]}\n{"candidates": [{"text": "", "features": {}, "metrics": {"m": 2}}]}\n'
    )
    pool = hf.read_nbest(tmp_path / "n.jsonl")
    write_forests(pool, tmp_path / "native")
    again = read_forests(tmp_path / "native")
    assert (again.ids, again.source(0), again.references(0), again.references(1)) == (["ä", "1"], "s", ["r s", "t"], [])
    assert again.number_names == ["m"]
    assert [again[0].numbers.tolist(), again[1].numbers.tolist()] == [[[0.1]], [[2]]]
    assert again.is_lists
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress((tmp_path / "native").read_bytes()))
    assert read_forests(packed).ids == again.ids
    with pytest.raises(hf.InputError, match="mapped, not unpacked"):
        write_forests(pool, tmp_path / "native.gz")


def test_an_empty_pool(tmp_path: Path) -> None:
    write_forests(hf.Pool(), tmp_path / "native")
    assert len(read_forests(tmp_path / "native")) == 0


def test_every_damaged_byte_is_found(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("0 ||| a b ||| f= 1 g= 2 ||| 0\n0 ||| c ||| f= 1 ||| 0\n1 ||| d ||| f= 1 ||| 0\n")
    write_forests(hf.read_nbest(tmp_path / "n"), tmp_path / "native")
    good = (tmp_path / "native").read_bytes()
    path = tmp_path / "bad"
    for cut in range(0, len(good), 7):
        path.write_bytes(good[:cut])
        with pytest.raises(hf.InputError, match=rf"^{path}"):
            read_forests(path)
    for place in [*range(64), *range(64, len(good), 5)]:
        bad = bytearray(good)
        bad[place] ^= 1 << (place % 8)
        path.write_bytes(bad)
        with pytest.raises(hf.InputError, match=rf"^{path}"):
            read_forests(path)
        if place >= 16:  # never a crash without checksums either
            with suppress(hf.InputError):
                read_forests(path, format="native", verify=False)
    path.write_bytes(good + b"x")
    with pytest.raises(hf.InputError, match="Was it cut off"):
        read_forests(path)


# the example of cdec's tests of its envelope, with an alternative written in three fields
CDEC = (
    '{"rules":[1,"[X] ||| a",2,"[X] ||| A [1]",3,"[X] ||| x ||| c",4,"[X] ||| q [X,1] ||| C [X,1] ||| f=1",'
    '5,"[X] ||| [1] B [2]",6,"[X] ||| [2] b [1]"],"features":["f1","f2","never"],'
    '"edges":[{"tail":[],"feats":[],"rule":1}],"node":{"in_edges":[0]},'
    '"edges":[{"tail":[0],"spans":[0,2,-1,-1],"feats":[0,-0.8,1,-0.1],"rule":2}],"node":{"in_edges":[1],"cat":"X"},'
    '"edges":[{"tail":null,"feats":[1,-1],"rule":3}],"node":{"in_edges":[2]},'
    '"edges":[{"tail":[2],"feats":[0,-0.2,"own",-0.1],"rule":4}],"node":{"in_edges":[3]},'
    '"edges":[{"tail":[1,3],"feats":[0,-1.2],"rule":5},{"tail":[1,3],"feats":null,"rule":6}],"node":{"in_edges":[4,5]}}'
)


def test_cdec(tmp_path: Path) -> None:
    (tmp_path / "0.json").write_text(CDEC)
    (tmp_path / "1.json.gz").write_bytes(gzip.compress(CDEC.replace(',"', ',\n "').encode()))
    (tmp_path / "weights").write_text("passed over")
    pool = read_forests(tmp_path)
    assert len(pool) == 2
    for i in range(2):
        texts = sorted(" ".join(words) for words, _ in meaning(pool[i]))
        assert texts == ["A a B C c", "C c b A a"]
    assert ("f2", -1.1) in next(h for words, h in meaning(pool[0]) if words[0] == "C")
    assert pool[0].spans.reshape(-1, 2).tolist()[1] == [0, 2]


def test_a_lattice_from_cdec_starts_at_a_node_without_edges(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(
        '{"rules":[1,"[X] ||| [1] a",2,"[X] ||| [1] b"],"features":["f"],"edges":[],"node":{"in_edges":[]},'
        '"edges":[{"tail":[0],"feats":[0,-0.2],"rule":1},{"tail":[0],"feats":[0,-0.6],"rule":2}],"node":{"in_edges":[0,1]}}'
    )
    assert {words for words, _ in meaning(read_forests(tmp_path / "f.json")[0])} == {("a",), ("b",)}


def test_travatar(tmp_path: Path) -> None:
    forest = {
        "nodes": [
            {"sym": "S", "span": [0, 2], "id": 0, "edges": [0], "trg_span": [0]},
            {"sym": "NP", "span": [1, 2], "id": 1, "edges": [1]},
            {"sym": "das", "span": [0, 1], "id": 2},
        ],
        "edges": [
            {
                "id": 0,
                "head": 0,
                "tails": [2, 1],
                "trg": [{"label": -1, "words": ["5", -2]}, {"words": ["other"]}],
                "features": {"lm": 1},
            },
            {"id": 1, "head": 1, "trg": [["house"]], "score": 3},
            {"id": 2, "head": 1, "trg": ["home"], "features": {"tm": 0.5}},
        ],
        "words": ["das", "Haus"],
    }
    path = tmp_path / "f"
    path.write_text(f"0 ||| {json.dumps(forest)}\n1 ||| {json.dumps(forest, sort_keys=True)}\n")
    pool = read_forests(path)
    expected = Counter({(("5", "house"), (("lm", 1.0),)): 1, (("5", "home"), (("lm", 1.0), ("tm", 0.5))): 1})
    assert meaning(pool[0]) == meaning(pool[1]) == expected
    assert pool.source(1) == "das Haus"
    assert pool[0].source_length == 2
    # a parse forest: without a target side, leaves yield the source
    del forest["edges"][0]["trg"]  # type: ignore[index]
    path.write_text(json.dumps(forest))
    assert ("das", "house") in {words for words, _ in meaning(read_forests(path)[0])}


def test_cicada(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(
        '{"rules": ["[NP] ||| [DT] [NN]", "[DT] ||| a \\"b\\"", "[NN] ||| <epsilon>", "[S] ||| x [NP,2] [NP,1]"],\n'
        '"nodes": [[{"tail": [2, 3], "rule": 1}],\n'
        ' [{"tail": [0, 0], "rule": 4, "attribute": {"a": [1]}, "feature": {"f": 1}}],\n'
        ' [{"rule": 2}, {"tail": [], "rule": 2, "feature": {"f": 2}}], [{"rule": 3}]], "goal": 1}\n'
    )
    pool = read_forests(path)
    assert pool[0].node_count == 4
    assert {words for words, _ in meaning(pool[0])} == {("x", "a", '"b"', "a", '"b"')}
    assert sorted(h for _, h in meaning(pool[0]).elements()) == [
        (("f", 1.0),),
        (("f", 3.0),),
        (("f", 3.0),),
        (("f", 5.0),),
    ]


MOSES = """\
# target ||| features ||| source-covered
3 4
# node 0
1
<s> |||  ||| 0
# node 1
2
[0] # foo  ||| LM0=-1.5 TM0_1=0.5 ||| 1
[0]  ||| LM0=-1 ||| 1
# node 2
1
[1] </s> |||  ||| 2
"""


def test_moses(tmp_path: Path) -> None:
    (tmp_path / "0.gz").write_bytes(gzip.compress(MOSES.encode()))
    pool = read_forests(tmp_path)
    assert meaning(pool[0]) == Counter({(("#", "foo"), (("LM0", -1.5), ("TM0_1", 0.5))): 1, ((), (("LM0", -1.0),)): 1})
    assert pool[0].spans.reshape(-1, 2).tolist() == [[0, 0], [0, 1], [0, 2]]
    (tmp_path / "single").write_text(MOSES)
    assert len(read_forests(tmp_path / "single")) == 1


def test_plf(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(
        "((('einen',1.0,1),),(('wettbewerbsbedingten',0.5,2),('wettbewerbs',0.25,1), ),(('bedingten',1.0,1),),)\n"
        "((('it\\'s',0.5),(\"*EPS*\",-1)))\n"
    )
    pool = read_forests(path)
    assert meaning(pool[0]) == Counter(
        {
            (("einen", "wettbewerbsbedingten"), (("Feature_0", 1.5),)): 1,
            (("einen", "wettbewerbs", "bedingten"), (("Feature_0", 2.25),)): 1,
        }
    )
    assert meaning(pool[1]) == Counter({(("it's",), (("Feature_0", 0.5),)): 1, ((), (("Feature_0", -1.0),)): 1})


def edges(*tails: list[int]) -> str:
    """A Cicada forest: for each node, its one edge with these tails."""
    rules = [f'"[x] ||| {" ".join("[x]" for _ in t)} w"' for t in tails]
    nodes = [f'[{{"tail": {t}, "rule": {k}}}]' for k, t in enumerate(tails, 1)]
    return f'{{"rules": [{", ".join(rules)}], "nodes": [{", ".join(nodes)}], "goal": {len(tails) - 1}}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: the file is empty"),
        (" \n", "f: the file is empty"),
        ("hello", "f:1: 'hello' is not how a file of forests begins"),
        ("{", "f:1: the JSON text ends too soon"),
        ("{}", "f:1: there are no nodes"),
        ('{"a": "\xff"}', "f:1: the text is not UTF-8"),
        (CDEC[:500], "f:1: the JSON text ends too soon"),
        (edges([], [0]) + " rubbish", "f:1: the JSON text ends too soon"),
        (edges([], [0]) + "\n7 ||| " + edges([]), 'f:2: before sentence 1 stands "7 |||"'),
        (edges([], [1]), "f:1: node 1 is below itself: the forest is cyclic"),
        (edges([], [2], [1]), "f:1: node 2 is below itself: the forest is cyclic"),
        (edges([], [], [0]), "f:1: node 1 does not lead to the goal: the forest is not connected"),
        (edges([], [5]), "f:1: edge 1 uses node 5, but there are only 2"),
        (edges([]).replace('"goal": 0', '"x": 0'), 'f:1: the key "goal" is missing: the forest has no goal node'),
        (edges([]).replace('"goal": 0', '"goal": 3'), "f:1: the goal is node 3, but there are only 1"),
        (
            edges([]).replace("[{", "[[{").replace("}]", "}]]").replace('"rule": 1', '"rule": 8'),
            "f:1: an edge must be an object",
        ),
        (edges([]).replace('"rule": 1', '"rule": 8'), "f:1: edge 0 uses rule 8, which does not exist"),
        (edges([]).replace('"tail": []', '"tail": ["a"]'), "f:1: a tail must be a number"),
        (edges([]).replace('"tail": []', '"tail": [-1]'), "f:1: a tail is -1. Count from 0"),
        (edges([], [0]).replace("[x] w", "w"), "f:1: an edge of node 1 must name each of its 1 tails once"),
        (edges([], [0]).replace("[x] w", "[x] [x] w"), "f:1: an edge of node 1 must name each of its 1 tails once"),
        (
            edges([]).replace('"tail"', '"feature": {"f": 1, "f": 2}, "tail"'),
            'f:1: an edge of node 0 has the feature "f" twice',
        ),
        (edges([]).replace('"tail"', '"feature": {"f": NaN}, "tail"'), 'f:1: a feature is "NaN"'),
        (edges([]).replace('"tail"', '"feature": {"": 1}, "tail"'), 'f:1: the feature name "" is empty'),
        ('{"nodes": [[], [{}]], "goal": 1}', "f:1: node 0 has no edges: the forest is not connected"),
        ('{"nodes": [[{}], {"id": 1}]}', "f:1: the keys of two dialects are mixed"),
        ('{"nodes": [{"id": 1}, {"id": 1}]}', "f:1: node 1 occurs twice"),
        ('{"nodes": [{"id": 0}], "edges": []}', "f:1: node 0 has no edges"),
        ('{"nodes": [{"id": 0}], "edges": [{"head": 3}]}', "f:1: edge 0 uses node 3, which does not exist"),
        ('{"nodes": [{"id": 0}], "edges": [{"tails": [0]}]}', "f:1: edge 0 has no head"),
        (
            '{"nodes": [{"id": 0}], "edges": [{"head": 0, "trg": [{"words": [3]}]}]}',
            "f:1: the target word 3 is no tail",
        ),
        (
            '{"nodes": [{"id": 0, "span": [3, 1]}], "edges": [{"head": 0}]}',
            "f:1: node 0 has a span that ends before it begins",
        ),
        ('{"rules": [1, "[X] ||| a", 1, "[X] ||| b"]}', "f:1: rule 1 occurs twice"),
        ('{"rules": [1, "a"]}', 'f:1: the rule "a" has no "|||"'),
        ('{"edges": [{"feats": [0, 1]}]}', "f:1: feature number 0 is not in the list of 0 features"),
        ('{"edges": [{"feats": ["f"]}]}', 'f:1: feature "f" has no value'),
        ('{"edges": [{}], "node": {"in_edges": [1]}}', "f:1: node 0 uses edge 1, which has not come yet"),
        ('{"edges": [{}], "node": {"in_edges": [0, 0]}}', "f:1: edge 0 belongs to two nodes"),
        ('{"edges": [{}, {}], "node": {"in_edges": [0]}}', "f:1: edge 1 belongs to no node"),
        ('{"node": {}}', "f:1: node 0 has no edges"),
        (MOSES[: MOSES.index("# node 2")], "f:9: the hypergraph ends too soon"),
        (MOSES + "more\n", "f:13: something follows the last of 3 nodes"),
        (MOSES.replace("3 4", "3"), "f:2: expected the numbers of nodes and edges"),
        (MOSES.replace("3 4", "x 4"), "f:2: the number of nodes must be a whole number"),
        (MOSES.replace("[1]", "[7]"), "f:12: an edge uses node 7, but there are only 3"),
        (MOSES.replace("[1]", "[2]"), "f: node 2 is below itself: the forest is cyclic"),
        (MOSES.replace("LM0=-1 ", "LM0=nan "), 'f:9: feature "LM0" has the value "nan"'),
        (MOSES.replace("LM0=-1 ", "LM0 "), 'f:9: the feature "LM0" is not name=value'),
        (MOSES.replace("||| 2", ""), "f:12: expected 3 fields"),
        ("((('a',1,1)", "f:1: the lattice ends too soon"),
        ("((('a',1,2),),)", "f:1: an arc ends at node 2, but the last one is 1"),
        ("((('a',1,0),),)", 'f:1: the word "a" has a distance that is not a whole number from 1 up'),
        ("((('a',1,1e300),),)", 'f:1: the word "a" has a distance'),
        ("((('a',inf,1),),)", 'f:1: the word "a" has the number "inf"'),
        ("((('a'),),)", 'f:1: the word "a" has no numbers'),
        ("((('a',1,1),('b',1,2,1),),)", 'f:1: the word "b" has 2 scores, arcs before it 1'),
        ("((('a',1,1),),) x", "f:1: something follows the lattice"),
        ("((('a',1,2),),(('b',1,1),),)", "f:1: node 1 has no edges: the forest is not connected"),
        ("((('a',1,1),),(),(('b',1,1),),)", "f:1: node 2 has no edges: the forest is not connected"),
        ("(((a,1,1),),)", "f:1: expected a word in quotes"),
    ],
)
def test_bad_forests(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "f"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(hf.InputError) as raised:
        read_forests(path)
    assert str(raised.value).startswith(message.replace("f:", f"{path}:", 1))
    assert "\n" not in str(raised.value)


def test_folders(tmp_path: Path) -> None:
    folder = tmp_path / "forests"
    folder.mkdir()
    with pytest.raises(hf.InputError, match="no file is named after a sentence"):
        read_forests(folder)
    (folder / "1.json").write_text(edges([]))
    with pytest.raises(hf.InputError, match=r"sentence 0 has no file, but there is 1\.json"):
        read_forests(folder)
    (folder / "0").write_text(edges([]))
    assert len(read_forests(folder)) == 2
    assert len(read_forests([folder / "1.json", folder / "0"])) == 2
    (folder / "1.json.gz").write_text("")
    with pytest.raises(hf.InputError, match=r"1\.json and 1\.json\.gz are both sentence 1"):
        read_forests(folder)
    (folder / "1.json.gz").unlink()
    (folder / "0").write_text(edges([]) * 2)
    with pytest.raises(hf.InputError, match=r"0: has 2 sentences. A folder has one sentence per file"):
        read_forests(folder)


@pytest.mark.parametrize(
    ("word", "format"),
    [
        ("[1]", "moses"),
        ("<s>", "moses"),
        ("|||", "moses"),
        ("[X,1]", "cdec"),
        ("|||", "cdec"),
        ("[x]", "cicada"),
        ("*EPS*", "plf"),
    ],
)
def test_words_that_a_format_cannot_say(tmp_path: Path, word: str, format: str) -> None:
    vocab = hf.Vocab()
    vocab.add(word)
    forest = build([[{"words": [0]}]], dense_names=["f"], vocab=vocab)
    with pytest.raises(hf.InputError, match="out: sentence 0: the word"):
        write_forests(pool_of(forest), tmp_path / "out", format)
    assert list(tmp_path.iterdir()) == []
    write_forests(pool_of(forest), tmp_path / "out", "native")
    assert read_forests(tmp_path / "out").text(0, 0) == word


def test_a_forest_without_derivations_is_not_written(tmp_path: Path) -> None:
    forest = build([[], [{"tails": [0], "words": [-1]}]], dense_names=["f"])
    with pytest.raises(hf.InputError, match="out: sentence 0: it has no derivation"):
        write_forests(pool_of(forest), tmp_path / "out", "cdec")
    write_forests(pool_of(forest), tmp_path / "native")
    assert read_forests(tmp_path / "native")[0].node_count == 2


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    forest = build([[{"words": [0]}]], dense_names=["f"])
    write_forests(pool_of(forest), tmp_path / "out", "moses")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["0.gz"]
    with pytest.raises(hf.InputError, match="out: already exists"):
        write_forests(pool_of(forest), tmp_path / "out", "cdec")
    with pytest.raises(hf.InputError, match="there is no format 'pickle'"):
        write_forests(pool_of(forest), tmp_path / "out", "pickle")
    assert read_forests(tmp_path / "out").text(0, 0) == WORDS[0]


@quick
@given(st.data())
def test_nodes_come_in_any_order(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    forest = data.draw(forests())
    path = tmp_path_factory.mktemp("forests") / "f"
    write_forests(pool_of(forest), path, "cicada")
    document = json.loads(path.read_text())
    order = data.draw(st.permutations(range(len(document["nodes"]))))
    place = {v: i for i, v in enumerate(order)}
    document["nodes"] = [document["nodes"][v] for v in order]
    for node in document["nodes"]:
        for edge in node:
            edge["tail"] = [place[t] for t in edge.get("tail", [])]
    document["goal"] = place[document["goal"]]
    path.write_text(json.dumps(document))
    assert meaning(read_forests(path)[0]) == meaning(forest)


@pytest.mark.parametrize("kind", ["hiero", "blocks"])
def test_blocks_of_several_decoders_join_as_if_they_were_of_one(tmp_path: Path, kind: str) -> None:
    """Each decoder numbers words and features as it meets them."""
    if kind == "blocks":
        write_block_task(tmp_path, {"train": 22}, max_phrase=2)
        lines = (tmp_path / "train.de").read_text().splitlines()
        model, weights = Model.open(tmp_path / "model"), {"lm": 0.4, "phrase_ef": 0.2, "pair(haus,house)": 0.1}
    else:
        rng = random.Random(8)
        weights = {"lm": 0.5, "phrase_ef": 0.3, "word": 0.7, "glue": -0.2, "unknown": -5.0}
        model = model_of(tmp_path, random_rules(rng, 40), [random_lm(rng, 3)], weights=weights, counts={})
        lines = [" ".join(rng.choices(["a", "b", "c", "?"], k=rng.randint(0, 6))) for _ in range(12)]
    decoder = decoder_for(model, weights, None, None, 0)
    blocks = [["new1"], lines[:5], ["new2 new1"], lines[5:]]
    for name in ("one", "several"):
        with forest_writer(tmp_path / name) as writer:
            own, first = replace(decoder), 0
            nothing = own.decode([])
            writer.add(nothing)
            for block in blocks:
                if name == "one":
                    writer.add(own.decode(block, first=first))
                else:
                    sent = pickle.dumps(replace(decoder).decode(block, first=first))
                    writer.add(joining(pickle.loads(sent), nothing))
                first += len(block)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "several").read_bytes()
