"""Smaller models: rules without which a model translates as well.

Most rules of a model were seen once, and their sides never without each other: their probability is 1 both ways, and
tells nothing (Johnson, Martin, Foster and Kuhn 2007 drop those that are not significant). Of rules with
nonterminals, a phrase pair gives each of its many a fraction of one count, so that small counts are chance too. The
most probable translation of a single word stays in any case: no word becomes unknown.

``docs/translator.md`` has what it costs: usually nothing.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Grammar, RuleTable, file_checksum
from hopefear.errors import InputError, input_error
from hopefear.model.directory import INFO, Model, text_of
from hopefear.model.joint import JointModel
from hopefear.model.packed import MORE
from hopefear.util.files import PathLike, atomic_folder

_ROUNDING = 1e-6


def needed(table: RuleTable, least: float) -> NDArray[np.bool_]:
    """Which rules stay: not those that were seen once and never without each other, nor those with nonterminals whose
    count is ``least`` or less."""
    columns = {name: table.columns[:, column].astype(float) for column, name in enumerate(table.names)}
    if missing := [name for name in ("phrase_ef", "phrase_fe", "count") if name not in columns]:
        raise InputError(f"the model has no {missing[0]} of its rules, so none can be left out")
    begin = table.source_begin.astype(np.int64)
    rules = np.diff(table.rule_begin).astype(np.int64)
    nonterminals = np.repeat(np.add.reduceat((table.source < 0).astype(np.int64), begin[:-1]), rules)
    alone = (columns["phrase_ef"] > -_ROUNDING) & (columns["phrase_fe"] > -_ROUNDING)
    once = alone & (columns["count"] <= 1 + _ROUNDING)
    keep: NDArray[np.bool_] = ~once & ((nonterminals == 0) | (columns["count"] > least))
    single = np.diff(begin) == 1
    keep[table.rule_begin[:-1][single]] = True  # the rules of a source side stand by falling p(e|f)
    return keep


def shrink(
    model: PathLike,
    out: PathLike,
    least: float | None = 0.1,
    step: float | None = None,
    jobs: int = 0,
    joint: JointModel | None = None,
) -> dict[str, Any]:
    """Writes a smaller model; says how many ``rules`` and ``bytes`` there were and are.

    ``least``: leave out rules, see :func:`needed`; None keeps all. ``step``: make the values of rules multiples of it
    and give the numbers of a joint model eight significant bits, so that both compress well.
    ``joint`` takes the place of the model's joint model.
    """
    opened = Model.open(model, jobs=jobs)
    opened.require("hiero", "only hiero models can be pruned")
    if Path(out).exists():
        raise input_error(out, None, "already exists. Choose another")
    table = opened.grammar.table()
    if least is not None:
        table = table.selected(needed(table, least).astype(np.uint8))
    if step is not None:
        table = table.rounded(step)
    grammar = Grammar.build(table, jobs)
    with atomic_folder(out) as folder:
        names = [*opened.info["files"], *(name for name in MORE if (opened.path / name).is_file())]
        for name in set(names) - {"grammar.bin", INFO}:
            shutil.copyfile(opened.path / name, folder / name)
        (folder / "grammar.bin").write_bytes(grammar.bytes.data)
        if (joint := joint or opened.joint) is not None:
            if step is not None:
                joint = replace(joint, arrays={name: significant(array) for name, array in joint.arrays.items()})
            joint.save(folder / "joint.npz")
        (folder / INFO).write_bytes(text_of(_info(opened, folder, len(grammar), least, step)))
    return {
        "rules": {"before": len(opened.grammar), "after": len(grammar)},
        "bytes": {"before": _size(opened.path, opened.info), "after": _size(Path(out), opened.info)},
    }


def significant(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same numbers with eight significant bits."""
    mantissa, exponent = np.frexp(values)
    rounded: NDArray[np.float32] = np.ldexp(np.rint(mantissa * 256) / 256, exponent).astype(np.float32)
    return rounded


def _info(model: Model, folder: Path, rules: int, least: float | None, step: float | None) -> dict[str, Any]:
    """What model.json says of the smaller model."""
    info = json.loads(json.dumps(model.info))
    for name in ("grammar.bin", "joint.npz"):
        if (path := folder / name).is_file():
            info["files"][name] = {"bytes": path.stat().st_size, "checksum": f"{file_checksum(str(path)):016x}"}
    info["counts"] = {**info.get("counts", {}), "rules": rules}
    done = {name: value for name, value in (("prune", least), ("step", step)) if value is not None}
    info["options"] = {**info["options"], **done}
    return {name: value for name, value in info.items() if name != "checksum"}


def _size(folder: Path, info: dict[str, Any]) -> int:
    return sum((folder / name).stat().st_size for name in info["files"])
