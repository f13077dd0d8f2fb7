"""An external scorer: a shell command that scores candidates, in a loop or once.

In the command these words are replaced, and nothing else:

``{candidates}``   a file with the candidates that have no score yet, one per line
``{sources}``      a file with their source sentences, one per line
``{scores}``       where the command must write a line of numbers for each candidate, with blanks between them; without
                   it, its standard output is read

One number becomes the feature ``scorer``, several become ``scorer_0``, ``scorer_1``, ...; ``name=value`` names them.
What was scored once is not scored again.
"""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.formats.lattices import with_features
from hopefear.formats.listed import Input
from hopefear.formats.weights import weight_vector
from hopefear.train.decoder_command import DecoderError, error_tail, run_command
from hopefear.trainers.outer_loop import ListDecoder, Request
from hopefear.util.files import atomic_write

_PLACEHOLDER = re.compile(r"\{(candidates|sources|scores)\}")


@dataclass(frozen=True)
class ScorerCommand:
    """A command that scores candidates, and how long it may take."""

    command: str
    timeout: float | None = None  # seconds
    _known: dict[tuple[str, str], tuple[float, ...]] = field(default_factory=dict, compare=False)
    _names: list[str] = field(default_factory=list, compare=False)

    def check(self) -> None:
        """Raise an InputError for wrong placeholders before anything runs."""
        if "candidates" not in _PLACEHOLDER.findall(self.command):
            raise InputError("the scorer command has no {candidates}: it could not read what to score. Add it")

    def scored(self, pool: Pool, folder: Path | None = None, title: str = "scorer") -> Pool:
        """The lists with the scores as features; the command sees what is new."""
        if not pool.is_lists:
            raise InputError("--scorer-command scores candidates of lists. Get lists of forests by rerank --nbest-out")
        ids = pool.ids
        keys = [(ids[i], pool.text(i, j)) for i, forest in enumerate(pool) for j in range(forest.edge_count)]
        sources = {name: pool.source(i) for i, name in enumerate(ids)}
        new = [key for key in dict.fromkeys(keys) if key not in self._known]
        if new:
            self._score(new, sources, folder, title)
        return with_features(pool, self._names, np.array([self._known[key] for key in keys]))

    def _score(self, new: list[tuple[str, str]], sources: Mapping[str, str], folder: Path | None, title: str) -> None:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="scoring-", dir=folder)).absolute()
        for name, lines in (("candidates", [text for _, text in new]), ("sources", [sources[i] for i, _ in new])):
            with atomic_write(work / name) as file:
                file.writelines(f"{line}\n" for line in lines)
        line = _PLACEHOLDER.sub(lambda match: shlex.quote(str(work / match[1])), self.command)
        output = "stdout" if "{scores}" in self.command else "scores"
        run_command(line, work, output, self.timeout, title, "Fix it, then continue with --resume")
        if not (work / "scores").exists():
            raise DecoderError(f"{title}: it succeeded but did not write the file {{scores}}. Fix it{error_tail(work)}")
        data = Input(work / "scores")
        if len(data.lines) != len(new):
            data.fail(None, f"{len(data.lines)} lines for {len(new)} candidates. Write one per candidate")
        for key, (number, text) in zip(new, data.lines, strict=True):
            self._known[key] = self._row(data, number, text)
        shutil.rmtree(work, ignore_errors=True)

    def _row(self, data: Input, number: int, text: str) -> tuple[float, ...]:
        words = [word.rpartition("=") for word in text.split()]
        if not words:
            data.fail(number, "there is no score. Write a number for each candidate")
        single = len(words) == 1
        names = [name or ("scorer" if single else f"scorer_{k}") for k, (name, _, _) in enumerate(words)]
        if not self._names:
            self._names.extend(names)
        if names != self._names:
            before = f"but were {', '.join(self._names)} before"
            data.fail(number, f"the scores are {', '.join(names)}, {before}. Write the same")
        values = [value for _, _, value in words]
        return tuple(data.number(number, v, f"the score {name}") for name, v in zip(names, values, strict=True))


@dataclass(frozen=True)
class ScoredDecoder:
    """A decoder whose candidates are scored by a command: lists come back with the best first under all weights."""

    decoder: ListDecoder
    scorer: ScorerCommand

    def decode(self, weights: Mapping[str, float], folder: Path, request: Request) -> Pool:
        pool = self.decoder.decode(weights, folder, request)
        scored = self.scorer.scored(pool, folder, f"scorer, {request.title}")
        most = max((forest.edge_count for forest in scored), default=1)
        return scored.kbest(weight_vector(weights, scored.feature_names), most)
