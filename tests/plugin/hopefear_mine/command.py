"""Count the candidates of lists.

Prints one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hopefear.commands.base import Command, arg

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Mine(Command[int]):
    list: Any = arg("The list.", positional=True, metavar="LIST", file=True)
    format: str | None = arg("Its format.", default=None, metavar="NAME", shown="seen from the file")

    examples: ClassVar[str] = """
    hopefear mine dev.nbest
    """

    def run(self, session: Session) -> int:
        from hopefear.formats import read_nbest

        session.note("counting")
        return sum(forest.edge_count for forest in read_nbest(self.list, format=self.format))
