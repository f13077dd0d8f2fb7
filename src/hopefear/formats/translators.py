"""Lists of translation toolkits: fairseq, Sockeye, OpenNMT, and what Moses' extractor leaves for MERT."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hopefear.formats.listed import (
    Candidate,
    Input,
    Listed,
    Reader,
    each_object,
    in_order,
    object_of,
    scores_of,
    shortened,
    statistics,
    texts_of,
    token_features,
    whole_number,
)
from hopefear.util.files import PathLike


def fairseq(data: Input) -> Iterator[Listed]:
    """What ``fairseq-generate`` prints: ``S-`` source, ``T-`` reference, ``H-``, ``D-`` candidate, ``P-`` its tokens.

    The text is D's. T is a reference if it is detokenised as D is, and none if it has more words of H.
    """
    sentences: dict[int, Listed] = {}
    shared = [0, 0]  # words of T that D has, that H has
    first: dict[int, int] = {}  # lines
    last = -1
    for line, text in data.lines:
        match = re.match(r"([STHDP])-([0-9]{1,9})\t(.*)", text)
        if match is None:
            continue  # words of the log, alignments
        kind, number, rest = match[1], int(match[2]), match[3]
        if first.setdefault(number, line) != line and (number != last or kind == "S"):
            finding = (
                f"sentence {number} begins again, after line {first[number]}. Are these several outputs in one file"
            )
            data.fail(line, f"{finding}? Give each separately")
        last = number
        sentence = sentences.setdefault(number, Listed(number))
        score, _, words = rest.partition("\t")
        if kind == "S":
            sentence.source = rest
        elif kind == "T":
            sentence.references = [rest]
        elif kind == "H":
            sentence.candidates.append(Candidate(words, {"score": data.number(line, score, "the score")}))
        elif not sentence.candidates:
            data.fail(line, f"{kind}-{number} comes before H-{number}. Keep the lines as fairseq-generate printed them")
        elif kind == "D":
            for k, own in enumerate((words, sentence.candidates[-1].text)):
                shared[k] += sum(word in own.split() for reference in sentence.references for word in reference.split())
            sentence.candidates[-1].text = words
        else:
            sentence.candidates[-1].features |= token_features(data, line, rest.split())
    for sentence in in_order(data, sentences):
        if shared[0] < shared[1]:
            sentence.references = []
        yield sentence


def sockeye(data: Input) -> Iterator[Listed]:
    """``--output-type json --nbest-size N``: ``translations`` and ``scores``, or one ``translation`` and ``score``."""
    for position, (line, fields) in enumerate(each_object(data)):
        if "translations" in fields:
            texts, scores = texts_of(data, line, fields["translations"], '"translations"'), fields.get("scores")
        else:
            texts, scores = texts_of(data, line, [fields.get("translation")], '"translation"'), [fields.get("score")]
        if not isinstance(scores, list) or len(scores) != len(texts):
            data.fail(line, '"scores" must have a score for each translation. Was the line cut off?')
        candidates = [Candidate(text, scores_of(data, line, score)) for text, score in zip(texts, scores, strict=True)]
        yield Listed(whole_number(fields.get("sentence_id"), position), candidates)


def opennmt(data: Input) -> Iterator[Listed]:
    """What OpenNMT-py's server answers: for each rank a list of ``src``, ``tgt`` and ``pred_score`` by sentence."""
    number = 0
    for line, answer in data.documents():
        ranks = answer if isinstance(answer, list) and all(isinstance(rank, list) for rank in answer) else [answer]
        if not all(isinstance(rank, list) and len(rank) == len(ranks[0]) for rank in ranks):
            data.fail(line, "expected a list of sentences for each rank. Is this an answer of OpenNMT's server?")
        for versions in zip(*ranks, strict=True):
            sentence = Listed(number)
            for version in versions:
                made = object_of(data, line, version)
                (text,) = texts_of(data, line, [made.get("tgt")], '"tgt"')
                sentence.candidates.append(Candidate(text, scores_of(data, line, made.get("pred_score"))))
                sentence.source = str(made.get("src") or "")
            yield sentence
            number += 1


