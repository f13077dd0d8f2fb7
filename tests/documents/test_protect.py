"""Protected spans: each kind, and that ordinary words are none."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.documents.protect import Protector, read_words
from hopefear.documents.segment import Keep, Segment, Tag
from hopefear.errors import InputError
from tests.shared_data import SHARED

EXAMPLES = {
    "placeholder": (
        "{{kunde}} {{ x }} {{{raw}}} {0} {name} {} {name:>10} {user.name} %s %d %1$s %(name)d "
        "%.2f %5d %@ %i %count% ${x} #{x} "
        "%{x} $x$ __X__ __TERM1__ %% $HOME {%if%} <%=x%> [[x]]"
    ),
    "url": "https://example.org/a?b=c&d=e#f http://x.y/z_(w) www.example.com/a ftp://a.b mailto:a@b.de http://[::1]:80/a",
    "email": "a.b@example.org x+y@sub.example.co.uk",
    "file": (
        "report.pdf path/like.this /usr/bin/env ./a/b ~/x/y C:\\a\\b.txt a/b/c.tar.gz example.org foo.min.js "
        "./x.sh ../x.py ../../a/b.md \\\\server\\neu C:\\neu\\tab"
    ),
    "mark": "👩\u200d👩\u200d👧 🇩🇪 ❤️ 👍🏽 3️⃣ 😀 →",
    "code": "`x` ``a`b``",
    "entity": "&amp; &#38; &#x26; &nbsp;",
    "tag": "<b> </b> <br/> <a_b> <a href=\"x\"> <img src=x alt='y'>",
    "name": (
        "IKEA iPhone camelCase snake_case GmbH kWh A4 MP3 H2O DVDs McDonald YouTube @user USA ДНК X_Y "
        "ABC-123 ISO-8859-1 abc-123 Covid-19 AT&T R&D"
    ),
    "number": (
        "3 3.5 3,50 1.000,50 2024-05-31 31.05.2024 10:30 1/2 -5 50% 20°C 5km $5 €5 v1.2.3 "
        "1990\u20131995 3,5\u00a0% 3\u2009€ ۱۹۹۱ 2024-05-31T10:00:00Z 2024-05-31T10:00:00.5+02:00 +49-30-1234567"
    ),
}
EXAMPLES["tag"] = EXAMPLES["tag"].replace("<a_b> ", "")


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        (kind, example)
        for kind, examples in EXAMPLES.items()
        for example in re.findall(r"<[^>]*>|\{\{ x \}\}|[^ ]+", examples)
    ],
)
def test_each_example_is_one_span(kind: str, example: str) -> None:
    assert Protector().parts(f"aber {example} sagen")[1:-1] == [Keep(example, kind)]
    assert Protector().parts(example) == [Keep(example, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Ein Mann in einem roten Hemd.",
        "DAS IST EIN HAUS",
        "DON'T YOU",
        "er/sie und/oder z.B. d.h. e.g. U.S. he/she km/h",
        "Er lief.Dann kam sie.",
        "am 1st und 21st, die 60er und 1990s",
        "SchülerInnen tUachtarán bhFuil",
        "100%ige { so geht es } a < b > c",
        "Ñe'ẽ col·legi 今天天气很好",
        "हिन्दी می\u200cخواهم",  # noqa: RUF001
        "Heh! (wirklich?) \u2013 ja; \"so\" 'und' so…",
        "I",
        "_ __ ___",
        "$ % & @ # *",
    ],
)
def test_ordinary_text_is_not_protected(text: str) -> None:
    protected = [part.text for part in Protector().parts(text) if isinstance(part, Keep) and part.kind != "number"]
    assert protected == []


@pytest.mark.parametrize("placeholder", ["${x}", "%(name)d", "%{x}", "%%", "%s"])
def test_a_number_before_a_placeholder(placeholder: str) -> None:
    assert Protector().parts(f"5 {placeholder}") == [Keep("5", "number"), " ", Keep(placeholder, "placeholder")]


def test_an_identifier_has_no_word_that_is_translated() -> None:
    for text in ("mp3-player", "Typ-2", "20-year-old"):
        parts = Protector(known={"player", "typ", "year", "old"}).parts(text)
        assert all(isinstance(part, str) or part.kind == "number" or part.text == "mp3" for part in parts)


def test_words_around_a_span_stay() -> None:
    assert Protector().parts("Hallo {{kunde}}, %s Dateien.") == [
        "Hallo ",
        Keep("{{kunde}}", "placeholder"),
        ", ",
        Keep("%s", "placeholder"),
        " Dateien.",
    ]
    assert Protector().parts("Siehe https://a.b/c. Dann") == ["Siehe ", Keep("https://a.b/c", "url"), ". Dann"]
    assert Protector().parts("5 km weit, 3,50 € teuer") == [
        Keep("5 km", "number"),
        " weit, ",
        Keep("3,50 €", "number"),
        " teuer",
    ]


def test_marks_inside_words() -> None:
    assert Protector().parts("Zeile\\nzwei") == ["Zeile", Keep("\\n", "mark"), "zwei"]
    assert Protector().parts("&Datei _Neu") == [Keep("&", "mark"), "Datei ", Keep("_", "mark"), "Neu"]
    assert Protector().parts("Tel. +49 30 1234567.") == ["Tel. ", Keep("+49 30 1234567", "number"), "."]
    assert Protector().parts("„http://a.b/ä“ da")[:2] == ["„", Keep("http://a.b/ä", "url")]


def test_a_plural_of_icu_is_one_span() -> None:
    text = "{count, plural, one {# item} other {# items {x}}}"
    assert Protector().parts(f"You have {text} now") == ["You have ", Keep(text, "placeholder"), " now"]


def test_known_words_are_no_names() -> None:
    assert Protector(known={"nicht", "isizulu"}).parts("das NICHT isiZulu bei IKEA") == [
        "das NICHT isiZulu bei ",
        Keep("IKEA", "name"),
    ]


def test_patterns_of_the_user_come_first() -> None:
    assert Protector(patterns=[r"[A-Z]{2}-\d+"]).parts("Ticket AB-12, C-3") == [
        "Ticket ",
        Keep("AB-12", "user"),
        ", ",
        Keep("C-3", "name"),
    ]


@pytest.mark.parametrize("pattern", ["(", "[a", "x*", "", "(?P<a", "a{99999999999}"])
def test_a_bad_pattern_is_one_line(pattern: str) -> None:
    with pytest.raises(InputError, match="--protect") as caught:
        Protector(patterns=[pattern])
    assert "\n" not in str(caught.value)


def test_words_that_stay(tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("Rotes Haus\n\nHaus am See\nHaus\nहिन्द\nC++\n", encoding="utf-8")
    protector = Protector(words=read_words(tmp_path / "keep.txt"))
    assert protector.parts("Das Haus am  See, ein Rotes Haus, Haustür, haus, हिन्दी, C++!") == [
        "Das ",
        Keep("Haus am  See", "word"),
        ", ein ",
        Keep("Rotes Haus", "word"),
        ", Haustür, haus, हिन्दी, ",
        Keep("C++", "word"),
        "!",
    ]


def test_a_segment_keeps_its_tags() -> None:
    segment = Segment.of("Ein <b>rotes</b> Auto von IKEA<br>")
    protected = Protector().segment(segment)
    assert protected.parts == (
        "Ein ",
        Tag("<b>", "open", 1),
        "rotes",
        Tag("</b>", "close", 1),
        " Auto von ",
        Keep("IKEA", "name"),
        Tag("<br>", "empty", 3),
    )
    assert protected.loose() == segment


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="aB1 {}%$<>&@/\\_.:;=\"'`#[]()é\u0301\u200c-,", max_size=40))
def test_joined_parts_are_the_text(text: str) -> None:
    parts = Protector(patterns=["B1+"], words=["a B"]).parts(text)
    assert "".join(part if isinstance(part, str) else part.text for part in parts) == text
    assert all(part if isinstance(part, str) else part.text for part in parts)


def test_hostile_lines_come_to_an_end() -> None:
    for hostile in (
        "{" * 50_000,
        "<a " * 20_000,
        "a@" * 20_000,
        "a/" * 20_000,
        "a." * 20_000,
        "%" * 50_000,
        "1." * 20_000,
    ):
        assert "".join(p if isinstance(p, str) else p.text for p in Protector().parts(hostile)) == hostile


CORPORA = ["de-en-multi30k/train.de.xz", "es-en-fisher/train.tatoeba.es.xz", "es-en-fisher/train.tatoeba.en.xz"]


@pytest.mark.parametrize("name", CORPORA)
def test_hardly_any_word_of_real_text_is_protected(name: str) -> None:
    if SHARED is None:
        pytest.skip("the shared data are not here")
    with lzma.open(SHARED / "data" / name, "rt", encoding="utf-8") as file:
        lines = file.read().split("\n")[::10]
    words = sum(len(line.split()) for line in lines)
    kept = [p for line in lines for p in Protector().parts(line) if isinstance(p, Keep) and p.kind != "number"]
    assert len(kept) < 0.0015 * words
    assert sum(keep.kind != "name" for keep in kept) < 0.0001 * words


def test_placeholders_without_a_blank_between_them() -> None:
    assert Protector().parts("%s%d Dateien") == [Keep("%s%d", "placeholder"), " Dateien"]
    assert Protector().parts("%(a)s%(b)s") == [Keep("%(a)s%(b)s", "placeholder")]
