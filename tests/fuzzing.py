"""Good files of every format, and ways to damage them: a reader must answer with a result or with one line."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import zstandard

import hopefear as hf
from hopefear import formats
from hopefear._core import Extractor, ParallelText, checksum, read_feature_table
from hopefear.corpus import read_pairs
from hopefear.formats import trec
from hopefear.formats.letor import read_letor
from hopefear.formats.table import read_table
from hopefear.model import BuildOptions, Model, build
from hopefear.model.casing import Casing
from hopefear.model.grammar import Grammar, iter_rules, read_grammar, write_grammar
from hopefear.model.joint import ARRAYS, MARKS, JointModel
from hopefear.model.language_model import LanguageModel
from hopefear.runs import checkpoint
from hopefear.runs.record import RunRecord
from hopefear.train.coordinate_ascent import read_parameters
from hopefear.trainers.blocks import costmargin
from hopefear.trainers.online import states
from tests.corpus.files import TEXT_FILES
from tests.fuzzing_documents import MEMBER, document_targets, members, opus, zipped

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
    '{"id": "r-1", "choices": [{"text": "a b", "logprobs": {"token_logprobs": [null, -0.5]}},'
    ' {"text": "c", "logprobs": [-2]}]}\n'
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


def _read_corpus(path: Path) -> object:
    return list(read_pairs([path], "de", "en"))


def _zip_of(path: Path) -> object:
    path.write_bytes(zipped(path.read_bytes()))
    return _read_corpus(path)


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
    texts |= {f"corpus {name}": (make(), _read_corpus) for name, make in TEXT_FILES.items() if ".csv" not in name}
    files = {name: (text.encode(), reader) for name, (text, reader) in texts.items()}
    files["corpus zip"] = (opus(folder), _read_corpus)
    files["corpus zip, inside"] = (members(opus(folder)), _zip_of)
    files["gzip"] = (gzip.compress(MOSES_LIST.encode(), mtime=0), _read_list)
    files["xz"] = (lzma.compress(JSONL_LIST.encode()), _read_list)
    files["zstd"] = (zstandard.ZstdCompressor().compress(PLF.encode()), _read_forests)
    files["native"] = (_native(folder), _read_native)
    return files | state_targets(folder) | document_targets(folder)


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


def _arpa_and_lm(folder: Path) -> tuple[bytes, bytes]:
    model = LanguageModel.estimate(["a b c", "a b ü", "b"], 3)
    model.write_arpa(folder / "lm.arpa")
    model.save(folder / "lm.bin")
    return (folder / "lm.arpa").read_bytes(), (folder / "lm.bin").read_bytes()


def _read_lm(path: Path) -> None:
    model = LanguageModel.open(path)
    model.core.write_arpa(io.BytesIO().write)
    model.score("a b x")


def _grammar_file(folder: Path) -> bytes:
    (folder / "g").write_text("[X] ||| a [X,1] ||| [X,1] b ||| p=0.5 ||| 0-1\n[X] ||| c ||| d e ||| p=-1 ||| 0-0\n")
    write_grammar(read_grammar(folder / "g"), folder / "grammar.bin")
    return (folder / "grammar.bin").read_bytes()


def _read_grammar_file(path: Path) -> None:
    list(iter_rules(Grammar.open(str(path), True, 1)))


def _model_info(folder: Path) -> bytes:
    """model.json of a model whose files are all there."""
    (folder / "text").write_text("a b\nb c\n" * 3)
    (folder / "links").write_text("0-0 1-1\n" * 6)
    options = BuildOptions(tokenizer="none", lm_order=2, sparse=False)
    build(folder / "text", folder / "text", folder / "model", options, align=[folder / "links"])
    return (folder / "model" / "model.json").read_bytes()


def _read_model_info(path: Path) -> None:
    """The damaged model.json is put into the model for a moment."""
    inside = path.parent / "model" / "model.json"
    inside.write_bytes(path.read_bytes())
    try:
        Model.open(inside.parent)
    except hf.InputError as error:
        assert str(error).startswith(str(inside.parent))
        raise hf.InputError(f"{path}: {error}") from None


def _learners(folder: Path) -> bytes:
    snapshot = states.Snapshot(np.arange(3.0), np.zeros(3), np.ones(3), np.zeros(9), 4, [b"ab", b""])
    states.save(folder / "learners.npz", {"epoch": 2, "history": []}, [snapshot, snapshot], {"best": np.arange(3.0)})
    return (folder / "learners.npz").read_bytes()


def _learners_members(folder: Path) -> bytes:
    _learners(folder)
    return members((folder / "learners.npz").read_bytes())


def _checkpoint(folder: Path) -> bytes:
    checkpoint.save(folder / "state.json", {"weights": {"lm": 0.25, "größe": -3}, "history": [{"epoch": 1}]})
    return (folder / "state.json").read_bytes()


def _run_record(folder: Path) -> bytes:
    RunRecord(kind="tune", command=["hopefear", "tune"], seed=1, epochs=[{"epoch": 1, "bleu": 3.5}]).save(
        folder / "run"
    )
    return (folder / "run").read_bytes()


def _read_config(path: Path) -> None:
    from hopefear import commands
    from hopefear.cli.command import ClickCommand
    from hopefear.cli.options import FileError, read_config

    try:
        read_config(str(path), ClickCommand("build", commands.find("build")), "build", ["build", "tune"])
    except FileError as error:
        raise hf.InputError(error.format_message()) from None


def _table(suffix: str) -> Callable[[Path], object]:
    return lambda path: read_table(path.replace(path.with_suffix(suffix)))


def _arrow_table(folder: Path, kind: str) -> bytes:
    table = pyarrow.table({"q": [1, 1, 2], "text": ["a", "b", None], "lm": [0.5, -1e3, 2.0]})
    if kind == "parquet":
        pyarrow.parquet.write_table(table, folder / "table", compression="none")
    else:
        pyarrow.feather.write_feather(table, str(folder / "table"), compression="uncompressed")
    return (folder / "table").read_bytes()


# Formats with checksums refuse nearly everything at the door. To see what is behind it, the members of a file of arrays
# are damaged one by one, and checksums are made anew.


def _packed(reader: Callable[[Path], object]) -> Callable[[Path], object]:
    """Gives a file of arrays with these members to a reader."""

    def read(path: Path) -> None:
        parts = path.read_bytes().split(MEMBER)
        inside = path.with_suffix(".npz")
        with zipfile.ZipFile(inside, "w") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two members of one name
            for name, content in zip(parts[::2], parts[1::2], strict=False):
                file.writestr(name.decode("latin-1").replace("\0", "") or "_", content)
        reader(inside)

    return read


def _joint(folder: Path) -> Path:
    words, rng = (*MARKS, "a", "b"), np.random.default_rng(1)
    shapes = [(6, 2), (6, 2), (28, 3), (3,), (6, 3), (6,)]
    arrays = {name: rng.normal(size=shape).astype(np.float32) for name, shape in zip(ARRAYS, shapes, strict=True)}
    JointModel(words, words, arrays).save(folder / "joint.npz")
    return folder / "joint.npz"


def _last(folder: Path) -> Path:
    state = costmargin._State(np.arange(3, dtype=np.uint64), np.ones(3), np.zeros(3))
    state.save(folder / "last.npz", [{"epoch": 1}])
    return folder / "last.npz"


def _read_case(path: Path) -> None:
    Casing.from_dict(LanguageModel.open(path), {"first": 1.0, "later": 0.5}).spell(["a", "b", "ü", "."], ["Ü"])


def _read_forged_lm(good: bytes) -> Callable[[Path], object]:
    """The header is good, and the rest has no checksum that is compared."""

    def read(path: Path) -> None:
        data = path.read_bytes()[512 : len(good)]
        path.write_bytes(good[:512] + data + good[512 + len(data) :])
        model = LanguageModel.open(path, verify=False)
        model.score("a b x")
        try:
            model.core.write_arpa(io.BytesIO().write)
        except hf.InputError as error:
            raise hf.InputError(f"{path}: {error}") from None

    return read


def _read_forged_grammar(path: Path) -> None:
    """Checksums are those of the damaged bytes."""
    data = bytearray(path.read_bytes())
    if len(data) >= 608:
        for at in range(48, 608, 40):
            offset, size = struct.unpack_from("<QQ", data, at + 16)
            if offset + size <= len(data):
                struct.pack_into("<Q", data, at + 32, checksum(bytes(data[offset : offset + size])))
        struct.pack_into("<Q", data, 24, len(data))
        struct.pack_into("<Q", data, 32, 0)
        struct.pack_into("<Q", data, 32, checksum(bytes(data[:608])))
        path.write_bytes(data)
    _read_grammar_file(path)


def _read_links(path: Path) -> None:
    """Word alignments of three pairs."""
    lines = path.read_bytes().decode("utf-8", "surrogateescape").split("\n")[:3]
    text = ParallelText()
    text.add(["a b c", "d", "e f"], ["a b", "c d e", "f g"])
    for number, line in enumerate(lines):
        text.add_pharaoh([line.encode("utf-8", "replace").decode()], str(path), [number + 1])
    if len(lines) == 3:
        extractor = Extractor(text, **BuildOptions().extraction())
        extractor.run(0, 3)
        extractor.finish()


CONFIG = 'seed = 3\nkind = "blocks"\n[build]\nmax-options = 20\nsource = ["a", "b"]\noverwrite = true\n[tune]\nx = 1\n'
PARAMS = "[beam]\nvalues = [50, 100, 200]\n[penalty]\nlow = -1.0\nhigh = 2.0\nstep = 0.5\n"
JSONL_TABLE = '{"q": 1, "text": "a", "lm": 0.5}\n{"q": 1, "text": "b", "lm": null}\n{"q": 2, "text": "c", "lm": -1e3}\n'
CSV_TABLE = 'q,text,lm,tm\n1,"a, b",-1.5,2\n1,c,0.5,1e-3\n2,"d ""e""",3,4\n'
LETOR = "2 qid:10 1:0.5 2:1 # doc\n0 qid:10 1:0.1 2:7\n1 qid:11 1:3\n"
TREC = "q1 Q0 d1 1 9.5 a\nq1 Q0 d2 2 3e-1 a\nq2 Q0 d1 1 1 a\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"


