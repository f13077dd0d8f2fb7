"""What all experiments share: the registry, the environment (data, size, cache), and the type of their results."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any, TypeVar

from hopefear.errors import InputError
from hopefear.runs.events import Epoch, Event
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import atomic_write
from hopefear.util.svg import Curve, line_chart
from hopefear.util.values import plain
from hopefear_papers.code import code_digest
from hopefear_papers.on_cluster import NotYetError, Trials
from hopefear_papers.verdicts import (
    RATE,
    Difference,
    all_beat,
    beats,
    controlled,
    in_bleu,
    in_interval,
    level,
    level_p,
    no_better,
    no_better_p,
)

T = TypeVar("T")
#: tiny: a smoke test; small: all experiments together in about half an hour; full: the papers' sizes, hours.
SIZES = ("tiny", "small", "full")


@dataclass(frozen=True)
class Table:
    """Rows of text; the paper's numbers stand in brackets after ours."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self) -> list[str]:
        """As plain text, columns aligned."""
        rows = [list(self.columns), *[list(row) for row in self.rows]]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.columns))]
        ruled = [rows[0], ["-" * width for width in widths], *rows[1:]]
        return [
            self.title,
            "",
            *("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in ruled),
        ]

    def markdown(self) -> list[str]:
        def cells(row: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"

        return [f"**{self.title}**", "", cells(self.columns), "|" + "---|" * len(self.columns), *map(cells, self.rows)]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and the verdict on it; ``held`` is None if it is undecided."""

    text: str
    held: bool | None
    evidence: str
    p: float | None = None  # of the test behind the verdict; the largest of several

    @property
    def verdict(self) -> str:
        return {True: "held", False: "did not hold", None: "undecided"}[self.held]


def better(text: str, difference: Difference, evidence: str = "") -> Claim:
    """The claim that this difference is above 0."""
    return Claim(text, beats(difference.delta, difference.p), evidence or in_bleu(difference), difference.p)


def all_better(text: str, differences: Sequence[Difference], evidence: str) -> Claim:
    """The claim that all of these differences are above 0."""
    verdict, p = all_beat(differences)
    return Claim(text, verdict, evidence, p)


def not_better(text: str, difference: Difference, evidence: str = "") -> Claim:
    """The claim that this gains nothing."""
    evidence = f"{evidence}; " if evidence else ""
    verdict = no_better(difference)
    p = difference.p if verdict is False else no_better_p(difference)
    return Claim(text, verdict, evidence + in_interval(difference), p)


def levelled(text: str, difference: Difference, evidence: str = "") -> Claim:
    """The claim that two are level."""
    evidence = f"{evidence}; " if evidence else ""
    verdict = level(difference)
    return Claim(
        text, verdict, evidence + in_interval(difference), difference.p if verdict is False else level_p(difference)
    )


@dataclass(frozen=True)
class Figure:
    """Curves over the same axes; they are written as SVG."""

    name: str
    title: str
    x: str
    y: str
    curves: Sequence[Curve]


@dataclass(frozen=True)
class Outcome:
    """The result of an experiment."""

    tables: Sequence[Table]
    claims: Sequence[Claim]
    notes: Sequence[str] = ()  # what differs from the paper's setting
    figures: Sequence[Figure] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)  # for the JSON file


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    name: str
    title: str
    paper: str
    run: Callable[[Lab], Outcome]

    @property
    def claim(self) -> str:
        """The paper's claim: the docstring of the function."""
        return " ".join((self.run.__doc__ or "").split())


EXPERIMENTS: dict[str, Experiment] = {}


def experiment(name: str, title: str, paper: str) -> Callable[[Callable[[Lab], Outcome]], Callable[[Lab], Outcome]]:
    """Register a function under a name. Its docstring is the paper's claim, in a sentence or two."""

    def register(run: Callable[[Lab], Outcome]) -> Callable[[Lab], Outcome]:
        assert run.__doc__, f"{name} states no claim"
        EXPERIMENTS[name] = Experiment(name, title, paper, run)
        return run

    return register


@dataclass(frozen=True)
class Lab:
    """The environment of an experiment: data, size, seeds, and the cache of results below ``out``."""

    out: Path
    data: Path | None = None  # None: generated data
    model: Path | None = None  # a model of the first data set, instead of building one
    size: str = "small"
    replicates: int = 0  # 0: as the size has it
    seed: int = 1
    jobs: int = 0
    run: Session = field(default=SILENT, compare=False)  # receives progress and warnings
    far: Trials | None = field(default=None, compare=False)  # the cluster that computes trials, if any

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise InputError(f"there is no size {self.size!r}. There are: {', '.join(SIZES)}")

    @property
    def paths(self) -> list[Path]:
        """Paths that every machine of a cluster must be able to read."""
        return [path for path in (self.out, self.data, self.model) if path is not None]

    def __getstate__(self) -> dict[str, Any]:
        """The state for a worker of a cluster: absolute paths and no session."""
        paths = {name: path.absolute() for name, path in vars(self).items() if isinstance(path, Path)}
        return {**vars(self), **paths, "run": SILENT, "far": None}

    def pick(self, *, tiny: T, small: T, full: T) -> T:
        """The value for the size of this run."""
        return {"tiny": tiny, "small": small, "full": full}[self.size]

    @property
    def seeds(self) -> list[int]:
        """The seeds of the replicates."""
        count = self.replicates or self.pick(tiny=2, small=3, full=3)
        return [self.seed + k for k in range(count)]

    def cached(self, label: str, key: Mapping[str, Any], compute: Callable[[], dict[str, Any]]) -> Mapping[str, Any]:
        """A result from ``out/cache``, or else of ``compute``. ``key`` and the code are everything that determines it.

        Experiments share results, and a rerun continues where the last one stopped. On a cluster, ``compute`` is sent
        to a worker, which writes the result to the cache; reading the returned mapping waits for it.
        """
        path = self.out / "cache" / f"{_name(label, key)}.json"
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(record, dict):
                return dict(record["result"])
        except FileNotFoundError:
            pass
        except (ValueError, KeyError):
            self.run.warn(f"{path}: damaged; computed again")

        def keep(result: Mapping[str, Any]) -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as file:
                json.dump({"label": label, "key": plain(key), "result": result}, file, ensure_ascii=False)

        def keep_here(result: Mapping[str, Any]) -> None:
            if not path.exists():  # the worker wrote to the same path on another disk
                keep(result)

        if self.far is not None:
            there = partial(self.cached, label, key, compute)  # where it arrives, the laboratory has no cluster
            return self.far.begin(path.stem, there, keep_here, self.run)
        result = plain(compute())
        keep(result)
        return dict(result)

    def scratch(self, label: str, key: Mapping[str, Any]) -> Path:
        """A folder for the temporary files of a trial, which removes it at its end."""
        return self.out / "scratch" / _name(label, key)

    def training(
        self,
        label: str,
        epochs: int,
        folder: Path | None = None,
        text: Callable[[Epoch], str] = lambda event: f"bleu {event.score:.2f}",
    ) -> Session:
        """A session with a progress bar over the epochs of a trial, without those of fits inside a loop."""
        update = self.run.progress(label, epochs)

        def hear(event: Event) -> None:
            if isinstance(event, Epoch) and "iteration" not in event.context:
                update(event.epoch, text=text(event))

        return Session(hear, folder)


def _name(label: str, key: Mapping[str, Any]) -> str:
    """A file name for a result: the label, and a checksum of its key and of the code."""
    text = json.dumps(plain({"label": label, "key": key, "code": code_digest()}), sort_keys=True)
    return f"{label.replace(' ', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:20]}"


def begin_all(experiments: Sequence[Experiment], lab: Lab) -> None:
    """On a cluster: submit the trials of all experiments, of each up to the first result that it needs to continue."""
    assert lab.far is not None
    with lab.far.only_submitting():
        for experiment in experiments:
            with suppress(NotYetError, InputError):  # an input error comes again when the experiment runs
                experiment.run(lab)


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    return mean(values), stdev(values) if len(values) > 1 else 0.0


def with_spread(values: Sequence[float], digits: int = 2) -> str:
    """``34.21 (0.12)``: mean and, of several, standard deviation."""
    middle, deviation = spread(values)
    if not math.isfinite(middle):
        return "-"
    return f"{middle:.{digits}f}" + (f" ({deviation:.{digits}f})" if len(values) > 1 else "")


def lines_of(experiment: Experiment, outcome: Outcome) -> list[str]:
    """The text that ``hopefear experiment`` prints."""
    lines = [f"{experiment.name}: {experiment.title} ({experiment.paper})", "", f"Claim. {experiment.claim}", ""]
    for table in outcome.tables:
        lines += [*table.lines(), ""]
    lines += [f"{claim.verdict.upper()}: {claim.text} ({claim.evidence})" for claim in outcome.claims]
    lines += [f"Note. {note}" for note in outcome.notes]
    return lines


def write_outcome(experiment: Experiment, lab: Lab, outcome: Outcome) -> list[Path]:
    """``NAME.md``, ``NAME.json`` and an SVG for each figure, below ``out``."""
    lab.out.mkdir(parents=True, exist_ok=True)
    written = []
    text = [f"# {experiment.name}: {experiment.title}", "", f"{experiment.paper}. Size: {lab.size}.", ""]
    text += [f"**The claim.** {experiment.claim}", ""]
    for figure in outcome.figures:
        path = lab.out / f"{figure.name}.svg"
        with atomic_write(path) as file:
            file.write(line_chart(figure.title, figure.x, figure.y, figure.curves, standalone=True))
        written.append(path)
        text += [f"![{figure.title}]({path.name})", ""]
    for table in outcome.tables:
        text += [*table.markdown(), ""]
    text += [f"- **{claim.verdict}**: {claim.text} ({claim.evidence})" for claim in outcome.claims]
    text += ["", *(f"{note}" for note in outcome.notes)] if outcome.notes else []
    for name, content in (
        (f"{experiment.name}.md", "\n".join(text) + "\n"),
        (f"{experiment.name}.json", json.dumps(plain(_record(experiment, lab, outcome)), indent=1) + "\n"),
    ):
        with atomic_write(lab.out / name) as file:
            file.write(content)
        written.append(lab.out / name)
    return [*written, write_claims(experiment, lab)]


def write_claims(experiment: Experiment, lab: Lab) -> Path:
    """``PAPER-claims.md``: every claim of the paper whose experiment is in ``out``, under one false discovery rate."""
    paper = experiment.paper.split(",")[0]
    rows = []
    for path in sorted(lab.out.glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            same = record["paper"].split(",")[0] == paper
            rows += [(record["name"], record["size"], claim) for claim in record["claims"] if same and "p" in claim]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # not a record of an experiment
    verdicts = controlled([claim for _, _, claim in rows])
    table = Table(
        f"{paper}: false discovery rate of {RATE:g} over the claims with a p",
        ["experiment", "size", "claim", "evidence", "p", "by itself", "controlled"],
        [
            [name, size, claim["text"], claim["evidence"], "-" if claim["p"] is None else f"{claim['p']:.2g}",
             claim["verdict"], verdict]
            for (name, size, claim), verdict in zip(rows, verdicts, strict=True)
        ],
    )  # fmt: skip
    path = lab.out / f"{experiment.name.split('-')[0]}-claims.md"
    with atomic_write(path) as file:
        file.write("\n".join(table.markdown()) + "\n")
    return path


def _record(experiment: Experiment, lab: Lab, outcome: Outcome) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "paper": experiment.paper,
        "claim": experiment.claim,
        "size": lab.size,
        "code": code_digest(),
        "seeds": lab.seeds,
        "data": str(lab.data) if lab.data else "generated",
        "tables": [
            {"title": t.title, "columns": list(t.columns), "rows": list(map(list, t.rows))} for t in outcome.tables
        ],
        "claims": [{"text": c.text, "verdict": c.verdict, "evidence": c.evidence, "p": c.p} for c in outcome.claims],
        "notes": list(outcome.notes),
        "numbers": dict(outcome.numbers),
    }
