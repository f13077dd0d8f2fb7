"""Approximate relevant sets for the block-sequence model.

Tillmann and Zhang 2006, "A discriminative global training algorithm for statistical MT", section 3 and table 2.

Objective: 1/N sum_i Phi(w, V_K(S_i), V^(r)(S_i)) + lambda w^2, eq. (5), where Phi is the mean over the K truths z of
the largest (Bl(z) - Bl(z')) (1 - (s_w(z) - s_w(z')))_+^2 over the alternatives z', eq. (3) and (4).

1. Truths V_K(S): the K block sequences of the highest BLEU, by a search with BLEU as its only criterion.
2. The first alternative is the bag of blocks z_0(S): one block for each source interval that any block matches.
3. L times: w is learnt by SGD, eq. (7), on truths and alternatives; the training text is decoded with w, and what comes
   out joins the alternatives.

The sets lie on disk as block sequences, a file an iteration, and are memory-mapped; features are computed from them.

Where the paper is silent, or we differ:

- BLEU of a sentence is BLEU+1; the bag of blocks, which has no order, has BLEU 0.
- Of sequences with equal BLEU those with fewer blocks are taken (``ties``): training with the others is slower.
- Beside the bag of blocks, ``random`` block sequences drawn at random are alternatives from the start. The bag alone
  says nothing of how long a translation is or how many blocks it has, and it takes some ten iterations until decoding
  no longer swings between far too many words and far too few.
- SGD goes on from the weights of the iteration before, ``passes`` times over the sentences in random order; the step
  size is not given in the paper. Steps end at the margin, and sentences come in small batches: see core/costmargin.h.
- Decoded with is the mean of the weights after each iteration so far (``average``): the weights themselves swing, as
  each iteration answers to the last alternatives. After ten iterations that is worth some 4 BLEU (docs/papers.md).
- Features in the sequences of one sentence only are dropped; the paper drops those "that occur only once".
- With development data, the weights of its best iteration are returned; without, the last ones, as in the paper.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hopefear._core import BlockCorpus, BlockSequences, CostMargin, SequenceFile
from hopefear._core import BlockWeights as CoreWeights
from hopefear.decode.blocks import REAL, REORDERINGS, Blocks
from hopefear.errors import InputError, input_error
from hopefear.metrics import Bleu
from hopefear.model.directory import Model
from hopefear.trainers.base import option
from hopefear.util.files import atomic_write

__all__ = ["Costmargin", "RelevantSets", "score_of", "train_costmargin"]

#: Called with a record after each iteration.
Hear = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class Costmargin:
    """Options of the trainer."""

    name: ClassVar[str] = "costmargin"
    paper: ClassVar[str] = "Tillmann and Zhang 2006"
    objective: ClassVar[str] = "cost-sensitive squared margin between truths and alternatives"
    spaces: ClassVar[tuple[str, ...]] = ("blocks",)

    features: str = option("both", "binary features: phrase, word or both", paper="both")
    reordering: str = option("swap", "of blocks: monotone, or swap of neighbours", paper="swap")
    truths: int = option(5, "K: block sequences of the highest BLEU", paper=5, least=1)
    iterations: int = option(20, "L: times the training text is decoded", paper=30, least=1)
    random: int = option(4, "random block sequences that are alternatives from the start", paper=0, least=0)
    passes: int = option(2, "passes of SGD over the sentences in each iteration", least=1)
    eta: float = option(0.001, "step size of SGD", least=0)
    l2: float = option(0.0, "lambda: weight of w^2", least=0)
    average: bool = option(True, "decode with the mean of the weights after each iteration", paper=False)
    batch: int = option(32, "sentences that begin with the same weights; 1 is eq. (7) as it stands", paper=1, least=1)
    lock_free: bool = option(False, "threads write weights as they please: another result each time")
    drop_once: bool = option(True, "leave features out that only one sentence has", paper=True)
    real: str = option("", "real-valued features, e.g. lm,word; see docs/blocks.md", paper="none")
    ties: str = option("few", "of truths with equal BLEU those with many or few blocks")
    pop_limit: int = option(40, "hypotheses looked at for each covered beginning of a sentence; 0: all", least=0)
    max_options: int = option(10, "target phrases of a source phrase; 0: all", least=0)
    max_swap: int = option(0, "source words of either block of a swap; 0: any number", least=0)

    def __post_init__(self) -> None:
        for each in fields(self):
            least, value = each.metadata.get("least"), getattr(self, each.name)
            if least is not None and not value >= least:
                raise InputError(f"{each.name} is {value}. It must be at least {least}")
        for name, value, known in (
            ("features", self.features, ("phrase", "word", "both")),
            ("reordering", self.reordering, REORDERINGS),
            ("ties", self.ties, ("many", "few")),
        ):
            if value not in known:
                raise InputError(f"{name}: {value!r} is not known. Choose one of {', '.join(known)}")
        if wrong := [name for name in self.reals if name not in REAL]:
            raise InputError(f"real: there is no feature {wrong[0]!r}. Choose some of {','.join(REAL)}")
        if self.eta <= 0:
            raise InputError("eta is 0. It must be above 0")

    @property
    def reals(self) -> list[str]:
        return [name for name in self.real.split(",") if name]

    def decoder(self, model: Model) -> Blocks:
        """The decoder of the model that the training uses; all features weigh 0."""
        return Blocks(
            model,
            {},
            self.pop_limit,
            self.max_options,
            self.features,
            self.reordering,
            max_swap=self.max_swap,
            lms="lm" in self.reals or "lm2" in self.reals,
        )

    def options(self) -> dict[str, Any]:
        """The options as plain values, for records."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass
