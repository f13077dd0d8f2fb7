"""Rescoring: features that see more than one edge, added to forests of any origin by cube pruning over them.

    pool = read_forests("dev.forests")
    larger = rescore(pool, weights, ["bigram(the,house)", "trigger(not,but)"], {"lm2": LanguageModel.open("large.lm")})

Gimpel and Smith (2012, section 4.3) add their features to Moses' lattices in this way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool, Rescorer
from hopefear.decode.limits import RESCORED
from hopefear.errors import input_error
from hopefear.formats.forests import read_forests, write_forests
from hopefear.formats.lattices import with_features
from hopefear.formats.listed import Input
from hopefear.formats.nbest import read_nbest, write_nbest
from hopefear.formats.weights import check_names, matched_numbers, read_weights
from hopefear.model.features import template_of
from hopefear.model.language_model import LanguageModel
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike, path_name, read_lines
from hopefear.util.messages import some

if TYPE_CHECKING:
    from hopefear.commands.rescore import Rescore

#: Templates whose features see neighbouring words.
TEMPLATES = ("unigram", "bigram", "trigram", "trigger", "pair")


def rescore(
    pool: Pool,
    weights: Mapping[str, float] | NDArray[np.float64],
    features: Iterable[str] = (),
    language_models: Mapping[str, LanguageModel] | None = None,
    pop_limit: int = RESCORED,
    jobs: int = 0,
) -> Pool:
    """The same forests with more features, searched with ``weights`` over the old and the new ones.

    ``features`` are names of the templates unigram, bigram, trigram, trigger and pair (docs/model-directory.md); pairs
    need the source text and forests that know their spans. Each of ``language_models`` becomes a feature of that name,
    a natural logarithm. At most ``pop_limit`` edges are kept of each node (0: all), and lists stay whole.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0"])
    >>> english = hf.LanguageModel.estimate("data/ref.1", order=2)
    >>> pool = hf.rescore(pool, hf.read_weights("data/initial.txt"), language_models={"lm2": english})
    >>> pool.feature_names[-1]
    'lm2'
    """
    models = [(name, model.core) for name, model in (language_models or {}).items()]
    return Rescorer(pool, list(features), models).run(pool, weights, pop_limit, jobs)


def rescore_files(command: Rescore, run: Session = SILENT) -> Iterator[str]:
    """The best translations of forests or lists in files with more features; these go to ``--out``.

    A file of scores has a line for each candidate or edge. Without a file of features, those that the weights name are
    added.
    """
    models = {name: LanguageModel.read(path) for name, path in command.lm_files.items()}
    if command.forests is not None:
        pool = read_forests(command.forests, None, command.format, command.sources)
    else:
        pool = read_nbest(list(command.nbest), None, command.format, command.sources)
    if scores := command.score_files:
        pool = _with_scores(pool, scores)
    there = pool.feature_names
    w, note = matched_numbers(command.weights, read_weights(command.weights), there)
    run.warn(note)
    names = _new(w if command.features is None else read_lines(command.features), set(there))
    if not names and not models and not scores:
        finding = f"no feature of {', '.join(TEMPLATES)} to add. Name some by --features, --lm or --scores"
        raise input_error(path_name(command.features or command.weights), None, finding)
    known, whose = [*there, *names, *models], f"these forests, which have {some(there)}"
    run.warn(check_names(command.weights, w, known, "that are not there", whose))
    if names or models:
        pool = rescore(pool, w, names, models, command.pop_limit, command.jobs)
    for best in pool.viterbi(w, command.jobs):
        yield best.text
    if command.out is not None:
        if command.forests is not None:
            write_forests(pool, command.out)
        else:
            write_nbest(pool, command.out, weights=w)


def _with_scores(pool: Pool, scores: Mapping[str, PathLike]) -> Pool:
    """Scores from files, one for each candidate or edge, as features."""
    count = int(pool.edge_offsets()[-1])
    columns = np.zeros((count, len(scores)))
    for k, (name, path) in enumerate(scores.items()):
        data = Input(path)
        if len(data.lines) != count:
            data.fail(None, f"{len(data.lines)} scores, but there are {count} candidates or edges. Write one for each")
        columns[:, k] = [data.number(line, text.strip(), f"the score {name}") for line, text in data.lines]
    return with_features(pool, list(scores), columns)


def _new(names: Iterable[str], there: set[str]) -> list[str]:
    """The names of templates' features that are new."""
    return [
        name for name in dict.fromkeys(names) if template_of(name) in TEMPLATES and "(" in name and name not in there
    ]
