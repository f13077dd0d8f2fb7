"""Candidate lists of other programs: translators, text generators, speech recognisers, Moses' extractor.

Each reader turns an :class:`Input` into sentences of our own, which ``hopefear.formats.nbest`` hands to the core as
JSONL. The formats, and what becomes of their numbers, are in docs/formats.md.
"""

from __future__ import annotations

import ast
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from hopefear.errors import input_error
from hopefear.formats.nested import ORDER
from hopefear.util.files import PathLike, iter_lines, os_error, path_name, read_lines
from hopefear.util.values import parsed_number


@dataclass
class Candidate:
    """A candidate with its features, and numbers that metrics read."""

    text: str
    features: dict[str, float] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass
class Listed:
    """The candidates of one sentence."""

    id: str | int
    candidates: list[Candidate] = field(default_factory=list)
    source: str = ""
    references: list[str] = field(default_factory=list)

    def encoded(self) -> bytes:
        """As a line of JSONL."""
        return (json.dumps({name: _plain(value) for name, value in vars(self).items()}) + "\n").encode()


def _plain(value: Any) -> Any:
    """As JSON has it; a metric that no candidate has is left out."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return {k: v for k, v in vars(value).items() if k != "metrics" or v} if isinstance(value, Candidate) else value


@dataclass
class Input:
    """A file or folder, what stands behind the colon of its format's name, and how many sentences there must be."""

    path: PathLike
    argument: str = ""
    sentences: int | None = None
    pieces: Iterator[bytes] | None = None  # of a file that has been opened already

    @property
    def name(self) -> str:
        return path_name(self.path)

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """Numbers and lines."""
        return list(enumerate(iter_lines(self.path, self.pieces), 1))

    def fail(self, line: int | None, finding: str) -> NoReturn:
        raise input_error(self.name, line, finding)

    def number(self, line: int | None, value: Any, what: str) -> float:
        """A finite number, or the line for one that is none."""
        try:
            found = math.nan if isinstance(value, bool) else parsed_number(str(value))
        except (TypeError, ValueError, OverflowError):
            self.fail(line, f"{what} is {_short(value)}, which is not a number. Write one")
        if not math.isfinite(found):
            self.fail(line, f"{what} is {_short(value)}. Replace it by a finite number, or drop the candidate")
        return found

    def documents(self) -> Iterator[tuple[int, Any]]:
        """The JSON values of a file with their lines, those of an array one by one."""
        text = "\n".join(line for _, line in self.lines)
        decoder, at, line, counted = json.JSONDecoder(), 0, 1, 0
        while match := re.compile(r"[^ \t\n\r]").search(text, at):
            at = match.start()
            line, counted = line + text.count("\n", counted, at), at
            try:
                value, at = decoder.raw_decode(text, at)
            except json.JSONDecodeError as error:
                self.fail(error.lineno, f"this is not JSON ({error.msg.lower()}). Was the file cut off?")
            except (ValueError, RecursionError):
                self.fail(line, "this JSON is too deep, or has a number that is too long. Is it the right file?")
            yield line, value


def _short(value: Any) -> str:
    return repr(str(value)[:40])


def _token_features(data: Input, line: int | None, values: Iterable[Any], name: str = "logprob") -> dict[str, float]:
    """Sum, mean and least of the tokens' log probabilities; a first token without one is passed over."""
    found = [data.number(line, value, "a token's log probability") for value in values if value is not None]
    total = math.fsum(found)
    return {
        f"{name}_sum": total,
        f"{name}_mean": total / len(found) if found else 0.0,
        f"{name}_min": min(found, default=0.0),
    }


def _in_order(data: Input, found: Mapping[int, Listed]) -> list[Listed]:
    """Sentences by number, from 0 or 1 without a gap: programs write them in the order of their batches."""
    if not found:
        data.fail(None, "there are no candidates in this file. Was the program that writes it interrupted?")
    first = 1 if min(found) == 1 else 0
    for number in range(first, first + len(found)):
        if number not in found or not found[number].candidates:
            data.fail(None, f"sentence {number} has no candidates. Give each sentence at least one")
    return [found[number] for number in range(first, first + len(found))]


