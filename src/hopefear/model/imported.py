"""Grammars, language models and weights of Joshua, cdec and Moses as a model directory, and the way back.

Rules keep the names of their features. What the decoder itself counts has the names of ``hopefear``, and each weight is
converted so that the same derivation has the same model score (docs/import.md has the table):

=============  ===============================  ==========================  ===================================
ours           Joshua                           cdec                        Moses
=============  ===============================  ==========================  ===================================
``lm``         ``lm_0``, log10                  ``LanguageModel``, log10    ``LM0``, natural logarithm
``word``       ``WordPenalty``, -log10(e) each  the same                    ``WordPenalty0``, -1 each
``unknown``    ``OOVPenalty``, -100 each        ``PassThrough``, 1 each     ``UnknownWordPenalty0``, -100 each
``rule``                                                                    ``PhrasePenalty0``, 1 each
=============  ===============================  ==========================  ===================================

``glue`` is what a glue rule that joins two parts adds, and ``sentence`` what all other glue rules of a sentence add,
words such as ``<s>`` in them included.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hopefear._core import GrammarTextReader
from hopefear.errors import InputError, input_error
from hopefear.formats.weights import read_weights
from hopefear.model.directory import Model, check_out, write_model
from hopefear.model.features import PROBABILITIES, SMALL
from hopefear.model.grammar import Grammar
from hopefear.model.language_model import LanguageModel
from hopefear.model.text import TextPipeline
from hopefear.runs.session import SILENT, Session
from hopefear.util.atomic import sweep
from hopefear.util.files import PathLike, PathsLike, atomic_folder, iter_lines, output, path_list, path_name
from hopefear.util.messages import plural, some
from hopefear.util.values import parsed_number

FORMATS = ("joshua", "cdec", "moses")
#: What the decoder counts, in the order of the features of an imported model; then come the grammar's.
COUNTED = (*(name for name in SMALL if name not in PROBABILITIES), "sentence")
COPIED = ("identity", "unknown", "number", "name")
_BLOCK = 20_000  # lines handed to the core at a time


@dataclass(frozen=True)
class Convention:
    """How a toolkit names what its decoder counts, and the value that one of them has."""

    lms: tuple[str, str]
    lm_unit: float  # of a natural logarithm
    word: tuple[str, float]
    unknown: tuple[tuple[str, float], ...]
    rule: str | None
    max_span: int


CONVENTIONS = {
    "joshua": Convention(
        ("lm_0", "lm_1"), 1 / math.log(10), ("WordPenalty", -1 / math.log(10)), (("OOVPenalty", -100.0),), None, 20
    ),
    "cdec": Convention(
        ("LanguageModel", "LanguageModel1"),
        1 / math.log(10),
        ("WordPenalty", -1 / math.log(10)),
        (("PassThrough", 1.0), ("PassThrough_1", 1.0), ("LanguageModel_OOV", 1.0)),
        None,
        10,
    ),
    "moses": Convention(
        ("LM0", "LM1"), 1.0, ("WordPenalty0", -1.0), (("UnknownWordPenalty0", -100.0),), "PhrasePenalty0", 20
    ),
}


@dataclass(frozen=True)
class TextRule:
    """A line of a grammar, its gaps written ``[X,1]``."""

    lhs: str
    source: list[str]
    target: list[str]
    values: dict[str, float]
    links: str = ""

    def line(self) -> str:
        values = " ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"[X] ||| {' '.join(self.source)} ||| {' '.join(self.target)} ||| {values} ||| {self.links}"


def joshua_rule(line: str, owner: str) -> TextRule:
    """Values without a name are ``tm_OWNER_0``, ..., and have their sign changed: Joshua reads them as costs."""
    return _bracketed(line, f"tm_{owner}_", -1.0)


def cdec_rule(line: str, owner: str) -> TextRule:
    """Values without a name are ``PhraseModel_0``, ..."""
    return _bracketed(line, "PhraseModel_", 1.0)


def moses_rule(line: str, owner: str) -> TextRule:
    """``[X][X]`` is a gap; both sides end with their label; values are probabilities, and their logarithms count."""
    source, target, values, *rest = [field.split() for field in _fields(line, 3)]
    if len(source) < 1 or len(target) < 2 or not _label(source[-1]) or not _label(target[-1]):
        raise ValueError("the two sides do not end with their labels, as in: das [X][X] [X] ||| the [X][X] [X] ||| ...")
    links = [point for point in (rest[0] if rest else []) if point]
    pairs = dict(map(_link, links))
    numbers = {i: n for n, i in enumerate((i for i, word in enumerate(source) if _gap(word)), 1)}
    words = [f"[X,{numbers[i]}]" if i in numbers else _escaped(word) for i, word in enumerate(source[:-1])]
    notes = []
    for j, word in enumerate(target[:-1]):
        if not _gap(word):
            notes.append(_escaped(word))
            continue
        source_position = pairs.get(j, -1)
        if source_position not in numbers:
            raise ValueError(f"the gap {word} of the target side is aligned to none of the source side. Add the link")
        notes.append(f"[X,{numbers[source_position]}]")
    scores = [_number(value) for value in values]
    names = [owner] if len(scores) == 1 else [f"{owner}_{k}" for k in range(len(scores))]
    logs = {
        name: max(-100.0, math.log(score)) if score > 0 else -100.0 for name, score in zip(names, scores, strict=True)
    }
    return TextRule(target[-1][1:-1], words, notes, logs, " ".join(links))


READERS: dict[str, Callable[[str, str], TextRule]] = {"joshua": joshua_rule, "cdec": cdec_rule, "moses": moses_rule}
#: Who owns the rules of the grammar and of the glue grammar: part of the names of their values.
OWNERS = {"joshua": ("pt", "glue"), "cdec": ("", ""), "moses": ("TranslationModel0", "TranslationModel1")}


def _fields(line: str, least: int) -> list[str]:
    fields = f" {line} ".split(" ||| ")
    if len(fields) < least:
        raise ValueError(
            f'expected at least {least} fields split by " ||| ", found {len(fields)}. Was the file cut off?'
        )
    return fields


def _bracketed(line: str, prefix: str, sign: float) -> TextRule:
    fields = [field.strip() for field in _fields(line, 3)] + ["", ""]
    if not _label(fields[0]):
        raise ValueError(f"{fields[0][:40]!r} is not a label. Write it in brackets: [X]")
    values: dict[str, float] = {}
    unnamed = 0
    for word in fields[3].replace(";", " ").split():
        name, equals, value = word.rpartition("=")
        if not equals:
            name, unnamed = f"{prefix}{unnamed}", unnamed + 1
        if not name or name in values:
            raise ValueError(f"the feature {word[:40]!r} has no name, or occurs twice. Fix it")
        values[name] = _number(value) * (1.0 if equals else sign)
    return TextRule(fields[0][1:-1], fields[1].split(), fields[2].split(), values, fields[4])


def _label(word: str) -> bool:
    return len(word) > 2 and word[0] == "[" and word[-1] == "]" and "[" not in word[1:] and "," not in word


def _gap(word: str) -> bool:
    return word.startswith("[") and word.endswith("]") and "][" in word


def _link(point: str) -> tuple[int, int]:
    """The two ends of ``source-target``, the target first."""
    source, _, target = point.partition("-")
    if not all(end.isascii() and end.isdecimal() for end in (source, target)):
        raise ValueError(f"{point[:40]!r} is not an alignment point. Expected source-target, as in 0-0 1-2")
    return int(target), int(source)


def _escaped(word: str) -> str:
    """A word that would be taken for a gap of our own text format has a backslash."""
    return "\\" + word if word.startswith(("[", "\\")) else word


def _number(text: str) -> float:
    try:
        value = parsed_number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"the value {text[:40]!r} is not a finite number. Fix it")
    return value


def _rules(path: PathLike, format: str, owner: str) -> Iterator[TextRule]:
    for number, line in enumerate(iter_lines(path), 1):
        if not line.strip():
            continue
        try:
            yield READERS[format](line, owner)
        except ValueError as error:
            raise input_error(path_name(path), number, str(error)) from None


def _grammar(paths: PathsLike, format: str, jobs: int, run: Session) -> tuple[Grammar, list[TextRule]]:
    """The rules of X, and those of other labels, which are glue."""
    reader, glue = GrammarTextReader(), []
    for path in path_list(paths):
        rules = iter(enumerate(_rules(path, format, OWNERS[format][0]), 1))
        while block := list(itertools.islice(rules, _BLOCK)):
            glue += [rule for _, rule in block if rule.lhs != "X"]
            lines = [rule.line() if rule.lhs == "X" else "" for _, rule in block]
            reader.add(lines, path_name(path), block[0][0])
    table = reader.finish(jobs)
    if reader.repeated:
        run.note(f"{plural(reader.repeated, 'repeated rule')} left out")
    return Grammar.build(table, jobs), glue


#: What cdec adds to every grammar.
CDEC_GLUE = ("[S] ||| [X,1] ||| [1] ||| ", "[S] ||| [S,1] [X,2] ||| [1] [2] ||| Glue=1")


@dataclass(frozen=True)
class Glue:
    """What glue adds to the score of a sentence of n parts: ``join`` (n - 1) times, ``sentence`` once."""

    join: float
    sentence: float


def glue_score(rules: Iterable[TextRule], weights: Mapping[str, float], how: Convention, where: str) -> Glue:
    """From the rules themselves: those with two gaps join, those with one or none begin and end a sentence."""
    joins, others, begins_with_part = [], 0.0, False
    for rule in rules:
        gaps = [word for word in rule.source if word.startswith("[") and word.endswith("]")]
        words = len(rule.target) - len(gaps)
        score = sum(weights.get(name, 0.0) * value for name, value in rule.values.items())
        score += words * weights.get(how.word[0], 0.0) * how.word[1] + weights.get(how.rule or "", 0.0)
        if len(gaps) == 2:
            joins.append(score)
        else:
            others += score
            begins_with_part = begins_with_part or (len(gaps) == 1 and words == 0)
    if len(set(joins)) != 1:
        raise input_error(where, None, f"{len(joins)} glue rules join two parts. One is needed, as in S -> S X")
    return Glue(joins[0], others + (0.0 if begins_with_part else joins[0]))


def converted(
    weights: Mapping[str, float], names: Iterable[str], glue: list[TextRule], format: str, lms: int, where: str
) -> tuple[dict[str, float], set[str]]:
    """The weights of an imported model, and the names that were used."""
    how = CONVENTIONS[format]
    own = {name: weights.get(name, 0.0) for name in names}
    copied = sum(weights.get(name, 0.0) * unit for name, unit in how.unknown) + weights.get(how.rule or "", 0.0)
    glue_value = glue_score(glue, weights, how, where)
    counted = dict.fromkeys(COUNTED, 0.0) | dict.fromkeys(COPIED, copied)
    for ours, theirs in itertools.islice(zip(("lm", "lm2"), how.lms, strict=True), lms):
        counted[ours] = weights.get(theirs, 0.0) * how.lm_unit
    counted |= {"word": weights.get(how.word[0], 0.0) * how.word[1], "rule": weights.get(how.rule or "", 0.0)}
    counted |= {"glue": glue_value.join, "sentence": glue_value.sentence}
    used = {*own, *how.lms[:lms], how.word[0], *(name for name, _ in how.unknown), how.rule or ""}
    return {**counted, **own}, used.union(*(rule.values for rule in glue))


def import_model(
    grammar: PathsLike,
    glue: PathLike | None,
    lm: PathsLike,
    weights: PathLike,
    format: str,
    out: PathLike,
    *,
    values: Mapping[str, float] | None = None,
    max_span: int = 0,
    overwrite: bool = False,
    jobs: int = 0,
    run: Session = SILENT,
) -> Model:
    """Write the model directory and open it. Names that match nothing are warned of; if none does, it is an error.

    Without ``glue``: the glue rules of the grammar itself, or those that cdec has built in. ``values`` are the weights
    if the file ``weights`` has been read.
    """
    if format not in FORMATS:
        raise InputError(f"there is no grammar format {format!r}. Choose {', '.join(FORMATS)}")
    if len(path_list(lm)) > 2:
        raise InputError("a model has at most 2 language models")
    check_out(Path(out), overwrite)
    given = read_weights(weights) if values is None else values
    rules, more = _grammar(grammar, format, jobs, run)
    if len(rules) == 0:
        where = ", ".join(path_name(path) for path in path_list(grammar))
        raise input_error(where, None, "has no rule of X. Was the grammar extracted, and is --format right?")
    if own := sorted({*rules.names} & {*COUNTED}):
        raise InputError(f"the grammar and the decoder both have a feature {own[0]}. Rename it in the grammar")
    glue_rules = more + (list(_rules(glue, format, OWNERS[format][1])) if glue is not None else [])
    if not glue_rules and format != "cdec":
        raise InputError("there are no glue rules. Give --glue")
    glue_rules = glue_rules or [READERS[format](line, OWNERS[format][1]) for line in CDEC_GLUE]
    models = [LanguageModel.read(path) for path in path_list(lm)]
    learnt, used = converted(given, rules.names, glue_rules, format, len(models), path_name(glue) if glue else "glue")
    _tell_strangers(path_name(weights), given, rules.names, used, run)
    text = TextPipeline("none", False, False, copies=False).as_dict()  # others copy unknown words only
    info = {
        "kind": "hiero",
        "options": {"max_phrase": max_span or CONVENTIONS[format].max_span, "format": format},
        "text": {"source": text, "target": text},
        "features": [*COUNTED, *rules.names],
        "weights": learnt,
        "counts": {"rules": len(rules), "source_sides": rules.sides},
    }
    write_model(out, info, rules, models, [], overwrite)
    return Model.open(out, jobs=jobs)


def _tell_strangers(
    path: str, weights: Mapping[str, float], names: Iterable[str], used: set[str], run: Session
) -> None:
    known = set(names)
    if known and not known & set(weights):
        finding = f"no weight matches a feature of the grammar ({', '.join(sorted(known)[:3])}, ...)"
        raise input_error(path, None, f"{finding}. Is --format right, and are these the weights of this grammar?")
    if strangers := [name for name in weights if name not in used]:
        run.warn(f"{path}: {plural(len(strangers), 'weight')} for features that do not exist: {some(strangers)}")
    if without := sorted(known - set(weights)):
        run.warn(f"{path}: {plural(len(without), 'feature')} of the grammar without a weight: {some(without)}")


def export_model(model: Model, format: str, out: PathLike, weights: Mapping[str, float] | None = None) -> None:
    """A folder with rules, glue rules, language models, weights and settings, for cdec or for Moses' chart decoder."""
    if format not in ("cdec", "moses"):
        raise InputError(f"there is no export format {format!r}. Choose cdec or moses")
    model.require("hiero", "only those can be exported")
    if model.sparse_names and any((weights or {}).get(name) for name in model.sparse_names):
        raise InputError("sparse features cannot be exported. Train with --features small")
    if model.joint is not None:
        raise InputError("a neural joint model cannot be exported. Build the model without --joint-model")
    sweep(Path(out).resolve().parent)
    if Path(out).exists():
        raise input_error(out, None, "already exists. Choose another --out")
    w = {name: float((model.weights if weights is None else weights).get(name, 0.0)) for name in model.feature_names}
    names = [name for name in model.grammar.names if name in w]
    with atomic_folder(Path(out)) as folder:
        for number, lm in enumerate(model.language_models):
            lm.write_arpa(folder / f"lm{number}.arpa.gz")
        span = model.max_span
        (_export_cdec if format == "cdec" else _export_moses)(model, folder, w, names, span)


