"""From parallel text to a model directory: ``hopefear build`` as a function."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hopefear._core import LexicalTable, ParallelText, grammar_shapes
from hopefear.errors import InputError
from hopefear.model import align as alignment, features
from hopefear.model.bitext import Bitext, read_bitext, read_text
from hopefear.model.casing import Casing
from hopefear.model.directory import KINDS, LM_NAMES, check_out, write_model
from hopefear.model.joint_training import train_joint
from hopefear.model.language_model import MAX_ORDER, LanguageModel
from hopefear.model.rules import Rules, extract
from hopefear.model.text import TextPipeline
from hopefear.model.word_classes import MOST as MOST_CLASSES, WordClasses
from hopefear.runs.session import SILENT, Session
from hopefear.util.cluster import joined
from hopefear.util.disk import on_disk
from hopefear.util.files import PathLike, PathsLike, output, path_list, scratch_folder
from hopefear.util.values import check_choice

MEMORY = 2.0  # GB that rules, or n-grams, may take before they go to disk
SIDES = ("none", "source", "target", "both")
#: Chosen on development data: docs/blocks.md.
BLOCK_COUNT, BLOCK_PROBABILITY = 2, 0.1


@dataclass(frozen=True)
class BuildOptions:
    """What a model is made of. All of it is recorded in ``model.json``."""

    kind: str = "hiero"  #: or "blocks"
    tokenizer: str = "european"  #: or "none": words are separated by blanks already
    lowercase: bool = True
    strip_punctuation: str = "none"  #: "none", "source", "target" or "both"
    domains: tuple[str, ...] = ()  #: a name for each pair of files: small ones get a language model of their own
    max_words: int = 100  #: longer sentences are left out
    aligner: str = "fastalign"  #: or "eflomal", "hmm", or several: "fastalign+eflomal"
    align_iterations: int = 5
    max_phrase: int = 0  #: words of an initial phrase; 0: 10 (Chiang 2007), for blocks 8
    max_source_symbols: int = 5  #: of a rule; blocks have no such limit
    min_hole: int = 1  #: source words that a nonterminal covers at least
    tight: bool = True  #: words at the edges of initial phrases are aligned; blocks may have unaligned edges
    min_occurrences: int | None = None  #: phrase pairs seen less often are dropped; None: 1, for blocks BLOCK_COUNT
    min_hierarchical: int = 1  #: the same for rules with nonterminals
    max_options: int = 50  #: rules kept per source side, by p(e|f); 0: all
    min_probability: float | None = None  #: p(e|f) of a rule that is kept; None: 0, for blocks BLOCK_PROBABILITY
    min_symmetric: float = 0.0  #: the same for sqrt(p(e|f) p(f|e))
    lm_order: int = 5
    lm_prune: tuple[int, ...] = ()  #: n-grams of each order with counts up to this are left out
    joint_model: bool = False  #: train a neural joint model of the aligned text as well
    lex_frequency: int = 0  #: occurrences of a word that has lex features of its own; 0: 1 in 16,000 words
    classes: int = 0  #: word classes of each side, for class features; 0: none
    context_words: int = 0  #: frequent words of each side that context features tell apart; 0: no such features
    sparse: bool = True  #: declare sparse features at all

    def __post_init__(self) -> None:
        for name, value, known in (("kind", self.kind, KINDS), ("strip_punctuation", self.strip_punctuation, SIDES)):
            check_choice(name, value, known)
        alignment.aligner_names(self.aligner)
        if self.domains and self.kind != "hiero":
            raise InputError("domains are for hierarchical models. Leave them out, or build --kind hiero")
        if self.joint_model and self.kind != "hiero":
            raise InputError("a joint model is for hierarchical models. Leave it out, or build --kind hiero")
        if self.classes and self.kind != "hiero":
            raise InputError("word classes are for hierarchical models. Leave them out, or build --kind hiero")
        if self.context_words and self.kind != "hiero":
            raise InputError("context features are for hierarchical models. Leave them out, or build --kind hiero")
        for name in self.domains:
            if not re.fullmatch(r"\w[\w.-]*", name) or self.domains.count(name) > 1:
                raise InputError(f"domain {name!r}: give each domain a name of its own, of letters, digits, . _ and -")
        for name, number, low, high in (
            ("max_words", self.max_words, 1, 1000),
            ("align_iterations", self.align_iterations, 1, 1000),
            ("max_phrase", self.max_phrase, 0, 15),
            ("lm_order", self.lm_order, 1, MAX_ORDER),
            ("lex_frequency", self.lex_frequency, 0, 1 << 40),
            ("classes", self.classes, 0, MOST_CLASSES),
            ("context_words", self.context_words, 0, features.CONTEXT_MOST),
        ):
            if not low <= number <= high:
                raise InputError(f"{name}: {number} is not between {low} and {high}")
        usual = (BLOCK_COUNT, BLOCK_PROBABILITY) if self.kind == "blocks" else (1, 0.0)
        for name, default in zip(("min_occurrences", "min_probability"), usual, strict=True):
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        for name in ("min_probability", "min_symmetric"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}: {getattr(self, name)} is not between 0 and 1")

    def pipeline(self, side: str) -> TextPipeline:
        return TextPipeline(self.tokenizer, self.lowercase, self.strip_punctuation in (side, "both"))

    def extraction(self) -> dict[str, Any]:
        """The arguments of the Extractor."""
        shared = {name: getattr(self, name) for name in ("min_occurrences", "min_hierarchical", "max_options")}
        if self.kind == "hiero":
            own = {name: getattr(self, name) for name in ("max_source_symbols", "min_hole", "tight")}
            return {**shared, **own, "max_phrase": self.max_phrase or 10}
        longest = self.max_phrase or 8
        blocks = {"max_nonterminals": 0, "tight": False, "fractional": False, "orientations": True}
        return {**shared, **blocks, "max_phrase": longest, "max_source_symbols": longest}


@dataclass
class BuildReport:
    """What was built, and how long each step took."""

    model: Path
    counts: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


def build(
    source: PathsLike,
    target: PathsLike,
    out: PathLike,
    options: BuildOptions | None = None,
    *,
    align: Sequence[PathLike] = (),
    lm_text: Sequence[PathLike] = (),
    filter_to: Sequence[PathLike] = (),
    save_alignment: PathLike | None = None,
    overwrite: bool = False,
    memory: float = MEMORY,
    cluster: str | None = None,
    seed: int = 1,
    jobs: int = 0,
    run: Session = SILENT,
) -> BuildReport:
    """Build a model directory from parallel files.

    ``align``: word alignments of your own in Pharaoh format, one file per source file. ``lm_text``: more text of the
    target language, for a second language model. ``filter_to``: keep only rules that can apply to these source texts.
    ``memory``: GB that rules, or n-grams, may take before they go to disk. ``cluster``: do what can be spread on a Ray
    cluster (auto, local, or its address). Neither changes the model.
    """
    options = options or BuildOptions()
    if options.domains and len(options.domains) != (files := len(path_list(source))):
        raise InputError(f"{len(options.domains)} domains, {files} source files. Give one name per pair of files")
    report = BuildReport(Path(out))
    check_out(report.model, overwrite)
    source_text, target_text = options.pipeline("source"), options.pipeline("target")
    with report.step("read"):
        bitext = read_bitext(path_list(source), path_list(target), source_text, target_text, options.max_words, align)
        sentences = read_text(filter_to, source_text)
    for reason, count in bitext.skipped.items():
        run.note(f"{count:,} of {bitext.lines:,} pairs left out: {reason}")
    times = 1 if align else len(alignment.aligner_names(options.aligner))
    if save_alignment is not None and times > 1:
        raise InputError("save_alignment: there are several alignments. Name one aligner, or leave it out")
    report.model.parent.mkdir(parents=True, exist_ok=True)
    with joined(cluster) if cluster else nullcontext(), scratch_folder(report.model) as folder:
        with report.step("align"):
            text = _aligned(bitext, times, options, seed, jobs, run, bool(cluster))
        if save_alignment is not None:
            with output(save_alignment) as file:
                file.writelines(text.pharaoh(n) + "\n" for n in range(len(text)))
        with report.step("language model"), on_disk(folder, memory):
            texts = [
                bitext.target,
                *([read_text(lm_text, target_text)] if lm_text else []),
                *_small_domains(bitext, options.domains),
            ]
            models = [
                _language_model(*each, options, jobs, run, bool(cluster)) for each in zip(texts, LM_NAMES, strict=False)
            ]
            casing = Casing.learn(bitext.spelled, jobs)
        counts = _counts(text, bitext, times)
        del bitext, texts
        joint = None
        if options.joint_model:
            with report.step("joint model"):
                joint = train_joint(text, seed=seed, run=run)
        with report.step("extract"):
            rules = extract(
                text,
                options.extraction(),
                folder,
                min_probability=options.min_probability or 0.0,
                min_symmetric=options.min_symmetric,
                memory=memory,
                on_cluster=bool(cluster),
                jobs=jobs,
                run=run,
            )
        classes = None
        if options.classes:
            with report.step("classes"):
                classes = WordClasses.learn(text, options.classes, jobs)
        with report.step("features"):
            sparse = _sparse_features(text, rules, options, classes, jobs)
        del text
        if filter_to:
            with report.step("filter"):
                rules = rules.filtered(sentences, jobs)
        report.counts = counts | rules.counts
        report.counts |= {"rules": len(rules.grammar), "source_sides": rules.grammar.sides}
        report.counts |= {"ngrams": [list(model.counts) for model in models], "sparse_features": len(sparse)}
        info = {
            **_info(options, len(models), joint is not None, casing),
            "text": {"source": source_text.as_dict(), "target": target_text.as_dict()},
            "counts": report.counts,
        }
        info["options"] |= {"seed": seed, "own_alignment": bool(align), "filtered": bool(filter_to)}
        with report.step("write"):
            write_model(out, info, rules.file or rules.grammar, models, sparse, overwrite, casing, joint, classes)
    return report


def _info(options: BuildOptions, models: int, joint: bool, casing: Casing | None) -> dict[str, Any]:
    """What model.json says, as far as the options decide it."""
    return {
        "kind": options.kind,
        "options": asdict(options),
        "text": None,
        "weights": _weights(options, models),
        "features": [*features.SMALL, *LM_NAMES[2:models], *(["njm"] if joint else [])],
        "counts": None,
        **({"casing": casing.as_dict()} if casing is not None else {}),
    }


def _counts(text: ParallelText, bitext: Bitext, times: int) -> dict[str, Any]:
    return {
        "pairs": len(bitext),
        "skipped": dict(sorted(bitext.skipped.items())),
        "source_words": text.source_words // times,
        "target_words": text.target_words // times,
        "source_vocabulary": len(text.source_vocab),
        "target_vocabulary": len(text.target_vocab),
        "links": text.link_count,
    }


def _weights(options: BuildOptions, models: int) -> dict[str, float]:
    """The weights to start from: several language models share the weight of one."""
    weights = {name: w for name, w in features.DEFAULT_WEIGHTS.items() if name != "glue" or options.kind == "hiero"}
    joint = {"njm": features.JOINT_WEIGHT} if options.joint_model else {}
    return weights | dict.fromkeys(LM_NAMES[:models], weights["lm"] / models) | joint


def _small_domains(bitext: Bitext, names: Sequence[str]) -> list[list[str]]:
    """The target sides of domains that are at most half of the text; a larger one is nearly the whole."""
    begins = [0, *bitext.ends]
    found = [bitext.target[begins[i] : begins[i + 1]] for i in range(len(names))]
    for name, lines in zip(names, found, strict=True):
        if not lines:
            raise InputError(f"domain {name}: none of its pairs can be used. Check its files, or leave the domain out")
    return [lines for lines in found if 2 * len(lines) <= len(bitext)]


def _aligned(
    bitext: Bitext, times: int, options: BuildOptions, seed: int, jobs: int, run: Session, on_cluster: bool
) -> ParallelText:
    """The pairs with their links, so many times as there are aligners."""
    text = ParallelText()
    for _ in range(times):
        text.add(bitext.source, bitext.target)
    if bitext.places:
        for line, (path, number) in zip(bitext.links, bitext.places, strict=True):
            text.add_pharaoh([line], path, [number])
        return text
    aligner, iterations = options.aligner, options.align_iterations
    step = run.progress("align", alignment.steps(aligner, iterations))
    step(0)
    alignment.align(text, bitext.source, bitext.target, aligner, iterations, seed, jobs, step, on_cluster)
    return text


def _language_model(
    lines: Sequence[str], name: str, options: BuildOptions, jobs: int, run: Session, on_cluster: bool
) -> LanguageModel:
    if not lines:
        raise InputError(f"{name}: the text for this language model is empty. Name a file with sentences")
    model = LanguageModel.estimate(lines, options.lm_order, options.lm_prune, on_cluster=on_cluster, jobs=jobs, run=run)
    if any(discounts.fallback for discounts in model.discounts):
        run.note(f"{name}: the text is too small to estimate all discounts; fixed ones stand in")
    return model


def _sparse_features(
    text: ParallelText, rules: Rules, options: BuildOptions, classes: WordClasses | None, jobs: int
) -> list[str]:
    if not options.sparse or options.kind != "hiero":
        return []
    frequency = options.lex_frequency or features.lex_frequency(text.target_words)
    lexical = LexicalTable(text)
    names = features.lex_features(text, lexical, frequency)
    names += features.group_features() + features.extended_features(text, rules.words, jobs=jobs)
    names += grammar_shapes(rules.grammar) + features.distance_features()
    if options.context_words:
        names += features.context_features(text, options.context_words)
    return names + (features.class_features(text, lexical, classes) if classes is not None else [])
