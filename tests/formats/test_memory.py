"""Input without an end, under every reader: one line, in bounded memory. A new format cannot be forgotten here."""

from __future__ import annotations

import ast
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

import hopefear as hf
from hopefear import formats
from hopefear.formats import trec
from hopefear.formats.forests import FOREST_FORMATS
from hopefear.formats.letor import ENDINGS, read_letor
from hopefear.formats.nbest import LIST_FORMATS, iter_nbest
from hopefear.formats.streaming import iter_pools
from hopefear.formats.table import read_table
from hopefear.formats.table_files import KINDS
from hopefear.formats.weights import read_many_weights
from hopefear.model.bitext import read_bitext
from hopefear.model.imported import READERS, _rules
from hopefear.model.language_model import LanguageModel
from hopefear.runs import checkpoint
from hopefear.runs.record import RunRecord
from hopefear.train.coordinate_ascent import read_parameters

SOURCES = Path(hf.__file__).parent
MEMORY = 1 << 30  # bytes that a reader may take, before it must have said that something is wrong
FOLDERS = {"espnet": "1best_recog/text", "kaldi-nbest": "text"}  # formats that are folders, and a file in them


def list_readers() -> dict[str, Callable[[Path], object]]:
    def named(format: str) -> Callable[[Path], object]:
        argument = {"flat": "flat:2", "travatar": "travatar:/dev/zero"}.get(format, format)
        return lambda path: formats.read_nbest(path, format=argument)

    return {f"list {format}": named(format) for format in LIST_FORMATS}


def forest_readers() -> dict[str, Callable[[Path], object]]:
    return {
        f"forest {format}": lambda path, format=format: formats.read_forests(path, format=format)  # type: ignore[misc]
        for format in FOREST_FORMATS
    }


def table_readers() -> dict[str, Callable[[Path], object]]:
    def ending(suffix: str) -> Callable[[Path], object]:
        def read(path: Path) -> object:
            path.with_suffix(suffix).symlink_to(path)
            return (read_letor if suffix in ENDINGS else read_table)(path.with_suffix(suffix))

        return read

    return {f"table {suffix}": ending(suffix) for suffix in (*KINDS, *ENDINGS)}


def grammar_readers() -> dict[str, Callable[[Path], object]]:
    return {f"grammar {format}": lambda path, format=format: list(_rules(path, format, "")) for format in READERS}  # type: ignore[misc]


OTHERS: dict[str, Callable[[Path], object]] = {
    "list by its beginning": formats.read_nbest,
    "list, sentence by sentence": lambda path: list(iter_nbest(path)),
    "list, piece by piece": lambda path: list(iter_pools(path)),
    "forest by its beginning": formats.read_forests,
    "symbols": lambda path: formats.read_forests(__file__, format=f"openfst:{path}"),
    "weights": formats.read_weights,
    "many weights": read_many_weights,
    "references": formats.read_references,
    "grammar": lambda path: list(formats.iter_grammar(path)),
    "trec run": lambda path: trec.read_run(str(path)),
    "qrels": lambda path: trec.read_qrels(str(path)),
    "arpa": LanguageModel.read_arpa,
    "language model": LanguageModel.read,
    "text for a language model": lambda path: LanguageModel.estimate(path, 2),
    "bitext": lambda path: read_bitext([path], [path], *[hf.model.text.TextPipeline("none", False, False)] * 2),
    "parameters": read_parameters,
    "checkpoint": checkpoint.load,
    "arrays": checkpoint.read_npz,
    "record": RunRecord.load,
}
READING = {**list_readers(), **forest_readers(), **table_readers(), **grammar_readers(), **OTHERS}


def output_in_bounded_memory(read: Callable[[Path], object], path: Path) -> str:
    """The output of a reader in its own process with a memory limit."""
    ours, theirs = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            read(path)
            message = "nothing"
        except hf.InputError as error:
            message = f"InputError: {error}"
        except BaseException as error:
            message = f"{type(error).__name__}: {error}"
        os.write(theirs, message.encode()[:1000])
        os._exit(0)
    os.close(theirs)
    os.waitpid(process, 0)
    with os.fdopen(ours, "rb") as file:
        return file.read().decode()


