"""The corrections of a translator: learnt, listed, undone, and what follows from them for the next sentence.

    corrections = Corrections(model, "translator/corrections", "de", "en")
    learnt = corrections.learn("Der Bremsbelag ist neu.", "The brake pad is new.")
    corrections.undo(learnt.id)

All state follows from the journals: one that everybody shares, and one of a layer (a project, a user), if there is one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from hopefear._core import SentenceRule
from hopefear.documents.sentences import split_sentences
from hopefear.errors import InputError
from hopefear.learning.alignment import Links, WordTable, misfit
from hopefear.learning.decoding import Decoders
from hopefear.learning.journal import Journal, Record, check_layer
from hopefear.learning.memory import LONGEST, CorrectedPair, Memory, View
from hopefear.learning.ngrams import Ngrams
from hopefear.learning.rules import RuleMaker
from hopefear.learning.weights import Updates
from hopefear.model.directory import Model
from hopefear.util.files import PathLike, refuse_links
from hopefear.util.messages import plural

MOST_CHARACTERS = 10_000  # of either side of a correction
_SHOWN = 8  # phrases that a correction lists
_LONGEST_SHOWN = 4  # words of these
_WEIGHTS_SHOWN, _LEAST_SHOWN = 2, 0.001  # changes of weights that it lists


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction in a journal."""

    id: str
    time: str
    source: str
    correction: str
    user: str = ""
    project: str = ""
    status: str = "learnt"  #: or set aside, or undone
    reason: str = ""  #: why it was set aside

    def __str__(self) -> str:
        state = f"{self.status}: {self.reason}" if self.reason else self.status
        author = " ".join(part for part in (self.user, self.project) if part)
        return "\t".join([self.id, self.time, author, state, _flat(self.source), _flat(self.correction)])


@dataclass(frozen=True, slots=True)
class Learnt:
    """The result of a correction."""

    id: str
    status: str  #: learnt or set aside
    phrases: tuple[tuple[str, str], ...] = ()  #: of a few words, which neither the model nor a correction had
    weights: Mapping[str, float] = field(default_factory=dict)  #: what was added to the weights of features
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.id} {self.status}"]
        if self.phrases:
            shown = "; ".join(f"{source} = {target}" for source, target in self.phrases[:_SHOWN])
            more = "; ..." if len(self.phrases) > _SHOWN else ""
            parts.append(f"{plural(len(self.phrases), 'new phrase')}: {shown}{more}")
        elif self.status == "learnt":
            parts.append("no new phrase")
        moved = sorted(self.weights.items(), key=lambda change: -abs(change[1]))[:_WEIGHTS_SHOWN]
        if shown := ", ".join(f"{name} {value:+.2g}" for name, value in moved if abs(value) >= _LEAST_SHOWN):
            parts.append(f"weight of {shown}")
        return ". ".join([", ".join(parts), *self.notes])


