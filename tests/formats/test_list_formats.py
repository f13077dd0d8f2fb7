"""Lists of other programs, as these write them."""

import json
from pathlib import Path

import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.formats import iter_nbest, read_nbest

Capture = pytest.CaptureFixture[str]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def shown(pool: hf.Pool, i: int) -> list[tuple[str, dict[str, float]]]:
    """Texts and features of a sentence."""
    names = pool.feature_names
    rows = []
    for j in range(pool[i].edge_count):
        best = pool[i].kbest({}, pool[i].edge_count)[j]
        rows.append((best.text, {name: best.features.get(name, 0.0) for name in names}))
    return rows


FAIRSEQ = """\
2020-03-01 12:00:00 | INFO | fairseq_cli.generate | loading model(s) from model.pt
S-1\tJa .
T-1\tYes .
H-1\t-0.25\tYes .
D-1\t-0.25\tYes .
P-1\t-0.5 -0.125 -0.125
H-1\t-1.5\tYeah .
D-1\t-1.5\tYeah .
P-1\t-2.0 -1.0 -1.5
S-0\tDas alte Haus
T-0\tThe old house
H-0\t-0.5\tThe old house
D-0\t-0.5\tThe old house
P-0\t-0.5 -0.25 -0.5 -0.75
H-0\t-0.75\tThe old home
D-0\t-0.75\tThe old home
P-0\t-0.5 -0.25 -1.5 -0.75
2020-03-01 12:00:09 | INFO | fairseq_cli.generate | Translated 2 sentences (9 tokens) in 0.1s
Generate test with beam=2: BLEU4 = 100.00, 100.0/100.0/100.0/100.0
"""


def test_fairseq_generate(tmp_path: Path) -> None:
    pool = read_nbest(write(tmp_path / "gen.txt", FAIRSEQ))
    assert pool.ids == ["0", "1"]
    assert (pool.source(0), pool.references(1)) == ("Das alte Haus", ["Yes ."])
    assert shown(pool, 1) == [
        ("Yes .", {"score": -0.25, "logprob_sum": -0.75, "logprob_mean": -0.25, "logprob_min": -0.5}),
        ("Yeah .", {"score": -1.5, "logprob_sum": -4.5, "logprob_mean": -1.5, "logprob_min": -2.0}),
    ]
    older = FAIRSEQ.replace("D-1\t-0.25\tYes .", "D-1\t-0.25\tYes.")  # T as H: no reference for D
    assert read_nbest(write(tmp_path / "gen2.txt", older)).references(1) == []
    detokenised = read_nbest(write(tmp_path / "gen3.txt", older.replace("T-1\tYes .", "T-1\tYes.")))  # T as D
    assert (detokenised.text(1, 0), detokenised.references(1)) == ("Yes.", ["Yes."])
    with pytest.raises(hf.InputError, match="sentence 0 has no candidates"):
        read_nbest(write(tmp_path / "cut.txt", "\n".join(FAIRSEQ.split("\n")[:10])), format="fairseq")


def test_sockeye(tmp_path: Path) -> None:
    lines = [
        {"sentence_id": 1, "translation": "a b", "score": 0.5, "translations": ["a b", "b"], "scores": [[0.5], [0.75]]},
        {"sentence_id": 2, "translation": "c", "score": 1.25},
    ]
    path = write(tmp_path / "out.json", "".join(json.dumps(line) + "\n" for line in lines))
    pool = read_nbest(path, write(tmp_path / "refs", "a b\nc\n"))
    assert pool.ids == ["1", "2"]
    assert shown(pool, 0) == [("a b", {"score": 0.5}), ("b", {"score": 0.75})]
    assert shown(pool, 1) == [("c", {"score": 1.25})]


