"""Pack a translator into one file, which every command accepts in its place.

The file is compressed, has a checksum for everything in it, and contains no code. The first command that opens it
unpacks it into $HOPEFEAR_CACHE, or ~/.cache/hopefear if that is not set. Any model directory can be packed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.commands.base import Command, arg
from hopefear.errors import InputError

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Pack(Command[str]):
    translator: str = arg(
        "The translator.", positional=True, file=True, folder=True, metavar="TRANSLATOR", kw_only=False
    )
    out: str = arg("The file to create, such as translator.hft.", positional=True, metavar="FILE", kw_only=False)
    prune: float | None = arg(
        "Drop rules seen once, and rules with nonterminals whose count is at most C; 0.1 works well.",
        default=None,
        least=0,
        metavar="C",
        shown="all rules",
    )
    round: float | None = arg(
        "Round log probabilities to multiples of X; 0.0625 halves the file.",
        default=None,
        least=0.001,
        metavar="X",
        shown="exact",
    )

    examples = """
    hopefear pack translator translator.hft
    hopefear pack translator small.hft --prune 0.1 --round 0.0625
    hopefear translate small.hft < source > target
    """
    python = """
    >>> path = hf.pack("translator", "translator.hft", round=0.0625)
    >>> hf.Translator(path)("Das Haus ist wichtig.")
    'The house is important.'
    """

    def check(self) -> None:
        from pathlib import Path

        if Path(self.out).is_file() and Path(self.out).suffix != ".hft":
            raise InputError(f"{self.out}: already exists, and its name does not end in .hft. Choose another name")

    def run(self, session: Session) -> str:
        import tempfile
        from pathlib import Path

        from hopefear.model.packed import pack
        from hopefear.model.shrinking import shrink

        if self.prune is None and self.round is None:
            pack(self.translator, self.out, self.jobs)
        else:
            with tempfile.TemporaryDirectory() as folder:
                record = shrink(self.translator, Path(folder) / "model", self.prune, self.round, self.jobs)
                pack(Path(folder) / "model", self.out, self.jobs)
            before, after = record["rules"]["before"], record["rules"]["after"]
            session.note(f"{after:,} of {before:,} rules ({after / max(1, before):.0%})")
        session.note(f"{self.out}: {Path(self.out).stat().st_size / 1e6:,.1f} MB")
        return self.out
