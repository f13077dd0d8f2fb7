"""Lists of several systems as one."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear._core import likeness_columns
from hopefear.errors import OptionError
from tests.reference.consensus import ngrams

Lists = list[list[tuple[str, dict[str, float]]]]


def write(path: Path, lists: Lists, ids: list[str] | None = None) -> Path:
    with path.open("w") as file:
        for i, candidates in enumerate(lists):
            record = {
                "id": ids[i] if ids else str(i),
                "source": f"s {i}",
                "references": ["a b"],
                "candidates": [{"text": text, "features": features} for text, features in candidates],
            }
            file.write(json.dumps(record) + "\n")
    return path


def combined(tmp_path: Path, *lists: Lists, **options: object) -> list[list[tuple[str, dict[str, float]]]]:
    paths = [write(tmp_path / f"{k}.jsonl", own) for k, own in enumerate(lists)]
    names = [f"n{k}" for k in range(len(lists))]
    hf.combine(lists=paths, names=names, out=tmp_path / "out.jsonl", **options)
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [record["source"] for record in records] == [f"s {i}" for i in range(len(records))]
    assert all(record["references"] == ["a b"] for record in records)
    return [[(candidate["text"], candidate["features"]) for candidate in record["candidates"]] for record in records]


def test_the_same_string_stands_once_with_the_features_of_all(tmp_path: Path) -> None:
    left: Lists = [[("a b", {"x": 1.0, "y": 2.0}), ("a", {"x": 0.5, "y": 0.0})], [("c", {"x": 3.0, "y": 1.0})]]
    right: Lists = [[("a", {"x": -1.0}), ("z", {"x": -2.0}), ("a", {"x": -9.0})], [("c", {"x": -4.0})]]
    got = combined(tmp_path, left, right)
    assert [[text for text, _ in candidates] for candidates in got] == [["a b", "a", "z"], ["c"]]
    first, second, third = (features for _, features in got[0])
    assert (second["n0.x"], second["n0.y"], second["n1.x"]) == (0.5, 0.0, -1.0)
    assert (second["n0.rank"], second["n1.rank"]) == (pytest.approx(math.log(2)), 0.0)
    assert [candidates["systems"] for candidates in (first, second, third)] == [1, 2, 1]
    assert [(candidates["n0.missing"], candidates["n1.missing"]) for candidates in (first, second, third)] == [
        (0, 1),
        (0, 0),
        (1, 0),
    ]
    assert first["n1.rank"] == pytest.approx(math.log(4))  # behind the last
    assert third["n0.rank"] == pytest.approx(math.log(3))


def test_the_weights_of_a_system_give_its_score(tmp_path: Path) -> None:
    many = {f"lex(f{k},e{k})": 1.0 for k in range(1200)}
    left: Lists = [[("a b", {"x": 1.0}), ("a", {"x": 0.5})]]
    right: Lists = [[("a", {"x": 2.0, "y": 1.0, **many}), ("z", {"x": 3.0, "lex(f,e)": 2.0}), ("b", {"y": -1.0})]]
    with pytest.raises(
        hf.InputError, match=r"1203 features, more than 1000\. Give the weights of the system: weights n1="
    ):
        combined(tmp_path, left, right)
    (tmp_path / "w").write_text("x 2\ny 0.5\nlex(f,e) -1\nlex(f7,e7) 0.25\n")
    ((_, second, third, fourth),) = combined(tmp_path, left, right, weights=[f"n1={tmp_path / 'w'}"])
    assert [name for name in second[1] if name.startswith("n1.")] == [
        f"n1.{k}" for k in ("score", "x", "y", "missing", "rank")
    ]
    assert [one["n1.score"] for _, one in (second, third, fourth)] == [4.75, 4.0, -0.5]
    assert [one["n1.y"] for _, one in (second, third, fourth)] == [1.0, 0.0, -1.0]
    with pytest.raises(OptionError, match="weights n5=w: give NAME=FILE, where NAME is one of n0, n1"):
        combined(tmp_path, left, right, weights=["n5=w"])


def test_likeness_is_to_the_others(tmp_path: Path) -> None:
    rng = random.Random(2)
    lists: Lists = [
        [(" ".join(rng.choices("abc", k=rng.randint(0, 6))), {"x": 0.0}) for _ in range(7)] for _ in range(6)
    ]
    pool = hf.read_nbest(write(tmp_path / "l.jsonl", lists))
    member = np.array([[rng.random() < 0.5 for _ in range(2)] for _ in range(42)], np.uint8)
    rows = likeness_columns(pool, member).reshape(42, 2, 6)
    for i, candidates in enumerate(lists):
        texts = [text.split() for text, _ in candidates]
        for j, own in enumerate(texts):
            for k in range(2):
                others = [text for m, text in enumerate(texts) if m != j and member[7 * i + m, k]]
                wanted = [0.0] * 6
                if others:
                    for n in range(1, 5):
                        grams = list(ngrams(own, n).elements())
                        shares = [sum(gram in ngrams(text, n) for text in others) / len(others) for gram in grams]
                        wanted[n - 1] = sum(shares) / max(1, len(grams))
                    wanted[4] = len(own) - sum(map(len, others)) / len(others)
                    wanted[5] = abs(wanted[4])
                assert rows[7 * i + j, k] == pytest.approx(wanted)


def planted(seed: int, sentences: int = 40) -> tuple[Lists, Lists]:
    """Both systems speak of the same words; x is a linear function of the length, with another level per sentence."""
    rng = random.Random(seed)
    systems: tuple[Lists, Lists] = ([], [])
    for _ in range(sentences):
        level = rng.uniform(-20, 0)
        for lists in systems:
            texts = {" ".join(rng.choices("abcdefgh", k=rng.randint(2, 9))) for _ in range(6)}
            lists.append([(text, {"x": level - 1.5 * len(text.split())}) for text in sorted(texts)])
    return systems


def test_floors_are_learnt_from_a_systems_own_candidates(tmp_path: Path) -> None:
    left, right = planted(3)
    for i, candidates in enumerate(combined(tmp_path, left, right)):
        level = left[i][0][1]["x"] + 1.5 * len(left[i][0][0].split())
        for text, features in candidates:
            assert features["n0.x"] == pytest.approx(level - 1.5 * len(text.split()), abs=1e-3)


def test_saved_floors_give_the_same_bytes(tmp_path: Path) -> None:
    left, right = planted(4)
    combined(tmp_path, left, right, save_floors=tmp_path / "floors")
    first = (tmp_path / "out.jsonl").read_bytes()
    combined(tmp_path, left, right, floors=tmp_path / "floors", jobs=3)
    assert (tmp_path / "out.jsonl").read_bytes() == first
    got = combined(tmp_path, left[:1], right[:1], floors=tmp_path / "floors")
    assert [text for text, _ in got[0]]
    (tmp_path / "floors").write_text("{}")
    with pytest.raises(hf.InputError, match="not a file of floors"):
        combined(tmp_path, left, right, floors=tmp_path / "floors")


def test_lists_that_do_not_fit(tmp_path: Path) -> None:
    left, right = planted(6, 5)
    a, b = write(tmp_path / "a.jsonl", left), write(tmp_path / "b.jsonl", right[:4])
    for lists in ([a, b], [b, a]):
        with pytest.raises(hf.InputError, match=r"b.jsonl: has 4 sentences, .*a.jsonl has more"):
            hf.combine(lists=lists, out=tmp_path / "out.jsonl")
    write(b, right, ["0", "1", "x", "3", "4"])
    with pytest.raises(hf.InputError, match=r"has sentence x where .*a.jsonl has 2"):
        hf.combine(lists=[a, b], out=tmp_path / "out.jsonl")
    for options in ({"lists": [a]}, {"lists": [a, b], "names": ["x"]}, {"lists": [a, b], "names": ["x", "x"]}):
        with pytest.raises(OptionError):
            hf.combine(out=tmp_path / "out.jsonl", **options)
    assert not (tmp_path / "out.jsonl").exists()
