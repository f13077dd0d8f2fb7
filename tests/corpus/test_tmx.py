"""TMX: units, languages, inline elements, properties; and what must not be resolved."""

from pathlib import Path

import pytest

from hopefear.corpus import read_pairs
from hopefear.errors import InputError
from hopefear.runs.events import Note
from hopefear.runs.session import Session
from tests.corpus.files import TEXTS, read, texts_of, tmx


def unit(source: str, target: str, more: str = "") -> str:
    variants = (f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in (("de", source), ("en", target)))
    return f'<tmx version="1.4"><header/><body><tu>{more}{"".join(variants)}</tu></body></tmx>'


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "x.tmx"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def message(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "segment, text",
    [
        ('ein <bpt i="1">&lt;b&gt;</bpt>rotes<ept i="1">&lt;/b&gt;</ept> Haus', "ein rotes Haus"),
        ('H<hi type="b">au</hi>s', "Haus"),
        ("Zeile<ph>&lt;br/&gt;</ph>zwei", "Zeile zwei"),
        ('a<it pos="begin">{\\b </it>b<ut>}</ut>', "ab"),
        ("a<bpt>x<sub>title</sub>y</bpt>b", "ab"),
        ("  ein\n  Satz\t", "ein Satz"),
        ("<![CDATA[a <b> &amp; c]]>", "a <b> &amp; c"),
        ("a&amp;b &lt; c &#252; &#x4e2d;", "a&b < c ü 中"),
    ],
)
def test_inline_elements(tmp_path: Path, segment: str, text: str) -> None:
    assert texts_of(read(write(tmp_path, unit(segment, "target")))) == [(text, "target")]


def test_several_languages(tmp_path: Path) -> None:
    path = write(tmp_path, tmx())
    french = [f"Phrase {i}." for i in range(len(TEXTS))]
    assert [pair.source for pair in read(path, source="fr")] == french
    assert [pair.target for pair in read(path, source="eng", target="FR_ca")] == french


def test_variants_of_the_same_language_are_pairs_of_their_own(tmp_path: Path) -> None:
    text = unit("Auto", "car").replace("</tu>", '<tuv xml:lang="en-US"><seg>automobile</seg></tuv></tu>')
    assert texts_of(read(write(tmp_path, text))) == [("Auto", "car"), ("Auto", "automobile")]


@pytest.mark.parametrize("kind", ["x-document", "x-Filename", "document"])
def test_documents(tmp_path: Path, kind: str) -> None:
    more = f'<prop type="{kind}">letter.docx</prop><prop type="x-domain">law</prop><note>n</note>'
    assert read(write(tmp_path, unit("a", "b", more)))[0].document == "letter.docx"
    assert read(write(tmp_path, unit("a", "b")))[0].document is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16le", "utf-16be", "utf-8-sig", "iso-8859-1", "windows-1252"])
def test_encodings_that_the_file_declares(tmp_path: Path, encoding: str) -> None:
    name = encoding.removesuffix("-sig")
    text = tmx().replace('encoding="UTF-8"', f'encoding="{name}"')
    assert texts_of(read(write(tmp_path, text.encode(encoding)))) == TEXTS


def test_units_without_both_languages_are_counted(tmp_path: Path) -> None:
    texts = [*TEXTS, *TEXTS]
    text = tmx(texts).replace('lang="EN-us"', 'lang="it"', 3)
    notes: list[str] = []
    run = Session(lambda event: notes.append(event.text) if isinstance(event, Note) else None)
    path = write(tmp_path, text)
    assert len(list(read_pairs([path], "de", "en", run=run))) == len(texts) - 3
    assert notes == [f"{path}: 3 of 12 units lack de or en"]


def test_one_language(tmp_path: Path) -> None:
    text = unit("a", "b").replace('xml:lang="en"', 'xml:lang="de-AT"')
    path = write(tmp_path, text)
    assert "the TMX has no unit with both: asked for de and en, it has de (1), de-AT (1)" in message(path)
    path = write(tmp_path, text.replace("de-AT", "de"))
    assert "the TMX has only one language: asked for de and en, it has de (2)" in message(path)


def test_no_units(tmp_path: Path) -> None:
    assert "has no segments" in message(write(tmp_path, "<tmx><body></body></tmx>"))


@pytest.mark.parametrize("cut", [120, 200, 400])
def test_a_file_that_was_cut_off(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path, tmx()[:cut])
    assert "the XML is damaged" in message(path)


def test_broken_xml_has_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, tmx().replace("</seg>", "</sag>", 1))
    assert message(path).startswith(f"{path}:5: the XML is damaged (mismatched tag). Was the file cut off?")


class TestHostile:
    def test_outside_entities_are_not_read(self, tmp_path: Path) -> None:
        secret = tmp_path / "secret.txt"
        secret.write_text("SECRET")
        text = f'<!DOCTYPE tmx [<!ENTITY x SYSTEM "file://{secret}">]>' + unit("&x;", "b")
        said = message(write(tmp_path, text))
        assert "the entity 'x'" in said and "SECRET" not in said

    def test_a_billion_laughs(self, tmp_path: Path) -> None:
        entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
        assert "the entity 'a0'" in message(write(tmp_path, f"<!DOCTYPE tmx [{entities}]>" + unit("&a11;", "b")))

    def test_parameter_entities(self, tmp_path: Path) -> None:
        text = f'<!DOCTYPE tmx [<!ENTITY % x SYSTEM "file://{tmp_path}/x.dtd"> %x;]>' + unit("a", "b")
        assert "the entity 'x'" in message(write(tmp_path, text))

    def test_entities_of_a_dtd_that_is_not_read(self, tmp_path: Path) -> None:
        text = '<!DOCTYPE tmx SYSTEM "http://example.invalid/tmx14.dtd">' + unit("a&nbsp;b", "b")
        assert "the entity 'nbsp'" in message(write(tmp_path, text))

    def test_elements_without_end(self, tmp_path: Path) -> None:
        assert "elements inside each other" in message(write(tmp_path, "<tmx>" + "<a>" * 100_000))

    def test_a_segment_without_end(self, tmp_path: Path) -> None:
        path = write(tmp_path, unit("wort " * (1 << 19), "b"))
        assert message(path) == f"{path}:1: a segment has more than 1 MB. Split it into sentences"

    @pytest.mark.parametrize("start", ["<!-- ", '<tu note="', "<?x "])
    def test_a_tag_or_a_comment_without_end(self, tmp_path: Path, start: str) -> None:
        path = write(tmp_path, "<tmx>" + start + "wort " * (1 << 19))
        assert message(path).startswith(f"{path}:1: a tag or a comment has more than 1 MB. Was the file damaged?")

    def test_a_long_comment_is_no_fault(self, tmp_path: Path) -> None:
        path = write(tmp_path, tmx().replace("<body>", f"<!-- {'wort ' * (1 << 17)} --><body>"))
        assert texts_of(read(path)) == TEXTS

    def test_a_unit_that_would_make_millions_of_pairs(self, tmp_path: Path) -> None:
        many = "".join(f'<tuv xml:lang="{code}"><seg>a</seg></tuv>\n' for code in ("de", "en") for _ in range(2000))
        path = write(tmp_path, f"<tmx><body><tu>{many}</tu></body></tmx>")
        assert message(path).startswith(f"{path}:101: a unit has more than 100 texts in de. Give each sentence its")

    def test_an_encoding_that_nobody_knows(self, tmp_path: Path) -> None:
        assert "ncoding" in message(write(tmp_path, tmx().replace("UTF-8", "no-such-code")))
