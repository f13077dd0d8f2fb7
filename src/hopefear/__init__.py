"""hopefear learns the weights of linear translation models by optimising translation quality directly.

The public names are loaded when they are first used, so that ``import hopefear`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> module that defines it
_PUBLIC = {
    "Bleu": "hopefear.metrics",
    "BuildOptions": "hopefear.model",
    "Chrf": "hopefear.metrics",
    "Derivation": "hopefear._core",
    "External": "hopefear.metrics",
    "Forest": "hopefear._core",
    "Grammar": "hopefear.model",
    "Hiero": "hopefear.decode",
    "InputError": "hopefear.errors",
    "LanguageModel": "hopefear.model.language_model",
    "Model": "hopefear.model",
    "OracleDocument": "hopefear.metrics",
    "Pool": "hopefear._core",
    "RougeS": "hopefear.metrics",
    "Ter": "hopefear.metrics",
    "Arow": "hopefear.trainers.online",
    "Corpus": "hopefear.trainers.online",
    "Mira": "hopefear.trainers.online",
    "Sgd": "hopefear.trainers.online",
    "Cmira": "hopefear.trainers",
    "Kbmira": "hopefear.trainers",
    "Logloss": "hopefear.trainers",
    "Mert": "hopefear.trainers",
    "Minrisk": "hopefear.trainers",
    "Pa": "hopefear.trainers",
    "Perceptron": "hopefear.trainers",
    "Pro": "hopefear.trainers",
    "Rampion": "hopefear.trainers",
    "TextPipeline": "hopefear.model",
    "Vocab": "hopefear._core",
    "Wer": "hopefear.metrics",
    "build": "hopefear.model",
    "iter_nbest": "hopefear.formats",
    "merged": "hopefear._core",
    "read_forests": "hopefear.formats",
    "read_grammar": "hopefear.model",
    "read_nbest": "hopefear.formats",
    "read_references": "hopefear.formats",
    "read_weights": "hopefear.formats",
    "rescore": "hopefear.decode",
    "write_forests": "hopefear.formats",
    "write_nbest": "hopefear.formats",
    "write_weights": "hopefear.formats",
}

__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from hopefear._core import Derivation as Derivation
    from hopefear._core import Forest as Forest
    from hopefear._core import Pool as Pool
    from hopefear._core import Vocab as Vocab
    from hopefear._core import merged as merged
    from hopefear.decode import Hiero as Hiero
    from hopefear.decode import rescore as rescore
    from hopefear.errors import InputError as InputError
    from hopefear.formats import iter_nbest as iter_nbest
    from hopefear.formats import read_forests as read_forests
    from hopefear.formats import read_nbest as read_nbest
    from hopefear.formats import read_references as read_references
    from hopefear.formats import read_weights as read_weights
    from hopefear.formats import write_forests as write_forests
    from hopefear.formats import write_nbest as write_nbest
    from hopefear.formats import write_weights as write_weights
    from hopefear.metrics import Bleu as Bleu
    from hopefear.metrics import Chrf as Chrf
    from hopefear.metrics import External as External
    from hopefear.metrics import OracleDocument as OracleDocument
    from hopefear.metrics import RougeS as RougeS
    from hopefear.metrics import Ter as Ter
    from hopefear.metrics import Wer as Wer
    from hopefear.model import BuildOptions as BuildOptions
    from hopefear.model import Grammar as Grammar
    from hopefear.model import Model as Model
    from hopefear.model import TextPipeline as TextPipeline
    from hopefear.model import build as build
    from hopefear.model import read_grammar as read_grammar
    from hopefear.model.language_model import LanguageModel as LanguageModel
    from hopefear.trainers import Cmira as Cmira
    from hopefear.trainers import Kbmira as Kbmira
    from hopefear.trainers import Logloss as Logloss
    from hopefear.trainers import Mert as Mert
    from hopefear.trainers import Minrisk as Minrisk
    from hopefear.trainers import Pa as Pa
    from hopefear.trainers import Perceptron as Perceptron
    from hopefear.trainers import Pro as Pro
    from hopefear.trainers import Rampion as Rampion
    from hopefear.trainers.online import Arow as Arow
    from hopefear.trainers.online import Corpus as Corpus
    from hopefear.trainers.online import Mira as Mira
    from hopefear.trainers.online import Sgd as Sgd


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if f"hopefear.{name}" in _PUBLIC.values():  # hf.metrics, hf.formats
        return importlib.import_module(f"hopefear.{name}")
    raise AttributeError(f"module 'hopefear' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