def mert(data: Input) -> Iterator[Listed]:
    """``features.dat`` of Moses' extractor (FEATURES_TXT_BEGIN_0), and its ``scores.dat`` as columns of counts."""
    sentences: dict[int, Listed] = {}
    for number, names, line, values in _blocks(data, "FEATURES"):
        features: dict[str, float] = {}
        for position, value in enumerate(values):
            name, equals, own = value.rpartition("=")
            if not equals and position >= len(names):
                data.fail(
                    line, f"there are more values than the {len(names)} names of the block. Was the line cut off?"
                )
            name, value = (name, own) if equals else (names[position], value)
            features[name] = data.number(line, value, f"feature {name}")
        sentences.setdefault(number, Listed(number)).candidates.append(Candidate("", features))
    where = data.argument or _scores_beside(data.path)
    if where:
        scores = Input(where)
        counts: dict[int, int] = {}
        for number, names, line, values in _blocks(scores, "SCORES"):
            rank = counts[number] = counts.get(number, -1) + 1
            if number not in sentences or rank >= len(sentences[number].candidates):
                scores.fail(
                    line, f"sentence {number} has more scores than candidates. Use the scores of these features"
                )
            columns = [scores.number(line, value, "a score") for value in values]
            sentences[number].candidates[rank].metrics = statistics(columns, (names or [""])[0])
        for number, sentence in sentences.items():
            if counts.get(number, -1) + 1 != len(sentence.candidates):
                scores.fail(
                    None, f"sentence {number} has fewer scores than candidates. Use the scores of these features"
                )
    yield from in_order(data, sentences)


def _scores_beside(path: PathLike) -> str:
    """``run1.scores.dat`` for ``run1.features.dat``, if it is there."""
    folder, name = os.path.split(os.fspath(path))
    other = os.path.join(folder, name.replace("features", "scores").replace("FEATSTAT", "SCORESTAT"))  # noqa: PTH118
    return other if other != os.fspath(path) and os.path.isfile(other) else ""  # noqa: PTH113


def _blocks(data: Input, kind: str) -> Iterator[tuple[int, list[str], int, list[str]]]:
    """For each row: the sentence, the names in the head of its block, its line and its values."""
    block: tuple[int, list[str]] | None = None
    left = 0
    seen: set[int] = set()
    for line, text in data.lines:
        words = text.split()
        if not words:
            continue
        if words[0].startswith(f"{kind}_BIN_BEGIN"):
            data.fail(line, "this is the binary form. Run Moses' extractor without its option binary")
        if words[0].startswith(f"{kind}_TXT_BEGIN"):
            head = [int(word) if re.fullmatch(r"[0-9]{1,9}", word) else -1 for word in words[1:4]]
            if block or len(head) < 3 or min(head) < 0:
                data.fail(line, f"expected {kind}_TXT_BEGIN_0, sentence, rows, columns. Was the file cut off?")
            if head[0] in seen:
                data.fail(line, f"sentence {head[0]} begins again. Give each file of candidates separately")
            seen.add(head[0])
            block, left = (head[0], words[4:]), head[1]
        elif words[0].startswith(f"{kind}_TXT_END"):
            if left:
                data.fail(line, f"{left} rows of the block are missing. Was the file cut off?")
            block = None
        elif block is None:
            data.fail(
                line, f"expected {kind}_TXT_BEGIN_0, found {shortened(words[0])}. Is this a file of Moses' extractor?"
            )
        else:
            left -= 1
            yield block[0], block[1], line, words
    if block is not None or left:
        data.fail(None, f"the last block has no {kind}_TXT_END_0. Was the file cut off?")


READERS: dict[str, Reader] = {"fairseq": fairseq, "sockeye": sockeye, "opennmt": opennmt, "mert": mert}
