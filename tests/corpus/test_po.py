"""PO catalogues: messages, plurals, what is fuzzy or obsolete, the language of the header."""

from pathlib import Path

import pytest

from hopefear.errors import InputError
from tests.corpus.files import TEXTS, po, read, texts_of

CATALOGUE = r"""
msgid ""
msgstr ""
"Language: en\n"

#, fuzzy
msgid "nicht sicher"
msgstr "not sure"

msgctxt "menu"
msgid "Datei"
msgstr "File"

#, c-format
msgid "%d Datei\n"
msgid_plural "%d Dateien\n"
msgstr[0] "%d file\n"
msgstr[1] "%d files\n"

msgid ""
"lange "
"\"Zeile\""
msgstr "long \\ line"

msgid "leer"
msgstr ""

#~ msgid "alt"
#~ msgstr "old"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "x.po"
    path.write_text(text, encoding="utf-8")
    return path


def test_messages(tmp_path: Path) -> None:
    pairs = read(write(tmp_path, CATALOGUE))
    assert texts_of(pairs) == [
        ("Datei", "File"),
        ("%d Datei", "%d file"),
        ("%d Dateien", "%d files"),
        ('lange "Zeile"', "long \\ line"),
    ]
    assert pairs[0].origin.endswith("x.po:10")


def test_the_header_tells_the_direction(tmp_path: Path) -> None:
    path = write(tmp_path, po(language="en_GB"))
    assert texts_of(read(path)) == TEXTS
    assert texts_of(read(path, source="en", target="de")) == [(e, f) for f, e in TEXTS]
    with pytest.raises(InputError, match="translates into en_GB, asked for de to fr"):
        read(path, target="fr")


@pytest.mark.parametrize(
    "text, finding",
    [
        ('msgid "a\nmsgstr "b"\n', ":1: not a line of a PO catalogue"),
        ('msgid "a"\nmsgstr "b"\nrubbish\n', ":3: not a line of a PO catalogue"),
        ('msgid "a"\nmsgstr ""\n', "no translated message"),
    ],
)
def test_damage(tmp_path: Path, text: str, finding: str) -> None:
    with pytest.raises(InputError, match=finding):
        read(write(tmp_path, text))


@pytest.mark.parametrize("line", ['"and so on "\n', 'msgstr[1] "and so on"\n'])
def test_a_message_without_an_end(tmp_path: Path, line: str) -> None:
    path = tmp_path / "endless.po"
    path.write_text('msgid "a"\nmsgstr "b"\n' + line * 100_000)
    with pytest.raises(InputError, match=r"endless\.po:\d+: a message has more than 1 MB\. Split it"):
        read(path)
