"""Learn the weights of a model from sentences and their references.

Online trainers (sgd, mira, arow, minrisk, perceptron) decode a sentence, find hope and fear in its forest, and
update the weights; the result is the average over all epochs. Batch trainers alternate between decoding and learning.
BLEU is computed on the model's tokens. If the learnt weights do not improve on the model's own weights on the
development data, train keeps the model's own.

The result is deterministic: the same input, seed and options give the same weights for any --jobs. The exception
is --parallel async without --simulate-learners.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import RunCommand, arg
from hopefear.decode.limits import MAX_OPTIONS, POP_LIMIT
from hopefear.errors import OptionError
from hopefear.runs.session import Session

if TYPE_CHECKING:
    from hopefear.runs.directory import Run
    from hopefear.train.model_data import Inputs, Trained
    from hopefear.train.model_trainers import ModelTrainer
    from hopefear.trainers.base import Result


class Train(RunCommand["Trained"]):
    model: str = arg("The model.", positional=True, kw_only=False, file=True, folder=True, metavar="MODEL")
    source: str = arg("Sentences to learn from.", file=True)
    refs: Sequence[str] = arg("Their references: one file per translator.", file=True)
    trainer: str = arg("The trainer, as hopefear trainers lists them.", metavar="NAME")
    dev_source: str | None = arg("Development sentences, to measure training on.", default=None, file=True)
    dev_refs: Sequence[str] = arg("Their references.", default=(), file=True)
    test_source: str | None = arg("Test sentences, translated once at the end.", default=None, file=True)
    test_refs: Sequence[str] = arg("Their references.", default=(), file=True)
    set: Any = shared.trainer_options()
    input: str = arg(
        "Source lines of text, or word lattices in PLF, one per line; their scores are features too.",
        default="text",
        choices=("text", "plf"),
        decides=True,
    )
    features: str | None = arg(
        "small: the dense features; large: lex features as well; or templates, e.g. lex,group.",
        default=None,
        metavar="WHICH",
        shown="large, for batch trainers small",
    )
    initial: str | None = arg(
        "Weights to start from: a file, or a model, for its own.",
        default=None,
        file=True,
        folder=True,
        shown="those of MODEL",
    )
    paper_start: bool = arg(
        "Start from 1 for language models and phrases and 0 for all other features.", default=False, decides=True
    )
    holdout: float = arg(
        "Without --dev-source: share of the sentences to hold out for development.",
        default=shared.HELD_OUT,
        metavar="SHARE",
        decides=True,
    )
    folds: int = arg(
        "Train this many times, each with another part held out, and average the weights.",
        default=1,
        least=1,
        decides=True,
    )
    parallel: str | None = arg(
        "How several learners work together.",
        default=None,
        choices=("none", "average", "mix", "async"),
        shown="none; async on a cluster",
    )
    learners: int = arg("How many learners; 0 is one per core, of the cluster if there is one.", default=0, least=0)
    simulate_learners: int = arg("Simulate this many async learners in one process; deterministic.", default=0, least=0)
    cluster: str | None = shared.cluster()
    pop_limit: int | None = arg(
        f"Decoder: rule applications kept per span; 0 is all. Blocks: {POP_LIMIT['blocks']}.",
        default=None,
        least=0,
        shown=str(POP_LIMIT["hiero"]),
    )
    max_options: int | None = arg(
        f"Decoder: target sides kept per source side; 0 is all. Blocks: {MAX_OPTIONS['blocks']}.",
        default=None,
        least=0,
        shown=str(MAX_OPTIONS["hiero"]),
    )
    kbest: int = arg("Batch trainers: candidates per sentence and iteration.", default=200, least=2, decides=True)
    iterations: int = arg("Batch trainers: decodings to learn from.", default=shared.DECODINGS, least=1, decides=True)
    checkpoint_every: float = arg("Time between two checkpoints.", default=Session.checkpoint_every, metavar="SECONDS")
    into: str | None = arg(
        "Store the learnt weights in this model, so that it needs no --weights.",
        default=None,
        folder=True,
        file=True,
        metavar="MODEL",
    )
    json: bool = arg("The scores as JSON.", default=False, terminal=True)

    examples = """
    hopefear train model --source tune.es --refs tune.en.0 tune.en.1 --trainer arow --out run
    hopefear train model --source tune.es --refs tune.en --dev-source dev.es --dev-refs dev.en \\
        --trainer mira --set eta=0.05 epochs=5 --parallel mix --learners 4 --out run
    hopefear train model --source tune.es --refs tune.en --trainer mira --parallel async --out run
    hopefear train model --source tune.es --refs tune.en --trainer mert --out run
    hopefear train blocks --source train.de --refs train.en --trainer costmargin --set iterations=30 --out run
    hopefear translate model --weights run/weights.txt < test.es > test.out
    hopefear train model --source tune.es --refs tune.en --trainer kbmira --out run --into model
    """

    def check(self) -> None:
        for part in ("dev", "test"):
            if bool(getattr(self, f"{part}_source")) != bool(getattr(self, f"{part}_refs")):
                raise OptionError(f"--{part}-source and --{part}-refs go together.")
        if self.paper_start and self.initial:
            raise OptionError("--paper-start and --initial both set the initial weights. Leave one out.")
        if self.folds > 1 and not self.dev_source and self.folds * self.holdout > 1:
            raise OptionError(f"{self.folds} folds cannot hold out {self.holdout:g} each. Lower --holdout or --folds.")
        if self.simulate_learners and (self.cluster or self.parallel not in (None, "async")):
            raise OptionError("--simulate-learners cannot be combined with --cluster or another --parallel.")
        if self.cluster and self.parallel == "none":
            raise OptionError("--cluster needs --parallel async, mix or average.")

    def run(self, session: Session) -> Trained:
        from hopefear.runs.record import checksum, record_inputs
        from hopefear.train.model_data import Trained, read_inputs, with_notes
        from hopefear.train.model_trainers import model_trainer

        trainer = model_trainer(self)
        self.check_out(session)
        data = read_inputs(self, trainer, session)
        files = {role: paths for role, paths in self.files().items() if role not in ("model", "into")}
        inputs = record_inputs({**files, "initial": data.initial})
        settings = {
            "model": checksum(data.model.path / "model.json")["sha256"],
            **trainer.settings(data.task.decoder),
            "inputs": [file["sha256"] for file in inputs],
        }
        with self.open_run("train", settings, session) as run:
            own = run.session(with_notes(session.listen), self.checkpoint_every)
            result = None if run.finished else self._learn(trainer, data, run, own, inputs)
            trained = Trained(run.path, run.record.final, result)
        session.note(f"weights: {trained.path}/weights.txt")
        if self.into:
            from hopefear.formats.weights import read_weights
            from hopefear.model.directory import put_weights

            put_weights(self.into, read_weights(trained.path / "weights.txt"))
            session.note(f"and in {self.into}")
        return trained

    def _learn(
        self, trainer: ModelTrainer, data: Inputs, run: Run, session: Session, inputs: list[dict[str, Any]]
    ) -> Result:
        """Record what is known before, learn, and score what was learnt."""
        from hopefear.metrics import Bleu
        from hopefear.util.cluster import joined
        from hopefear.util.values import plain

        record, task, bleu = run.record, data.task, Bleu()
        record.model, record.inputs, record.trainer = self.model, inputs, trainer.trainer.described()
        record.metric, record.measure = f"bleu|{bleu.signature()}", plain(bleu.record())
        record.sentences = trainer.sentences(task)
        record.holdout = {"share": run.record.settings["holdout"]}
        run.save()
        with joined(str(self.cluster)) if task.on_cluster else nullcontext():
            fit = trainer.fit(task, data.weights, session)
        return trainer.finish(run, session, fit, data.test)
