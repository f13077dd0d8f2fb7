"""Good files of every format, and ways to damage them: a reader must answer with a result or with one line."""

from __future__ import annotations

import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import zstandard

import hopefear as hf
from hopefear import formats

MOSES_LIST = """\
0 ||| the cat ||| LM= -1.5 TM= 0.1 0.2 ||| -3
0 ||| a  cat  ||| LM= -2 TM= 0.3 -4e-300 ||| -4 ||| 0-0
1 |||  ||| LM= 0 TM= 1 2 w_sparse= 7 ||| 0
2 ||| größer ||| LM=1 TM= 3 4 ||| 1e3
"""
CDEC_LIST = "0 ||| a b ||| LM=-1.5 a=b=2 ||| -3\n0 ||| b ||| a=b=+3 LM=1e2 ||| -3\n1 ||| c ||| LM=0 ||| 0\n"
JSONL_LIST = (
    '{"id": 0, "source": "x", "references": ["a b", "c"],'
    ' "candidates": [{"text": "a\\u00e4 b", "features": {"lm": -1.5, "n": 2}, "metrics": {"m": 0.5}}]}\n'
    '{"id": "one", "other": [1, {"a": null}], "candidates": [{"text": "", "features": {}, "metrics": {"m": 1e-3}},'
    ' {"text": "c", "features": {"lm": 3}, "metrics": {"m": 2}}]}\n'
)
HYPERGRAPH = """\
# target ||| features ||| source-covered
3 4
# node 0
1
<s> |||  ||| 0
2
[0] foo  ||| LM0=-1.5 TM0_1=0.5 ||| 1
[0]  ||| LM0=-1 ||| 1
# node 2
1
[1] [0] </s> |||  ||| 2
"""
CDEC_FOREST = (
    '{"rules":[1,"[X] ||| a",2,"[X] ||| x [X,1] ||| A [1]",3,"[X] ||| [2] B [1]"],"features":["f1","f2"],'
    '"edges":[{"tail":[],"feats":[],"rule":1}],"node":{"in_edges":[0]},'
    '"edges":[{"tail":[0],"spans":[0,2,-1,-1],"feats":[0,-0.8,"f3",-0.1],"rule":2}],"node":{"in_edges":[1],"cat":"X"},'
    '"edges":[{"tail":[1,0],"feats":[1,-1],"rule":3},{"tail":[0,0],"feats":null,"rule":3}],"node":{"in_edges":[2,3]}}\n'
)
TRAVATAR_FOREST = (
    '{"nodes": [{"sym": "S", "span": [0, 2], "id": 0}, {"sym": "NP", "span": [1, 2], "id": 1},'
    ' {"sym": "das", "span": [0, 1], "id": 2}],'
    ' "edges": [{"id": 0, "head": 0, "tails": [2, 1], "trg": [{"words": ["the", -2]}], "features": {"lm": 1}},'
    ' {"id": 1, "head": 1, "trg": [{"words": ["house"]}]}], "words": ["das", "Haus"]}\n'
)
CICADA_FOREST = (
    '{"rules": ["[NP] ||| [DT] [NN]", "[DT] ||| a", "[NN] ||| <epsilon>", "[S] ||| x [NP,2] [NP,1]"],'
    ' "nodes": [[{"tail": [2, 3], "rule": 1}], [{"tail": [0, 0], "rule": 4, "feature": {"f": 1}}],'
    ' [{"rule": 2}, {"rule": 3}], [{"rule": 3}]], "goal": 1}\n'
)
PLF = (
    "((('einen',1.0,1),),(('wettbewerbsbedingten',0.5,2),('wettbewerbs',0.25,1),),(('it\\'s',1.0,1),),)\n"
    "((('*EPS*',1,2,1),),)\n"
)
FAIRSEQ = "S-0\ta b\nT-0\tA B\nH-0\t-0.5\tA B\nD-0\t-0.5\tA B\nP-0\t-0.25 -0.75\nS-1\tc\nH-1\t-1e-3\tC\nP-1\t-1\n"
SOCKEYE = (
    '{"sentence_id": 1, "translations": ["a", "b"], "scores": [[0.5], [1]]}\n'
    '{"sentence_id": 2, "translation": "c", "score": 2}\n'
)
OPENNMT = '[[{"src": "x", "tgt": "a", "pred_score": -1}], [{"src": "x", "tgt": "b", "pred_score": -2.5}]]\n'
TOKENS = (
    '{"id": "r-1", "choices": [{"text": "a b", "logprobs": {"token_logprobs": [null, -0.5]}}, {"text": "c"}]}\n'
    '{"sequences": ["a", "b"], "sequences_scores": [-1, -2], "transition_scores": [[-1, -1], [-3]], "reference": "a"}\n'
    '{"outputs": [{"text": "a", "cumulative_logprob": -1, "logprobs": [{"7": {"logprob": -1.0}}]}], "prompt": "x"}\n'
)
FLAT = "-1.5 ||| a b\n-2 ||| b\n-3e1 ||| c\n-4 ||| d\n"
NEMO = '{"audio_filepath": "a", "text": "a b", "beams": [["a", -1.5], ["a b", -2]]}\n'
ESPNET = '{"utts": {"u": {"output": [{"rec_text": "a<eos>", "score": -2.5, "text": "A"}]}}}\n'
ICEFALL = "u1:\tref=['A', 'B']\nu1:\thyp=['A', \"B'S\"]\nu2:\thyp=[]\n"
EXTRACTED = "".join(f"FEATURES_TXT_BEGIN_0 {i} 2 2 d lm\n0 -1.5\n-1 2 x=1\nFEATURES_TXT_END_0\n" for i in range(2))
KALDI = (
    "u-1\n0 1 the 2.5,10,3_4_4\n0 2 a 3,11.25,3_4\n1 2 old 1,20.5,\n2 3 house 0,5,7_8\n3 0.5,0,9\n\n"
    "u-2\n0 1 yes 1,2,\n1\n\n"
)
OPENFST = "0 1 the 0.5\n0 1 a 1.25\n1 2 house\n2 0.25\n\n0 1 das yes 2\n1\n"
SLF = (
    "VERSION=1.0\nbase=10 start=0 end=3\nN=4 L=4\nI=0 W=!NULL\nI=1 W=the\nI=2 W=a\nI=3 W=</s>\n"
    "J=0 S=0 E=1 a=-1.5 l=-2\nJ=1 S=0 E=2 a=-2 r=1\nJ=2 S=1 E=3 a=-1\nJ=3 S=2 E=3 l=-3\n"
)
OLD_LIST = "0||| the house||| d: 0 -1.5 lm: -3 ||| -2\n1||| a ||| d: 0 0 lm: -1||| -1\n"
MARIAN = (
    "1 ||| a b ||| 0-0 1-1 ||| WordScores= -0.5 -1 ||| F0= -1.5 ||| -0.5\n"
    "2 |||  |||  ||| WordScores= -2 ||| F0= -2 ||| -2\n"
)
WEIGHTS = "# tuned\nLM0 0.5\nWordPenalty0=-1\nTM= 0.1 2e-7\n[weight]\nx 3\n"
GRAMMAR = "[X] ||| [X,1] de [NP,2] ||| [2] 's [1] ||| EgivenF=0.5 a=b=-2 ||| 1-1\n[S] ||| a ||| b ||| 0.5;1\n"

