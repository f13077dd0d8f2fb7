"""Write real candidate lists to try the other commands on.

300 Bible verses in the literal English of 1862, 30 translations of each into plain English with their features, three
references, and weights set by hand: DIR/nbest.txt, source.txt, ref.0 to ref.2 and initial.txt. Everything is in the
public domain and comes with the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.commands.generate import Files
from hopefear.commands.shared import WritesFiles

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Example(WritesFiles[Files]):
    examples = """
    hopefear example --out data
    """

    def run(self, session: Session) -> Files:
        from hopefear.data.examples import write_lists

        return Files([str(path) for path in write_lists(self.out, self.overwrite).values()])