class Corrections:
    """The corrections of one translator; threads may share them."""

    def __init__(
        self,
        model: Model,
        folder: PathLike,
        source: str = "",
        target: str = "",
        layer: str | None = None,
        decoders: Decoders | None = None,
    ) -> None:
        """``source`` and ``target``: codes of the languages, for sentence ends. Without ``decoders``, weights stay."""
        self._model, self._languages = model, (source, target)
        folder = Path(folder)
        refuse_links(folder, "Replace it with the file itself")
        self._names = [""] if layer is None else ["", check_layer(layer)]
        self._journals = [Journal(folder / "layers" / name if name else folder) for name in self._names]
        self._table = WordTable(model)
        self._maker = RuleMaker(model)
        self._memory = Memory()
        self._updates = Updates(decoders) if decoders is not None else None
        self._ngrams = Ngrams() if decoders is not None and decoders.ngrams else None
        self._tuned: dict[str, float] = {}
        self._records: dict[tuple[int, int], Record] = {}
        self._undone: set[tuple[int, int]] = set()
        self._rolled_back: set[tuple[int, int]] = set()  # what they changed in the weights does not count
        self._view = View(self._memory)
        self._guard = threading.RLock()
        self.view()

    def view(self) -> View:
        """The current corrections, with those that other processes have written."""
        with self._guard:
            if sum(self._caught_up(layer) for layer in range(len(self._journals))):
                self._renew()
            return self._view

    def _renew(self) -> None:
        """A new snapshot."""
        view = View(self._memory, len(self._memory.pairs), frozenset(self._undone), dict(self._tuned))
        self._view = replace(view, ngrams=self._ngrams.of(view)) if self._ngrams is not None else view

    def rules(self, view: View, words: Sequence[str]) -> list[SentenceRule]:
        """Rules for a sentence."""
        return self._maker.rules(view, words)

    def hold(self) -> None:
        """Makes this process, with those that it forks, the one that writes."""
        self._journals[-1].hold()

    def close(self) -> None:
        """Lets another process write."""
        self._journals[-1].close()

    def learn(self, source: str, correction: str, *, user: str = "", project: str = "") -> Learnt:
        """Learns from a correction; when this returns, it is on the disk and the next translation knows it."""
        source, correction = _text(source, "the source"), _text(correction, "the correction")
        user, project = _text(user, "the user", empty=True), _text(project, "the project", empty=True)
        layer = len(self._journals) - 1
        with self._guard, self._journals[layer].writing():
            before = self.view()
            texts = self._sentences(source, correction)
            links, aside = self._aligned(texts)
            if aside and len(texts) > 1:  # as many sentences by chance
                links, aside = self._aligned([(source, correction)])
            number = self._journals[layer].next_number
            record = Record(number, "correction", _now(), user, project, source, correction, tuple(links), aside)
            if self._updates is not None and not aside:
                pairs = list(self._pairs((layer, number), record))
                record = replace(record, weights=self._updates.update(before, self._maker, pairs))
            self._journals[layer].append(record)
            self._apply(layer, record)
            self._renew()
            name = self._id((layer, number))
            if aside:
                return Learnt(name, "set aside", notes=(f"{aside[0].upper()}{aside[1:]}, so nothing was learnt",))
            pairs = [pair for pair in self._memory.pairs[before.count :] if pair.owner == (layer, number)]
            phrases = tuple(phrase for pair in pairs for phrase in self._new_phrases(pair, before))
            notes = [*self._notes(pairs, before), *self._guarded(layer)]
            return Learnt(name, "learnt", phrases, dict(record.weights), tuple(notes))

    def _guarded(self, layer: int) -> Iterator[str]:
        """Undoes changes of weights that did harm."""
        owners = self._updates.harmful(self._view) if self._updates is not None else []
        if owners:
            journal = self._journals[layer]
            record = Record(journal.next_number, "rollback", _now(), undone=tuple(number for _, number in owners))
            try:
                journal.append(record)
            except InputError as error:  # the correction itself is on the disk
                yield f"Its weights could not be undone: {error}"
                return
            self._apply(layer, record)
            self._renew()
            yield f"The weights are as they were {len(owners)} corrections ago: later steps made old corrections worse"

    def undo(self, *ids: str) -> list[str]:
        """Undoes corrections; the ids of those that counted until now."""
        layer = len(self._journals) - 1
        with self._guard, self._journals[layer].writing():
            self.view()
            owners = [self._owner(name) for name in ids]
            fresh = sorted({owner for owner in owners if owner not in self._undone})
            if fresh:
                journal = self._journals[layer]
                numbers = tuple(number for _, number in fresh)
                record = Record(journal.next_number, "undo", _now(), undone=numbers)
                journal.append(record)
                self._apply(layer, record)
                self._renew()
            return [self._id(owner) for owner in fresh]

    def undo_since(self, time: str) -> list[str]:
        """Undoes all corrections since a time in ISO 8601, in UTC unless it says otherwise."""
        try:
            since = datetime.fromisoformat(time.strip())
        except ValueError:
            raise InputError(f"{time!r} is not a time. Write it as 2026-01-31T12:00") from None
        since = since if since.tzinfo is not None else since.replace(tzinfo=UTC)
        layer = len(self._journals) - 1
        with self._guard:
            self.view()
            later = [
                self._id(owner)
                for owner, record in self._records.items()
                if owner[0] == layer and datetime.fromisoformat(record.time) >= since
            ]
            return self.undo(*later)

    def __iter__(self) -> Iterator[Correction]:
        """All corrections in the order of their journals, those of the layer behind the shared ones."""
        with self._guard:
            self.view()
            records = sorted(self._records.items())
            undone = set(self._undone)
        for owner, r in records:
            status = "undone" if owner in undone else "set aside" if r.aside else "learnt"
            yield Correction(self._id(owner), r.time, r.source, r.target, r.user, r.project, status, r.aside)

    def __len__(self) -> int:
        self.view()
        return len(self._records)

    def _caught_up(self, layer: int) -> bool:
        """Whether there was something new."""
        records = self._journals[layer].read()
        for record in records:
            self._apply(layer, record)
        return bool(records)

    def _apply(self, layer: int, record: Record) -> None:
        if record.kind != "correction":
            owners = self._undone if record.kind == "undo" else self._rolled_back
            owners |= {(layer, number) for number in record.undone}
            self._tuned = {}
            for owner, other in self._records.items():
                if owner not in self._undone and owner not in self._rolled_back:
                    self._add_weights(other)
            return
        owner = (layer, record.number)
        self._records[owner] = record
        self._add_weights(record)
        for pair in self._pairs(owner, record):
            self._memory.add(pair)
            self._maker.add(pair)

    def _add_weights(self, record: Record) -> None:
        for name, value in record.weights.items():
            self._tuned[name] = self._tuned.get(name, 0.0) + value

    def _pairs(self, owner: tuple[int, int], record: Record) -> Iterator[CorrectedPair]:
        """The sentences of a correction."""
        if record.aside:
            return
        texts = self._sentences(record.source, record.target)
        if len(record.links) == 1 < len(texts):
            texts = [(record.source, record.target)]
        tokens = [self._tokens(*text) for text in texts]
        links = [_read_links(line) for line in record.links]
        if not _agree(links, tokens):  # the model was built again with other words
            links = [self._table.align(*text).links for text in tokens]
        for part, (text, words, own) in enumerate(zip(texts, tokens, links, strict=True)):
            if words[0] and words[1] and len(words[0]) < LONGEST:
                yield CorrectedPair.of(owner, part, text, *words, own)

    def _sentences(self, source: str, correction: str) -> list[tuple[str, str]]:
        """The sentences of both sides, where there are as many; else the whole."""
        left, right = (
            [sentence for line in text.splitlines() for sentence, _ in split_sentences(line, language) if sentence]
            for text, language in zip((source, correction), self._languages, strict=True)
        )
        if len(left) == len(right) > 1:
            return list(zip(left, right, strict=True))
        return [(source.strip(), correction.strip())]

    def _tokens(self, source: str, correction: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(self._model.source_text.tokens(source)), tuple(self._model.target_text.tokens(correction))

    def _aligned(self, texts: Sequence[tuple[str, str]]) -> tuple[list[str], str]:
        """The links of each pair as text, and why it is set aside, if it is."""
        links = []
        for text in texts:
            words = self._tokens(*text)
            if max(map(len, words)) >= LONGEST:
                return [], f"a sentence has {LONGEST} words or more"
            aligned = self._table.align(*words)
            if reason := misfit(self._table, *words, aligned):
                return [], reason
            links.append(" ".join(f"{s}-{t}" for s, t in aligned.links))
        return links, ""

    def _new_phrases(self, pair: CorrectedPair, before: View) -> list[tuple[str, str]]:
        phrases = []
        for begin, end, start, stop in pair.phrases(_LONGEST_SHOWN):
            source, target = pair.source[begin:end], pair.target[start:stop]
            new = not self._maker.is_known(before, source, target)
            if new and any(c.isalnum() for c in "".join(source)):
                phrases.append((" ".join(source), " ".join(target)))
        return sorted(dict.fromkeys(phrases), key=lambda phrase: len(phrase[0].split()))

    def _notes(self, pairs: Sequence[CorrectedPair], before: View) -> Iterator[str]:
        for pair in pairs:
            earlier = before.exact(pair.text)
            if earlier is not None and earlier.correction != pair.correction:
                yield f"It replaces {self._id(earlier.owner)}: {earlier.correction}"
            if self._view.exact(pair.text) is not pair:
                yield "Another correction of the same sentence applies"

    def _id(self, owner: tuple[int, int]) -> str:
        name = self._names[owner[0]]
        return f"{name}:{owner[1]}" if name else str(owner[1])

    def _owner(self, name: str) -> tuple[int, int]:
        layer = len(self._journals) - 1
        prefix, _, number = name.strip().rpartition(":")
        owner = (layer, int(number)) if number.isdecimal() and len(number) < 12 else (layer, 0)
        if owner in self._records and prefix in ("", self._names[layer]):
            return owner
        raise InputError(f"{self._journals[layer].path}: there is no correction {name}. See --list")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _text(text: str, what: str, empty: bool = False) -> str:
    if not isinstance(text, str):
        raise InputError(f"{what} is not a text. Give a string")
    text = text.encode("utf-8", "replace").decode()
    if not text.strip() and not empty:
        raise InputError(f"{what} is empty. Nothing can be learnt from it")
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            f"{what} has {len(text)} characters, {MOST_CHARACTERS} are the most. Give it sentence by sentence"
        )
    return text.strip()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _read_links(text: str) -> Links:
    try:
        return [(int(s), int(t)) for s, t in (link.split("-") for link in text.split())]
    except ValueError:
        raise InputError(f"{text!r} in a journal of corrections is not an alignment. Restore the journal") from None


def _agree(links: Sequence[Links], tokens: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]) -> bool:
    return len(links) == len(tokens) and all(
        0 <= s < len(words[0]) and 0 <= t < len(words[1])
        for own, words in zip(links, tokens, strict=True)
        for s, t in own
    )
