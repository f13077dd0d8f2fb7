"""Convert lists, forests, lattices and weights from one format to another.

Reads the lists moses, cdec, joshua, marian, travatar[:STATISTICS], jsonl, json, fairseq, sockeye, opennmt,
tokens (vLLM, Hugging Face), flat[:N], espnet, nemo[:N], icefall, kaldi-nbest and mert[:SCORES]; the forests native,
moses, cdec, travatar, cicada and plf; the lattices kaldi[:SYMBOLS], openfst[:SYMBOLS] and slf; and weights. Writes
the lists moses, cdec and jsonl, all forests and lattices, and weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopefear.commands.base import Command, arg

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.runs.session import Session


class Convert(Command[None]):
    input: Any = arg("The file to read.", positional=True, kw_only=False, metavar="IN", file=True, folder=True)
    out: Any = arg("The file to write.", positional=True, kw_only=False, metavar="OUT")
    from_: str | None = arg("Format of IN.", default=None, metavar="FORMAT", shown="detected")
    to: str | None = arg("Format of OUT.", default=None, metavar="FORMAT", shown="by its ending, else as IN")
    refs: Sequence[Any] = arg("References to add, one file each.", default=(), file=True)
    sources: Any = arg("Source sentences to add.", default=None, file=True)
    share_prefixes: bool = arg("Turn lists into lattices: candidates share their common beginnings.", default=False)

    examples = """
    hopefear convert gen.out dev.jsonl                        # what fairseq-generate printed
    hopefear convert hyps.txt dev.nbest --from flat:10        # ten lines per sentence
    hopefear convert lat.gz dev.forests --from kaldi:words.txt
    hopefear convert dev.nbest dev.forests --share-prefixes
    hopefear convert moses.ini weights.txt --from weights --to weights
    """
    python = """
    >>> hf.convert("data/nbest.txt", "dev.jsonl", refs=["data/ref.0"], sources="data/source.txt")
    >>> hf.read_nbest("dev.jsonl").references(0)
    ["elimelech , naomi 's husband , died ; and she was left , and her two sons ."]
    """

    def run(self, session: Session) -> None:
        from hopefear.commands.candidates import warn_of_references
        from hopefear.formats.convert import convert

        def listen(pool: Pool) -> None:
            if self.refs:
                warn_of_references(pool, self.refs, session)

        more: dict[str, Any] = {"refs": self.refs, "sources": self.sources, "share_prefixes": self.share_prefixes}
        written = convert(self.input, self.out, self.from_, self.to, **more, listen=listen)
        session.note(f"{self.out}: {written}")