def test_opennmt(tmp_path: Path) -> None:
    """One list per rank, each with all sentences."""
    answer = [
        [{"src": s, "tgt": f"{s}{rank}", "n_best": 2, "pred_score": -rank - 0.5} for s in ("x", "y", "z")]
        for rank in range(2)
    ]
    pool = read_nbest(write(tmp_path / "answer.json", json.dumps(answer, indent=1)))
    assert len(pool) == 3
    assert pool.source(2) == "z"
    assert shown(pool, 2) == [("z0", {"score": -0.5}), ("z1", {"score": -1.5})]


VLLM = {
    "custom_id": "request-1",
    "response": {
        "status_code": 200,
        "body": {
            "id": "cmpl-7",
            "choices": [
                {"index": 0, "text": "a b", "logprobs": {"tokens": ["a", "b"], "token_logprobs": [None, -0.5]}},
                {"index": 1, "text": "c", "logprobs": {"tokens": ["c", ""], "token_logprobs": [-1.0, -2.0]}},
            ],
        },
    },
}
CHAT = {
    "id": "chatcmpl-1",
    "choices": [{"message": {"role": "assistant", "content": "a"}, "logprobs": {"content": [{"logprob": -0.25}]}}],
}
OFFLINE = {
    "prompt": "x",
    "outputs": [
        {"text": "a", "cumulative_logprob": -1.5, "logprobs": [{"7": {"logprob": -1.0}}, {"2": {"logprob": -0.5}}]}
    ],
}
HUGGING = {"source": "x", "sequences": ["a", "b"], "sequences_scores": [-1, -2], "transition_scores": [[-1, -1], [-3]]}


def test_token_log_probabilities(tmp_path: Path) -> None:
    tokens = {"logprob_sum": -0.5, "logprob_mean": -0.5, "logprob_min": -0.5}
    other = json.loads(json.dumps(VLLM).replace("request-1", "request-0"))
    batch = read_nbest(write(tmp_path / "batch.jsonl", f"{json.dumps(VLLM)}\n{json.dumps(other)}\n"))
    assert batch.ids == ["request-0", "request-1"]
    assert shown(batch, 0) == [("a b", tokens), ("c", {"logprob_sum": -3.0, "logprob_mean": -1.5, "logprob_min": -2.0})]
    chat = read_nbest(write(tmp_path / "chat.jsonl", json.dumps(CHAT)))
    assert chat.text(0, 0) == "a"
    assert chat[0].dense.tolist() == [[-0.25, -0.25, -0.25]]
    offline = read_nbest(write(tmp_path / "offline.jsonl", json.dumps(OFFLINE)))
    assert shown(offline, 0)[0][1] == {
        "cumulative_logprob": -1.5,
        "logprob_sum": -1.5,
        "logprob_mean": -0.75,
        "logprob_min": -1.0,
    }
    likelier = json.loads(json.dumps(OFFLINE))  # the chosen token need not stand first
    likelier["outputs"][0] |= {
        "token_ids": [7, 2],
        "logprobs": [{"7": {"logprob": -1.0}}, {"5": {"logprob": -0.1}, "2": {"logprob": -0.5}}],
    }
    assert shown(read_nbest(write(tmp_path / "top.jsonl", json.dumps(likelier))), 0) == shown(offline, 0)
    hugging = read_nbest(write(tmp_path / "hf.jsonl", json.dumps(HUGGING)))
    assert hugging.source(0) == "x"
    assert shown(hugging, 0)[1] == (
        "b",
        {"score": -2.0, "logprob_sum": -3.0, "logprob_mean": -3.0, "logprob_min": -3.0},
    )
    with pytest.raises(hf.InputError, match=r"a token's log probability is '-inf'. Replace it"):
        read_nbest(write(tmp_path / "inf.jsonl", json.dumps(HUGGING).replace("[-3]", "[-Infinity]")))


