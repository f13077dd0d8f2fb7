import gzip
import math
import random
from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.lists import Synthetic
from hopefear.formats import iter_nbest, read_nbest

MOSES = """\
0 ||| the cat ||| LM= -1.5 TM= 0.1 0.2 ||| -3
0 ||| a  cat  ||| LM= -2 TM= 0.3 -4e-300 ||| -4
1 |||  ||| LM= 0 TM= 1 2 w_sparse= 7 ||| 0
"""


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_moses(tmp_path: Path) -> None:
    pool = read_nbest(write(tmp_path / "n", MOSES))
    assert pool.ids == ["0", "1"]
    assert pool.feature_names == ["LM", "TM_0", "TM_1", "w_sparse"]
    assert pool.dense_width == 3
    assert [pool.text(0, 0), pool.text(0, 1), pool.text(1, 0)] == ["the cat", "a cat", ""]
    np.testing.assert_array_equal(pool[0].dense, [[-1.5, 0.1, 0.2], [-2, 0.3, -4e-300]])
    assert pool[0].sparse_begin.size == 0
    assert pool[1].sparse_ids.tolist() == [3]
    assert pool[1].sparse_values.tolist() == [7]
    assert pool.is_lists


def test_cdec(tmp_path: Path) -> None:
    text = "0 ||| a b ||| LM=-1.5 a=b=2 ||| -3\n0 ||| b ||| a=b=+3 LM=1e2 ||| -3 ||| 0-0 1-1\n"
    pool = read_nbest(write(tmp_path / "n", text))
    assert pool.feature_names == ["LM", "a=b"]
    np.testing.assert_array_equal(pool[0].dense, [[-1.5, 2], [100, 3]])


def test_dense_features_come_first_and_missing_ones_are_zero(tmp_path: Path) -> None:
    lines = [f"{i} ||| x ||| rare{i % 50}= {i} LM= {i} TM= 1 {i} ||| 0" for i in range(200)]
    lines[150] = "150 ||| x ||| ||| 0"
    pool = read_nbest(write(tmp_path / "n", "\n".join(lines)))
    assert pool.feature_names[:4] == ["LM", "TM_0", "TM_1", "rare0"]
    assert pool.dense_width == 3
    for i in range(200):
        row = pool[i].dense[0].tolist()
        assert row == ([i, 1, i] if i != 150 else [0, 0, 0])
        if i != 150:
            assert [pool.feature_names[k] for k in pool[i].sparse_ids] == [f"rare{i % 50}"]
            assert pool[i].sparse_values.tolist() == [i]


def test_a_list_cut_into_any_chunks_is_the_same(tmp_path: Path) -> None:
    from hopefear._core import NbestParser, Pool

    data = MOSES.encode()
    whole = read_nbest(write(tmp_path / "n", data))
    for size in range(1, 40):
        parser = NbestParser(missing="error")
        pool = Pool()
        parser.begin_file("n", "moses")
        for begin in range(0, len(data), size):
            parser.feed(data[begin : begin + size])
        parser.end_file()
        parser.finish()
        parser.collect(pool)
        assert pool.feature_names == whole.feature_names
        assert all(np.array_equal(pool[i].dense, whole[i].dense) for i in range(2))


