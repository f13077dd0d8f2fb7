"""Message catalogues (PO): one pair per message that is translated and neither fuzzy nor obsolete."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopefear.corpus.entries import LONGEST_SEGMENT, Entry, text_lines
from hopefear.corpus.languages import primary
from hopefear.corpus.pair import Pair
from hopefear.errors import input_error
from hopefear.util.files import printable

_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)\s+("(?:[^"\\]|\\.)*")\s*$')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"\s*$')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": " ", "t": " ", "r": " ", '"': '"', "\\": "\\"}


def read_po(entry: Entry, source: str, target: str, domain: str) -> Iterator[Pair]:
    """The pairs of a catalogue. Its header names its language; one that translates into ``source`` is turned round."""
    reverse, count = False, 0
    for number, message in _messages(entry):
        if not message.get("msgid"):
            reverse = _reversed(entry, number, message.get("msgstr", ""), source, target)
            continue
        own, other = _clean(message["msgid"]), _clean(message.get("msgstr", message.get("msgstr[0]", "")))
        pairs = [(own, other)]
        if "msgid_plural" in message and "msgstr[1]" in message:
            last = max(key for key in message if key.startswith("msgstr["))
            pairs.append((_clean(message["msgid_plural"]), _clean(message[last])))
        for texts in pairs:
            if texts[1]:
                count += 1
                yield Pair(*(texts[::-1] if reverse else texts), entry.name, domain, f"{entry.name}:{number}")
    if not count:
        raise input_error(entry.name, None, "the catalogue has no translated message. Give a translated one")


def _clean(text: str) -> str:
    text = _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), text)
    return " ".join(text.split())


def _reversed(entry: Entry, number: int, header: str, source: str, target: str) -> bool:
    found = re.search(r"(?:^|\\n)Language:\s*([\w@-]+)", header)
    if found is None or primary(found[1]) == target:
        return False
    if primary(found[1]) == source:
        return True
    finding = f"the catalogue translates into {printable(found[1])}, asked for {source} to {target}"
    raise input_error(entry.name, number, f"{finding}. Check --from and --to")


def _messages(entry: Entry) -> Iterator[tuple[int, dict[str, str]]]:
    """Messages with the line of their msgid; those that are fuzzy are left out."""
    message: dict[str, list[str]] = {}
    begun, field, length, fuzzy, next_fuzzy = 0, "", 0, False, False
    for number, line in text_lines(entry):
        line = line.strip()
        if line.startswith("#"):
            next_fuzzy = next_fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        if not line:
            continue
        if keyword := _KEYWORD.match(line):
            field = keyword[1]
            if field == "msgctxt" or (field == "msgid" and set(message) != {"msgctxt"}):
                if message and not fuzzy:
                    yield begun, {key: "".join(parts) for key, parts in message.items()}
                message, begun, length, fuzzy, next_fuzzy = {}, number, 0, next_fuzzy, False
            message[field] = [keyword[2][1:-1]]
        elif _STRING.match(line) and field:
            message[field].append(line[1:-1])
        else:
            raise input_error(entry.name, number, "not a line of a PO catalogue. Check its quotes: msgfmt -c FILE")
        length += len(line)
        if length > LONGEST_SEGMENT:
            finding = f"a message has more than {LONGEST_SEGMENT / 1e6:.0f} MB. Split it into sentences"
            raise input_error(entry.name, number, finding)
    if message and not fuzzy:
        yield begun, {key: "".join(parts) for key, parts in message.items()}
