"""The model directory: what ``hopefear build`` writes and every decoder opens. See docs/model-directory.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hopefear import __version__
from hopefear._core import FeatureTemplates, Grammar, checksum, file_checksum
from hopefear.errors import InputError, input_error
from hopefear.model.casing import Casing
from hopefear.model.features import SMALL, template_of
from hopefear.model.grammar import write_grammar
from hopefear.model.joint import JointModel
from hopefear.model.language_model import LanguageModel
from hopefear.model.options import PHRASE
from hopefear.model.packed import is_packed, unpacked
from hopefear.model.text import TextPipeline
from hopefear.util.files import PathLike, atomic_folder, atomic_write, read_lines, read_whole, sweep

VERSION = 1
KINDS = ("hiero", "blocks")
INFO = "model.json"
#: The features of language models, and the names of their files.
LM_NAMES = ("lm", "lm2", "lm3")
_FORMAT = "hopefear model"


@dataclass(frozen=True)
class Model:
    """An open model: grammar and language models are mapped, so that processes share them.

    >>> model = hf.Model.open("translator")
    >>> model
    Model('translator', hiero, 7,359 rules)
    >>> model.source_text.tokens("Das Haus ist's.")
    ['das', 'haus', 'ist', "'s", '.']
    """

    path: Path
    info: dict[str, Any]  #: model.json
    grammar: Grammar
    language_models: tuple[LanguageModel, ...]  #: features lm, lm2, lm3
    sparse_names: tuple[str, ...]  #: of features.txt; the i-th has the id len(dense_names) + i
    casing: Casing | None = None  #: how output is spelled
    joint: JointModel | None = None  #: feature njm

    @classmethod
    def open(cls, path: PathLike, verify: bool = True, jobs: int = 0) -> Model:
        """Opens a model directory, or the file that ``hopefear pack`` made of one.

        ``verify`` compares all checksums, which reads every file once.

        >>> sorted(hf.Model.open("translator").weights)[:3]
        ['glue', 'identity', 'lexical_ef']
        """
        folder = unpacked(path) if is_packed(path) else Path(path)
        info = _read_info(folder)
        for name, about in info["files"].items():
            _check_file(folder / name, about, verify)
        if "grammar.bin" not in info["files"]:
            raise input_error(folder, None, "has no grammar.bin. Build it again")
        grammar = Grammar.open(str(folder / "grammar.bin"), verify, jobs)
        names = [f"{name}.bin" for name in LM_NAMES if f"{name}.bin" in info["files"]]
        models = tuple(LanguageModel.open(folder / name, verify) for name in names)
        sparse = tuple(read_lines(folder / "features.txt")) if "features.txt" in info["files"] else ()
        casing = None
        if "casing" in info and "case.bin" in info["files"]:
            casing = Casing.from_dict(LanguageModel.open(folder / "case.bin", verify), info["casing"])
        joint = JointModel.open(folder / "joint.npz") if "joint.npz" in info["files"] else None
        return cls(folder, info, grammar, models, sparse, casing, joint)

    def __reduce__(self) -> tuple[Any, ...]:
        """A model that goes to another process is opened there, and must be the same."""
        return open_same, (str(self.path.absolute()), self.info["checksum"])

    def __repr__(self) -> str:
        return f"Model({str(self.path)!r}, {self.kind}, {len(self.grammar):,} rules)"

    @property
    def kind(self) -> str:
        """``hiero`` or ``blocks``."""
        return str(self.info["kind"])

    @property
    def max_span(self) -> int:
        """Source words below a rule with nonterminals, as in extraction."""
        return int(self.info["options"].get("max_phrase") or PHRASE["hiero"])

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

    def running_text(self, translations: Sequence[str], sources: Sequence[str] = ()) -> list[str]:
        """Tokens of the target side as running text, spelled as the model's text is.

        ``sources``: the lines that were translated; they tell how words are spelled that the model has never seen.
        """
        if self.casing is not None:
            as_spelled = replace(self.source_text, lowercase=False)
            words = [as_spelled.tokens(line) for line in sources] or [[] for _ in translations]
            pairs = zip(translations, words, strict=True)
            translations = [" ".join(self.casing.spell(text.split(), source)) for text, source in pairs]
        return [self.target_text.detokenize(text) for text in translations]

    @property
    def weights(self) -> dict[str, float]:
        """The weights to start from."""
        return {name: float(value) for name, value in self.info["weights"].items()}

    @property
    def dense_names(self) -> list[str]:
        """The features that every rule has, in the order of their ids."""
        return list(self.info.get("features", SMALL))

    @property
    def feature_names(self) -> list[str]:
        """All names in the order of their ids."""
        return [*self.dense_names, *self.sparse_names]

    def templates(self, chosen: Iterable[str] | None = None, first: int | None = None) -> FeatureTemplates:
        """The sparse features of some templates (all by default), ready for a decoder.

        Ids count from ``first``, by default after the dense features.
        """
        names = list(self.sparse_names)
        if chosen is not None:
            wanted = set(chosen)
            if unknown := wanted - {template_of(name) for name in names}:
                raise InputError(f"{self.path}: has no features of the template {min(unknown)!r}. Build it with them")
            names = [name if template_of(name) in wanted else "" for name in names]
        first = len(self.dense_names) if first is None else first
        return FeatureTemplates(names, first, self.grammar, str(self.path / "features.txt"))


def open_same(path: str, checksum: str) -> Model:
    """On another machine: the model under the same path, if it is the same one."""
    model = Model.open(path, verify=False)
    if model.info["checksum"] != checksum:
        raise input_error(path, None, "the model here is not the one that the run was started with. Copy that one")
    return model


def _read_info(folder: Path) -> dict[str, Any]:
    path = folder / INFO
    if not folder.is_dir():
        sweep(folder.parent)  # if the program was killed while replacing it, the old folder is still there
    if not folder.is_dir():
        raise input_error(folder, None, "no such model directory. Make one: hopefear build")
    try:
        info = json.loads(read_whole(path))
    except FileNotFoundError:
        raise input_error(folder, None, "is not a model: it has no model.json. Make one: hopefear build") from None
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
        numbers = all(
            isinstance(value, int | float) for value in [*info["weights"].values(), *info.get("casing", {}).values()]
        )
        return plain and numbers and info["kind"] in KINDS
    except (KeyError, TypeError, AttributeError, InputError):
        return False


def _info_checksum(info: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in info.items() if key != "checksum"}
    return f"{checksum(json.dumps(rest, sort_keys=True).encode()):016x}"


def text_of(info: Mapping[str, Any]) -> bytes:
    """The content of model.json, with its checksum."""
    text = json.dumps({**info, "checksum": _info_checksum(info)}, indent=1, ensure_ascii=False) + "\n"
    return text.encode()


def put_weights(model: PathLike, weights: Mapping[str, float]) -> None:
    """Makes these the weights of a model: those of its dense features, and sparse ones that are not 0.

    ``model.json`` is replaced in one step. Features that the weights do not name weigh 0.
    """
    folder = Path(model)
    if is_packed(folder):
        raise input_error(folder, None, "is a packed translator. Put weights into its folder, and pack that")
    info = _read_info(folder)
    if info["kind"] != "hiero":
        finding = f"is a model of {info['kind']}, whose weights stay in a separate file"
        raise input_error(folder, None, f"{finding}. Pass it with --weights")
    dense = list(info["features"])
    sparse = read_lines(folder / "features.txt") if "features.txt" in info["files"] else []
    if strangers := {name for name, value in weights.items() if value} - {*dense, *sparse}:
        finding = f"has no feature {min(strangers)!r}, which a weight is for"
        raise input_error(folder, None, f"{finding}. Use the weights of this model")
    if wrong := [name for name, value in weights.items() if not math.isfinite(value)]:
        raise InputError(f"the weight of {wrong[0]} is not a finite number. Train again")
    chosen = {name: float(weights.get(name, 0.0)) for name in dense}
    chosen |= {name: float(value) for name, value in weights.items() if value and name not in chosen}
    with atomic_write(folder / INFO, "wb") as file:
        file.write(text_of({**info, "weights": chosen}))


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
    grammar: Grammar | Path,
    language_models: Sequence[LanguageModel],
    sparse_names: Sequence[str],
    overwrite: bool = False,
    casing: Casing | None = None,
    joint: JointModel | None = None,
) -> None:
    """Writes a directory that appears complete or not at all. ``info`` has kind, options, text, weights and counts.

    ``grammar`` may be the path of its file, which is moved.
    """
    out = Path(out)
    check_out(out, overwrite)
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(out, _ours) as folder:
        if isinstance(grammar, Path):
            grammar.rename(folder / "grammar.bin")
        else:
            write_grammar(grammar, folder / "grammar.bin")
        for name, model in zip(LM_NAMES, language_models, strict=False):
            model.save(folder / f"{name}.bin")
        if casing is not None:
            casing.model.save(folder / "case.bin")
        if joint is not None:
            joint.save(folder / "joint.npz")
        if sparse_names:
            text = "".join(name + "\n" for name in sparse_names)
            (folder / "features.txt").write_bytes(text.encode())
        files = {
            path.name: {"bytes": path.stat().st_size, "checksum": f"{file_checksum(str(path)):016x}"}
            for path in sorted(folder.iterdir())
        }
        head = {"format": _FORMAT, "version": VERSION, "hopefear": __version__}
        whole: dict[str, Any] = {**head, "features": list(SMALL), **info, "files": files}
        (folder / INFO).write_bytes(text_of(whole))


def _ours(folder: Path) -> list[str]:
    """What a model directory has from us, by its own list; of one that is damaged, what every model has."""
    try:
        names = list(_read_info(folder)["files"])
    except InputError:
        names = ["grammar.bin", "lm.bin", "lm2.bin", "features.txt"]
    return [*names, INFO]


def check_out(out: Path, overwrite: bool) -> None:
    """An output that exists is only replaced when that was asked for, and only if it is a model."""
    sweep(out.parent)
    if not out.exists():
        return
    if out.is_dir() and not any(out.iterdir()):
        return
    if not (out / INFO).is_file():
        raise input_error(out, None, "exists and is not a model. Choose another --out")
    if not overwrite:
        raise input_error(out, None, "already exists. Choose another --out, or add --overwrite")