def _table(model: Model, names: list[str]) -> Iterator[tuple[list[str], list[str], list[float], str]]:
    """Sides, values and links of each rule."""
    grammar = model.grammar
    columns = [grammar.names.index(name) for name in names]
    for rule in range(len(grammar)):
        row = grammar.columns[rule]
        links = " ".join(f"{s}-{t}" for s, t in grammar.links(rule))
        yield grammar.source(rule).split(), grammar.target(rule).split(), [float(row[c]) for c in columns], links


def _export_cdec(model: Model, folder: Path, w: Mapping[str, float], names: list[str], span: int) -> None:
    how = CONVENTIONS["cdec"]
    with output(folder / "grammar.gz") as file:
        for source, target, values, links in _table(model, names):
            numbers = [word.replace("[X,", "[") if word in ("[X,1]", "[X,2]") else word for word in target]
            features = " ".join(f"{name}={value!r}" for name, value in zip(names, values, strict=True))
            features += " RuleCount=1"
            file.write(f"[X] ||| {' '.join(source)} ||| {' '.join(numbers)} ||| {features} ||| {links}".rstrip() + "\n")
    with output(folder / "glue") as file:
        file.write("[S] ||| [X,1] ||| [1] ||| Sentence=1\n[S] ||| [S,1] [X,2] ||| [1] [2] ||| Glue=1\n")
    theirs = {name: w[name] for name in names} | {"RuleCount": w.get("rule", 0.0), "Glue": w.get("glue", 0.0)}
    theirs |= {"Sentence": w.get("sentence", 0.0), "PassThrough": w.get("unknown", 0.0)}
    theirs["WordPenalty"] = w.get("word", 0.0) / how.word[1]
    lines = ["formalism=scfg", "grammar=grammar.gz", "grammar=glue", f"scfg_max_span_limit={span}"]
    lines += ["add_pass_through_rules=true", "feature_function=WordPenalty"]
    for number, name in enumerate(how.lms[: len(model.language_models)]):
        theirs[name] = w.get(("lm", "lm2")[number], 0.0) / how.lm_unit
        lines.append(f"feature_function=KLanguageModel {f'-n {name} ' if number else ''}lm{number}.arpa.gz")
    with output(folder / "cdec.ini") as file:
        file.write("\n".join(lines) + "\n")
    with output(folder / "weights") as file:
        file.write("".join(f"{name} {value!r}\n" for name, value in theirs.items()))


