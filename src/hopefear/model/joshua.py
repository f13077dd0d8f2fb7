"""``joshua.config``: which grammars, language models and weights a model of Joshua has.

    tm = hiero -owner pt -maxspan 20 -path grammar.gz       of Joshua 6; tm = thrax pt 20 grammar.gz: before
    feature-function = LanguageModel -lm_order 5 -lm_file lm.gz      lm = kenlm 5 false false 100 lm.gz: before
    weights-file = weights
    tm_pt_0 0.5

A key counts whatever its case, its dashes and its underscores; Joshua reads it so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from hopefear.errors import input_error
from hopefear.formats.weights import read_weights
from hopefear.util.files import PathLike, iter_lines, path_name
from hopefear.util.values import parsed_number


@dataclass
class JoshuaConfig:
    """The files of the model, relative ones in the folder of the configuration, and its weights."""

    grammar: list[Path] = field(default_factory=list)
    glue: Path | None = None
    lm: list[Path] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    weights_file: Path | None = None
    max_span: int = 0


def read_joshua_config(path: PathLike) -> JoshuaConfig:
    """Everything that ``hopefear import`` asks for. The values of rules must be those of the owners pt and glue."""
    config, folder = JoshuaConfig(), Path(path).parent
    for number, line in enumerate(iter_lines(path), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        try:
            key, equals, value = line.partition("=")
            if equals and len(key.split()) == 1:
                _setting(config, key.strip().lower().replace("-", "").replace("_", ""), value.split(), folder)
            else:
                _weigh(config, line.split())
        except ValueError as error:
            raise input_error(path_name(path), number, str(error)) from None
    if config.weights_file is not None:
        config.weights = {**read_weights(config.weights_file), **config.weights}
    for files, cure in (
        (config.lm, "feature-function = LanguageModel -lm_order 5 -lm_file FILE"),
        (config.grammar, "tm = hiero -owner pt -path FILE"),
        (config.weights, "tm_pt_0 0.5"),
    ):
        if not files:
            raise input_error(path_name(path), None, f'no line such as "{cure}". Is this a joshua.config?')
    return config


def _setting(config: JoshuaConfig, key: str, words: Sequence[str], folder: Path) -> None:
    if key == "tm":
        _grammar(config, words, folder)
    elif key == "lm" and words[:1] != ["none"]:
        config.lm.append(folder / _last(words, "lm = kenlm 5 false false 100 FILE"))
    elif key in ("featurefunction", "featurefunctions") and words[:1] and words[0].lower() == "languagemodel":
        options = _options(words[1:])
        if "-lm_class" in words or "class_map" in options:
            raise ValueError("a language model of word classes cannot be imported. Leave it out")
        if "lm_file" not in options:
            raise ValueError("the language model has no file. Write -lm_file FILE")
        config.lm.append(folder / options["lm_file"])
    elif key == "weightsfile":
        config.weights_file = folder / _last(words, "weights-file = FILE")


def _grammar(config: JoshuaConfig, words: Sequence[str], folder: Path) -> None:
    """``FORMAT -owner pt -maxspan 20 -path FILE``, or ``FORMAT pt 20 FILE``."""
    options = _options(words[1:])
    if not options and len(words) == 4:
        options = dict(zip(("owner", "maxspan", "path"), words[1:], strict=True))
    if not {"owner", "path"} <= options.keys():
        raise ValueError("the grammar has no owner or no file. Write tm = hiero -owner pt -maxspan 20 -path FILE")
    owner, file = options["owner"], folder / options["path"]
    if file.is_dir():
        raise ValueError(f"{file} is a packed grammar of Joshua. Give the text that it was packed from")
    if owner == "pt":
        config.grammar.append(file)
        span = options.get("maxspan", "0")
        if not re.fullmatch(r"-?[0-9]{1,6}", span):
            raise ValueError(f"-maxspan {span[:40]!r} is not a number of words. Write one, such as 20")
        config.max_span = max(config.max_span, int(span))
    elif owner == "glue" and config.glue is None:
        config.glue = file
    else:
        raise ValueError(f"a grammar of {owner}, but only one of pt and one of glue can be imported. Leave it out")


def _weigh(config: JoshuaConfig, words: Sequence[str]) -> None:
    if len(words) != 2:
        finding = f"{' '.join(words)[:40]!r} is neither key = value nor a weight"
        raise ValueError(f"{finding}. Write weights as Joshua does since 5.0: tm_pt_0 0.5")
    name, text = words
    try:
        value = parsed_number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"the weight of {name[:40]!r} is {text[:40]!r}. Write a finite number")
    if name in config.weights:
        raise ValueError(f"the weight of {name[:40]!r} is given twice. Keep one")
    config.weights[name] = value


def _options(words: Sequence[str]) -> dict[str, str]:
    """``-name value`` by name."""
    return {name[1:].lower(): value for name, value in pairwise(words) if name.startswith("-") and name[1:2].isalpha()}


def _last(words: Sequence[str], cure: str) -> str:
    if not words:
        raise ValueError(f"the file is missing. Write {cure}")
    return words[-1]
