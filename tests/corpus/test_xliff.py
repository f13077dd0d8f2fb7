"""XLIFF 1.2 and 2.0: units, directions, inline elements."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hopefear.errors import InputError
from tests.corpus.files import TEXTS, read, texts_of, xliff1, xliff2


def write(folder: Path, text: str) -> Path:
    path = folder / "x.xlf"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("make", [xliff1, xliff2])
def test_the_other_direction(tmp_path: Path, make: object) -> None:
    path = write(tmp_path, make())  # type: ignore[operator]
    assert texts_of(read(path, source="en", target="de")) == [(e, f) for f, e in TEXTS]
    assert {pair.document for pair in read(path)} == {"a.html" if make is xliff1 else "f1"}


@pytest.mark.parametrize(
    "segment, text",
    [
        ('ein <g id="1">rotes</g> Haus<x id="2"/>', "ein rotes Haus"),
        ('ein <bpt id="1">&lt;b&gt;</bpt>rotes<ept id="1">&lt;/b&gt;</ept> Haus', "ein rotes Haus"),
        ('<mrk mtype="term">Wort</mrk>', "Wort"),
        ('a <pc id="1">b</pc> c<ph id="2"/>', "a b c"),
        ('a<cp hex="001a"/>b', "ab"),
    ],
)
def test_inline_elements(tmp_path: Path, segment: str, text: str) -> None:
    units = f"<segment><source>{segment}</source><target>t</target></segment>"
    path = write(tmp_path, f'<xliff version="2.0" srcLang="de" trgLang="en"><file><unit>{units}</unit></file></xliff>')
    assert texts_of(read(path)) == [(text, "t")]


def test_units_without_a_translation_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, xliff1().replace("<target", "<note><target", 1).replace("</target>", "</target></note>", 1))
    assert len(read(path)) == len(TEXTS)
    bare = '<xliff version="1.2"><file source-language="de" target-language="en"><trans-unit><source>a</source>'
    with pytest.raises(InputError, match="no translated unit"):
        read(write(tmp_path, bare + "</trans-unit></file></xliff>"))


@pytest.mark.parametrize("state", ["new", "needs-translation", "initial"])
@pytest.mark.parametrize("make", [xliff1, xliff2])
def test_targets_that_nobody_translated_are_left_out(tmp_path: Path, make: Callable[[], str], state: str) -> None:
    element = "<target" if make is xliff1 else "<segment"
    text = re.sub(f'{element}( state="final")?', f'{element} state="{state}"', make(), count=1)
    assert texts_of(read(write(tmp_path, text))) == TEXTS[1:]


def test_other_languages(tmp_path: Path) -> None:
    path = write(tmp_path, xliff1().replace('"en-GB"', '"fr"'))
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value) == f"{path}:2: the XLIFF is from de to fr, asked for de to en. Check --from and --to"
