"""Subtitles: SubRip (.srt) and WebVTT (.vtt). Numbers, times, settings, notes and styles stay."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from itertools import groupby

from hopefear.documents.document import UNBROKEN, Hole, TextDocument, plain_text
from hopefear.documents.encoding import decode
from hopefear.documents.markup import escape, spellings
from hopefear.documents.segment import Part, Segment, Tag, TagKind, join_strings, pair_tags, tag_kind
from hopefear.documents.wrapping import Line, in_lines, lines_of
from hopefear.errors import input_error

_TIMES = re.compile(r"\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s*-->\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}")
_MARKUP = re.compile(r"<(?:/?[A-Za-z][^<>]*|/|\d[\d:.]*)>|\{\\[^{}]*\}|\{/?[biusyYcCfF](?::[^{}]*)?\}|[\u2669-\u266c]+")
_TURN = re.compile(r"\s*(?:<[^<>]*>|\{\\[^{}]*\})*\s*[-\u2010-\u2015](?![-\u2010-\u2015])\s*")
_NOTES = re.compile(r"[\s\u2669-\u266c]*")  # around what is sung
_SOUND = re.compile(r"\s*(?:<[^<>]*>)*(?:\[[^\[\]]*\]|\([^()]*\))(?:</[^<>]*>)*\s*")  # a line in brackets
_ENDS = re.compile(
    r"[.!?\u2669-\u266c\u2026\u061f\u0964\u3002\uff01\uff1f][\"'\u2019\u201c\u201d\u00bb)\]]*(?:</[^<>]*>|\{/[^{}]*\})*\s*$"
)


def read_srt(data: bytes, name: str, encoding: str | None = None) -> TextDocument:
    """Subtitles of SubRip."""
    return _read(data, name, encoding, vtt=False)


def read_vtt(data: bytes, name: str, encoding: str | None = None) -> TextDocument:
    """Subtitles of the web."""
    return _read(data, name, encoding, vtt=True)


def _read(data: bytes, name: str, encoding: str | None, vtt: bool) -> TextDocument:
    text, coding = decode(data, name, encoding)
    if vtt and not re.match(r"WEBVTT(?:[ \t\r\n]|$)", text):
        raise input_error(name, 1, "does not start with WEBVTT. Is this another kind of subtitles?")
    holes: list[Hole] = []
    blocks = 0
    for blank, group in groupby(lines_of(text), lambda line: not text[line.start : line.stop].strip()):
        if blank:
            continue
        block = list(group)
        times = next((i for i, line in enumerate(block[:2]) if _TIMES.match(text, line.start, line.stop)), None)
        if times is not None:
            holes += _cue(text, block[times + 1 :], vtt)
            blocks += 1
        elif blocks and not vtt and not text[block[0].start : block[0].stop].strip().isdigit():
            holes += _cue(text, block, vtt)  # a blank line inside a cue
    if not blocks and text.strip() and not vtt:
        raise input_error(name, 1, "has no line with times (00:00:01,000 --> 00:00:02,000). Is this a subtitle file?")
    return TextDocument(name, text, coding, holes, references=vtt)


def _cue(text: str, block: list[Line], vtt: bool) -> list[Hole]:
    """The text of a cue; a line that is another speaker's, or that follows the end of a sentence, is another text."""
    turns = [_TURN.match(text, line.start, line.stop) for line in block]
    if len(block) > 1 and all(turns):
        places = [(turn.end() if turn else line.start, [line]) for turn, line in zip(turns, block, strict=True)]
    else:
        places = [(lines[0].start, lines) for lines in _sentences(text, block)]
    return [hole for start, lines in places for hole in _hole(text, start, lines, vtt)]


def _sentences(text: str, block: list[Line]) -> list[list[Line]]:
    """Lines up to one that ends as a sentence does, where no tag is open. Sounds and songs are texts of their own."""
    groups: list[list[Line]] = []
    balanced = ended = True
    for line in block:
        row = text[line.start : line.stop]
        sound = bool(_SOUND.fullmatch(row))
        if balanced and (ended or sound or re.match(r"\s*[\u2669-\u266c]", row)):
            groups.append([])
        groups[-1].append(line)
        whole = text[groups[-1][0].start : line.stop]
        tags = [tag_kind(match[0]) for match in _MARKUP.finditer(whole) if match[0][0] == "<"]
        balanced = tags.count("open") == tags.count("close")
        ended = sound or bool(_ENDS.search(whole))
    return groups


def _hole(text: str, start: int, lines: list[Line], vtt: bool) -> list[Hole]:
    start, stop = _without_notes(text, start, lines[-1].stop)
    read: Callable[[str], str] = html.unescape if vtt else str
    spelling = spellings(text[start:stop]) if vtt else {}
    end = text[lines[0].stop : lines[0].next] or "\n"
    rows = [text[max(line.start, start) : min(line.stop, stop)].strip() for line in lines]
    segment = Segment(tuple(_parts(" ".join(rows), read)))
    if not segment.has_words:
        return []

    def render(new: Segment) -> str:
        words = plain_text(new, lambda part: escape(part, spelling) if vtt else part, UNBROKEN).replace("-->", "\u2192")
        return end.join(in_lines(words, len(lines))).replace(UNBROKEN, " ")

    return [Hole(start, stop, segment, render)]


def _without_notes(text: str, start: int, stop: int) -> tuple[int, int]:
    """A stretch of text without white space and notes at its edges."""
    before, after = _NOTES.match(text, start, stop), _NOTES.match(text[start:stop][::-1])
    assert before is not None and after is not None
    return before.end(), max(before.end(), stop - after.end())


def _parts(text: str, read: Callable[[str], str]) -> list[Part]:
    parts: list[Part] = []
    position, sung = 0, False
    for match in _MARKUP.finditer(text):
        parts.append(read(text[position : match.start()]))
        kind: TagKind = "empty"
        if match[0][0] == "<" and not match[0][1].isdigit():
            kind = tag_kind(match[0])
        elif match[0][0] != "{" and match[0][0] != "<":
            kind = "close" if sung else "open"
            sung = not sung
        parts.append(Tag(match[0], kind, 0))
        position = match.end()
    parts.append(read(text[position:]))
    return list(join_strings(pair_tags(parts, _element)))


def _element(tag: Tag) -> str:
    name = re.match(r"</?([A-Za-z]*)", tag.text)
    return name[1].lower() if name else tag.text