def state_targets(folder: Path) -> dict[str, tuple[bytes, Callable[[Path], object]]]:
    """Models, checkpoints, records, configurations and tables."""
    arpa, lm = _arpa_and_lm(folder)
    return {
        "arpa": (arpa, lambda path: LanguageModel.read_arpa(path).core.write_arpa(io.BytesIO().write)),
        "lm.bin": (lm, _read_lm),
        "grammar.bin": (_grammar_file(folder), _read_grammar_file),
        "model.json": (_model_info(folder), _read_model_info),
        "learners.npz": (_learners(folder), states.load),
        "checkpoint": (_checkpoint(folder), checkpoint.load),
        "run.json": (_run_record(folder), RunRecord.load),
        "config": (CONFIG.encode(), _read_config),
        "csv table": (CSV_TABLE.encode(), _table(".csv")),
        "tsv table": (CSV_TABLE.replace(",", "\t").encode(), _table(".tsv")),
        "jsonl table": (JSONL_TABLE.encode(), _table(".jsonl")),
        "parquet table": (_arrow_table(folder, "parquet"), _table(".parquet")),
        "arrow table": (_arrow_table(folder, "arrow"), _table(".arrow")),
        "lm.bin, forged": (lm, _read_forged_lm(lm)),
        "case.bin": (lm, _read_case),
        "grammar.bin, forged": (_grammar_file(folder), _read_forged_grammar),
        "joint.npz": (_joint(folder).read_bytes(), JointModel.open),
        "joint.npz, forged": (members(_joint(folder).read_bytes()), _packed(JointModel.open)),
        "last.npz": (_last(folder).read_bytes(), costmargin._State.load),
        "last.npz, forged": (members(_last(folder).read_bytes()), _packed(costmargin._State.load)),
        "learners.npz, forged": (_learners_members(folder), _packed(states.load)),
        "links": (b"0-0 1-1 2-0\n0-0 0-2\n1-0 0-1\n", _read_links),
        "params": (PARAMS.encode(), read_parameters),
        "feature table": (b"lm 0.5\nph(a,b) -1e-3\nw(c) 3\n", lambda path: read_feature_table(str(path))),
        "letor": (LETOR.encode(), lambda path: read_letor(str(path))),
        "trec run": (TREC.encode(), lambda path: trec.read_run(str(path))),
        "qrels": (QRELS.encode(), lambda path: trec.read_qrels(str(path))),
    }
