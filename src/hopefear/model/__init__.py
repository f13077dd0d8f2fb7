"""From parallel text to a model: tokenisation, word alignment, rules, language models, features, and the directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.util import lazy

_PUBLIC = {
    "BuildOptions": "hopefear.model.options",
    "BuildReport": "hopefear.model.builder",
    "Grammar": "hopefear.model.grammar",
    "LanguageModel": "hopefear.model.language_model",
    "Model": "hopefear.model.directory",
    "TextPipeline": "hopefear.model.text",
    "build": "hopefear.model.builder",
    "inspect_model": "hopefear.model.inspection",
    "iter_rules": "hopefear.model.grammar",
    "read_grammar": "hopefear.model.grammar",
    "write_grammar_text": "hopefear.model.grammar",
}

__all__ = list(_PUBLIC)

if TYPE_CHECKING:
    from hopefear.model.builder import BuildReport as BuildReport, build as build
    from hopefear.model.directory import Model as Model
    from hopefear.model.grammar import (
        Grammar as Grammar,
        iter_rules as iter_rules,
        read_grammar as read_grammar,
        write_grammar_text as write_grammar_text,
    )
    from hopefear.model.inspection import inspect_model as inspect_model
    from hopefear.model.language_model import LanguageModel as LanguageModel
    from hopefear.model.options import BuildOptions as BuildOptions
    from hopefear.model.text import TextPipeline as TextPipeline

__getattr__ = lazy.attributes(__name__, _PUBLIC)
