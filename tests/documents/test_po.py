"""Catalogues of gettext: what is filled and how it is written."""

from __future__ import annotations

from hopefear.documents.po import read_po
from hopefear.documents.segment import Segment
from tests.documents.samples import PO


def test_what_is_filled() -> None:
    document = read_po(PO.encode(), "a.po")
    assert [s.plain for s in document.segments] == [
        '%s Dateien in "Haus"',
        "%d Datei",
        "%d Dateien",
        "Eine lange Nachricht",
        "mit zwei Zeilen",
    ]
    assert read_po(PO.encode(), "a.po", everything=True).segments[0].plain == "Haus"
    assert document.place(0) == "a.po:13"


def test_forms_of_a_plural_and_fuzzy_marks() -> None:
    document = read_po(PO.encode(), "a.po")
    new = [
        Segment((text,)) for text in ['%s files in "house"', "%d file", "%d files", "A long message", "of two lines"]
    ]
    written = document.write(new).decode()
    assert (
        '#, c-format\n#| msgid "alt"\nmsgid "%s Dateien in \\"Haus\\"\\n"\nmsgstr "%s files in \\"house\\"\\n"\n'
        in written
    )
    assert 'msgstr[0] "%d file"\nmsgstr[1] "%d files"\n' in written
    assert 'msgstr ""\n"A long message\\n"\n"  of two lines"\n' in written
    assert 'msgid "Haus"\nmsgstr "house"\n' in written and '#~ msgstr ""' in written


def test_a_message_of_which_a_line_failed_stays() -> None:
    document = read_po(PO.encode(), "a.po")
    written = document.write([None, None, None, Segment(("A long message",)), None])
    assert written == PO.encode()


def test_one_form_for_all_numbers() -> None:
    text = 'msgid "%d Datei"\nmsgid_plural "%d Dateien"\nmsgstr[0] ""\n'
    assert [s.plain for s in read_po(text.encode(), "a.po").segments] == ["%d Dateien"]


def test_long_messages_are_broken_as_gettext_does() -> None:
    document = read_po(b'msgid "Wort"\nmsgstr ""\n', "a.po")
    lines = document.write([Segment((" ".join(["words"] * 30),))]).decode().split("\n")
    assert lines[1] == 'msgstr ""'
    assert all(len(line) <= 79 for line in lines)
    text = "".join(line[1:-1] for line in lines[2:-1])
    assert text == " ".join(["words"] * 30)


def test_a_mark_of_a_dead_message_does_not_reach_the_next_one() -> None:
    text = '#, fuzzy\n#~ msgid "tot"\n#~ msgstr "dead"\n\nmsgid "Haus"\nmsgstr "house"\n'
    assert read_po(text.encode(), "a.po").segments == []
