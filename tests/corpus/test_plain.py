"""Pairs as plain files of each domain."""

from pathlib import Path

from hopefear.corpus import Pair, read_pairs, write_plain


def test_files_of_each_domain(tmp_path: Path) -> None:
    pairs = [Pair(f"quelle {n}", f"target {n}", None, "ab"[n % 2], f"x:{n}") for n in range(5)]
    files = write_plain(pairs, tmp_path / "new", "train", "de", "en")
    assert files.domains == ("a", "b") and files.pairs == (3, 2)
    assert [path.name for path in (*files.source, *files.target)] == [
        "train.a.de",
        "train.b.de",
        "train.a.en",
        "train.b.en",
    ]
    assert files.source[1].read_text() == "quelle 1\nquelle 3\n"
    again = list(read_pairs([], "de", "en", source_files=files.source, target_files=files.target))
    assert sorted(p.source for p in again) == [f"quelle {n}" for n in range(5)]


def test_nothing(tmp_path: Path) -> None:
    assert write_plain([], tmp_path, "train", "de", "en").pairs == ()
