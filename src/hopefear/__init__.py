"""hopefear learns the weights of linear translation models by optimising translation quality directly.

Public names are loaded when they are first used, so that ``import hopefear`` is quick.
"""

from __future__ import annotations

import importlib

__version__ = "0.3.0"


#: Module -> the public names that it defines. ``__init__.pyi`` has the same for type checkers; a test compares them.
_MODULES = {
    "hopefear._core": "Derivation Forest Pool Vocab merged",
    "hopefear.api": (
        "add_features combine compare convert create export features generate import_ inspect pack report rerank score "
        "tune weigh"
    ),
    "hopefear.decode": "Blocks Hiero rescore",
    "hopefear.decode.consensus": "best_by_consensus",
    "hopefear.decode.evidence": "Evidence",
    "hopefear.decode.forced": "Forced",
    "hopefear.decode.functions": "Edge with_functions",
    "hopefear.errors": "InputError",
    "hopefear.formats": (
        "iter_nbest read_forests read_nbest read_references read_weights write_forests write_nbest write_weights"
    ),
    "hopefear.metrics": (
        "Bleu Chrf External FBeta Map Mrr Ndcg OracleDocument Precision Rate Recall RecallAt RougeS Ter Wer"
    ),
    "hopefear.metrics.custom": "CustomMetric",
    "hopefear.model": "BuildOptions Grammar Model TextPipeline build read_grammar",
    "hopefear.model.language_model": "LanguageModel",
    "hopefear.reranker": "Reranker load",
    "hopefear.runs": "Run Session read_run",
    "hopefear.trainers.auto": "Auto",
    "hopefear.trainers.bagged": "Bagged",
    "hopefear.trainers.batch.cmira": "Cmira",
    "hopefear.trainers.batch.kbmira": "Kbmira",
    "hopefear.trainers.batch.logloss": "Logloss",
    "hopefear.trainers.batch.mert": "Mert",
    "hopefear.trainers.batch.minrisk": "Minrisk",
    "hopefear.trainers.batch.pa": "Pa",
    "hopefear.trainers.batch.perceptron": "Perceptron",
    "hopefear.trainers.batch.pro": "Pro",
    "hopefear.trainers.batch.rampion": "Rampion",
    "hopefear.trainers.blocks.costmargin": "Costmargin",
    "hopefear.trainers.data": "Corpus Task",
    "hopefear.trainers.online.arow": "Arow",
    "hopefear.trainers.online.minrisk": "OnlineMinrisk",
    "hopefear.trainers.online.mira": "Mira",
    "hopefear.trainers.online.perceptron": "OnlinePerceptron",
    "hopefear.trainers.online.sgd": "Sgd",
    "hopefear.translator.glossary": "Term",
    "hopefear.translator.translator": "Translator",
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:  # typed in __init__.pyi; importing typing would take longer than all else here
    if name in _PUBLIC:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    try:  # hf.metrics, hf.formats
        return importlib.import_module(f"hopefear.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"module 'hopefear' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