def test_crlf_and_byte_order_mark(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + MOSES.replace("\n", "\r\n").encode()
    pool = read_nbest(write(tmp_path / "n", data))
    assert [pool.text(0, 0), pool.text(0, 1), pool.text(1, 0)] == ["the cat", "a cat", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "n: the file is empty. Was the decoder interrupted?"),
        ("\n", 'n:1: expected 4 fields split by " ||| " (id, words, features, score), found 0. Is this a list'),
        (MOSES + "1 ||| a ||| LM= 1", "n:4: expected 4 fields"),
        ("0 ||| a ||| LM= 1 ||| 2\n0 ||| a|||b ||| LM= 1 ||| x", 'n:2: the score "x" is not a number'),
        ("x ||| a ||| LM= 1 ||| 2", 'n:1: the sentence id "x" is not a whole number'),
        ("99999999999999999999 ||| a ||| LM= 1 ||| 2", "n:1: the sentence id"),
        ("2 ||| a ||| LM= 1 ||| 2", "n:1: the first sentence id is 2, but ids count from 0 or 1"),
        ("0 ||| a ||| b ||| LM= 1 ||| 2", 'n:1: the feature value "b" has no name'),
        (MOSES + "3 ||| a ||| LM= 1 TM= 1 2 ||| 2", "n:4: sentence 2 has no candidates: the ids jump from 1 to 3"),
        (MOSES + "0 ||| a ||| LM= 1 TM= 1 2 ||| 2", "n:4: sentence 0 comes after sentence 1"),
        ("0 ||| a ||| LM= nan ||| 2", 'n:1: feature "LM" has the value "nan". Replace it by a finite number'),
        ("0 ||| a ||| LM=-inf ||| 2", 'n:1: feature "LM" has the value "-inf"'),
        ("0 ||| a ||| LM=1e999 ||| 2", 'n:1: feature "LM" has the value "1e999"'),
        ("0 ||| a ||| LM= 1x ||| 2", 'n:1: feature "LM" has the value "1x", which is not a number'),
        ("0 ||| a ||| LM= 1 ||| inf", 'n:1: the score "inf" is not finite'),
        ("0 ||| a ||| 1 2 ||| 2", 'n:1: the feature value "1" has no name'),
        ("0 ||| a ||| =1 ||| 2", 'n:1: a feature has no name before its "="'),
        ("0 ||| a ||| = 1 ||| 2", 'n:1: a feature has no name before its "="'),
        (MOSES + "1 ||| a ||| LM= 1 TM= 1 ||| 2", 'n:4: feature "TM" has 1 values here and 2 before'),
        (MOSES + "1 ||| a ||| LM= 1 2 TM= 1 1 ||| 2", 'n:4: feature "LM" has 2 values here and 1 before'),
        (MOSES + "1 ||| a ||| LM= TM= 1 1 ||| 2", 'n:4: feature "LM" has 0 values here and 1 before'),
        ("0 ||| a ||| LM= 1 LM= 2 ||| 2", 'n:1: feature "LM" occurs twice in one candidate'),
        ("0 ||| a ||| TM= 1 2 TM_1= 2 ||| 2", 'n:1: feature "TM_1" occurs twice in one candidate'),
        (b"0 ||| a\xff ||| LM= 1 ||| 2", "n:1: byte 8 is not UTF-8"),
        (b"0 ||| \xed\xa0\x80 ||| LM= 1 ||| 2", "n:1: byte 7 is not UTF-8"),
    ],
)
def test_bad_lists(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = write(tmp_path / "n", text)
    with pytest.raises(hf.InputError) as raised:
        read_nbest(path)
    assert str(raised.value).startswith(message.replace("n:", f"{path}:", 1))
    assert "\n" not in str(raised.value)
    with pytest.raises(hf.InputError) as streamed:
        list(iter_nbest(path))
    assert str(streamed.value) == str(raised.value)


def test_parts_of_one_list(tmp_path: Path) -> None:
    first = write(tmp_path / "1", MOSES)
    second = write(tmp_path / "2", "2 ||| x ||| LM= 1 TM= 1 2 ||| 0\n")
    pool = read_nbest([first, second])
    assert pool.ids == ["0", "1", "2"]
    with pytest.raises(hf.InputError, match=r"2:1: the first sentence id is 2"):
        read_nbest([second, first])
    with pytest.raises(hf.InputError, match=r"1:1: sentence 0 comes after sentence 1"):
        read_nbest([first, first])


def test_merged_lists(tmp_path: Path) -> None:
    first = write(tmp_path / "1", MOSES)
    second = write(tmp_path / "2", "0 ||| the cat ||| LM= -1.5 TM= 0.1 0.2 ||| -3\n1 ||| new ||| LM= 1 TM= 1 2 ||| 0\n")
    pool = read_nbest([first, second], merge=True)
    assert [pool[0].edge_count, pool[1].edge_count] == [2, 2]
    short = write(tmp_path / "3", "0 ||| the cat ||| LM= -1.5 TM= 0.1 0.2 ||| -3\n")
    with pytest.raises(hf.InputError, match=r"3: has 1 sentences, but .*1 has 2"):
        read_nbest([first, short], merge=True)


def test_stream_keeps_the_text(tmp_path: Path) -> None:
    path = tmp_path / "n.gz"
    path.write_bytes(gzip.compress(MOSES.encode()))
    first, second = iter_nbest(path)
    assert [first.id, second.id] == ["0", "1"]
    assert [first.text(0), first.text(1), second.text(0)] == ["the cat", "a  cat ", ""]
    assert len(first) == 2
    w = np.array([1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(first.forest.scores(w), [-1.4, -1.7])
    with pytest.raises(IndexError):
        first.text(2)


def test_hostile_but_legal(tmp_path: Path) -> None:
    long = "w" * 3_000_000
    many = " ".join(f"f{k}= {k}" for k in range(20_000))
    pool = read_nbest(write(tmp_path / "n", f"0 ||| {long} \0 ||| {many} ||| 0\n0 ||| x ||| f0= 1 ||| 0"))
    assert pool.text(0, 0) == f"{long} \0"
    assert len(pool.feature_names) == 20_000
    tiny = read_nbest(write(tmp_path / "t", "0 ||| x ||| a=1e-400 b=-1e-99999 c=5e-324 d=-0.0 e=.5 f=1. ||| 0"))
    values = tiny[0].dense[0].tolist()
    assert values == [0, 0, 5e-324, 0, 0.5, 1]
    assert math.copysign(1, values[3]) == -1


def test_reading_reports_progress(tmp_path: Path) -> None:
    data = Synthetic(sentences=30, candidates=5)
    received: list[int] = []
    path = data.write(tmp_path)["nbest"]
    read_nbest(path, progress=received.append)
    assert received == sorted(received) and received[-1] == path.stat().st_size


def test_numbers_are_those_that_python_reads(tmp_path: Path) -> None:
    """To the last bit, whichever way they are written."""
    rng = random.Random(1)
    texts = ["0", "-0", "-0.0000", "000.10", "5.", ".5", "+3.25", "1e5", "-1.5E-7", "1e-320"]
    texts += ["123456789012345", "1234567890123456", "-999999999999999", "9007199254740993"]
    texts += ["0.12345678901234", "0.123456789012345", "12345678.1234567"]
    for _ in range(2000):
        digits = "".join(rng.choices("0123456789", k=rng.randint(1, 17)))
        point = rng.randint(0, len(digits))
        number = f"{digits[:point]}.{digits[point:]}" if 0 < point < len(digits) else digits
        texts.append(rng.choice(["", "-"]) + number)
    path = tmp_path / "list"
    path.write_text("".join(f"0 ||| a{i} ||| f= {text} ||| 0\n" for i, text in enumerate(texts)))
    pool = hf.read_nbest(path)
    values = pool[0].dense[:, 0].tolist()
    assert [value.hex() for value in values] == [float(text).hex() for text in texts]


@pytest.mark.parametrize("text", ["1.2.3", "-", "--1", "1-", "1,5", "0x10", ".", "-.", "1.5a"])
def test_invalid_numbers_are_errors(tmp_path: Path, text: str) -> None:
    path = tmp_path / "list"
    path.write_text(f"0 ||| a ||| f= {text} ||| 0\n")
    with pytest.raises(hf.InputError, match="is not a number"):
        hf.read_nbest(path)
