"""How a translator is made of so much data: the rules of docs/create.md, in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hopefear.model.options import BuildOptions

JOINT_FROM = 2_000  # pairs from which a joint model is trained
LEARN_FROM, SPARSE_FROM = 100, 300  # sentences from which weights are learnt, and those of sparse features too
MOST_LEARNT = 1200  # sentences to learn weights from; more take time and give little
CHOOSE_LEAST = 300  # held-out sentences that decide on minimum Bayes risk
PRUNE = 0.1  # as in hopefear.model.shrinking; without such rules, models translate better
DEV_TEXT_FROM = 0.01  # share of the text; the model is built once more for it
SCALES = (0.3, 0.5, 1.0, 2.0)  # of minimum Bayes risk


@dataclass(frozen=True)
class Recipe:
    """What is decided before anything is built."""

    joint_model: bool
    domains: tuple[str, ...]  #: that may get a language model of their own
    tokenizer: str
    strip_punctuation: str
    lm_order: int
    learn: int  #: sentences to learn weights from; 0: those of every model
    choose: int  #: sentences to choose minimum Bayes risk on; 0: those that were learnt from
    features: tuple[str, ...]  #: templates of sparse features to learn
    folds: int
    epochs: int
    tune_joint: bool  #: train a second joint model for BLEU, on the sentences that weights are learnt from
    dev_text: bool  #: build the final model from the sentences that weights were learnt from too
    prune: float = PRUNE

    def as_dict(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def choose_recipe(data: Mapping[str, Any], tokenizer: str = BuildOptions.tokenizer) -> Recipe:
    """The recipe for a corpus, from the record of the first stage."""
    train, dev = data["sentences"]["train"], data["sentences"]["dev"]
    choose = max(CHOOSE_LEAST, dev - MOST_LEARNT) if dev >= 3 * CHOOSE_LEAST else 0
    learn = min(dev - choose, MOST_LEARNT) if dev >= LEARN_FROM else 0
    domains = tuple(data["train"]["domains"])
    spoken = data["punctuation"]["test"] < 0.1 < 0.5 < data["punctuation"]["train"]
    dev_text = _worth_building(data)
    return Recipe(
        joint_model=train >= JOINT_FROM,
        domains=domains if len(domains) > 1 else (),
        tokenizer=tokenizer,
        strip_punctuation="source" if data["own"]["test"] and spoken else "none",
        lm_order=5 if train >= 5_000 else 4,
        learn=learn,
        choose=choose,
        features=("lex", "shape") if learn >= SPARSE_FROM else (),
        folds=3 if learn >= SPARSE_FROM else 5,
        epochs=6,
        tune_joint=train >= JOINT_FROM and learn >= SPARSE_FROM and dev_text,
        dev_text=dev_text,
    )


def _worth_building(data: Mapping[str, Any]) -> bool:
    """Whether the sentences that weights are learnt from are enough for a final model, which has the same features."""
    pairs, more = data["train"]["pairs"], data["dev_text"]
    both = [count + more.get(domain, 0) for domain, count in zip(data["train"]["domains"], pairs, strict=True)]
    enough = sum(both) - sum(pairs) >= max(1, DEV_TEXT_FROM * sum(pairs))
    return enough and _small(both) == _small(pairs)


def _small(pairs: Sequence[int]) -> list[bool]:
    """The domains that may have a language model of their own."""
    return [2 * count <= sum(pairs) for count in pairs]
