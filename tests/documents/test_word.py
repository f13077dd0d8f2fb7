"""Word: runs and their formats, boxes, and files that mean harm."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from hopefear.documents.segment import Keep, Segment, Tag
from hopefear.documents.word import read_docx
from hopefear.errors import InputError
from tests.documents.samples import BODY, HEADER, TYPES, W, docx, packed


def body(document_bytes: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(document_bytes)) as file:
        assert file.testzip() is None
        return file.read("word/document.xml").decode()


def with_paragraph(content: str) -> bytes:
    return docx(body=f"<w:document {W}><w:body><w:p>{content}</w:p></w:body></w:document>")


def run(words: str, look: str = "") -> str:
    properties = f"<w:rPr>{look}</w:rPr>" if look else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{words}</w:t></w:r>'


def test_paragraphs_of_all_parts() -> None:
    document = read_docx(docx(), "a.docx")
    assert [segment.plain for segment in document.segments] == [
        "Ein Titel",
        "Ein rotes Haus & Hof mit Linkneu.",
        "Zelle",
        "Seite 3 von vielen",
        "Mit Kastendanach",
        "Im Kasten",
        "Kopfzeile",
    ]
    assert document.place(6) == "a.docx: word/header1.xml, paragraph 1 with text"


def test_runs_of_the_same_look_are_one() -> None:
    document = read_docx(
        with_paragraph(run("Ein ") + run("ro", "<w:b/>") + run("tes", '<w:b/><w:lang w:val="x"/>')), "a"
    )
    assert document.segments[0].parts == (Tag("<rPr/>", "open", 1), "Ein ", Tag("</rPr>", "close", 1), "rotes")


def test_formats_move_with_their_words() -> None:
    document = read_docx(with_paragraph(run("una casa ") + run("roja", "<w:b/>") + run(" aquí")), "a.docx")
    words, opened, red, closed, rest = document.segments[0].parts
    assert (words, red, rest) == ("una casa ", "roja", " aquí")
    new = Segment(("a ", opened, "red & ", Keep("IKEA"), closed, " house"))
    assert run("a ") + run("red &amp; IKEA", "<w:b/>") + run(" house") in body(document.write([new, None]))


def test_paragraphs_in_a_box_are_translated_with_and_without_the_one_around() -> None:
    document = read_docx(docx(), "a.docx")
    for around in (None, document.segments[4], Segment((document.segments[4].tags[0], "Box"))):
        new: list[Segment | None] = [None] * 7
        new[4], new[5] = around, Segment(("In the box",))
        text = body(document.write(new))
        assert text.count("In the box") == 1 and "Im Kasten" not in text
        assert text.count("<w:txbxContent>") == 1
        assert ("Mit Kasten" in text) == (around is None or around == document.segments[4])


def test_other_members_are_copied_as_they_are() -> None:
    data = docx()
    document = read_docx(data, "a.docx")
    new: list[Segment | None] = [Segment(("A title",)), *[None] * 6]
    once, twice = document.write(new), read_docx(data, "a.docx").write(new)
    assert once == twice
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(io.BytesIO(once)) as after:
        assert before.namelist() == after.namelist()
        for old, member in zip(before.infolist(), after.infolist(), strict=True):
            assert old.date_time == member.date_time
            if old.filename != "word/document.xml":
                assert before.read(old) == after.read(member)
        assert "A title" in after.read("word/document.xml").decode()
        assert after.read("word/header1.xml").decode() == HEADER


def test_deleted_text_and_fields_stay() -> None:
    document = read_docx(docx(), "a.docx")
    new: list[Segment | None] = [None] * 7
    opened, closed = document.segments[3].tags
    new[3] = Segment(("Page ", opened, "3", closed, " of many"))
    text = body(document.write(new))
    assert "<w:delText>weg</w:delText>" in text and "<w:instrText>PAGE</w:instrText>" in text
    assert text.index("begin") < text.index(">3<") < text.index('"end"')


def refused(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        read_docx(data, "a.docx")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_entities_are_not_resolved(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("geheim")
    evil = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><w:document {W}><w:body>&e;</w:body></w:document>'
    assert refused(docx(body=evil)).startswith("a.docx: word/document.xml:1: has a DOCTYPE")


def test_broken_xml_is_named() -> None:
    assert refused(docx(body="<w:document><w:p>")).startswith("a.docx: word/document.xml:1: is not well-formed XML")


def test_a_bomb_is_not_unpacked() -> None:
    bomb = packed({"[Content_Types].xml": TYPES, "word/document.xml": BODY, "word/x.xml": b"\0" * (20 << 20)})
    assert "unpacks to more than 100 times its size" in refused(bomb)


def test_a_package_that_would_be_too_large_is_refused() -> None:
    data = bytearray(docx())
    at = data.index(b"PK\1\2")
    struct.pack_into("<I", data, at + 24, 0x7FFFFFFF)  # the size that the directory claims
    assert "1024 MB and 20000 are the most" in refused(bytes(data))


def test_a_member_that_lies_about_its_size_is_damaged() -> None:
    data = bytearray(docx())
    at = data.index(b"word/document.xml", data.index(b"PK\1\2")) - 46
    struct.pack_into("<I", data, at + 24, 100)
    assert "word/document.xml" in refused(bytes(data))


@pytest.mark.parametrize("cut", [10, 200, 1500])
def test_half_a_file_is_refused(cut: int) -> None:
    assert refused(docx()[:-cut]).startswith("a.docx: is not a complete zip file")


def test_flipped_bytes_never_crash() -> None:
    data = docx()
    for at in range(0, len(data), 37):
        broken = bytearray(data)
        broken[at] ^= 0x55
        try:
            document = read_docx(bytes(broken), "a.docx")
            document.write(document.segments)
        except InputError as error:
            assert "\n" not in str(error)


def test_names_that_lead_elsewhere_stay_inside() -> None:
    types = TYPES.replace("/word/header1.xml", "/../../etc/passwd")
    data = packed({"[Content_Types].xml": types, "word/document.xml": BODY, "../../etc/passwd": HEADER})
    document = read_docx(data, "a.docx")  # read from the zip file, as any other member
    assert document.segments[-1].plain == "Kopfzeile"


def test_a_zip_file_of_another_kind() -> None:
    assert "not a Word document" in refused(packed({"a.txt": "x"}))
    assert "not a Word document" in refused(packed({"[Content_Types].xml": "<Types/>"}))