def test_flat_files(tmp_path: Path) -> None:
    for text in (
        "-1 ||| a b\n-2 ||| b\n-3 ||| c\n-4 ||| d\n",
        "-1\ta b\n-2\tb\n-3\tc\n-4\td\n",
        "a b\t-1\nb\t-2\nc\t-3\nd\t-4\n",
    ):
        pool = read_nbest(write(tmp_path / "flat", text), format="flat:2")
        assert shown(pool, 1) == [("c", {"score": -3.0}), ("d", {"score": -4.0})]
        assert pool.text(0, 0) == "a b"
    plain = write(tmp_path / "plain", "a\nb\nc\nd\n")
    assert shown(read_nbest(plain, write(tmp_path / "refs", "a\nb\n"), "flat"), 1) == [
        ("c", {"rank": 0.0}),
        ("d", {"rank": 1.0}),
    ]
    for format, finding in (
        ("flat", "is unknown"),
        ("flat:3", "4 candidates are not 3 per sentence"),
        ("flat:x", "not a number"),
    ):
        with pytest.raises(hf.InputError, match=finding):
            read_nbest(plain, format=format)


def test_nemo(tmp_path: Path) -> None:
    lines = [
        {"audio_filepath": f"{k}.wav", "text": "a b", "pred_text": "a", "beams": [["a", -1.5], ["a b", -2]]}
        for k in range(2)
    ]
    pool = read_nbest(write(tmp_path / "out.json", "".join(json.dumps(line) + "\n" for line in lines)))
    assert (shown(pool, 1), pool.references(0)) == ([("a", {"score": -1.5}), ("a b", {"score": -2.0})], ["a b"])
    table = write(tmp_path / "preds_out_width2_alpha1.0_beta0.0.tsv", "a\t-1.5\na b\t-2.0\nc\t-0.5\n\t-1.0\n")
    assert shown(read_nbest(table, format="nemo:2"), 1) == [("c", {"score": -0.5}), ("", {"score": -1.0})]


def test_espnet(tmp_path: Path) -> None:
    for rank, score in ((1, -1.5), (2, -2.0), (10, -3.0)):
        folder = tmp_path / "exp" / "logdir" / "output.1" / f"{rank}best_recog"
        write(folder / "text", f"utt2 B {rank}\nutt1 A {rank}\n")
        write(folder / "score", f"utt2 tensor({score}, device='cuda:0')\nutt1 {score}\n")
    for path in (tmp_path / "exp" / "logdir", tmp_path / "exp" / "logdir" / "output.1"):
        pool = read_nbest(path)
        assert pool.ids == ["utt1", "utt2"]
        assert shown(pool, 1) == [("B 1", {"score": -1.5}), ("B 2", {"score": -2.0}), ("B 10", {"score": -3.0})]
    outputs = [{"name": "target1[1]", "rec_text": "\u2581HE LLO\u2581YOU<eos>", "score": -2.5, "text": "HELLO YOU"}]
    old = read_nbest(write(tmp_path / "data.json", json.dumps({"utts": {"u-1": {"output": outputs}}}, indent=4)))
    assert (old.ids, old.text(0, 0), old.references(0)) == (["u-1"], "HE LLO YOU", ["HELLO YOU"])


def test_icefall_and_kaldi(tmp_path: Path) -> None:
    recogs = "u1:\tref=['A', 'B']\nu1:\thyp=['A', \"B'S\"]\nu1:\thyp=['A']\nu2:\tref=[]\nu2:\thyp=[]\n"
    pool = read_nbest(write(tmp_path / "recogs-test.txt", recogs))
    assert (pool.ids, pool.references(0)) == (["u1", "u2"], ["A B"])
    assert shown(pool, 0) == [("A B'S", {"rank": 0.0}), ("A", {"rank": 1.0})]
    for name, text in {"words_text": "a b", "acwt": "10.5", "lmwt.nolm": "2"}.items():
        write(tmp_path / "archives" / name, f"u-1-1 {text}\nu-1-2 {text}\nu-2-1 {text}\n")
    lists = read_nbest(tmp_path / "archives", format="kaldi-nbest")
    assert lists.ids == ["u-1", "u-2"]
    assert shown(lists, 0) == [("a b", {"acwt": 10.5, "lmwt.nolm": 2.0})] * 2


