"""The commands as functions: ``hf.tune(nbest=["dev.nbest"], refs=["ref"], trainer="kbmira", out="run")``.

Keyword arguments are the options of the command, by the same names. What the command would print on standard error as a
warning is a Python warning here; progress is not shown.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from hopefear.runs.events import Event, Listener, Warned
from hopefear.train.tuning import TuneConfig
from hopefear.train.tuning import tune as _tune

__all__ = ["tune"]

Options = ParamSpec("Options")
Config = TypeVar("Config")
Found = TypeVar("Found")


def _warn(event: Event) -> None:
    if isinstance(event, Warned):
        warnings.warn(event.text, stacklevel=2)


def _function(
    name: str, config: Callable[Options, Config], run: Callable[[Config, Listener], Found]
) -> Callable[Options, Found]:
    """A function whose arguments are the fields of a config."""

    @functools.wraps(run)
    def call(*args: Options.args, **options: Options.kwargs) -> Found:
        return run(config(*args, **options), _warn)

    call.__name__ = call.__qualname__ = name
    call.__signature__ = inspect.signature(config)  # type: ignore[attr-defined]
    return call


tune = _function("tune", TuneConfig, _tune)
