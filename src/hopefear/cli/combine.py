"""``hopefear combine``: lists of several systems become one."""

from __future__ import annotations

from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, Positional

PARAMS = [
    Positional(["lists"], metavar="LIST LIST...", type=InputFile(), nargs=-1, required=True),
    click.Option(["--out"], metavar="LIST", required=True, help="The combined list."),
    Many(["--names"], metavar="NAME", help="What the systems are called. [s1, s2, ...]"),
    Many(
        ["--weights"], metavar="NAME=FILE", help="What a system weighs its features with: adds its score as a column."
    ),
    click.Option(["--floors"], type=InputFile(), help="Guesses for missing scores that other lists taught. [learnt]"),
    click.Option(["--save-floors"], metavar="FILE", help="Write what was learnt about missing scores."),
]

EXAMPLES = """
hopefear combine neural.jsonl hiero.jsonl --names neural hiero --out both.jsonl
hopefear combine neural.jsonl hiero.nbest --names n h --weights h=run/weights.txt --out both.jsonl
hopefear combine n.dev.jsonl h.dev.jsonl --names n h --out dev.jsonl --save-floors floors.json
hopefear combine n.test.jsonl h.test.jsonl --names n h --out test.jsonl --floors floors.json
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, seed: int, **options: Any) -> None:
    """Make one list of the lists of several systems.

    The same string stands once, with the features of all systems side by side, a feature that says which system did
    not propose it, its rank in each list, and the number of systems that did. What a system would have said of the
    candidates of others is guessed from what it said of its own (docs/neural.md).
    """
    from hopefear.decode.combination import CombineConfig, combine
    from hopefear.runs import Session

    with console.listener() as listen:
        columns = combine(CombineConfig(**options), Session(listen))
    console.note(f"columns: {' '.join(columns)}")