FEATURES = "".join(
    f"FEATURES_TXT_BEGIN_0 {i} 2 3 d_0 lm_0 w_0\n0 {-1.5 - i} -2\n-1 {-2.5 + i} -1 sparse=1\nFEATURES_TXT_END_0\n"
    for i in range(2)
)
SCORES = "".join(
    f"SCORES_TXT_BEGIN_0 {i} 2 9 BLEU\n3 4 2 3 1 2 0 1 4\n4 4 3 3 2 2 1 1 4\nSCORES_TXT_END_0\n" for i in range(2)
)


def test_statistics_of_moses(tmp_path: Path, capsys: Capture) -> None:
    """features.dat and scores.dat: what is left of many tunings of old."""
    path = write(tmp_path / "run1.features.dat", FEATURES)
    write(tmp_path / "run1.scores.dat", SCORES)
    pool = read_nbest(path)
    assert shown(pool, 1)[0] == ("", {"d_0": 0.0, "lm_0": -2.5, "w_0": -2.0, "sparse": 0.0})
    assert pool.number_names[:2] == ["matches_1", "total_1"]
    metric = hf.metrics.BleuCounts()
    stats = metric.stats(pool)
    assert stats[0].tolist() == [3, 2, 1, 0, 4, 3, 2, 1, 4]
    assert metric.score(stats[[1, 3]].sum(axis=0)) == pytest.approx(100)
    command = [
        "tune",
        "--nbest",
        str(path),
        "--metric",
        "bleu-counts",
        "--trainer",
        "mert",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main([*command, "--quiet"]) == 0
    assert "100.00" in capsys.readouterr().out
    with pytest.raises(hf.InputError, match="sentence 1 has fewer scores than candidates"):
        read_nbest(path, format=f"mert:{write(tmp_path / 'short', SCORES[: len(SCORES) // 2])}")
    with pytest.raises(hf.InputError, match="without its option binary"):
        read_nbest(write(tmp_path / "binary", "FEATURES_BIN_BEGIN_0 0 1 3 a\n"))


def test_travatar_with_statistics(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list", "0 ||| a  b ||| -2.5 ||| lm=-1.5 tm=2\n0 ||| b ||| -3 ||| lm=-1\n1 ||| c ||| 0 ||| lm=1\n"
    )
    stats = write(tmp_path / "stats", "1 2\n2 2\n0 1\n")
    pool = read_nbest(path, format=f"travatar:{stats}")
    assert pool.number_names == ["errors", "length"]
    assert pool[0].numbers.tolist() == [[1, 2], [2, 2]]
    assert shown(pool, 0)[0] == ("a b", {"lm": -1.5, "tm": 2.0})
    write(stats, "1 2\n")
    with pytest.raises(hf.InputError, match="fewer lines than candidates"):
        read_nbest(path, format=f"travatar:{stats}")


def test_commands_take_them(tmp_path: Path, capsys: Capture) -> None:
    gen, refs = str(write(tmp_path / "gen.txt", FAIRSEQ)), str(write(tmp_path / "refs", "The old home\nYes .\n"))
    weights = str(write(tmp_path / "w", "score -1\nlogprob_sum 0\nlogprob_mean 0\nlogprob_min 0\n"))
    assert main(["rerank", "--nbest", gen, "--weights", weights]) == 0
    assert capsys.readouterr() == ("The old home\nYeah .\n", "")
    assert main(["score", gen, "--refs", refs, "--format", "list", "--metric", "wer"]) == 0
    assert " = 20.00" in capsys.readouterr().out
    assert [sentence.text(0) for sentence in iter_nbest(write(tmp_path / "flat", "a\nb\n"), "flat:1")] == ["a", "b"]
    assert main(["rerank", "--nbest", gen, "--weights", weights, "--format", "fairsek"]) == 2
    assert "there is no format 'fairsek'" in capsys.readouterr().err
