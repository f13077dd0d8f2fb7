"""``hopefear convert``: lists, forests, lattices and weights from one format to another."""

from __future__ import annotations

from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, Positional

PARAMS = [
    Positional(["input"], type=InputFile(folders=True), metavar="IN", required=True),
    Positional(["out"], metavar="OUT", required=True),
    click.Option(["--from", "source"], metavar="FORMAT", help="What IN is. [seen from its beginning]"),
    click.Option(["--to", "target"], metavar="FORMAT", help="What OUT shall be. [by its name; else lists stay lists]"),
    Many(["--refs"], type=InputFile(), help="References to put in, one file each."),
    click.Option(["--sources"], type=InputFile(), help="Source sentences to put in."),
    click.Option(
        ["--share-prefixes"], is_flag=True, help="Make lattices of lists: candidates that begin alike share it."
    ),
]

EXAMPLES = """
hopefear convert gen.out dev.jsonl                        # what fairseq-generate printed
hopefear convert hyps.txt dev.nbest --from flat:10        # ten lines per sentence
hopefear convert lat.gz dev.forests --from kaldi:words.txt
hopefear convert dev.nbest dev.forests --share-prefixes
hopefear convert moses.ini weights.txt --from weights --to weights
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, seed: int, jobs: int, **options: Any) -> None:
    """Convert lists, forests, lattices and weights from one format to another.

    Read are the lists moses, cdec, joshua, marian, travatar[:STATISTICS], jsonl, json, fairseq, sockeye, opennmt,
    tokens (vLLM, Hugging Face), flat[:N], espnet, nemo[:N], icefall, kaldi-nbest and mert[:SCORES]; the forests native,
    moses, cdec, travatar, cicada and plf; the lattices kaldi[:SYMBOLS], openfst[:SYMBOLS] and slf; and weights. Written
    are the lists moses, cdec and jsonl, all forests and lattices, and weights. docs/formats.md describes them.
    """
    from hopefear.formats.convert import ConvertConfig, convert

    target = convert(ConvertConfig(**options))
    console.note(f"{options['out']}: {target}")