def _export_moses(model: Model, folder: Path, w: Mapping[str, float], names: list[str], span: int) -> None:
    with output(folder / "rule-table.gz") as file:
        for source, target, values, links in _table(model, names):
            places = {word: i for i, word in enumerate(source) if word in ("[X,1]", "[X,2]")}
            gaps = [f"{places[word]}-{j}" for j, word in enumerate(target) if word in places]
            sides = [" ".join("[X][X]" if word in places else word for word in side) for side in (source, target)]
            scores = " ".join(repr(math.exp(value)) for value in values)
            file.write(
                f"{sides[0]} [X] ||| {sides[1]} [X] ||| {scores} ||| {' '.join([*links.split(), *gaps])} ||| 1 1 1\n"
            )
    word, rule = w.get("word", 0.0), w.get("rule", 0.0)
    # <s> and </s> count as words there, all glue rules as rules, and a sentence of n parts has n joins.
    join = w.get("glue", 0.0) - rule
    begin = w.get("sentence", 0.0) - 2 * word - 2 * rule - join - rule
    with output(folder / "glue-grammar") as file:
        file.write(f"<s> [X] ||| <s> [S] ||| 1 {math.e!r} |||  ||| 0\n")
        file.write("[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 1 ||| 0-0 ||| 0\n")
        file.write(f"[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| {math.e!r} 1 ||| 0-0 1-1 ||| 0\n")
    lms = model.language_models
    features = ["UnknownWordPenalty", "WordPenalty", "PhrasePenalty"]
    table = "PhraseDictionaryMemory name=TranslationModel{} num-features={} path={} input-factor=0 output-factor=0"
    features += [table.format(0, len(names), "rule-table.gz"), table.format(1, 2, "glue-grammar")]
    features += [f"KENLM name=LM{k} factor=0 path=lm{k}.arpa.gz order={lm.order}" for k, lm in enumerate(lms)]
    weights = {"UnknownWordPenalty0": [(w.get("unknown", 0.0) - rule) / -100.0], "WordPenalty0": [-word]}
    weights |= {"PhrasePenalty0": [rule], "TranslationModel0": [w[name] for name in names]}
    weights |= {"TranslationModel1": [join, begin]}
    weights |= {f"LM{k}": [w.get(("lm", "lm2")[k], 0.0)] for k in range(len(lms))}
    lines = ["[input-factors]", "0", "", "[mapping]", "0 T 0", "1 T 1", "", "[cube-pruning-pop-limit]", "1000", ""]
    lines += ["[non-terminals]", "X", "", "[search-algorithm]", "3", "", "[inputtype]", "3", ""]
    lines += ["[max-chart-span]", str(span), "1000", "", "[feature]", *features, "", "[weight]"]
    lines += [f"{name}= {' '.join(map(repr, values))}" for name, values in weights.items()]
    with output(folder / "moses.ini") as file:
        file.write("\n".join(lines) + "\n")
