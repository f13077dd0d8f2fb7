"""Documents of each kind, for tests."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

PAGE = """<!DOCTYPE html>
<html lang="de"><head><meta charset="utf-8"><title>Ein &amp; Haus</title>
<meta name="description" content="Das ist gut"><meta name="viewport" content="width=device-width">
<style>p { color: red }</style><script>if (a < b) alert("Nein")</script></head>
<body class=x><h1> Ein <b>rotes</b> Haus </h1>
<p>Ein <a href="x" title="Der Titel">Link</a>, <code>a &lt; b</code> und <img src=y alt='Ein "Bild"'> &copy; 2024 &nbsp;
<p><b>Alles fett</b><br>
<pre>nicht <b>das</b></pre><div translate="no">Nein <div>auch nicht</div> nein</div>
<ul><li>Eins<li>Zwei <span class="notranslate">drei</span> vier</ul>
<input type=submit value=Absenden placeholder="Bitte hier"> AT&amp;T 3 &lt; 4 <!-- Kommentar --> weiter
<textarea>nein</textarea><button title="ja">Drücken</button>
</body></html>
"""

MARKDOWN = """---
title: Ein Titel
---

# Ein **Haus** {#haus}

Ein *rotes* Haus mit `code x` und [ein Link](http://x.y/z "Titel"), das
weiter geht und ![ein Bild](a.png) hat. \\*nicht betont\\* snake_case  
Neue Zeile &copy; <b>fett</b> [Ref][eins], [nichts] https://a.b/c_d_e.

- Punkt eins
  geht weiter hier
- [x] erledigt **ganz**

    Absatz in der Liste

> Ein Zitat, das
> weiter geht.

```python
kein text
```

    code hier

| Name | Wert |
|------|:----:|
| Ein Haus | a \\| b |

Titel
=====

1. Erstens __fett__
2. Zweitens ***beides***

<div class="x">
Ein <b>Block</b>
</div>

<!-- Kommentar

bleibt -->

[eins]: http://example.org "Titel"

[^1]: Eine Notiz.

Text[^1] mit $a_b$ und [![Bild](x.png)](y) *offen.
$$
formel
$$
"""  # noqa: W291

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Ein Mann</i> geht
durch die Stadt.

2
00:00:03,000 --> 00:00:04,000 X1:40
- Wohin?
- {\\an8}Nach Hause.
"""

VTT = """WEBVTT - Ein Titel

NOTE Das bleibt
auch das

STYLE
::cue { color: red }

erste
00:01.000 --> 00:02.500 align:start
<v Anna>Ein &amp; Mann</v> geht
durch die <c.rot>rote</c> Stadt.
"""

TEXT = """Ein Haus.

  Noch eins am See.
\tUnd drei
12345
"""

WRAPPED = """EIN TITEL

Dies ist ein Absatz, der in Zeilen von gleicher Breite gebrochen ist, damit man
ihn in einem schmalen Fenster lesen kann. Er hat mehrere Zeilen, und jede davon
ist so lang wie es geht.

   Eingerückt ist dieser zweite, der ebenfalls weit genug nach rechts reicht für
   eine zweite Zeile.
"""

JSON = """{
  "titel": "Ein \\"Haus\\" am See",
  "zahl": 3, "leer": "", "ja": true,
  "liste": ["Eins", {"text": "Zwei\\nDrei  "}, null],
  "pfad": "a\\/b und c",
  "tags": "Ein <b>rotes</b> Haus"
}
"""

CSV = """id,text,note
1,"Ein ""Haus"", rot",a
2,Noch eins,b
3,"Erste Zeile
zweite Zeile",c

4
"""

PO = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#: a.c:1
msgid "Haus"
msgstr "house"

#. Kommentar
#, c-format, fuzzy
#| msgid "alt"
msgid "%s Dateien in \\"Haus\\"\\n"
msgstr "falsch\\n"

#, c-format
msgctxt "x"
msgid "%d Datei"
msgid_plural "%d Dateien"
msgstr[0] ""
msgstr[1] ""

msgid ""
"Eine lange Nachricht\\n"
"  mit zwei Zeilen"
msgstr ""

#~ msgid "tot"
#~ msgstr ""
"""

XLIFF12 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
 <file source-language="de" target-language="en" original="a" datatype="plaintext"><body>
  <trans-unit id="1">
    <source>Ein <g id="1">rotes</g> Haus<x id="2"/> &amp; mehr</source>
  </trans-unit>
  <trans-unit id="2"><source>Fertig</source><target state="translated">Done</target></trans-unit>
  <trans-unit id="3"><source> Neu <ph id="1">{0}</ph> hier </source><target state="new"/>
    <alt-trans><source>Nein</source><target>no</target></alt-trans></trans-unit>
  <trans-unit id="4" translate="no"><source>Bleibt</source></trans-unit>
  <trans-unit id="5"><source><bpt id="1">&lt;b></bpt>fett<ept id="1">&lt;/b></ept> und <mrk mtype="protected">IKEA</mrk></source><target></target></trans-unit>
 </body></file>
</xliff>
"""  # noqa: E501

XLIFF20 = """<?xml version="1.0"?>
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="de" trgLang="en">
 <file id="f"><notes><note id="1">Hinweis</note></notes>
  <unit id="1"><segment id="s"><source>Ein <pc id="1">rotes</pc> Haus</source></segment>
   <ignorable><source> </source></ignorable>
   <segment><source>Hat <ph id="2"/> schon</source><target>done</target></segment></unit>
  <unit id="2" translate="no"><segment><source>Bleibt</source></segment></unit>
 </file>
</xliff>
"""

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
<Override PartName="/word/header1.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml"/>
</Types>"""  # noqa: E501
BODY = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:document {W}><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Ein Titel</w:t></w:r></w:p>
<w:p w:rsidR="1"><w:r w:rsidR="2"><w:t xml:space="preserve">Ein </w:t></w:r><w:proofErr w:type="spellStart"/><w:r><w:rPr><w:b/></w:rPr><w:t>ro</w:t></w:r><w:r><w:rPr><w:b/><w:lang w:val="de"/></w:rPr><w:t>tes</w:t></w:r><w:r><w:t xml:space="preserve"> Haus &amp; Hof</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r><w:r><w:t xml:space="preserve"> mit </w:t></w:r><w:hyperlink r:id="x" xmlns:r="r"><w:r><w:rPr><w:u/></w:rPr><w:t>Link</w:t></w:r></w:hyperlink><w:r><w:br/><w:t>neu.</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Zelle</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><w:t xml:space="preserve">Seite </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>3</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t xml:space="preserve"> von vielen</w:t></w:r><w:del><w:r><w:delText>weg</w:delText></w:r></w:del></w:p>
<w:p><w:r><w:t>Mit Kasten</w:t></w:r><w:r><w:pict><w:txbxContent><w:p><w:r><w:t>Im Kasten</w:t></w:r></w:p></w:txbxContent></w:pict></w:r><w:r><w:t>danach</w:t></w:r></w:p>
<w:p/><w:sectPr/></w:body></w:document>"""  # noqa: E501
HEADER = f"<w:hdr {W}><w:p><w:r><w:t>Kopfzeile</w:t></w:r></w:p></w:hdr>"


def packed(members: dict[str, str | bytes]) -> bytes:
    """A zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6)), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def docx(**changed: str) -> bytes:
    """A document of Word."""
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "word/document.xml": changed.get("body", BODY),
        "word/header1.xml": HEADER,
        "word/media/a.bin": bytes(range(256)) * 40,
    }
    return packed(members)


def samples() -> dict[str, bytes]:
    """Files of each kind, with line ends, marks and encodings of several kinds."""
    texts = {
        "page.html": PAGE,
        "page.md": MARKDOWN,
        "film.srt": SRT,
        "film.vtt": VTT,
        "plain.txt": TEXT,
        "wrapped.txt": WRAPPED,
        "values.json": JSON,
        "table.csv": CSV,
        "table.tsv": CSV.replace(",", "\t").replace("rot\t", "rot,"),
        "messages.po": PO,
        "one.xliff": XLIFF12,
        "two.xlf": XLIFF20,
    }
    files = {name: text.encode() for name, text in texts.items()}
    files |= {f"crlf-{name}": text.replace("\n", "\r\n").encode() for name, text in texts.items()}
    files |= {f"mark-{name}": b"\xef\xbb\xbf" + text.encode() for name, text in texts.items()}
    files |= {f"short-{name}": text.rstrip("\n").encode() for name, text in texts.items()}
    for name in ("plain.txt", "film.srt", "one.xliff", "table.csv"):
        files[f"utf16-{name}"] = b"\xff\xfe" + texts[name].replace("UTF-8", "UTF-16").encode("utf-16-le")
    files["latin.html"] = PAGE.replace("utf-8", "iso-8859-1").encode("cp1252")
    files["cyrillic.html"] = PAGE.replace("utf-8", "koi8-r").replace("Drücken", "Дом").encode("koi8-r")
    files["latin.po"] = PO.replace("UTF-8", "ISO-8859-1").replace("Haus", "Häuser").encode("latin-1")
    files["mixed.txt"] = (
        "Eins\rZwei\r\nDrei\n\nשלום עלם \u202bRTL\u202c\nn\u0303a e\u0301\n\u2028hallo\x0bwelt\n".encode()  # noqa: RUF001
    )
    files["empty.txt"] = files["empty.md"] = files["empty.html"] = files["empty.po"] = files["empty.csv"] = b""
    files["text.docx"] = docx()
    return files


def column_of(name: str) -> str | int | None:
    """The column of a table that tests translate."""
    return "text" if Path(name).suffix in (".csv", ".tsv") else None