# fairseq


def fairseq(data: Input) -> Iterator[Listed]:
    """What ``fairseq-generate`` prints: ``S-`` source, ``T-`` reference, ``H-``, ``D-`` candidate, ``P-`` its tokens.

    The text is D's. T is a reference if it is detokenised as D is, and none if it has more words of H.
    """
    found: dict[int, Listed] = {}
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
            data.fail(line, f"{finding}? Give each by itself")
        last = number
        one = found.setdefault(number, Listed(number))
        score, _, words = rest.partition("\t")
        if kind == "S":
            one.source = rest
        elif kind == "T":
            one.references = [rest]
        elif kind == "H":
            one.candidates.append(Candidate(words, {"score": data.number(line, score, "the score")}))
        elif not one.candidates:
            data.fail(line, f"{kind}-{number} comes before H-{number}. Keep the lines as fairseq-generate printed them")
        elif kind == "D":
            for k, own in enumerate((words, one.candidates[-1].text)):
                shared[k] += sum(word in own.split() for reference in one.references for word in reference.split())
            one.candidates[-1].text = words
        else:
            one.candidates[-1].features |= _token_features(data, line, rest.split())
    for one in _in_order(data, found):
        if shared[0] < shared[1]:
            one.references = []
        yield one


# one JSON object per sentence


def _scores(data: Input, line: int, value: Any, name: str = "score") -> dict[str, float]:
    """A number, or several."""
    if isinstance(value, list):
        values = [data.number(line, each, "the score") for each in value]
        return {name: values[0]} if len(values) == 1 else {f"{name}_{k}": each for k, each in enumerate(values)}
    return {} if value is None else {name: data.number(line, value, "the score")}


