"""Keys and names of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear.errors import InputError
from hopefear.serve import Keys, Settings
from hopefear.serve.languages import Pairs, base, language_name, sample
from tests.serve.fake import Fake


def test_files_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("# nothing\n\n")
    with pytest.raises(InputError, match=r"keys: has no key\. Write one per line"):
        Keys.read(path)
    path.write_text("long-enough\nshort\n")
    with pytest.raises(InputError, match=r"keys:2: a key of fewer than 8"):
        Keys.read(path)
    path.write_text("long-enough   Anna\n")
    keys = Keys.read(path)
    assert keys and keys.holds("long-enough") and not keys.holds("Anna") and not keys.holds("long-enough   Anna")
    assert not Keys() and b"long-enough" not in keys.digests


def test_two_translators_of_one_pair() -> None:
    with pytest.raises(InputError, match="small and other: both translate from de to en"):
        Pairs([Fake(), Fake(name="other")])


def test_names_of_languages() -> None:
    assert language_name("de") == "German" and language_name("zh_Hant") == "Chinese" and language_name("xyz") == "xyz"
    assert base("pt-BR") == "pt"


def test_the_head_of_long_texts() -> None:
    assert sample(["a  b", "c\nd"]) == "a b c d"
    assert len(sample(["word " * 1000])) <= 300 and sample(["word " * 1000]).endswith("word")
    assert sample(["x" * 1000]) == "x" * 300


def test_hosts_of_other_addresses() -> None:
    settings = Settings(host="192.168.1.5")
    assert settings.answers("192.168.1.5:5000") and settings.answers("office.example")
    assert not Settings(host="0.0.0.0", hosts=("office.example",)).answers("evil.example")
