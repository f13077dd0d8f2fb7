"""Combine the lists of several systems into one.

Each string occurs once, with the features of all systems, its rank in each list, the number of systems that
proposed it, and a feature for each system that did not. A regression on a system's own candidates predicts its
missing scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.errors import OptionError

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Combine(Command[list[str]]):
    lists: Sequence[Any] = arg(
        "The lists, one per system.", positional=True, kw_only=False, metavar="LIST", file=True, folder=True
    )
    out: Any = arg("The combined list.", metavar="LIST")
    names: Sequence[str] = arg("Names of the systems.", default=(), metavar="NAME", shown="s1, s2, ...")
    weights: Sequence[str] = arg("Weights of a system, to add its score as a column.", default=(), metavar="NAME=FILE")
    floors: Any = arg("A model for missing scores, saved by --save-floors.", default=None, file=True, shown="learnt")
    save_floors: Any = arg("Save the model for missing scores.", default=None, metavar="FILE")

    group: str | None = arg("Of tables: rows with the same value compete.", default=None, metavar="COLUMN")
    text: str | None = arg("Of tables: the text of the candidates.", default=None, metavar="COLUMN", needs="group")
    missing: str | None = shared.missing()

    examples = """
    hopefear combine neural.jsonl hiero.jsonl --names neural hiero --out both.jsonl
    hopefear combine neural.jsonl hiero.nbest --names n h --weights h=run/weights.txt --out both.jsonl
    hopefear combine n.dev.jsonl h.dev.jsonl --names n h --out dev.jsonl --save-floors floors.json
    hopefear combine n.test.jsonl h.test.jsonl --names n h --out test.jsonl --floors floors.json
    """

    def check(self) -> None:
        from hopefear.util.messages import plural

        names = self._names
        if len(self.lists) < 2:
            raise OptionError("combine needs at least two lists.")
        if "-" in map(str, self.lists):
            raise OptionError("combine reads its lists twice: give files, not standard input.")
        if len(names) != len(self.lists):
            raise OptionError(f"--names: {plural(len(names), 'name')} for {plural(len(self.lists), 'list')}.")
        if len(set(names)) < len(names) or any(not name or set(name) & set(" \t=|") for name in names):
            raise OptionError("--names must be different, without spaces, = or |.")
        for text in self.weights:
            if "=" not in text or text.split("=", 1)[0] not in names:
                raise OptionError(f"--weights {text}: give NAME=FILE, where NAME is one of {', '.join(names)}.")

    @property
    def _names(self) -> list[str]:
        return list(self.names) or [f"s{number}" for number in range(1, len(self.lists) + 1)]

    def run(self, session: Session) -> list[str]:
        """The names of the columns."""
        from hopefear.decode.combination import SystemLists, combine
        from hopefear.formats.inputs import lists_of
        from hopefear.formats.weights import read_weights

        weights = {name: read_weights(path) for name, path in (text.split("=", 1) for text in self.weights)}
        lists = [lists_of(path, self.group, self.text, self.missing or "error") for path in self.lists]
        systems = [SystemLists(name, path, weights.get(name)) for name, path in zip(self._names, lists, strict=True)]
        floors = {"floors": self.floors, "save_floors": self.save_floors}
        columns = combine(systems, self.out, session, **floors, jobs=self.jobs)
        session.note(f"columns: {' '.join(columns)}")
        return columns

    def printed(self, result: list[str]) -> None:
        """Nothing: the columns were noted."""
