"""Lists of speech recognisers: ESPnet, NeMo, icefall, Kaldi."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

from hopefear.errors import input_error
from hopefear.formats.generators import candidate_of, flat
from hopefear.formats.listed import (
    Candidate,
    Input,
    Listed,
    Reader,
    each_object,
    object_of,
    scores_of,
    shortened,
    texts_of,
)
from hopefear.util.files import os_error, path_name, read_lines


def espnet(data: Input) -> Iterator[Listed]:
    """A folder with ``1best_recog``, ``2best_recog``, ... (ESPnet2), or of such folders; a ``data.json`` (ESPnet1)."""
    if not os.path.isdir(data.path):  # noqa: PTH112
        yield from _espnet_json(data)
        return
    root = Path(data.path)
    folders = [root] if (root / "1best_recog").is_dir() else sorted(path.parent for path in root.glob("**/1best_recog"))
    sentences: dict[str, Listed] = {}
    for folder in folders:
        ranks = sorted(
            (int(p.name[: -len("best_recog")]), p) for p in folder.glob("*best_recog") if p.name[0].isdigit()
        )
        before = set(sentences)
        for _, rank in ranks:
            texts, scores = _keyed(data, rank / "text"), _keyed(data, rank / "score")
            for key, text in texts.items():
                if key in before:
                    finding = f"{shortened(key)} is in another folder as well. Give folders of different utterances"
                    raise input_error(path_name(rank / "text"), None, finding)
                match = re.search(r"[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?", scores.get(key, ""))
                if match is None:
                    raise input_error(path_name(rank / "score"), None, f"{shortened(key)} has no score. Write one")
                score = data.number(None, match[0], f"the score of {key}")
                sentences.setdefault(key, Listed(key)).candidates.append(Candidate(text, {"score": score}))
    if not sentences:
        data.fail(None, "there is no 1best_recog/text in this folder. Check the path")
    yield from (sentences[key] for key in sorted(sentences))


def _espnet_json(data: Input) -> Iterator[Listed]:
    for line, value in data.documents():
        utterances = object_of(data, line, object_of(data, line, value).get("utts"))
        for key, utterance in utterances.items():
            outputs = object_of(data, line, utterance).get("output")
            if not isinstance(outputs, list) or not outputs:
                data.fail(line, f"{shortened(key)} has no output. Was it decoded?")
            listed = Listed(key)
            for output in outputs:
                made = object_of(data, line, output)
                (text,) = texts_of(data, line, [made.get("rec_text")], '"rec_text"')
                listed.candidates.append(Candidate(_written(text), scores_of(data, line, made.get("score"))))
                listed.references = [made["text"]] if isinstance(made.get("text"), str) else []
            yield listed


def _written(text: str) -> str:
    """A recogniser's units as words."""
    return " ".join(re.sub(r"<sos>|<eos>|<sos/eos>", "", text).replace("<space>", " ").replace("\u2581", " ").split())


def _keyed(data: Input, path: Path) -> dict[str, str]:
    """Kaldi's tables: a key and the rest of the line."""
    try:
        lines = read_lines(path)
    except OSError as error:
        raise os_error(path, error) from None
    values: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        key, _, rest = line.partition(" ")
        if key in values:
            raise input_error(path_name(path), number, f"{shortened(key)} occurs twice. Keep one")
        if key:
            values[key] = rest
    return values


def nemo(data: Input) -> Iterator[Listed]:
    """A manifest with ``beams``, pairs of text and score, or the table that ``eval_beamsearch_ngram.py`` leaves."""
    if not data.lines or not data.lines[0][1].lstrip().startswith("{"):
        yield from flat(data)
        return
    for position, (line, fields) in enumerate(each_object(data)):
        beams = fields.get("beams", [fields.get("pred_text")])
        if not isinstance(beams, list) or not beams:
            data.fail(
                line, '"beams" must be a list of texts and scores. Ask NeMo for them: return_best_hypothesis=false'
            )
        reference = [fields["text"]] if isinstance(fields.get("text"), str) else []
        yield Listed(position, [candidate_of(data, line, beam) for beam in beams], references=reference)


def icefall(data: Input) -> Iterator[Listed]:
    """``recogs-*.txt``: ``id:<tab>ref=[words]`` and one or more ``id:<tab>hyp=[words]``."""
    sentences: dict[str, Listed] = {}
    last = ""
    for line, text in data.lines:
        match = re.fullmatch(r"(.+?):\t(ref|hyp)=(.*)", text)
        if match is None:
            if text.strip() and "timestamp" not in text:
                data.fail(
                    line, f"{shortened(text)} is not id, a tab, and ref=[...] or hyp=[...]. Is this a recogs file?"
                )
            continue
        key, kind, value = match.groups()
        try:
            words = ast.literal_eval(value) if value.startswith("[") else value.split()
            transcript = " ".join(map(str, words))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            data.fail(line, f"{shortened(value)} is not a list of words. Was the line cut off?")
        if key in sentences and key != last:
            data.fail(line, f"{shortened(key)} begins again. Keep the lines of an utterance together, and each once")
        last = key
        sentence = sentences.setdefault(key, Listed(key))
        if kind == "ref":
            if sentence.references:
                data.fail(line, f"{shortened(key)} has two references. Are these several outputs in one file?")
            sentence.references = [transcript]
        else:
            sentence.candidates.append(Candidate(transcript, {"rank": float(len(sentence.candidates))}))
    for sentence in sentences.values():
        if not sentence.candidates:
            data.fail(None, f"{shortened(sentence.id)} has no hyp=. Give each utterance at least one")
        yield sentence
    if not sentences:
        data.fail(None, "the file is empty. Was the recogniser interrupted?")


_WORDS = ("text", "words_text", "words")


def kaldi_nbest(data: Input) -> Iterator[Listed]:
    """Tables in a folder, with keys ``utterance-1``, ``utterance-2``, ...: ``text``, and each of numbers a feature."""
    folder = Path(data.path)
    if not folder.is_dir():
        data.fail(None, "is not a folder with text, acwt and lmwt. Give that folder")
    words = next((folder / name for name in _WORDS if (folder / name).is_file()), None)
    if words is None:
        data.fail(None, f"none of {', '.join(_WORDS)} is in this folder. Check the path")
    texts = _keyed(data, words)
    scores: dict[str, dict[str, str]] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name not in _WORDS:
            table = _keyed(data, path)
            if table.keys() == texts.keys() and all(len(value.split()) == 1 for value in table.values()):
                scores[path.name] = table
    sentences: dict[str, Listed] = {}
    for key, text in texts.items():
        utterance, _, rank = key.rpartition("-")
        if not utterance or not rank.isdigit():
            data.fail(None, f"the key {shortened(key)} does not end in -1, -2, ... Make the tables by nbest-to-linear")
        features = {name: data.number(None, table[key], f"{name} of {key}") for name, table in scores.items()}
        sentences.setdefault(utterance, Listed(utterance)).candidates.append(Candidate(text, features))
    if not sentences:
        data.fail(None, "there are no candidates in this folder. Was the recogniser interrupted?")
    yield from sentences.values()


READERS: dict[str, Reader] = {"espnet": espnet, "nemo": nemo, "icefall": icefall, "kaldi-nbest": kaldi_nbest}