class RelevantSets:
    """Truths and alternatives of a training text below one folder, with the learner over them."""

    decoder: Blocks
    corpus: BlockCorpus
    folder: Path
    learner: CostMargin
    model_id: int

    @classmethod
    def over(
        cls,
        decoder: Blocks,
        lines: Sequence[str],
        references: Sequence[str],
        folder: Path,
        reals: Sequence[str] = (),
    ) -> RelevantSets:
        folder.mkdir(parents=True, exist_ok=True)
        corpus = decoder.corpus(lines, references)
        core = decoder.core
        return cls(decoder, corpus, folder, CostMargin(core, corpus, list(reals)), core.model_id)

    def add(
        self, name: str, make: Callable[[], BlockSequences], bag: bool = False, truths: bool = False
    ) -> SequenceFile:
        """A file of sequences joins the sets; it is made if it is not there yet."""
        path = self.folder / f"{name}.bin"
        if not path.exists():
            with atomic_write(path, "wb") as file:
                file.write(make().file(bag, self.model_id))
        opened = SequenceFile.open(str(path), self.decoder.core, self.corpus, self.model_id)
        self.learner.add(opened, truths)
        return opened

    def start(self, truths: int, few: bool, random: int, seed: int, jobs: int) -> SequenceFile:
        """Truths V_K, which are returned, bags z_0 and random alternatives."""
        core, limits = self.decoder.core, self.decoder.limits
        best = self.add("truths", lambda: core.oracle(self.corpus, truths, few, *limits, jobs), truths=True)
        self.add("bags", lambda: core.bags(self.corpus, jobs), bag=True)
        if random:
            self.add("random", lambda: core.random(self.corpus, random, seed, jobs))
        return best

    def weights(self, jobs: int) -> CoreWeights:
        """The weights as they are, for decoding."""
        return CoreWeights(self.decoder.core, self.learner.table, len(self.corpus) >= 500, jobs)


def bleu_of(
    decoder: Blocks, weights: CoreWeights, corpus: BlockCorpus, references: Sequence[Sequence[str]], jobs: int
) -> float:
    """BLEU of translations against tokenised references, each of as many lines."""
    texts = decoder.core.translate(corpus, weights, *decoder.limits, jobs)
    return Bleu().score(Bleu().corpus_stats(texts, [list(one) for one in references], jobs).sum(axis=0))


def score_of(decoder: Blocks, lines: Sequence[str], references: Sequence[Sequence[str]], jobs: int = 0) -> float:
    """BLEU of what a decoder makes of lines, in tokens as the model makes them."""
    corpus = decoder.corpus(lines)
    targets = [[decoder.model.target_text.text(line) for line in one] for one in references]
    return bleu_of(decoder, decoder.ready(None, len(corpus), jobs), corpus, targets, jobs)


@dataclass(frozen=True)
class Trained:
    """What training gave. The weights are in a file: they are many."""

    weights: Path
    features: int  # weights other than 0
    iteration: int  # the one they are from
    score: float | None  # BLEU on development data, if there was any
    history: list[dict[str, Any]] = field(default_factory=list)


