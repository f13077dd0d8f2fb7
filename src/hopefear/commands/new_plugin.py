"""Make a package with a new trainer, metric and command.

Writes hopefear-NAME/ with working examples, tests that run hopefear's own checks on them, and a README. Change the
examples, install the package with pip, and its trainer and metric go by NAME everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.commands.base import Command, arg
from hopefear.errors import OptionError

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class NewPlugin(Command[str]):
    name: str = arg("The name: lower-case letters, digits and dashes.", positional=True, kw_only=False, metavar="NAME")
    out: str | None = arg("The folder to create.", default=None, metavar="DIR", shown="hopefear-NAME")

    examples = """
    hopefear new-plugin simplex
    cd hopefear-simplex && pip install -e '.[test]' && pytest
    """

    def check(self) -> None:
        from hopefear.commands import exists
        from hopefear.metrics import METRICS
        from hopefear.trainers import registry

        words = self.name.split("-")
        if not all(word.isascii() and word.isalnum() and word.islower() for word in words) or not words[0][0].isalpha():
            raise OptionError(f"{self.name!r} is not a valid name: use lower-case letters, digits and dashes.")
        if exists(self.name):
            raise OptionError(f"{self.name} is already a command. Choose another name.")
        if self.name in METRICS or any(trainer.name == self.name for trainer in registry.TRAINERS):
            raise OptionError(f"{self.name} is a trainer or metric already. Choose another name.")

    def run(self, session: Session) -> str:
        from hopefear.data.plugin import write_plugin

        return str(write_plugin(self.name, self.out or f"hopefear-{self.name}"))

    def printed(self, result: str) -> str:
        return f"{result}: change hopefear_{self.name.replace('-', '_')}/, then pip install -e '{result}[test]'"
