"""The model directory: what ``hopefear build`` writes and every decoder opens. See docs/model-directory.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hopefear import __version__
from hopefear._core import FeatureTemplates, Grammar, checksum, file_checksum
from hopefear.errors import InputError, input_error
from hopefear.model.features import SMALL, template_of
from hopefear.model.grammar import write_grammar
from hopefear.model.language_model import LanguageModel
from hopefear.model.text import TextPipeline
from hopefear.util.files import PathLike, atomic_folder, read_lines

VERSION = 1
KINDS = ("hiero", "blocks")
_FORMAT = "hopefear model"


@dataclass(frozen=True)
class Model:
    """An open model: grammar and language models are mapped, so that processes share them."""

    path: Path
    info: dict[str, Any]  #: model.json
    grammar: Grammar
    language_models: tuple[LanguageModel, ...]  #: features lm and lm2
    sparse_names: tuple[str, ...]  #: of features.txt; the i-th has the id len(SMALL) + i

    @classmethod
    def open(cls, path: PathLike, verify: bool = True, jobs: int = 0) -> Model:
        """Opens a model directory; ``verify`` compares all checksums, which reads every file once."""
        folder = Path(path)
        info = _read_info(folder)
        for name, about in info["files"].items():
            _check_file(folder / name, about, verify)
        if "grammar.bin" not in info["files"]:
            raise input_error(folder, None, "has no grammar.bin. Build it again")
        grammar = Grammar.open(str(folder / "grammar.bin"), verify, jobs)
        names = [name for name in ("lm.bin", "lm2.bin") if name in info["files"]]
        models = tuple(LanguageModel.open(folder / name, verify) for name in names)
        sparse = tuple(read_lines(folder / "features.txt")) if "features.txt" in info["files"] else ()
        return cls(folder, info, grammar, models, sparse)

    @property
    def kind(self) -> str:
        """``hiero`` or ``blocks``."""
        return str(self.info["kind"])

    def require(self, kind: str, why: str) -> None:
        """Complain if the model is of another kind; ``why`` says who needs it, as in "this decoder is for hiero"."""
        if self.kind != kind:
            finding = f"is a model of {self.kind}, and {why}"
            raise input_error(self.path, None, f"{finding}. Build one: hopefear build --kind {kind}")

    @cached_property
    def source_text(self) -> TextPipeline:
        """How input is tokenised."""
        return TextPipeline.from_dict(self.info["text"]["source"])

    @cached_property
    def target_text(self) -> TextPipeline:
        """How output was tokenised, and how it is put together again."""
        return TextPipeline.from_dict(self.info["text"]["target"])

    @property
    def weights(self) -> dict[str, float]:
        """The weights to start from."""
        return {name: float(value) for name, value in self.info["weights"].items()}

    @property
    def feature_names(self) -> list[str]:
        """All names in the order of their ids."""
        return [*self.info.get("features", SMALL), *self.sparse_names]

    def templates(self, chosen: Iterable[str] | None = None, first: int = len(SMALL)) -> FeatureTemplates:
        """The sparse features of some templates (all if not said), ready for a decoder; ids count from ``first``."""
        names = list(self.sparse_names)
        if chosen is not None:
            wanted = set(chosen)
            if unknown := wanted - {template_of(name) for name in names}:
                raise InputError(f"{self.path}: has no features of the template {min(unknown)!r}. Build it with them")
            names = [name if template_of(name) in wanted else "" for name in names]
        return FeatureTemplates(names, first, self.grammar, str(self.path / "features.txt"))


def _read_info(folder: Path) -> dict[str, Any]:
    path = folder / "model.json"
    if not folder.is_dir():
        raise input_error(folder, None, "no such model directory. Make one: hopefear build")
    try:
        info = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise input_error(folder, None, "has no model.json, so it is no model. Make one: hopefear build") from None
    except (ValueError, RecursionError) as error:
        raise input_error(path, None, f"is not JSON ({error}). Copy the model again, or build it again") from None
    if not isinstance(info, dict) or info.get("format") != _FORMAT:
        raise input_error(path, None, "does not describe a model of hopefear. Build it again")
    if info.get("version") != VERSION:
        finding = f"a model of version {info.get('version')}, this hopefear reads version {VERSION}"
        raise input_error(path, None, f"{finding}. Build it again")
    if info.get("checksum") != _info_checksum(info) or not _is_complete(info):
        raise input_error(path, None, "was changed or damaged. Copy the model again, or build it again")
    return info


def _is_complete(info: Mapping[str, Any]) -> bool:
    try:
        for side in ("source", "target"):
            TextPipeline.from_dict(info["text"][side])
        plain = all(Path(name).name == name and about["bytes"] >= 0 for name, about in info["files"].items())
        numbers = all(isinstance(value, int | float) for value in info["weights"].values())
        return plain and numbers and info["kind"] in KINDS
    except (KeyError, TypeError, AttributeError, InputError):
        return False


def _info_checksum(info: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in info.items() if key != "checksum"}
    return f"{checksum(json.dumps(rest, sort_keys=True).encode()):016x}"


def _check_file(path: Path, about: Mapping[str, Any], verify: bool) -> None:
    if not path.is_file():
        raise input_error(path, None, "is missing. Copy the model again, or build it again")
    size = path.stat().st_size
    if size != about["bytes"]:
        finding = f"has {size} bytes instead of {about['bytes']}"
        raise input_error(path, None, f"{finding}. Was it cut off? Copy the model again, or build it again")
    if verify and f"{file_checksum(str(path)):016x}" != about["checksum"]:
        raise input_error(path, None, "is damaged: its checksum is wrong. Copy the model again, or build it again")


def write_model(
    out: PathLike,
    info: Mapping[str, Any],
    grammar: Grammar,
    language_models: Sequence[LanguageModel],
    sparse_names: Sequence[str],
    overwrite: bool = False,
) -> None:
    """Writes a directory that appears whole or not at all. ``info`` has kind, options, text, weights and counts."""
    out = Path(out)
    check_out(out, overwrite)
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(out) as folder:
        write_grammar(grammar, folder / "grammar.bin")
        for name, model in zip(("lm.bin", "lm2.bin"), language_models, strict=False):
            model.save(folder / name)
        if sparse_names:
            text = "".join(name + "\n" for name in sparse_names)
            (folder / "features.txt").write_bytes(text.encode())
        files = {
            path.name: {"bytes": path.stat().st_size, "checksum": f"{file_checksum(str(path)):016x}"}
            for path in sorted(folder.iterdir())
        }
        head = {"format": _FORMAT, "version": VERSION, "hopefear": __version__}
        whole: dict[str, Any] = {**head, "features": list(SMALL), **info, "files": files}
        whole["checksum"] = _info_checksum(whole)
        text = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
        (folder / "model.json").write_bytes(text.encode())


def check_out(out: Path, overwrite: bool) -> None:
    """An output that exists is only replaced when that was asked for, and only if it is a model."""
    if not out.exists():
        return
    if out.is_dir() and not any(out.iterdir()):
        return
    if not (out / "model.json").is_file():
        raise input_error(out, None, "exists and is no model. Take another --out")
    if not overwrite:
        raise input_error(out, None, "exists already. Take another --out, or add --overwrite")