def _texts(data: Input, line: int, value: Any, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        data.fail(line, f"{what} must be a list of strings. Is this the format that was named?")
    return list(value)


def _object(data: Input, line: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        data.fail(line, f"expected an object, found {_short(value)}. Is this the format that was named?")
    return value


def _each_object(data: Input) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file, in an array or not."""
    for line, value in data.documents():
        for each in value if isinstance(value, list) else [value]:
            yield line, _object(data, line, each)


def sockeye(data: Input) -> Iterator[Listed]:
    """``--output-type json --nbest-size N``: ``translations`` and ``scores``, or one ``translation`` and ``score``."""
    for position, (line, one) in enumerate(_each_object(data)):
        if "translations" in one:
            texts, scores = _texts(data, line, one["translations"], '"translations"'), one.get("scores")
        else:
            texts, scores = _texts(data, line, [one.get("translation")], '"translation"'), [one.get("score")]
        if not isinstance(scores, list) or len(scores) != len(texts):
            data.fail(line, '"scores" must have a score for each translation. Was the line cut off?')
        candidates = [Candidate(text, _scores(data, line, score)) for text, score in zip(texts, scores, strict=True)]
        yield Listed(_whole(one.get("sentence_id"), position), candidates)


def _whole(value: Any, otherwise: int) -> str | int:
    """An id as a number if it looks like one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62:
        return value
    if isinstance(value, str) and value:
        return int(value) if re.fullmatch(r"0|[1-9][0-9]{0,17}", value) else value
    return otherwise


def opennmt(data: Input) -> Iterator[Listed]:
    """What OpenNMT-py's server answers: for each rank a list of ``src``, ``tgt`` and ``pred_score`` by sentence."""
    number = 0
    for line, answer in data.documents():
        ranks = answer if isinstance(answer, list) and all(isinstance(rank, list) for rank in answer) else [answer]
        if not all(isinstance(rank, list) and len(rank) == len(ranks[0]) for rank in ranks):
            data.fail(line, "expected a list of sentences for each rank. Is this an answer of OpenNMT's server?")
        for versions in zip(*ranks, strict=True):
            one = Listed(number)
            for version in versions:
                made = _object(data, line, version)
                (text,) = _texts(data, line, [made.get("tgt")], '"tgt"')
                one.candidates.append(Candidate(text, _scores(data, line, made.get("pred_score"))))
                one.source = str(made.get("src") or "")
            yield one
            number += 1


#: Where programs that generate text have the candidates of a prompt, their text and their tokens' log probabilities.
_LISTS = ("candidates", "choices", "outputs", "hypotheses", "generations", "beams")
_TEXT = ("text", "generated_text", "translation_text", "translation", "output", "hypothesis", "transcript")
_TOKENS = ("token_logprobs", "logprobs", "transition_scores", "token_scores", "tokens_logprobs")
_SCORE = ("score", "sequences_score", "sequence_score", "cumulative_logprob", "pred_score", "avg_logprob", "confidence")


def tokens(data: Input) -> Iterator[Listed]:
    """JSON lines of vLLM, OpenAI-like servers and Hugging Face, with the tokens' log probabilities if there are any."""
    found = [(line, _answer(data, line, one)) for line, one in _each_object(data)]
    listed = [_generated(data, line, one, position) for position, (line, one) in enumerate(found)]
    return iter(_by_custom_id(listed))


def _answer(data: Input, line: int, one: dict[str, Any]) -> dict[str, Any]:
    """The answer inside a line of a batch: ``{"custom_id": ..., "response": {"body": {...}}}``."""
    if isinstance(one.get("response"), dict) and isinstance(one["response"].get("body"), dict):
        return {**one["response"]["body"], "id": one.get("custom_id")}
    return one


def _by_custom_id(listed: list[Listed]) -> list[Listed]:
    """Answers of a batch come in any order: if ids end in numbers, these tell."""
    ends = [re.fullmatch(r"(.*?)([0-9]{1,18})", str(one.id)) for one in listed]
    numbers = [int(end[2]) for end in ends if end]
    if len(numbers) == len(listed) == len(set(numbers)) and len({end[1] for end in ends if end}) == 1:
        listed = [one for _, one in sorted(zip(numbers, listed, strict=True), key=lambda pair: pair[0])]
    return listed


def _generated(data: Input, line: int, one: dict[str, Any], position: int) -> Listed:
    key = next((name for name in _LISTS if isinstance(one.get(name), list)), None)
    candidates = [_candidate(data, line, each) for each in one[key]] if key else _parallel(data, line, one)
    if not candidates:
        data.fail(line, "there are no candidates. Give each sentence at least one")
    identity = one.get("id") if not str(one.get("id", "")).startswith(("cmpl-", "chatcmpl-")) else None
    references = one.get("references", one.get("reference", []))
    return Listed(
        _whole(identity, position),
        candidates,
        next((one[name] for name in ("source", "src", "prompt") if isinstance(one.get(name), str)), ""),
        [references] if isinstance(references, str) else _texts(data, line, references, '"references"'),
    )


def _candidate(data: Input, line: int, value: Any) -> Candidate:
    if isinstance(value, list) and len(value) == 2:  # text and score, as NeMo has its beams
        value = {"text": value[0], "score": value[1]}
    one = _object(data, line, {"text": value} if isinstance(value, str) else value)
    text = next((one[name] for name in _TEXT if isinstance(one.get(name), str)), None)
    if text is None and isinstance(one.get("message"), dict):
        text = one["message"].get("content")
    if not isinstance(text, str):
        data.fail(line, f"a candidate has no text. Write it as one of {', '.join(_TEXT)}")
    given = one.get("features") or {}
    features = {
        str(name): data.number(line, each, f"feature {name!r}") for name, each in _object(data, line, given).items()
    }
    for name, each in one.items():  # numbers are scores, wherever they stand
        if name in _SCORE and each is not None:
            features |= _scores(data, line, each, name)
        elif isinstance(each, int | float) and not isinstance(each, bool) and name not in ORDER:
            features[name] = data.number(line, each, f"the score {name!r}")
    logprobs = next((one[name] for name in _TOKENS if one.get(name) is not None), None)
    if logprobs is not None:
        features |= _token_features(data, line, _token_logprobs(data, line, logprobs, one.get("token_ids")))
    measured = _object(data, line, one.get("metrics") or {})
    return Candidate(
        text, features, {name: data.number(line, each, f"metric {name!r}") for name, each in measured.items()}
    )


def _token_logprobs(data: Input, line: int, value: Any, ids: Any = None) -> list[Any]:
    """The numbers in the shapes that programs give them; ``ids`` of the tokens that were chosen, if they are known."""
    if isinstance(value, dict):  # OpenAI: {"token_logprobs": [...]}, of a chat {"content": [{"logprob": ...}, ...]}
        value = value.get("token_logprobs", value.get("content"))
    if not isinstance(value, list):
        data.fail(line, "the tokens' log probabilities must be a list. Is this the format that was named?")
    chosen = ids if isinstance(ids, list) and len(ids) == len(value) else [None] * len(value)
    return [_logprob(each, str(token)) for each, token in zip(value, chosen, strict=True)]


def _logprob(value: Any, token: str = "") -> Any:
    if isinstance(value, dict) and "logprob" in value:
        return value["logprob"]
    if isinstance(value, dict) and value:  # vLLM: token id -> {"logprob": ...}, the chosen token and likelier ones
        return _logprob(value.get(token, next(iter(value.values()))))
    return value


def _parallel(data: Input, line: int, one: dict[str, Any]) -> list[Candidate]:
    """Texts in one list and scores in others, or a single text."""
    key = next(
        (name for name in ("generated_texts", "sequences", "translations", "texts", *_TEXT) if name in one), None
    )
    if key is None:
        data.fail(line, f"there are no candidates. Write them as one of {', '.join(_LISTS)}")
    if isinstance(one[key], str):
        return [_candidate(data, line, one)]
    texts = _texts(data, line, one[key], f'"{key}"')
    found = [Candidate(text) for text in texts]
    for name in ("sequences_scores", "scores", *_TOKENS):
        values = one.get(name)
        if values is None:
            continue
        if not isinstance(values, list) or len(values) != len(found):
            data.fail(line, f'"{name}" must have as many entries as "{key}". Was the line cut off?')
        for candidate, value in zip(found, values, strict=True):
            if name in _TOKENS:
                candidate.features |= _token_features(data, line, _token_logprobs(data, line, value))
            else:
                candidate.features |= _scores(data, line, value)
    return found


# one candidate per line, a fixed number for each sentence


def flat(data: Input) -> Iterator[Listed]:
    """N lines per sentence: the text, ``score ||| text``, ``score<tab>text`` or ``text<tab>score`` (NeMo)."""
    lines = data.lines
    most = _per_sentence(data, len(lines))
    shape = _flat_shape(lines[0][1])
    for number in range(len(lines) // most):
        one = Listed(number)
        for rank, (line, text) in enumerate(lines[number * most : (number + 1) * most]):
            score: str | None = None
            if shape == "|||":
                score, _, text = text.partition("|||")
            elif shape == "first":
                score, _, text = text.partition("\t")
            elif shape == "last":
                text, _, score = text.rpartition("\t")
            features = (
                {"rank": float(rank)} if score is None else {"score": data.number(line, score.strip(), "the score")}
            )
            one.candidates.append(Candidate(text.strip(), features))
        yield one


def _flat_shape(line: str) -> str:
    number = r"[-+]?[0-9.]+(e[-+]?[0-9]+)?"
    shapes = {"|||": rf" *{number} *\|\|\| .*", "first": rf"{number}\t.*", "last": rf".*\t{number}"}
    return next((name for name, shape in shapes.items() if re.fullmatch(shape, line)), "")


def _per_sentence(data: Input, lines: int) -> int:
    """How many lines a sentence has."""
    if lines == 0:
        data.fail(None, "the file is empty. Was the program that writes it interrupted?")
    if data.argument:
        if not re.fullmatch(r"[1-9][0-9]{0,8}", data.argument):
            data.fail(None, f"{_short(data.argument)} is no number of candidates per sentence. Write flat:10, say")
        most, why = int(data.argument), f"{data.argument} per sentence"
    elif data.sentences:
        most, why = max(1, lines // data.sentences), f"{data.sentences} sentences"
    else:
        data.fail(
            None, "how many candidates a sentence has is not known. Name the format flat:10, say, or give references"
        )
    if lines % most or (data.sentences and lines // most != data.sentences):
        data.fail(None, f"{lines} candidates are not {why}. Give every sentence the same number")
    return most


# speech recognisers


def espnet(data: Input) -> Iterator[Listed]:
    """A folder with ``1best_recog``, ``2best_recog``, ... (ESPnet2), or of such folders; a ``data.json`` (ESPnet1)."""
    if not os.path.isdir(data.path):  # noqa: PTH112
        yield from _espnet_json(data)
        return
    root = Path(data.path)
    folders = [root] if (root / "1best_recog").is_dir() else sorted(path.parent for path in root.glob("**/1best_recog"))
    found: dict[str, Listed] = {}
    for folder in folders:
        ranks = sorted(
            (int(p.name[: -len("best_recog")]), p) for p in folder.glob("*best_recog") if p.name[0].isdigit()
        )
        before = set(found)
        for _, rank in ranks:
            texts, scores = _keyed(data, rank / "text"), _keyed(data, rank / "score")
            for key, text in texts.items():
                if key in before:
                    finding = f"{_short(key)} is in another folder as well. Give folders of different utterances"
                    raise input_error(path_name(rank / "text"), None, finding)
                match = re.search(r"[-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?", scores.get(key, ""))
                if match is None:
                    raise input_error(path_name(rank / "score"), None, f"{_short(key)} has no score. Write one")
                score = data.number(None, match[0], f"the score of {key}")
                found.setdefault(key, Listed(key)).candidates.append(Candidate(text, {"score": score}))
    if not found:
        data.fail(None, "there is no 1best_recog/text in this folder. Check the path")
    yield from (found[key] for key in sorted(found))


def _espnet_json(data: Input) -> Iterator[Listed]:
    for line, value in data.documents():
        utterances = _object(data, line, _object(data, line, value).get("utts"))
        for key, utterance in utterances.items():
            outputs = _object(data, line, utterance).get("output")
            if not isinstance(outputs, list) or not outputs:
                data.fail(line, f"{_short(key)} has no output. Was it decoded?")
            one = Listed(key)
            for output in outputs:
                made = _object(data, line, output)
                (text,) = _texts(data, line, [made.get("rec_text")], '"rec_text"')
                one.candidates.append(Candidate(_written(text), _scores(data, line, made.get("score"))))
                one.references = [made["text"]] if isinstance(made.get("text"), str) else []
            yield one


def _written(text: str) -> str:
    """A recogniser's units as words."""
    return " ".join(re.sub(r"<sos>|<eos>|<sos/eos>", "", text).replace("<space>", " ").replace("\u2581", " ").split())


def _keyed(data: Input, path: Path) -> dict[str, str]:
    """Kaldi's tables: a key and the rest of the line."""
    try:
        lines = read_lines(path)
    except OSError as error:
        raise os_error(path, error) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        key, _, rest = line.partition(" ")
        if key in found:
            raise input_error(path_name(path), number, f"{_short(key)} is there twice. Keep one")
        if key:
            found[key] = rest
    return found


def nemo(data: Input) -> Iterator[Listed]:
    """A manifest with ``beams``, pairs of text and score, or the table that ``eval_beamsearch_ngram.py`` leaves."""
    if not data.lines or not data.lines[0][1].lstrip().startswith("{"):
        yield from flat(data)
        return
    for position, (line, one) in enumerate(_each_object(data)):
        beams = one.get("beams", [one.get("pred_text")])
        if not isinstance(beams, list) or not beams:
            data.fail(
                line, '"beams" must be a list of texts and scores. Ask NeMo for them: return_best_hypothesis=false'
            )
        reference = [one["text"]] if isinstance(one.get("text"), str) else []
        yield Listed(position, [_candidate(data, line, beam) for beam in beams], references=reference)


def icefall(data: Input) -> Iterator[Listed]:
    """``recogs-*.txt``: ``id:<tab>ref=[words]`` and one or more ``id:<tab>hyp=[words]``."""
    found: dict[str, Listed] = {}
    last = ""
    for line, text in data.lines:
        match = re.fullmatch(r"(.+?):\t(ref|hyp)=(.*)", text)
        if match is None:
            if text.strip() and "timestamp" not in text:
                data.fail(line, f"{_short(text)} is not id, a tab, and ref=[...] or hyp=[...]. Is this a recogs file?")
            continue
        key, kind, value = match.groups()
        try:
            words = ast.literal_eval(value) if value.startswith("[") else value.split()
            said = " ".join(map(str, words))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            data.fail(line, f"{_short(value)} is not a list of words. Was the line cut off?")
        if key in found and key != last:
            data.fail(line, f"{_short(key)} begins again. Keep the lines of an utterance together, and each once")
        last = key
        one = found.setdefault(key, Listed(key))
        if kind == "ref":
            if one.references:
                data.fail(line, f"{_short(key)} has two references. Are these several outputs in one file?")
            one.references = [said]
        else:
            one.candidates.append(Candidate(said, {"rank": float(len(one.candidates))}))
    for one in found.values():
        if not one.candidates:
            data.fail(None, f"{_short(one.id)} has no hyp=. Give each utterance at least one")
        yield one
    if not found:
        data.fail(None, "the file is empty. Was the recogniser interrupted?")


_WORDS = ("text", "words_text", "words")


def kaldi_nbest(data: Input) -> Iterator[Listed]:
    """Tables in a folder, with keys ``utterance-1``, ``utterance-2``, ...: ``text``, and each of numbers a feature."""
    folder = Path(data.path)
    if not folder.is_dir():
        data.fail(None, "is not a folder with text, acwt and lmwt. Name the folder")
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
    found: dict[str, Listed] = {}
    for key, text in texts.items():
        utterance, _, rank = key.rpartition("-")
        if not utterance or not rank.isdigit():
            data.fail(None, f"the key {_short(key)} does not end in -1, -2, ... Make the tables by nbest-to-linear")
        features = {name: data.number(None, table[key], f"{name} of {key}") for name, table in scores.items()}
        found.setdefault(utterance, Listed(utterance)).candidates.append(Candidate(text, features))
    if not found:
        data.fail(None, "there are no candidates in this folder. Was the recogniser interrupted?")
    yield from found.values()


# statistics instead of text


def mert(data: Input) -> Iterator[Listed]:
    """``features.dat`` of Moses' extractor (FEATURES_TXT_BEGIN_0), and its ``scores.dat`` as columns of counts."""
    found: dict[int, Listed] = {}
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
        found.setdefault(number, Listed(number)).candidates.append(Candidate("", features))
    where = data.argument or _scores_beside(data.path)
    if where:
        scores = Input(where)
        counts: dict[int, int] = {}
        for number, names, line, values in _blocks(scores, "SCORES"):
            place = counts[number] = counts.get(number, -1) + 1
            if number not in found or place >= len(found[number].candidates):
                scores.fail(
                    line, f"sentence {number} has more scores than candidates. Use the scores of these features"
                )
            columns = [scores.number(line, value, "a score") for value in values]
            found[number].candidates[place].metrics = statistics(columns, (names or [""])[0])
        for number, one in found.items():
            if counts.get(number, -1) + 1 != len(one.candidates):
                scores.fail(
                    None, f"sentence {number} has fewer scores than candidates. Use the scores of these features"
                )
    yield from _in_order(data, found)


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
            data.fail(line, "this is the binary form. Run Moses' extractor without --binary")
        if words[0].startswith(f"{kind}_TXT_BEGIN"):
            head = [int(word) if re.fullmatch(r"[0-9]{1,9}", word) else -1 for word in words[1:4]]
            if block or len(head) < 3 or min(head) < 0:
                data.fail(line, f"expected {kind}_TXT_BEGIN_0, sentence, rows, columns. Was the file cut off?")
            if head[0] in seen:
                data.fail(line, f"sentence {head[0]} begins again. Give each file of candidates by itself")
            seen.add(head[0])
            block, left = (head[0], words[4:]), head[1]
        elif words[0].startswith(f"{kind}_TXT_END"):
            if left:
                data.fail(line, f"{left} rows of the block are missing. Was the file cut off?")
            block = None
        elif block is None:
            data.fail(
                line, f"expected {kind}_TXT_BEGIN_0, found {_short(words[0])}. Is this a file of Moses' extractor?"
            )
        else:
            left -= 1
            yield block[0], block[1], line, words
    if block is not None or left:
        data.fail(None, f"the last block has no {kind}_TXT_END_0. Was the file cut off?")


def statistics(values: Sequence[float], kind: str = "") -> dict[str, float]:
    """Columns for a candidate's statistics: BLEU's of Moses and Travatar, errors and length, or numbers without a name.

    They are what the metrics ``bleu-counts`` and ``rate`` read.
    """
    if len(values) == 9 and kind in ("", "BLEU"):
        names = [f"{what}_{k}" for k in range(1, 5) for what in ("matches", "total")] + ["reference_length"]
    elif len(values) == 2:
        names = ["errors", "length"]
    else:
        names = ["statistic"] if len(values) == 1 else [f"statistic_{k}" for k in range(len(values))]
    return dict(zip(names, values, strict=True))


#: The readers of files and folders that are not the core's own formats.
FOREIGN: dict[str, Callable[[Input], Iterator[Listed]]] = {
    "fairseq": fairseq,
    "sockeye": sockeye,
    "opennmt": opennmt,
    "tokens": tokens,
    "flat": flat,
    "espnet": espnet,
    "nemo": nemo,
    "icefall": icefall,
    "kaldi-nbest": kaldi_nbest,
    "mert": mert,
}


def recognised(start: bytes) -> str | None:
    """Which of these formats begins in this way; none if it is one of our own."""
    if start.startswith(b"FEATURES_TXT_BEGIN") or start.startswith(b"FEATURES_BIN_BEGIN"):
        return "mert"
    if re.search(rb"(?m)^H-[0-9]+\t[-+0-9.e]+\t", start):
        return "fairseq"
    if re.match(rb"[^\t\n]+:\t(ref|hyp)=", start):
        return "icefall"
    if start[:1] not in (b"{", b"["):
        return None
    keys = set(re.findall(rb'"(\w+)"\s*:', start[:65536]))
    if b"candidates" in keys:
        return None if b"features" in keys else "tokens"
    for key, name in ((b"utts", "espnet"), (b"pred_score", "opennmt"), (b"beams", "nemo"), (b"sentence_id", "sockeye")):
        if key in keys:
            return name
    several = {key.encode() for key in (*_LISTS, *_TOKENS, "generated_text", "translation_text", "sequences_scores")}
    return "tokens" if keys & several else None
