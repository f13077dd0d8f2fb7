"""Small corpora and documents, and ways to damage them in memory: millions of cases rather than thousands."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import hopefear as hf
from hopefear.corpus import read_pairs
from hopefear.documents.protect import Protector
from hopefear.documents.translate import read_document, translate_segments
from tests.corpus.files import comma_separated, json_lines, po, tmx, tsv, xliff1, xliff2
from tests.documents.samples import W, column_of, samples
from tests.fuzzing import INTERESTING
from tests.fuzzing_documents import swapped

Reader = Callable[[bytes], object]
LONGEST = 2000  # bytes of a case
KEPT = 100  # accepted cases of a kind that are damaged further
DOCUMENTS = ("page.html", "page.md", "film.srt", "film.vtt", "plain.txt", "wrapped.txt", "values.json", "table.csv")
DOCUMENTS += ("table.tsv", "messages.po", "one.xliff", "two.xlf")
PAIRS = [("Ein Mann & ein Buch.", "A man & a book."), ("Heute regnet es.", "It is raining.")]
TOKEN = re.compile(rb"<[^<>]{0,200}>|\w+|\s+|.", re.DOTALL)
TEXTS = ["<b>", "</b>", "<p/>", "<g>", "</g>", "</tu>", "<seg>", "<![CDATA[", "]]>", "<!--", "-->", "<?x"]
TEXTS += ["?>", "&amp;", "&#0;", "&#x110000;", "&x;", " xml:lang='de'", "```", "**", "_", "](", "![", "`", "$$"]
TEXTS += ["#", "\\", "{\\an8}", "WEBVTT", "msgstr[2]", "#~ ", "\\ud800", "\\u0000", "1e999", ",", '"', "{0}"]
TEXTS += ["%s", "%1$d", "\u202e", "\xad", "e\u0301", "\U0001f469\u200d\U0001f4bb", "\ufb01", "\ufeff"]
TEXTS += ["<!DOCTYPE x [", "<!ENTITY e 'e'>", "    ", "> ", "- ", "1. ", "| ", 'msgid ""', "#, fuzzy", "NOTE\n"]
TEXTS += ["\n\n", "\t", "00:00:01,000 --> 00:00:02,000", "\u2028"]
PIECES = [piece.encode() for piece in TEXTS] + [b"\xff\xfe", *INTERESTING]


def damaged(data: bytes, random: Random) -> bytes:
    """The data with one to four wounds, of bytes or of tags and words."""
    for _ in range(1 + (random.random() < 0.4) * random.randrange(1, 4)):
        data = (_by_bytes if random.random() < 0.5 else _by_tokens)(data, random)
    return data[:LONGEST]


def _by_bytes(data: bytes, random: Random) -> bytes:
    i = int(random.random() * (len(data) + 1))
    j = i + int(random.random() ** 3 * 40)
    match random.randrange(5):
        case 0 if i < len(data):
            return data[:i] + bytes([data[i] ^ 1 << random.randrange(8)]) + data[i + 1 :]
        case 1:
            return data[:i] + data[j:]
        case 2:
            return data[:i] + data[i:j] * random.choice((2, 2, 3, 20)) + data[j:]
        case 3:
            return data[:i] + random.choice(PIECES) + data[i:]
        case _:
            return data[:i] + random.choice(PIECES) + data[j:]


def _by_tokens(data: bytes, random: Random) -> bytes:
    tokens = TOKEN.findall(data)
    if len(tokens) < 2:
        return data + random.choice(PIECES)
    i, j = (int(random.random() * len(tokens)) for _ in range(2))
    match random.randrange(5):
        case 0:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        case 1:
            tokens[i] = tokens[j]
        case 2:
            tokens.insert(i, tokens[j])
        case 3:
            del tokens[i : i + 1 + int(random.random() ** 3 * 10)]
        case _:
            tokens[i] = random.choice(PIECES)
    return b"".join(tokens)


def _windows(data: bytes) -> list[bytes]:
    """Some lines in a row of a sample, so that each of its constructs is damaged in a small case."""
    lines = data.splitlines(keepends=True)
    return [b"".join(lines[i : i + size]) for size in (1, 3, 6) for i in range(0, len(lines), max(1, size // 2))]


def _small_docx(body: str) -> bytes:
    """The least that is a document of Word, not compressed."""
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    types = f'<Types><Override PartName="/d.xml" ContentType="{kind}"/></Types>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(zipfile.ZipInfo("[Content_Types].xml"), types)
        file.writestr(zipfile.ZipInfo("d.xml"), f"<w:document {W}><w:body>{body}</w:body></w:document>")
    return out.getvalue()


PARAGRAPHS = [
    '<w:p><w:r><w:t xml:space="preserve">Ein </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>rotes</w:t></w:r></w:p>',
    '<w:p><w:hyperlink r:id="x" xmlns:r="r"><w:r><w:t>Link</w:t></w:r></w:hyperlink>'
    "<w:r><w:br/><w:t>neu.</w:t></w:r></w:p>",
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Zelle</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/>",
    '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:del><w:r><w:delText>weg</w:delText></w:r></w:del></w:p>',
    "<w:p><w:r><w:pict><w:txbxContent><w:p><w:r><w:t>Im Kasten</w:t></w:r></w:p></w:txbxContent></w:pict></w:r></w:p>",
]


def _inside(docx: bytes, random: Random) -> bytes:
    """A document of Word whose parts are damaged, not the zip around them."""
    with zipfile.ZipFile(io.BytesIO(docx)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = "d.xml" if random.random() < 0.9 else "[Content_Types].xml"
    parts[name] = damaged(parts[name], random)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for each, content in parts.items():
            file.writestr(zipfile.ZipInfo(each), content)
    return out.getvalue()


def _small_opus(pairs: list[tuple[str, str]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for number, code in enumerate(("de", "en")):
            file.writestr(zipfile.ZipInfo(f"B.{code}"), "".join(f"{pair[number]}\n" for pair in pairs))
    return out.getvalue()


def _corpus(folder: Path, ending: str) -> Reader:
    file = folder / f"corpus{ending}"

    def read(data: bytes) -> None:
        file.write_bytes(data)
        for pair in read_pairs([file], "de", "en"):
            assert "\n" not in pair.source + pair.target

    return read


def _document(name: str) -> Reader:
    """Reads a document, writes it as it was, and translates it; what was written can be read again."""
    column, protector = column_of(name), Protector()

    def read(data: bytes) -> None:
        document = read_document(data, name, column=column)
        assert document.write([None] * len(document.segments)) == data
        read_document(translate_segments(document, swapped, protector=protector), name, column=column)

    return read


Damage = Callable[[bytes, Random], bytes]


def small_targets(folder: Path) -> dict[str, tuple[list[bytes], Reader, Damage]]:
    """For each kind: small good cases, their reader, and how they are damaged. Corpora are files in ``folder``."""
    texts = {
        ".tmx": [tmx(PAIRS), tmx(PAIRS[:1], more="<note>x</note>")],
        ".tsv": [tsv(PAIRS), tsv(PAIRS, header="de\ten\n")],
        ".csv": [comma_separated(PAIRS, header=("de", "en")), comma_separated(PAIRS, delimiter=";")],
        ".xliff": [xliff1(PAIRS), xliff2(PAIRS)],
        ".po": [po(PAIRS), po(PAIRS[:1]) + 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[1] "d"\n'],
        ".jsonl": [json_lines(PAIRS), json_lines(PAIRS, nested=True)],
    }
    targets: dict[str, tuple[list[bytes], Reader, Damage]] = {
        f"corpus {ending}": ([text.encode() for text in given], _corpus(folder, ending), damaged)
        for ending, given in texts.items()
    }
    targets["corpus .zip"] = ([_small_opus(PAIRS)], _corpus(folder, ".zip"), damaged)
    given = samples()
    for name in DOCUMENTS:
        own = [data for key, data in given.items() if key.endswith(name) and len(data) <= LONGEST and data]
        lined = not name.endswith(("xliff", "xlf", "json"))
        targets[f"document {name}"] = (own + _windows(given[name]) * 3 * lined, _document(name), damaged)
    small = [_small_docx(paragraph) for paragraph in PARAGRAPHS]
    targets["document .docx"] = (small, _document("a.docx"), damaged)
    targets["document .docx, inside"] = (small, _document("a.docx"), _inside)
    return targets


def read_damaged(data: bytes, reader: Reader) -> bool:
    """Whether the reader refused the data with one line; anything else that it raises is a defect."""
    try:
        reader(data)
    except hf.InputError as error:
        assert not any(ord(c) < 32 for c in str(error)), error
        return True
    return False
