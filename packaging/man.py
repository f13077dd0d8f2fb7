"""Manual pages of all commands, made from the same words as --help: python packaging/man.py DIRECTORY

Needs click and rich, but not the compiled core, so that it can run before a wheel is built, which takes the pages in
build/man along.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from hopefear import __version__, commands  # noqa: E402
from hopefear.cli.main import EXAMPLES, cli  # noqa: E402


def roff(text: str) -> str:
    """Text as it is: no word of it is a request or an escape."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def paragraphs(text: str) -> str:
    return "\n.PP\n".join(roff(" ".join(part.split())) for part in text.split("\n\n"))


def terms(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f".TP\n.B {roff(term)}\n{roff(' '.join(text.split()))}" for term, text in rows)


def literal(text: str) -> str:
    return f".nf\n{roff(text)}\n.fi"


def page(name: str, line: str, sections: dict[str, str]) -> str:
    """One manual page; ``line`` says what it is about."""
    head = f'.TH {roff(name).upper()} 1 "" "hopefear {__version__}" "hopefear"\n.SH NAME\n{roff(f"{name} - {line}")}\n'
    return head + "".join(f".SH {title}\n{text}\n" for title, text in sections.items() if text)


def command_page(name: str) -> str:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    ctx = click.Context(command, info_name=f"hopefear {name}")
    records = [record for param in command.get_params(ctx) if (record := param.get_help_record(ctx))]
    return page(
        f"hopefear-{name}",
        commands.summary(name).rstrip("."),
        {
            "SYNOPSIS": f".B hopefear {name}\n{roff(' '.join(command.collect_usage_pieces(ctx)))}",
            "DESCRIPTION": paragraphs(command.help or ""),
            "OPTIONS": terms(records),
            "EXAMPLES": literal(getattr(command, "examples", "")),
            "SEE ALSO": ".BR hopefear (1)",
        },
    )


def main_page() -> str:
    listed = {
        title: [(name, commands.summary(name)) for name in names] for title, names in commands.by_section().items()
    }
    sections = "\n".join(f".SS {roff(title)}\n{terms(rows)}" for title, rows in listed.items())
    see = ", ".join(f"hopefear-{name}(1)" for name in commands.names())
    return page(
        "hopefear",
        "learn the weights of linear translation models",
        {
            "SYNOPSIS": ".B hopefear\nCOMMAND [OPTIONS]",
            "DESCRIPTION": paragraphs(cli.help or ""),
            "COMMANDS": sections,
            "EXIT STATUS": "0: done; 2: bad input or usage; 130: interrupted; 1: anything else.",
            "EXAMPLES": literal(EXAMPLES),
            "SEE ALSO": roff(see),
        },
    )


def write(folder: Path) -> None:
    """All pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"hopefear": main_page(), **{f"hopefear-{name}": command_page(name) for name in commands.names()}}
    for name, text in pages.items():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]))
