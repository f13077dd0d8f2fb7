"""The folder of a translator: a model directory with a card, and a glossary if there is one.

    write_card("translator", {"name": "captions", "source": "de", "target": "en", "recipe": {"mbr": "bleu"}})
    read_card("translator")["source"]

==================  ================================================================================================
``name``            what it is called
``source, target``  codes of its languages, such as ``de`` or ``pt-BR``
``licence``         of the translator, in the words of its maker
``made_from``       a list: what went into it
``scores``          what it reached, by name
``recipe``          how it decodes: ``mbr`` (bleu, chrf, ter or null), ``scale`` of it, ``pop_limit``, ``max_options``,
                    ``glossary`` (the weight of preferred terms), ``corrected``, ``corrected_words``,
                    ``corrected_new`` and ``corrected_ngrams`` (the weights of what corrections said); other keys tell
                    how it was made
==================  ================================================================================================

A model without a card is a translator from ``und`` to ``und``, the code of languages that nobody has named.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hopefear.decode.consensus import CONSENSUS
from hopefear.errors import InputError, input_error
from hopefear.learning.decoding import NGRAMS
from hopefear.learning.rules import FEATURES
from hopefear.model.directory import INFO, Model, put_weights as put_weights
from hopefear.model.packed import is_packed, pack as pack, unpacked
from hopefear.util.files import PathLike, atomic_write, read_whole
from hopefear.util.messages import some

CARD, GLOSSARY, CORRECTIONS = "card.json", "glossary.tsv", "corrections"
UNKNOWN = "und"  # the language code of what nobody has named
_FORMAT, _VERSION = "hopefear translator", 1
_CODE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_DEFAULTS: dict[str, Any] = {"licence": "", "made_from": [], "scores": {}, "recipe": {}}


def read_card(path: PathLike) -> dict[str, Any]:
    """The card of a translator, a folder or a packed file. One without a card has the name of its path."""
    folder = unpacked(path) if is_packed(path) else Path(path)
    file = folder / CARD
    try:
        card = json.loads(read_whole(file))
    except FileNotFoundError:
        if not (folder / INFO).is_file():
            raise input_error(path, None, "is not a translator. Make one: hopefear create") from None
        return _whole({"name": Path(path).resolve().stem, "source": UNKNOWN, "target": UNKNOWN})
    except (ValueError, RecursionError) as error:
        raise input_error(file, None, f"is not JSON ({error}). Copy the translator again") from None
    if not isinstance(card, dict) or card.get("format") != _FORMAT:
        raise input_error(file, None, "is not the card of a translator. Copy the translator again")
    if card.get("version") != _VERSION:
        finding = f"a card of version {card.get('version')}, this hopefear reads version {_VERSION}"
        raise input_error(file, None, f"{finding}. Update hopefear")
    _check(card, str(file))
    return _whole(card)


def has_card(path: PathLike) -> bool:
    """Whether this is a translator, and not a model alone."""
    folder = unpacked(path) if is_packed(path) else Path(path)
    return (folder / CARD).is_file() or (folder / GLOSSARY).is_file()


def write_card(folder: PathLike, card: Mapping[str, Any]) -> None:
    """Gives a model directory its card: a dict as :func:`read_card` returns it, of which parts may be missing."""
    if not (Path(folder) / INFO).is_file():
        raise input_error(folder, None, "is not a model directory, so it gets no card. Make one: hopefear build")
    _check(card, "the card")
    text = json.dumps(_whole(card), indent=1, ensure_ascii=False) + "\n"
    with atomic_write(Path(folder) / CARD) as file:
        file.write(text)


def _whole(card: Mapping[str, Any]) -> dict[str, Any]:
    return {"format": _FORMAT, "version": _VERSION, **_DEFAULTS, **card}


def _check(card: Mapping[str, Any], where: str) -> None:
    for name in ("name", "source", "target"):
        if not isinstance(card.get(name), str) or not card[name]:
            raise InputError(f"{where}: has no {name}. Add one")
    for name in ("source", "target"):
        if not _CODE.fullmatch(card[name]):
            raise InputError(f"{where}: {card[name]!r} is not a language code. Use one such as de or pt-BR")
    for name, kind in (("licence", str), ("made_from", list), ("scores", dict), ("recipe", dict)):
        if not isinstance(card.get(name, kind()), kind):
            raise InputError(f"{where}: {name} is not what it should be, a {kind.__name__}. Correct it")
    recipe = card.get("recipe", {})
    if recipe.get("mbr") not in (None, *CONSENSUS):
        raise InputError(f"{where}: mbr is {recipe['mbr']!r}. Choose one of {', '.join(CONSENSUS)}, or null")
    for name, least in (
        ("scale", 0.0),
        ("pop_limit", 0),
        ("max_options", 0),
        ("glossary", -math.inf),
        *((name, -math.inf) for name in FEATURES),
        (NGRAMS, 0.0),
    ):
        value = recipe.get(name, 1)
        number = type(value) is int or (type(value) is float and isinstance(least, float) and math.isfinite(value))
        if not number or value < least:
            raise InputError(f"{where}: {name} is {value!r}, which is out of range. Correct it")


def open_translator(path: PathLike, jobs: int = 0) -> tuple[Model, dict[str, Any]]:
    """The model of a translator, a folder or a packed file, and its card."""
    if not Path(path).exists():
        raise input_error(path, None, "no such translator. Make one: hopefear create")
    return Model.open(path, jobs=jobs), read_card(path)


def corrections_of(path: PathLike) -> Path:
    """Where the corrections of a translator are: in its folder, or next to the file that it is."""
    return Path(f"{path}.corrections") if is_packed(path) else Path(path) / CORRECTIONS


def describe(card: Mapping[str, Any]) -> str:
    """A card in one line."""
    scores = some(f"{name} {value:g}" for name, value in card["scores"].items() if isinstance(value, int | float))
    return f"{card['name']}: {card['source']} to {card['target']}{f', {scores}' if scores else ''}"
