"""From parallel text to a model directory: ``hopefear build`` as a function."""

from __future__ import annotations

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
from hopefear.model.directory import LM_NAMES, check_out, write_model
from hopefear.model.joint import JointModel
from hopefear.model.joint_training import train_joint
from hopefear.model.language_model import LanguageModel
from hopefear.model.options import MEMORY, BuildOptions
from hopefear.model.pairing import findings
from hopefear.model.rules import Rules, extract
from hopefear.runs.session import SILENT, Session
from hopefear.util.cluster import joined
from hopefear.util.disk import on_disk
from hopefear.util.files import PathLike, PathsLike, output, path_list, scratch_folder


@dataclass
class BuildReport:
    """What was built, and how long each step took."""

    model: Path
    counts: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    kind: str = "hiero"

    def record(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"model": str(self.model), "kind": self.kind, "counts": self.counts, "seconds": self.seconds}

    def __str__(self) -> str:
        rules = "blocks" if self.kind == "blocks" else "rules"
        return f"{self.model}\t{self.counts['pairs']} pairs\t{self.counts['rules']} {rules}"

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

    ``align``: your own word alignments in Pharaoh format, one file per source file. ``lm_text``: more text of the
    target language, for a second language model. ``filter_to``: keep only rules that can apply to these source texts.
    ``memory``: GB that rules, or n-grams, may take before they go to disk. ``cluster``: do what can be spread on a Ray
    cluster (auto, local, or its address). Neither changes the model.

    >>> hf.build("train.de", "train.en", "model").counts["rules"]
    7359
    """
    options = options or BuildOptions()
    times = _alignments(options, source, align, save_alignment)
    report = BuildReport(Path(out), kind=options.kind)
    check_out(report.model, overwrite)
    options = options.settled(path_list(source), path_list(target), run)
    with report.step("read"):
        source_text = options.pipeline("source", path_list(source))
        target_text = options.pipeline("target", path_list(target))
        bitext = read_bitext(path_list(source), path_list(target), source_text, target_text, options.max_words, align)
        sentences = read_text(filter_to, source_text)
    _tell(bitext, path_list(target), seed, run)
    report.model.parent.mkdir(parents=True, exist_ok=True)
    with joined(cluster) if cluster else nullcontext(), scratch_folder(report.model) as folder:
        steps = _Steps(options, report, folder, memory, bool(cluster), seed, jobs, run)
        text = steps.align(bitext, times, save_alignment)
        models, casing = steps.language_models(bitext, lm_text)
        counts = _counts(text, bitext, times)
        del bitext  # what is not needed any more leaves memory to what follows
        joint = steps.joint_model(text)
        rules, sparse = steps.rules(text)
        del text
        if filter_to:
            with report.step("filter"):
                rules = rules.filtered(sentences, jobs)
        report.counts = counts | rules.counts
        report.counts |= {"rules": len(rules.grammar), "source_sides": rules.grammar.sides}
        report.counts |= {"ngrams": [list(model.counts) for model in models], "sparse_features": len(sparse)}
        texts = {"source": source_text.as_dict(), "target": target_text.as_dict()}
        info = {**_info(options, len(models), joint is not None, casing), "text": texts, "counts": report.counts}
        info["options"] |= {"seed": seed, "own_alignment": bool(align), "filtered": bool(filter_to)}
        with report.step("write"):
            write_model(out, info, rules.file or rules.grammar, models, sparse, overwrite, casing, joint)
    return report


def _tell(bitext: Bitext, files: Sequence[PathLike], seed: int, run: Session) -> None:
    """Warn about text that is not parallel, and say what was left out."""
    ends = zip((Path(file).name for file in files), bitext.ends, strict=True)
    for finding in findings(bitext.source, bitext.target, list(ends), seed):
        run.warn(finding)
    for reason, count in bitext.skipped.items():
        run.note(f"{count:,} of {bitext.lines:,} pairs left out: {reason}")


def _alignments(
    options: BuildOptions, source: PathsLike, align: Sequence[PathLike], save_alignment: PathLike | None
) -> int:
    """How many alignments of the text there will be; complains about options that do not fit the files."""
    if options.domains and len(options.domains) != (files := len(path_list(source))):
        raise InputError(f"{len(options.domains)} domains, {files} source files. Give one name per pair of files")
    times = 1 if align else len(alignment.aligner_names(options.aligner))
    if save_alignment is not None and times > 1:
        raise InputError("save_alignment: there are several alignments. Choose one aligner, or leave it out")
    return times


@dataclass(frozen=True)
class _Steps:
    """The long steps of a build, and how they are done."""

    options: BuildOptions
    report: BuildReport
    folder: Path  # scratch
    memory: float
    on_cluster: bool
    seed: int
    jobs: int
    run: Session

    def align(self, bitext: Bitext, times: int, save_to: PathLike | None) -> ParallelText:
        """The pairs with their links, so many times as there are aligners."""
        with self.report.step("align"):
            text = self._aligned(bitext, times)
        if save_to is not None:
            with output(save_to) as file:
                file.writelines(text.pharaoh(n) + "\n" for n in range(len(text)))
        return text

    def _aligned(self, bitext: Bitext, times: int) -> ParallelText:
        text = ParallelText()
        for _ in range(times):
            text.add(bitext.source, bitext.target)
        if bitext.places:
            for line, (path, number) in zip(bitext.links, bitext.places, strict=True):
                text.add_pharaoh([line], path, [number])
            return text
        aligner, iterations = self.options.aligner, self.options.align_iterations
        step = self.run.progress("align", alignment.steps(aligner, iterations))
        step(0)
        sides = (bitext.source, bitext.target)
        alignment.align(text, *sides, aligner, iterations, self.seed, self.jobs, step, self.on_cluster)
        return text

    def language_models(self, bitext: Bitext, lm_text: Sequence[PathLike]) -> tuple[list[LanguageModel], Casing | None]:
        """Those of the text, of more text of its language and of small domains, and how the text spells its words."""
        with self.report.step("language model"), on_disk(self.folder, self.memory):
            more = [read_text(lm_text, self.options.pipeline("target"))] if lm_text else []
            texts = [bitext.target, *more, *_small_domains(bitext, self.options.domains)]
            models = [self._language_model(*each) for each in zip(texts, LM_NAMES, strict=False)]
            return models, Casing.learn(bitext.spelled, self.jobs, bitext.small)

    def _language_model(self, lines: Sequence[str], name: str) -> LanguageModel:
        if not lines:
            raise InputError(f"{name}: the text for this language model is empty. Give a file with sentences")
        how: dict[str, Any] = {"on_cluster": self.on_cluster, "jobs": self.jobs, "run": self.run}
        model = LanguageModel.estimate(lines, self.options.lm_order, self.options.lm_prune, **how)
        if any(discounts.fallback for discounts in model.discounts):
            self.run.note(f"{name}: the text is too small to estimate all discounts; fixed ones are used")
        return model

    def joint_model(self, text: ParallelText) -> JointModel | None:
        """The neural model of both languages, if it was asked for."""
        if not self.options.joint_model:
            return None
        with self.report.step("joint model"):
            return train_joint(text, seed=self.seed, run=self.run)

    def rules(self, text: ParallelText) -> tuple[Rules, list[str]]:
        """The rules, and the sparse features that are declared."""
        with self.report.step("extract"):
            rules = extract(
                text,
                self.options.extraction(),
                self.folder,
                min_probability=self.options.min_probability or 0.0,
                min_symmetric=self.options.min_symmetric,
                memory=self.memory,
                on_cluster=self.on_cluster,
                jobs=self.jobs,
                run=self.run,
            )
        with self.report.step("features"):
            return rules, _sparse_features(text, rules, self.options, self.jobs)


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
    texts = [bitext.target[begins[i] : begins[i + 1]] for i in range(len(names))]
    for name, lines in zip(names, texts, strict=True):
        if not lines:
            raise InputError(f"domain {name}: none of its pairs can be used. Check its files, or leave the domain out")
    return [lines for lines in texts if 2 * len(lines) <= len(bitext)]


def _sparse_features(text: ParallelText, rules: Rules, options: BuildOptions, jobs: int) -> list[str]:
    if not options.sparse or options.kind != "hiero":
        return []
    frequency = options.lex_frequency or features.lex_frequency(text.target_words)
    lexical = LexicalTable(text)
    names = features.lex_features(text, lexical, frequency)
    names += features.group_features() + features.extended_features(text, rules.words, jobs=jobs)
    return names + grammar_shapes(rules.grammar) + features.distance_features()
