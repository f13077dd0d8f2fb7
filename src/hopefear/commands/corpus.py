"""Write the parallel text of the demonstration to plain files.

From Young's literal Bible translation of 1862 to plain English (World English Bible): DIR/train.source and
train.target, and for tune, dev and test DIR/PART.source with the references PART.ref.0, .1 and .2. The text comes
from data packages: pip install 'hopefear[demo]'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopefear.commands.shared import WritesFiles

if TYPE_CHECKING:
    from hopefear.runs.session import Session

YOUR_OWN = """\
For your own text you need two files with the same number of lines, the second the translation of the first:
  hopefear build --source train.xx --target train.yy --out model
Hold out a few hundred sentences each for tuning and testing, as whole documents, with one or more references.
"""


@dataclass(frozen=True)
class Verses:
    """How many verses each part has."""

    folder: str
    parts: dict[str, int]

    def record(self) -> dict[str, Any]:
        """The result as plain values."""
        return {"folder": self.folder, "parts": self.parts}

    def __str__(self) -> str:
        return "\n".join(f"{self.folder}/{part}.*\t{lines} verses" for part, lines in self.parts.items())


class Corpus(WritesFiles[Verses]):
    examples = """
    hopefear corpus --out verses
    hopefear build --source verses/train.source --target verses/train.target --out model
    """

    def run(self, session: Session) -> Verses:
        from hopefear.data.verses import write_verses

        verses = Verses(self.out, write_verses(self.out, self.overwrite))
        session.note(YOUR_OWN.rstrip("\n"))
        return verses
