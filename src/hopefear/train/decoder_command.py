"""An external decoder: a shell command that reads weights and writes candidates.

In the command these words are replaced, and nothing else, so that other braces (``awk '{print}'``) stay:

``{weights}``     a file of ``name value`` lines that we wrote
``{nbest}``       where the command must write the candidates, in any format that we read; without it, its standard
                  output is read
``{iteration}``   the number of the decoding, from 1
``{sources}``     the file given as ``--sources``
``{params}``      a file of ``name value`` lines: the decoder's parameters; ``{param:NAME}`` is the value of one of them

Paths come quoted for the shell. Every run of the command has a folder of its own, and what it started ends with it:
what a killed run still writes is not read, and a command that hangs is ended with all its children.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hopefear._core import Pool, set_sources
from hopefear.errors import InputError, input_error
from hopefear.formats import read_nbest, write_weights
from hopefear.trainers.outer_loop import Request
from hopefear.util.files import PathLike, atomic_write, open_text, path_name, read_lines
from hopefear.util.messages import some
from hopefear.util.supervised import run_shell

_PLACEHOLDER = re.compile(r"\{(weights|nbest|iteration|sources|params|param:[^{}\s]+)\}")
_TAIL = 5  # lines of its standard error that are shown
_PAGE = 4096  # bytes; less room than that is none


class DecoderError(InputError):
    """The decoder failed, hung, or wrote what cannot be used."""


@dataclass(frozen=True)
class DecoderCommand:
    """A command, the references of the sentences that it translates, and how long it may take."""

    command: str
    references: tuple[PathLike, ...] = ()
    sources: PathLike | None = None
    timeout: float | None = None  # seconds

    def check(self, parameters: Sequence[str] = ()) -> None:
        """Raise an InputError for wrong placeholders before anything runs."""
        used = set(_PLACEHOLDER.findall(self.command))
        if "weights" not in used:
            raise InputError("the decoder command has no {weights}: it could not use the learnt weights. Add it")
        if self.sources is None and "sources" in used:
            raise InputError("the decoder command has {sources}, but there are none. Give --sources")
        for word in sorted(used):
            name = word.removeprefix("param:")
            if word.startswith("param") and not parameters:
                raise InputError(f"the decoder command has {{{word}}}, but there are no parameters. Give --params")
            if word.startswith("param:") and name not in parameters:
                raise InputError(f"the decoder command has {{{word}}}. The parameters are {', '.join(parameters)}")
        unused = [name for name in parameters if "params" not in used and f"param:{name}" not in used]
        if unused:
            raise InputError(
                f"the decoder command does not take the parameter {unused[0]!r}. "
                f"Put {{params}} or {{param:{unused[0]}}} in"
            )
        if self.timeout is not None and not self.timeout > 0:
            raise InputError(f"the decoder's time limit is {self.timeout:g} seconds. It must be more than 0")

    def decode(self, weights: Mapping[str, float], folder: Path, request: Request) -> Pool:
        """Run the command and read what it wrote.

        The command works in a new folder below ``folder``, which stays there if anything goes wrong.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("decoding-*"):
            shutil.rmtree(old, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix="decoding-", dir=folder)).absolute()
        write_weights(weights, work / "weights.txt")
        with atomic_write(work / "params.txt") as file:
            file.writelines(f"{name} {value!r}\n" for name, value in request.parameters.items())
        title = f"decoder, {request.title}"
        self._run(work, request, title)
        pool = self._read(work, title, request.like)
        shutil.rmtree(work, ignore_errors=True)
        return pool

    def line(self, work: Path, request: Request) -> str:
        """The command line with everything filled in."""
        known = {
            "weights": shlex.quote(str(work / "weights.txt")),
            "nbest": shlex.quote(str(work / "nbest")),
            "params": shlex.quote(str(work / "params.txt")),
            "sources": shlex.quote(os.fspath(self.sources)) if self.sources is not None else "",
            "iteration": str(request.iteration),
        }
        known |= {f"param:{name}": repr(value) for name, value in request.parameters.items()}
        return _PLACEHOLDER.sub(lambda match: known[match[1]], self.command)

    def _run(self, work: Path, request: Request, title: str) -> None:
        line = self.line(work, request)
        empty = (work / "weights.txt").stat().st_size == 0
        cure = "It may need initial weights: give --initial" if empty else "Fix it, then continue with --resume"
        run_command(line, work, "stdout" if "{nbest}" in self.command else "nbest", self.timeout, title, cure)
        if not (work / "nbest").exists():
            raise DecoderError(f"{title}: it succeeded but did not write the file {{nbest}}. Fix it{error_tail(work)}")

    def _read(self, work: Path, title: str, like: Pool | None) -> Pool:
        file = work / "nbest"
        try:
            pool = read_nbest(file, list(self.references) or None)
        except InputError as error:
            wanted = None
            if like is not None:
                wanted = like.ids
            elif self.references:
                wanted = [str(i) for i in range(len(read_lines(self.references[0])))]
            missing = _missing(file, wanted) if wanted is not None else None
            if missing:
                raise DecoderError(f"{title}: {missing}{error_tail(work)}") from None
            raise DecoderError(f"{title}: {error}{error_tail(work)}") from None
        if self.sources is not None:
            lines = read_lines(self.sources)
            if len(lines) != len(pool):
                finding = f"has {len(lines)} lines, but the decoder wrote {len(pool)} sentences. Use its source"
                raise input_error(path_name(self.sources), None, finding)
            for i, text in enumerate(lines):
                if pool.source(i) and pool.source(i).split() != text.split():
                    raise DecoderError(
                        f"{title}: {path_name(file)}: sentence {pool.ids[i]} has another source than --sources"
                    )
            set_sources(pool, lines)
        if like is not None:
            _same_sentences(pool, like, f"{title}: {path_name(file)}")
        return pool


