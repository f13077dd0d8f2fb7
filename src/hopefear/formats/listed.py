"""Candidates of a sentence as readers of foreign lists give them, and what these readers ask of a file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

from hopefear.errors import input_error
from hopefear.formats.nested import token_sums
from hopefear.util.files import PathLike, iter_lines, path_name
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
    scores: set[str] = field(default_factory=set)  # features that no candidate may leave out

    def encoded(self) -> bytes:
        """A line of JSONL."""
        record = {name: _plain(value) for name, value in vars(self).items() if name != "scores"}
        return (json.dumps(record) + "\n").encode()


def _plain(value: Any) -> Any:
    """The value for JSON; without empty metrics."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {k: v for k, v in vars(value).items() if k != "metrics" or v} if isinstance(value, Candidate) else value


@dataclass
class Input:
    """A file or folder, the argument after the colon of its format's name, and the expected number of sentences."""

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
            number = float(value) if isinstance(value, bool) else parsed_number(str(value))
        except (TypeError, ValueError, OverflowError):
            self.fail(line, f"{what} is {shortened(value)}, which is not a number. Write one")
        if not math.isfinite(number):
            self.fail(line, f"{what} is {shortened(value)}. Replace it with a finite number, or drop the candidate")
        return number

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


def shortened(value: Any) -> str:
    """The beginning of a value, for a message."""
    return repr(str(value)[:40])


def token_features(data: Input, line: int | None, values: Iterable[Any], name: str = "logprob") -> dict[str, float]:
    """Sum, mean and least of the tokens' log probabilities; a first token without one is passed over."""
    numbers = [data.number(line, value, "a token's log probability") for value in values if value is not None]
    return token_sums(numbers, name)


def in_order(data: Input, sentences: Mapping[int, Listed]) -> list[Listed]:
    """Sentences by number, from 0 or 1 without a gap: programs write them in the order of their batches."""
    if not sentences:
        data.fail(None, "there are no candidates in this file. Was the program that writes it interrupted?")
    first = 1 if min(sentences) == 1 else 0
    for number in range(first, first + len(sentences)):
        if number not in sentences or not sentences[number].candidates:
            data.fail(None, f"sentence {number} has no candidates. Give each sentence at least one")
    return [sentences[number] for number in range(first, first + len(sentences))]


def scores_of(data: Input, line: int, value: Any, name: str = "score") -> dict[str, float]:
    """A number, or several."""
    if isinstance(value, list):
        values = [data.number(line, score, "the score") for score in value]
        return {name: values[0]} if len(values) == 1 else {f"{name}_{k}": score for k, score in enumerate(values)}
    return {} if value is None else {name: data.number(line, value, "the score")}


def texts_of(data: Input, line: int, value: Any, what: str) -> list[str]:
    """The value, if it is a list of texts."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        data.fail(line, f"{what} must be a list of strings. Is this the right format?")
    return list(value)


def object_of(data: Input, line: int, value: Any) -> dict[str, Any]:
    """The value, if it is a JSON object."""
    if not isinstance(value, dict):
        data.fail(line, f"expected an object, found {shortened(value)}. Is this the right format?")
    return value


def each_object(data: Input) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file, in an array or not."""
    for line, value in data.documents():
        for item in value if isinstance(value, list) else [value]:
            yield line, object_of(data, line, item)


def whole_number(value: Any, otherwise: int) -> str | int:
    """An id as a number if it looks like one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62:
        return value
    if isinstance(value, str) and value:
        return int(value) if re.fullmatch(r"0|[1-9][0-9]{0,17}", value) else value
    return otherwise


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


Reader = Callable[[Input], Iterator[Listed]]
