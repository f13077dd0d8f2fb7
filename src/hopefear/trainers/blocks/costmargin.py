"""Approximate relevant sets for the block-sequence model.

Tillmann and Zhang 2006, "A discriminative global training algorithm for statistical MT", section 3 and table 2.

Objective: 1/N sum_i Phi(w, V_K(S_i), V^(r)(S_i)) + lambda w^2, eq. (5), where Phi is the mean over the K truths z of
the largest (Bl(z) - Bl(z')) (1 - (s_w(z) - s_w(z')))_+^2 over the alternatives z', eq. (3) and (4).

1. Truths V_K(S): the K block sequences of the highest BLEU, by a search with BLEU as its only criterion.
2. The first alternative is the bag of blocks z_0(S): one block for each source interval that any block matches.
3. L times: SGD, eq. (7), learns w from truths and alternatives; then the training text is decoded with w, and the
   output joins the alternatives.

The sets are on disk as block sequences, one file per iteration, and are memory-mapped; features are computed from them.

Deviations, and choices where the paper is silent:

- BLEU of a sentence is BLEU+1; the bag of blocks, which has no order, has BLEU 0.
- Of sequences with equal BLEU, those with fewer blocks are used (``ties``): training with the others is slower.
- ``random`` block sequences, selected at random, are alternatives from the start, like the bag of blocks. The bag alone
  says nothing about the length of a translation or its number of blocks, so that for some ten iterations the output
  alternates between far too long and far too short.
- SGD continues from the weights of the previous iteration, with ``passes`` over the sentences in random order. The
  paper does not give the step size. Steps end at the margin, and sentences come in small batches.
- The paper does not give lambda. It matters: with 0, swaps are memorised, and BLEU on other text falls with each
  iteration.
- The training text is decoded with the mean of the weights after each iteration so far (``average``): the weights
  themselves vary by a point or two, because each iteration reacts to the last alternatives.
- Features of one sentence only are dropped; the paper drops those "that occur only once".
- With development data, the weights of its best iteration are returned; without, the last ones, as in the paper.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from hopefear._core import BlockCorpus, BlockWeights as CoreWeights, CostMargin, SequenceFile
from hopefear.errors import InputError, input_error
from hopefear.formats.weights import read_many_weights
from hopefear.metrics import Bleu
from hopefear.runs import checkpoint
from hopefear.runs.events import Truths
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.base import Result, Trainer, Vector, option
from hopefear.trainers.blocks.relevant_sets import RelevantSets, alternatives
from hopefear.trainers.data import Task
from hopefear.util.files import atomic_file
from hopefear.util.values import check_choice

if TYPE_CHECKING:
    from hopefear.decode.blocks import Blocks

#: The values of options that are names.
CHOICES = {"features": ("phrase", "word", "both"), "reordering": ("monotone", "swap"), "ties": ("many", "few")}


@dataclass(frozen=True, kw_only=True)
class Costmargin(Trainer):
    """Cost-sensitive margins between block sequences of high BLEU and those that the decoder prefers.

    >>> report = hf.build("train.de", "train.en", "blocks", hf.BuildOptions(kind="blocks"))
    >>> decoder = hf.Blocks(hf.Model.open("blocks"), features="phrase")
    >>> result = hf.Costmargin(iterations=2).fit(hf.Task(decoder, hf.Corpus.read("train.de", ["train.en"])))
    >>> result.weights["ngram(costs,two)"] > 0, "ngram(two,costs)" in result.weights
    (True, False)
    """

    name: ClassVar[str] = "costmargin"
    paper: ClassVar[str] = "Tillmann and Zhang 2006"
    what: ClassVar[str] = "cost-sensitive squared margin between truths and alternatives"
    learns_from: ClassVar[str] = "model"
    family: ClassVar[str] = "blocks"
    spaces: ClassVar[tuple[str, ...]] = ("blocks",)

    features: str = option("both", "binary features: phrase, word or both", paper="both")
    reordering: str = option("swap", "order of blocks: monotone, or swap of neighbours", paper="swap")
    truths: int = option(5, "K: block sequences of the highest BLEU", paper=5, least=1)
    iterations: int = option(20, "L: times the training text is decoded", paper=30, least=1)
    random: int = option(4, "random block sequences among the first alternatives", paper=0, least=0)
    passes: int = option(2, "passes of SGD over the sentences in each iteration", least=1)
    eta: float = option(0.001, "step size of SGD", least=0)
    l2: float = option(0.03, "lambda: weight of w^2", least=0)
    average: bool = option(True, "decode with the mean of the weights after each iteration", paper=False)
    batch: int = option(32, "sentences per batch, which share their weights; 1 is eq. (7)", paper=1, least=1)
    drop_once: bool = option(True, "drop features that only one sentence has", paper=True)
    real: str = option("", "real-valued features, e.g. lm,word", paper="none")
    ties: str = option("few", "among truths with equal BLEU, those with many or few blocks")
    pop_limit: int = option(40, "hypotheses per covered beginning of a sentence; 0: all", least=0)
    max_options: int = option(10, "target phrases of a source phrase; 0: all", least=0)
    max_swap: int = option(0, "maximum source words of a swapped block; 0: any number", least=0)

    select: bool = option(True, "return the iteration that scores best on development data, not the last", paper=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in CHOICES.items():
            check_choice(name, getattr(self, name), known)
        if self.eta <= 0:
            raise InputError("eta is 0. It must be above 0")

    @property
    def reals(self) -> list[str]:
        return [name for name in self.real.split(",") if name]

    def check(self, data: Task) -> Blocks:
        """Refuse what nothing can be learnt from; the decoder of what can."""
        if not isinstance(data, Task):
            raise InputError(f"trainer costmargin learns from a Task, not from {type(data).__name__}")
        if data.decoder.model.kind != "blocks":
            raise InputError("costmargin learns block sequences. Build a model of them: hopefear build --kind blocks")
        if len(data.corpus.references) != 1:
            raise InputError("costmargin learns from one reference per sentence: give one file to --refs")
        if len(data.corpus) == 0:
            raise InputError("there are no sentences to learn from")
        if wrong := [name for name in self.reals if name not in data.decoder.dense_names]:
            raise InputError(
                f"real: there is no feature {wrong[0]!r}. Choose some of {','.join(data.decoder.dense_names)}"
            )
        return cast("Blocks", data.decoder)

    def adapted(self, decoder: Blocks) -> Blocks:
        """The decoder as this training uses it; all features weigh 0."""
        return decoder.adapted(
            weights={},
            pop_limit=self.pop_limit,
            max_options=self.max_options,
            features=self.features,
            reordering=self.reordering,
            max_swap=self.max_swap,
            lms="lm" in self.reals or "lm2" in self.reals,
        )

    def fit(self, data: Task, initial: Mapping[str, float] | None = None, *, run: Session | None = None) -> Result:
        """Learn the weights of a block model from parallel text: the text that its blocks come from, as a rule.

        The folder of the run takes the relevant sets, the state after each iteration and at the end ``weights.txt``,
        which the result names: weights are many.
        """
        if initial is not None:
            raise InputError("costmargin starts at 0: it takes no initial weights")
        if run is not None and run.folder is not None:
            return _Training(self, data, run, run.folder / "relevant").result()
        with tempfile.TemporaryDirectory(prefix="hopefear-") as folder:
            result = _Training(self, data, run or SILENT, Path(folder)).result()
            return replace(result, file=None)


class _Training:
    """One fit, with its state below a folder."""

    def __init__(self, trainer: Costmargin, data: Task, run: Session, folder: Path) -> None:
        self.decoder, corpus = trainer.adapted(trainer.check(data)), data.corpus
        self.trainer, self.run, self.folder, self.jobs = trainer, run, folder, trainer.jobs
        text = (corpus.lines, corpus.references[0])
        self.sets = RelevantSets.over(self.decoder, *text, folder, trainer.reals)
        if data.on_cluster:
            self.sets = self.sets.on_cluster(*text, run.warn)
        self.before: SequenceFile | None = None  # the alternatives of the iteration before
        self.dev: BlockCorpus | None = None
        if data.dev is not None:
            self.dev = self.decoder.corpus(data.dev.lines)
            words = self.decoder.model.target_text.text
            self.dev_references = [[words(line) for line in reference] for reference in data.dev.references]
        self.begun = time.perf_counter()

    def result(self) -> Result:
        trainer, sets = self.trainer, self.sets
        truths = sets.start(trainer.truths, trainer.ties == "few", trainer.random, trainer.seed, self.jobs)
        self.run.tell(Truths(100 * truths.mean_bleu, len(truths)))
        self.run.note(f"truths: bleu {100 * truths.mean_bleu:.2f} (mean over sentences)")
        state, history = self._resumed()
        best = max(
            (record for record in history if "dev" in record), key=lambda r: (r["dev"], -r["iteration"]), default=None
        )
        for iteration in range(len(history) + 1, trainer.iterations + 1):
            state, record = self._iterate(iteration, state)
            if "dev" in record and trainer.select and (best is None or record["dev"] > best["dev"]):
                best = record
                state.save(self.folder / "best.npz", [])
            history.append(record)
            state.save(self.folder / "last.npz", history)
            if not self._tell(record):
                break
        best = best if trainer.select else None
        chosen = best or history[-1]
        state, _ = _State.load(self.folder / ("best.npz" if best else "last.npz")) or (state, [])
        sets.learner.set_weights(state.keys, state.means)
        file = self.folder / "weights.txt"
        count = write_named(sets.learner, file)
        return Result(
            weights=read_many_weights(file) if count else {},
            score=chosen["score"],
            initial_score=float("nan"),
            history=history,
            seconds=time.perf_counter() - self.begun,
            epoch=int(chosen["iteration"]),
            details={"features": count, "train": chosen["train_bleu"]},
            file=file,
        )

    def _iterate(self, iteration: int, state: _State) -> tuple[_State, dict[str, Any]]:
        """SGD on the sets so far, then the training text decoded with what was learnt."""
        options, learner, sets = self.trainer, self.sets.learner, self.sets
        learner.set_weights(state.keys, state.weights)
        learner.find_features(options.drop_once, self.jobs)
        losses, updates = [], 0
        progress = self.run.progress("train costmargin", options.iterations)
        for k in range(options.passes):
            seed = int(np.random.SeedSequence([options.seed, iteration, k]).generate_state(1, np.uint64)[0])
            loss, moved = learner.run(options.eta, options.l2, options.batch, seed, self.jobs)
            losses.append(loss)
            updates += moved
            progress(iteration - 1, text=f"iteration {iteration} pass {k + 1} loss {loss:.4f}")
        if not np.isfinite(losses[-1]):
            raise InputError("the weights diverged: the loss is not a finite number. Lower eta")
        state = state.after(learner, iteration if options.average else 1)
        learner.set_weights(state.keys, state.means)
        weights = sets.weights(self.jobs)
        name = alternatives(iteration)
        (self.folder / f"{name}.bin").unlink(missing_ok=True)  # of a run that stopped before it was complete
        decoded = sets.decoded(name, weights, self.jobs)
        record: dict[str, Any] = {
            "iteration": iteration,
            "loss": losses[-1],
            "losses": losses,
            "updates": updates,
            "features": len(learner.table),
            "train_bleu": 100 * decoded.mean_bleu,
        }
        if self.before is not None:  # the share of sentences whose new alternative is another than the last one
            record["changed"] = decoded.changed(self.before) / max(1, len(self.sets.corpus))
        self.before = decoded
        if self.dev is not None:
            record["dev"] = self._dev_score(weights)
        return state, record | {"epoch": iteration, "score": record.get("dev", record["train_bleu"])}

    def _dev_score(self, weights: CoreWeights) -> float:
        assert self.dev is not None
        texts = self.decoder.core.translate(self.dev, weights, *self.decoder.limits, self.jobs)
        return Bleu().score(Bleu().corpus_stats(texts, self.dev_references, self.jobs).sum(axis=0))

    def _tell(self, record: Mapping[str, Any]) -> bool:
        text = "iteration {iteration}: loss {loss:.4f}  train {train_bleu:.2f}".format(**record)
        text += f"  dev {record['dev']:.2f}" if "dev" in record else ""
        self.run.note(f"{text}  features {record['features']:,}")
        self.run.progress("train costmargin", self.trainer.iterations)(record["iteration"])
        return self.run.epoch(record)

    def _resumed(self) -> tuple[_State, list[dict[str, Any]]]:
        """State and history of an interrupted fit; adds the alternatives of its iterations."""
        path = self.folder / "last.npz"
        state, history = _State.load(path) or (_State.empty(), [])
        if [record.get("iteration") for record in history] != list(range(1, len(history) + 1)):
            raise input_error(path, None, "not the state of a training. Start again with --overwrite")
        for iteration in range(1, len(history) + 1):
            self.before = self.sets.again(alternatives(iteration))
        return state, history


def write_named(learner: CostMargin, path: Path) -> int:
    """The weights by name, complete or not at all; returns how many are not 0."""
    with atomic_file(path) as aside:
        return int(learner.write_weights(str(aside)))


@dataclass(frozen=True)
class _State:
    """The weights after an iteration, and their mean over all iterations so far. Keys are in ascending order."""

    keys: NDArray[np.uint64]
    weights: Vector
    means: Vector

    @classmethod
    def empty(cls) -> _State:
        return cls(np.zeros(0, np.uint64), np.zeros(0), np.zeros(0))

    def after(self, learner: CostMargin, n: int) -> _State:
        """The state when the learner has ended its n-th iteration. Features that are new weighed 0 before."""
        keys = learner.keys()
        weights = learner.weights(keys)
        means = weights / n
        if n > 1:  # sets only grow, and so do features
            means[np.searchsorted(keys, self.keys)] += self.means * ((n - 1) / n)
        return _State(keys, weights, means)

    def save(self, path: Path, history: Sequence[Mapping[str, Any]]) -> None:
        """The state and how it came about, in one file: either all of it is there or nothing."""
        arrays = {"keys": self.keys, "weights": self.weights, "means": self.means}
        checkpoint.save_arrays(path, {"history": list(history)}, arrays)

    @classmethod
    def load(cls, path: Path) -> tuple[_State, list[dict[str, Any]]] | None:
        state = checkpoint.load_arrays(path)
        if state is None:
            return None
        about, held = state
        try:
            return cls(held["keys"], held["weights"], held["means"]), list(about["history"])
        except (KeyError, TypeError) as error:
            raise input_error(path, None, f"not a checkpoint ({error}). Start again with --overwrite") from None
