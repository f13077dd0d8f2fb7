"""Lists of text generators: answers of servers, beams of transformers, flat and parallel JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
    token_features,
    whole_number,
)
from hopefear.formats.nested import LISTS, TOKENS, is_score, with_parallel

#: Keys of the text of a candidate, and of its score.
_TEXT = ("text", "generated_text", "translation_text", "translation", "output", "hypothesis", "transcript")
_SCORE = ("score", "sequences_score", "sequence_score", "cumulative_logprob", "pred_score", "avg_logprob", "confidence")


def tokens(data: Input) -> Iterator[Listed]:
    """JSON lines of vLLM, OpenAI-like servers and Hugging Face, with the tokens' log probabilities if there are any."""
    answers = [(line, _answer(data, line, answer)) for line, answer in each_object(data)]
    listed = [_generated(data, line, answer, position) for position, (line, answer) in enumerate(answers)]
    return iter(_by_custom_id(listed))


def _answer(data: Input, line: int, request: dict[str, Any]) -> dict[str, Any]:
    """The answer inside a line of a batch: ``{"custom_id": ..., "response": {"body": {...}}}``."""
    if isinstance(request.get("response"), dict) and isinstance(request["response"].get("body"), dict):
        return {**request["response"]["body"], "id": request.get("custom_id")}
    return request


def _by_custom_id(listed: list[Listed]) -> list[Listed]:
    """Answers of a batch come in any order: sorted by the numbers that their ids end in, if they do."""
    ends = [re.fullmatch(r"(.*?)([0-9]{1,18})", str(answer.id)) for answer in listed]
    numbers = [int(end[2]) for end in ends if end]
    if len(numbers) == len(listed) == len(set(numbers)) and len({end[1] for end in ends if end}) == 1:
        listed = [answer for _, answer in sorted(zip(numbers, listed, strict=True), key=lambda pair: pair[0])]
    return listed


def _generated(data: Input, line: int, answer: dict[str, Any], position: int) -> Listed:
    key = next((name for name in LISTS if isinstance(answer.get(name), list)), None)
    listed = with_parallel(answer, key) if key else []
    candidates = [candidate_of(data, line, item) for item in listed] if key else _parallel(data, line, answer)
    if not candidates:
        data.fail(line, "there are no candidates. Give each sentence at least one")
    identity = answer.get("id") if not str(answer.get("id", "")).startswith(("cmpl-", "chatcmpl-")) else None
    references = answer.get("references", answer.get("reference", []))
    return Listed(
        whole_number(identity, position),
        candidates,
        next((answer[name] for name in ("source", "src", "prompt") if isinstance(answer.get(name), str)), ""),
        [references] if isinstance(references, str) else texts_of(data, line, references, '"references"'),
        {name for item in listed if isinstance(item, dict) for name in item if is_score(name, item[name])},
    )


def candidate_of(data: Input, line: int, value: Any) -> Candidate:
    """A candidate in any of the forms in which JSON has it: text, text and score, or an object."""
    if isinstance(value, list) and len(value) == 2:  # text and score, as NeMo has its beams
        value = {"text": value[0], "score": value[1]}
    fields = object_of(data, line, {"text": value} if isinstance(value, str) else value)
    text = next((fields[name] for name in _TEXT if isinstance(fields.get(name), str)), None)
    if text is None and isinstance(fields.get("message"), dict):
        text = fields["message"].get("content")
    if not isinstance(text, str):
        data.fail(line, f"a candidate has no text. Write it as one of {', '.join(_TEXT)}")
    named = fields["scores"] if isinstance(fields.get("scores"), dict) else {}
    given = {**named, **object_of(data, line, fields.get("features") or {})}
    features = {str(name): data.number(line, number, f"feature {name!r}") for name, number in given.items()}
    for name, number in fields.items():  # numbers are scores, wherever they stand
        if name in _SCORE and number is not None:
            features |= scores_of(data, line, number, name)
        elif is_score(name, number):
            features[name] = data.number(line, number, f"the score {name!r}")
    logprobs = next((fields[name] for name in TOKENS if fields.get(name) is not None), None)
    if logprobs is not None:
        features |= token_features(data, line, _token_logprobs(data, line, logprobs, fields.get("token_ids")))
    measured = object_of(data, line, fields.get("metrics") or {})
    return Candidate(
        text, features, {name: data.number(line, number, f"metric {name!r}") for name, number in measured.items()}
    )


def _token_logprobs(data: Input, line: int, value: Any, ids: Any = None) -> list[Any]:
    """The numbers in the shapes that programs give them; ``ids`` of the tokens that were chosen, if they are known."""
    if isinstance(value, dict):  # OpenAI: {"token_logprobs": [...]}, of a chat {"content": [{"logprob": ...}, ...]}
        value = value.get("token_logprobs", value.get("content"))
    if not isinstance(value, list):
        data.fail(line, "the tokens' log probabilities must be a list. Is this the right format?")
    chosen = ids if isinstance(ids, list) and len(ids) == len(value) else [None] * len(value)
    return [_logprob(entry, str(token)) for entry, token in zip(value, chosen, strict=True)]


def _logprob(value: Any, token: str = "") -> Any:
    if isinstance(value, dict) and "logprob" in value:
        return value["logprob"]
    if isinstance(value, dict) and value:  # vLLM: token id -> {"logprob": ...}, the chosen token and likelier ones
        return _logprob(value.get(token, next(iter(value.values()))))
    return value


def _parallel(data: Input, line: int, answer: dict[str, Any]) -> list[Candidate]:
    """Texts in one list and scores in others, or a single text."""
    key = next(
        (name for name in ("generated_texts", "sequences", "translations", "texts", *_TEXT) if name in answer), None
    )
    if key is None:
        data.fail(line, f"there are no candidates. Write them as one of {', '.join(LISTS)}")
    if isinstance(answer[key], str):
        return [candidate_of(data, line, answer)]
    texts = texts_of(data, line, answer[key], f'"{key}"')
    candidates = [Candidate(text) for text in texts]
    for name in ("sequences_scores", "scores", *TOKENS):
        values = answer.get(name)
        if values is None:
            continue
        if not isinstance(values, list) or len(values) != len(candidates):
            data.fail(line, f'"{name}" must have as many entries as "{key}". Was the line cut off?')
        for candidate, value in zip(candidates, values, strict=True):
            if name in TOKENS:
                candidate.features |= token_features(data, line, _token_logprobs(data, line, value))
            else:
                candidate.features |= scores_of(data, line, value)
    return candidates


def flat(data: Input) -> Iterator[Listed]:
    """N lines per sentence: the text, ``score ||| text``, ``score<tab>text`` or ``text<tab>score`` (NeMo)."""
    lines = data.lines
    most = _per_sentence(data, len(lines))
    shape = _flat_shape(lines[0][1])
    for number in range(len(lines) // most):
        listed = Listed(number)
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
            listed.candidates.append(Candidate(text.strip(), features))
        yield listed


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
            data.fail(
                None, f"{shortened(data.argument)} is not a number of candidates. For ten per sentence, write flat:10"
            )
        most, why = int(data.argument), f"{data.argument} per sentence"
    elif data.sentences:
        most, why = max(1, lines // data.sentences), f"{data.sentences} sentences"
    else:
        data.fail(None, "the number of candidates per sentence is unknown. Add it, as in flat:10, or give references")
    if lines % most or (data.sentences and lines // most != data.sentences):
        data.fail(None, f"{lines} candidates are not {why}. Give every sentence the same number")
    return most


READERS: dict[str, Reader] = {"tokens": tokens, "flat": flat}