def run_command(line: str, work: Path, output: str, timeout: float | None, title: str, cure: str) -> None:
    """Run a shell command, then end all processes that it started; its standard output goes to ``work/output``."""
    with (work / output).open("wb") as out, (work / "stderr").open("wb") as err:
        code = run_shell(line, out.fileno(), err.fileno(), timeout)
    if code is None:
        raise DecoderError(
            f"{title}: no answer within {timeout:g} seconds, so it was stopped. "
            f"Raise --decoder-timeout, then continue with --resume{error_tail(work)}"
        )
    if code:
        how = f"was killed by signal {-code}" if code < 0 else f"failed with exit code {code}"
        raise DecoderError(f"{title}: {how}. {cure}{error_tail(work)}")


def _same_sentences(pool: Pool, like: Pool, where: str) -> None:
    ids, wanted = pool.ids, like.ids
    missing = [name for name in wanted if name not in set(ids)] if ids != wanted else []
    if missing:
        raise DecoderError(f"{where}: {_missing_text(missing, len(wanted))}")
    for i, (name, other) in enumerate(zip(ids, wanted, strict=False)):
        if name != other:
            raise DecoderError(
                f"{where}: sentence {i + 1} of the list is {name!r}, which was {other!r} in the first decoding. "
                "Write the same sentences in the same order each time"
            )
    if len(ids) > len(wanted):
        raise DecoderError(f"{where}: sentence {ids[len(wanted)]!r} was not in the first decoding. Leave it out")
    for i, name in enumerate(ids):
        if pool.source(i) and like.source(i) and pool.source(i).split() != like.source(i).split():
            raise DecoderError(
                f"{where}: sentence {name} has another source than in the first decoding. Are the ids right?"
            )


def _missing_text(missing: Sequence[str], count: int) -> str:
    return (
        f"no candidates for {len(missing)} of the {count} sentences: {some(missing, 10)}. "
        "Let the decoder write at least one for each, then continue with --resume"
    )


def _missing(file: Path, wanted: Sequence[str]) -> str | None:
    """The sentences that are missing in a list that cannot be read."""
    present = set()
    with suppress(InputError, UnicodeDecodeError), open_text(file) as lines:
        for line in lines:
            label, bars, _ = line.partition("|||")
            if not bars:
                return None  # another format: the error of its reader is clearer
            present.add(label.strip())
    missing = [name for name in wanted if name not in present]
    return f"{path_name(file)}: {_missing_text(missing, len(wanted))}" if missing and len(present) > 0 else None


def error_tail(work: Path) -> str:
    """The last lines of its standard error, as the end of a message of one line."""
    with (work / "stderr").open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
        lines = file.read().decode("utf-8", "replace").splitlines()
    words = [" ".join(line.split()) for line in lines if line.strip()][-_TAIL:]
    if not words and shutil.disk_usage(work).free < _PAGE:  # there was no room for them either
        return f". {path_name(work)}: the disk is full. Make room"
    return f". It said: {' | '.join(words)} (all of it: {path_name(work / 'stderr')})" if words else ""