def train_costmargin(
    model: Model,
    lines: Sequence[str],
    references: Sequence[str],
    folder: str | os.PathLike[str],
    options: Costmargin | None = None,
    *,
    dev: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None,
    select: bool = True,
    seed: int = 1,
    jobs: int = 0,
    hear: Hear | None = None,
) -> Trained:
    """Learn the weights of a block-sequence model from parallel text: the text that its blocks come from, as a rule.

    ``folder`` takes the relevant sets, the state after each iteration and at the end ``weights.txt``. A job that was
    stopped goes on from there when it is called again with the same arguments (the caller sees to that), and ends with
    the same bits. ``dev``: lines, and a list of as many lines for each reference; without ``select`` it is only
    watched, and the last weights are returned, as in the paper.
    """
    options = options or Costmargin()
    say = hear or (lambda record: None)
    if len(lines) != len(references):
        raise InputError(f"there are {len(lines)} source lines and {len(references)} references: one each is needed")
    if not lines:
        raise InputError("there are no sentences to learn from")
    folder = Path(folder)
    decoder = options.decoder(model)
    sets = RelevantSets.over(decoder, lines, references, folder, options.reals)
    learner, limits = sets.learner, decoder.limits
    dev_corpus = decoder.corpus(dev[0]) if dev else None
    dev_references = [[model.target_text.text(line) for line in one] for one in dev[1]] if dev else []

    truths = sets.start(options.truths, options.ties == "few", options.random, seed, jobs)
    say({"event": "truths", "bleu": 100 * truths.mean_bleu, "sequences": len(truths)})
    history = _resumed(sets)
    best = max(
        (record for record in history if "dev" in record), key=lambda r: (r["dev"], -r["iteration"]), default=None
    )
    state = _State.load(folder / "last.npz") if history else _State.empty()
    for iteration in range(len(history) + 1, options.iterations + 1):
        learner.set_weights(state.keys, state.weights)
        learner.find_features(options.drop_once, jobs)
        losses, updates = [], 0
        for k in range(options.passes):
            step_seed = int(np.random.SeedSequence([seed, iteration, k]).generate_state(1, np.uint64)[0])
            arguments = (options.eta, options.l2, options.batch, options.lock_free, step_seed, jobs)
            loss, moved = learner.run(*arguments)
            losses.append(loss)
            updates += moved
            say({"event": "pass", "iteration": iteration, "pass": k + 1, "loss": loss, "updates": moved})
        if not np.isfinite(losses[-1]):
            raise InputError("the weights ran away: the loss is no finite number. Lower eta")
        state = state.after(learner, iteration if options.average else 1)
        learner.set_weights(state.keys, state.means)
        weights = sets.weights(jobs)
        name = _alternatives(iteration)
        (folder / f"{name}.bin").unlink(missing_ok=True)  # of a run that stopped before it was complete
        decode = partial(decoder.core.best, sets.corpus, weights, *limits, jobs)
        decoded = sets.add(name, decode)
        record: dict[str, Any] = {
            "iteration": iteration,
            "loss": losses[-1],
            "losses": losses,
            "updates": updates,
            "features": len(learner.table),
            "train_bleu": 100 * decoded.mean_bleu,
        }
        if dev_corpus is not None:
            record["dev"] = bleu_of(decoder, weights, dev_corpus, dev_references, jobs)
            if select and (best is None or record["dev"] > best["dev"]):
                best = record
                state.save(folder / "best.npz")
        state.save(folder / "last.npz")
        history.append(record)
        with atomic_write(folder / "state.json") as file:
            json.dump({"history": history}, file)
        say({"event": "iteration", **record})
    chosen = best or history[-1]
    state = _State.load(folder / ("best.npz" if best else "last.npz"))
    learner.set_weights(state.keys, state.means)
    count = write_named(learner, folder / "weights.txt")
    return Trained(folder / "weights.txt", count, int(chosen["iteration"]), chosen.get("dev"), history)


def write_named(learner: CostMargin, path: Path) -> int:
    """The weights by name, whole or not at all; returns how many are not 0."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    aside = Path(name)
    try:
        count = learner.write_weights(name)
        aside.chmod(0o644)
        os.fsync(handle)
        aside.replace(path)
        return int(count)
    finally:
        os.close(handle)
        aside.unlink(missing_ok=True)


def _alternatives(iteration: int) -> str:
    return f"alternatives-{iteration:03d}"


@dataclass(frozen=True)
class _State:
    """The weights after an iteration, and their mean over all iterations so far. Keys are in ascending order."""

    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]

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

    def save(self, path: Path) -> None:
        with atomic_write(path, "wb") as file:
            np.savez(file, keys=self.keys, weights=self.weights, means=self.means)

    @classmethod
    def load(cls, path: Path) -> _State:
        try:
            with np.load(path, allow_pickle=False) as held:
                return cls(held["keys"], held["weights"], held["means"])
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise input_error(path, None, f"not a checkpoint ({error}). Start again with --overwrite") from None


def _resumed(sets: RelevantSets) -> list[dict[str, Any]]:
    """What was done before; its alternatives are in place again."""
    path = sets.folder / "state.json"
    try:
        history = json.loads(path.read_text(encoding="utf-8"))["history"]
        assert [record["iteration"] for record in history] == list(range(1, len(history) + 1))
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, AssertionError):
        raise input_error(path, None, "not the state of a training. Start again with --overwrite") from None
    for iteration in range(1, len(history) + 1):
        name = _alternatives(iteration)
        if not (sets.folder / f"{name}.bin").exists():
            raise input_error(sets.folder / f"{name}.bin", None, "is missing. Start again with --overwrite")
        sets.learner.add(
            SequenceFile.open(str(sets.folder / f"{name}.bin"), sets.decoder.core, sets.corpus, sets.model_id), False
        )
    return list(history)