INTERESTING = [
    b"|||",
    b" ||| ",
    b"nan",
    b"-inf",
    b"1e999",
    b"99999999999999999999",
    b"-1",
    b"2147483648",
    b"=",
    b"\xff",
    b"\xed\xa0\x80",
]
INTERESTING += [
    b"\0",
    b"\r",
    b"\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b'"',
    b"\\",
    b"\\u",
    b"null",
    b"true",
    b",",
    b":",
    b"0",
    b"",
    b"[X,1]",
]


def _native(folder: Path) -> bytes:
    """A native file with forests, sparse features, spans and references."""
    (folder / "f").write_text(CDEC_FOREST + TRAVATAR_FOREST.replace("lm", "f1"))
    (folder / "r").write_text("a b\nc\n")
    formats.write_forests(formats.read_forests(folder / "f", references=folder / "r"), folder / "native")
    return (folder / "native").read_bytes()


def _touch(pool: hf.Pool) -> None:
    """Looks at everything that a reader made."""
    w = np.ones(len(pool.features))
    for i in range(len(pool)):
        f = pool[i]
        assert np.isfinite(f.dense).all() and np.isfinite(f.sparse_values).all()
        f.scores(w)
        f.viterbi(w)
        pool.references(i)


def _read_list(path: Path) -> None:
    pool = formats.read_nbest(path)
    _touch(pool)
    assert [s.id for s in formats.iter_nbest(path)] == pool.ids