@pytest.mark.parametrize("name", READING)
def test_a_file_without_an_end_is_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if inside := FOLDERS.get(name.removeprefix("list ")):
        (path / inside).parent.mkdir(parents=True)
        (path / inside).symlink_to("/dev/zero")
    else:
        path.symlink_to("/dev/zero")
    message = output_in_bounded_memory(READING[name], path)
    assert message.startswith(f"InputError: {tmp_path}"), message


# Whoever opens files otherwise than by hopefear.util.files takes the limits into their own hands; and why they may.
OPENED = {
    "util/files.py": "the layer itself",
    "util/atomic.py": "opens what it has made",
    "util/leftovers.py": "opens what it has made",
    "util/remote.py": "the layer itself: read in pieces",
    "util/plugins.py": "metadata of installed packages",
    "util/supervised.py": "the null device, and processes in /proc",
    "formats/forests.py": "eight bytes, which tell a native file",
    "formats/pool.py": "a temporary file of ours",
    "formats/table_files.py": "Parquet and Arrow, by pyarrow with check_size; whole standard input by open_bytes",
    "corpus/entries.py": "zip archives, in pieces and with a limit of their own",
    "documents/html_pages.py": "text in memory",
    "documents/markdown.py": "text in memory",
    "documents/packages.py": "zip archives in memory, whose sizes it has checked",
    "documents/paragraphs.py": "text in memory",
    "model/packed.py": "zip archives, in pieces and with a limit of their own",
    "runs/record.py": "a checksum, in pieces",
    "runs/checkpoint.py": "arrays, after check_size",
    "runs/directory.py": "a line that is added to the log; the lock",
    "model/joint.py": "arrays, after check_size; writes",
    "model/rules.py": "counts that it has just written",
    "model/align.py": "what our aligner prints",
    "decode/translation.py": "files of an open model, whose sizes it knows",
    "decode/combination.py": "JSON, by open_text",
    "train/decoder_command.py": "writes; the end of what a decoder said",
}
READERS_OF_FILES = ("corpus/", "decode/", "documents/", "evaluation/", "formats/", "metrics/", "model/", "runs/")
READERS_OF_FILES += ("train/", "translator/", "util/")
LOADERS = {"json.load", "np.load", "np.memmap", "np.fromfile", "np.loadtxt", "np.genfromtxt", "parquet.ParquetFile"}
OURS = {
    "Model",
    "LanguageModel",
    "Grammar",
    "JointModel",
    "WordClasses",
    "SequenceFile",
    "Run",
    "cls",
    "config",
    "self",
}


def opens(path: Path) -> list[str]:
    """The calls of a module that open files, or read them whole."""
    calls = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        call, method = ast.unparse(node.func), isinstance(node.func, ast.Attribute)
        owner, _, name = call.rpartition(".")
        opened = name == "open" and owner.rpartition(".")[2] not in OURS
        whole = method and (
            name in ("read_bytes", "read_text") or (name == "read" and not node.args and owner not in OURS)
        )
        if opened or whole or call in LOADERS:
            calls.append(f"line {node.lineno}: {call}")
    return calls


def test_only_listed_modules_open_files() -> None:
    strangers = {
        name: calls
        for path in sorted(SOURCES.rglob("*.py"))
        if (name := path.relative_to(SOURCES).as_posix()).startswith(READERS_OF_FILES)
        and name not in OPENED
        and (calls := opens(path))
    }
    assert not strangers, "read through hopefear.util.files (iter_bytes, iter_lines, open_text, read_whole), or say why"


def test_the_list_has_no_stale_modules() -> None:
    """A module that opens nothing any more is taken off it."""
    gone = [name for name in OPENED if (SOURCES / name).exists() and not opens(SOURCES / name)]
    assert not gone
