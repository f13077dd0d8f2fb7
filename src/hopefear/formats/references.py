"""References and source sentences for a pool, from files with one line per sentence."""

from __future__ import annotations

from hopefear._core import Pool, set_references, set_sources
from hopefear.errors import input_error
from hopefear.util.files import PathLike, PathsLike, path_list, path_name, read_lines, read_references

CASE_SENTENCES = 1000  # that are looked at
CASE_SHARE = 0.05  # of the words that must match if case is ignored, and only then, for a warning


def case_warning(pool: Pool) -> str | None:
    """A word about candidates whose case is not that of the references: metrics count such words as wrong."""
    words = same = alike = 0
    for i in range(min(len(pool), CASE_SENTENCES)):
        texts = " ".join(pool.references(i))
        references = set(texts.split())
        if not references:
            continue
        text = (pool.text(i, 0) if pool[i].is_list and pool[i].edge_count else pool[i].viterbi({}).text).split()
        others = [word for word in text if word not in references]
        words += len(text)
        same += len(text) - len(others)
        alike += len(text) - len(others)
        if others:
            lower = set(texts.lower().split())
            alike += sum(word.lower() in lower for word in others)
    if not words or alike - same < CASE_SHARE * words:
        return None
    shares = f"{100 * same / words:.0f} % of the candidates' words are in the references, {100 * alike / words:.0f} %"
    return f"{shares} if case is ignored. Give --lowercase, or references of the same case"


def _by_id(pool: Pool, lines: list[str]) -> list[str]:
    """Lines in the order of the sentences, if they begin with the ids of utterances, as in Kaldi's ``text``."""
    ids = pool.ids
    if not ids or all(name.isdigit() for name in ids):
        return lines
    texts = {key: text for key, _, text in (line.partition(" ") for line in lines)}
    return [texts[name] for name in ids] if all(name in texts for name in ids) else lines


def attach(pool: Pool, name: str, references: PathsLike | None, sources: PathLike | None = None) -> None:
    """Gives the sentences of a pool, which was read from ``name``, the references and sources in these files."""
    if references is not None:
        lines = [_by_id(pool, each) for each in read_references(references)]
        if len(lines[0]) < len(pool):
            first = path_list(references)[0]
            finding = f"the reference file is too short: it has {len(lines[0])} lines, {name} has {len(pool)} sentences"
            raise input_error(path_name(first), None, f"{finding}. Use the references of these sentences")
        if len(lines[0]) > len(pool):
            finding = f"there are only {len(pool)} sentences, but the references have {len(lines[0])} lines"
            from_one = len(pool) > 0 and pool.ids[0] == "1"
            cure = "Its ids begin with 1: is sentence 0 missing?" if from_one else "Was the file cut off?"
            raise input_error(name, None, f"{finding}. {cure}")
        set_references(pool, lines)
    if sources is not None:
        texts = read_lines(sources)
        if len(texts) != len(pool):
            finding = f"has {len(texts)} lines, but {name} has {len(pool)} sentences. Use the source of these sentences"
            raise input_error(path_name(sources), None, finding)
        set_sources(pool, texts)
