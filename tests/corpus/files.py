"""A small corpus, and the same in every format."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

from hopefear.corpus import Pair, read_pairs

TEXTS = [
    ("Ein Mann liest ein Buch.", "A man reads a book."),
    ("Der Hund läuft über die Straße.", "The dog runs across the street."),
    ("Zwei Frauen & ein Kind <lachen>.", "Two women & a child <laugh>."),
    ('Er sagt: "Guten Tag; wie geht es?"', 'He says: "Good day, how are you?"'),
    ("Das ist nicht die Antwort.", "That is not the answer."),
    ("Heute regnet es.", "It is raining today."),
]


def tmx(texts: list[tuple[str, str]] = TEXTS, codes: tuple[str, str] = ("de-DE", "EN-us"), more: str = "") -> str:
    units = "".join(
        f'<tu tuid="{i}">{more}'
        f'<tuv xml:lang="{codes[0]}"><seg>{escape(f)}</seg></tuv>\n'
        f'<tuv xml:lang="fr"><seg>Phrase {i}.</seg></tuv>'
        f'<tuv lang="{codes[1]}"><seg>{escape(e)}</seg></tuv></tu>\n'
        for i, (f, e) in enumerate(texts)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">'
        f'<header srclang="en" segtype="sentence"/>\n<body>\n{units}</body></tmx>\n'
    )


def tsv(texts: list[tuple[str, str]] = TEXTS, header: str = "") -> str:
    return header + "".join(f"{f}\t{e}\n" for f, e in texts)


def comma_separated(texts: list[tuple[str, str]] = TEXTS, delimiter: str = ",", header: tuple[str, ...] = ()) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([*([header] if header else []), *texts])
    return out.getvalue()


def xliff1(texts: list[tuple[str, str]] = TEXTS) -> str:
    units = "".join(
        f'<trans-unit id="{i}"><source>{escape(f)}</source><seg-source><mrk mtype="seg">no</mrk></seg-source>'
        f'<target state="final">{escape(e)}</target><alt-trans><source>x</source><target>y</target></alt-trans>'
        "</trans-unit>\n"
        for i, (f, e) in enumerate(texts)
    )
    return (
        '<?xml version="1.0"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
        f'<file original="a.html" source-language="de" target-language="en-GB"><body>\n{units}</body></file></xliff>'
    )


def xliff2(texts: list[tuple[str, str]] = TEXTS) -> str:
    units = "".join(
        f'<unit id="{i}"><segment><source>{escape(f)}</source><target>{escape(e)}</target></segment></unit>\n'
        for i, (f, e) in enumerate(texts)
    )
    return (
        '<xliff version="2.0" srcLang="de-AT" trgLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0">\n'
        f'<file id="f1">{units}</file></xliff>'
    )


def po(texts: list[tuple[str, str]] = TEXTS, language: str = "en") -> str:
    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    head = f'# header\nmsgid ""\nmsgstr ""\n"Content-Type: text/plain\\n"\n"Language: {language}\\n"\n\n'
    return head + "".join(f"#: a.c:{i}\nmsgid {quoted(f)}\nmsgstr {quoted(e)}\n\n" for i, (f, e) in enumerate(texts))


def json_lines(texts: list[tuple[str, str]] = TEXTS, nested: bool = False) -> str:
    rows = ({"translation": {"de": f, "en": e}} if nested else {"id": 1, "en": e, "de": f} for f, e in texts)
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_zip(path: Path, members: dict[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def opus_zip(path: Path, texts: list[tuple[str, str]] = TEXTS) -> Path:
    sides = ("\n".join(side) + "\n" for side in zip(*texts, strict=True))
    members: dict[str, bytes | str] = {
        f"Books.de-en.{code}": text for code, text in zip(("de", "en"), sides, strict=True)
    }
    return write_zip(path, {"README": "About", "LICENSE": "Free", "Books.de-en.ids": "1 1\n", **members})


def parquet(path: Path, texts: list[tuple[str, str]] = TEXTS, nested: bool = False) -> Path:
    import pyarrow
    import pyarrow.parquet

    columns = {"de": [f for f, _ in texts], "en": [e for _, e in texts]}
    table = pyarrow.table(columns)
    if nested:
        table = pyarrow.table({"id": range(len(texts)), "translation": table.to_struct_array()})
    pyarrow.parquet.write_table(table, path)
    return path


#: Name of the file -> what it holds; those that are not text write themselves.
TEXT_FILES: dict[str, Callable[[], str]] = {
    "memory.tmx": tmx,
    "table.tsv": tsv,
    "table.csv": lambda: comma_separated(header=("de", "en")),
    "semicolons.csv": lambda: comma_separated(delimiter=";"),
    "old.xliff": xliff1,
    "new.xlf": xliff2,
    "messages.po": po,
    "lines.jsonl": json_lines,
    "nested.jsonl": lambda: json_lines(nested=True),
}


def read(*paths: Path, source: str = "de", target: str = "en", **more: object) -> list[Pair]:
    return list(read_pairs(paths, source, target, **more))  # type: ignore[arg-type]


def texts_of(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]