def _read_forests(path: Path) -> None:
    pool = formats.read_forests(path)
    if len(pool) and all(pool[i].edge_count for i in range(len(pool))):
        _touch(pool)


def _named(format: str) -> Callable[[Path], object]:
    return lambda path: _touch(formats.read_nbest(path, format=format))


def _lattice(format: str) -> Callable[[Path], object]:
    return lambda path: _touch(formats.read_forests(path, format=format))


def _read_native(path: Path) -> None:
    formats.read_forests(path)
    formats.read_forests(path, format="native", verify=False)


def targets(folder: Path) -> dict[str, tuple[bytes, Callable[[Path], object]]]:
    """For each format: a good file and its reader."""
    texts: dict[str, tuple[str, Callable[[Path], object]]] = {
        "moses list": (MOSES_LIST, _read_list),
        "cdec list": (CDEC_LIST, _read_list),
        "jsonl list": (JSONL_LIST, _read_list),
        "moses hypergraph": (HYPERGRAPH, _read_forests),
        "cdec forest": (CDEC_FOREST, _read_forests),
        "travatar forest": (TRAVATAR_FOREST, _read_forests),
        "cicada forest": (CICADA_FOREST, _read_forests),
        "plf": (PLF, _read_forests),
        "old list": (OLD_LIST, _read_list),
        "marian list": (MARIAN, _read_list),
        "json list": ("[" + JSONL_LIST.strip().replace("}\n{", "},\n{") + "]", _read_list),
        "fairseq": (FAIRSEQ, _named("fairseq")),
        "sockeye": (SOCKEYE, _named("sockeye")),
        "opennmt": (OPENNMT, _named("opennmt")),
        "tokens": (TOKENS, _named("tokens")),
        "flat": (FLAT, _named("flat:2")),
        "nemo": (NEMO, _named("nemo:1")),
        "espnet": (ESPNET, _named("espnet")),
        "icefall": (ICEFALL, _named("icefall")),
        "mert": (EXTRACTED, _named("mert")),
        "kaldi lattice": (KALDI, _lattice("kaldi")),
        "openfst": (OPENFST, _lattice("openfst")),
        "slf": (SLF, _lattice("slf")),
        "weights": (WEIGHTS, formats.read_weights),
        "grammar": (GRAMMAR, lambda path: list(formats.iter_grammar(path))),
        "references": ("a b\nd\nc\n", lambda path: formats.read_references([path, path])),
    }
    found = {name: (text.encode(), reader) for name, (text, reader) in texts.items()}
    found["gzip"] = (gzip.compress(MOSES_LIST.encode(), mtime=0), _read_list)
    found["xz"] = (lzma.compress(JSONL_LIST.encode()), _read_list)
    found["zstd"] = (zstandard.ZstdCompressor().compress(PLF.encode()), _read_forests)
    found["native"] = (_native(folder), _read_native)
    return found


def mutated(data: bytes, random: random.Random) -> bytes:
    """The data with one to five wounds."""
    out = bytearray(data)
    for _ in range(random.randint(1, 5)):
        i, j = sorted(random.randint(0, len(out)) for _ in range(2))
        j = min(j, i + random.choice([1, 4, 20, 1000]))
        match random.randrange(8):
            case 0 if out:
                out[min(i, len(out) - 1)] ^= 1 << random.randrange(8)
            case 1:
                del out[i:j]
            case 2:
                out[i:i] = out[i:j]
            case 3:
                out[i:j] = random.choice(INTERESTING)
            case 4:
                out[i:i] = random.choice(INTERESTING)
            case 5:
                out[i:j] = bytes(random.randrange(256) for _ in range(random.randint(0, 6)))
            case 6:
                lines = bytes(out).split(b"\n")
                random.shuffle(lines)
                out = bytearray(b"\n".join(lines))
            case 7 if random.random() < 0.3:
                del out[i:]
    return bytes(out)


def attempt(path: Path, data: bytes, reader: Callable[[Path], object]) -> str:
    """Gives the data to a reader. Returns the line with which it refused it, or nothing."""
    path.write_bytes(data)
    try:
        reader(path)
    except hf.InputError as error:
        line = str(error)
        assert line.startswith(str(path)), line
        assert not any(ord(c) < 32 for c in line), line
        return line
    return ""
