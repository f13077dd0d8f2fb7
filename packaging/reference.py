"""Reference pages made from the program when the site is built (a hook of MkDocs): all options, all public names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from hopefear import _MODULES, commands  # noqa: E402
from hopefear.commands.base import about, default_text, flag_of, many, options, required  # noqa: E402


def commands_page() -> str:
    """Every command with its help, its options and its examples."""
    lines = []
    for section, names in commands.by_section().items():
        lines += [f"## {section}", ""]
        for name in names:
            lines += command_section(name)
    return "\n".join(lines)


def command_section(name: str) -> list[str]:
    """One command."""
    command = commands.find(name)
    text = (command.__doc__ or "").strip()
    lines = [f"### {name}", "", text.replace("<", "&lt;"), ""]
    lines += ["| option | |", "|---|---|"]
    for each in options(command):
        said = about(each)
        if said.python:
            continue
        word = said.metavar or ("FILE" if said.file else each.name.upper())
        value = "" if each.type == "bool" else f" {word}{' ...' if many(each) else ''}"
        flag = word if said.positional else f"{flag_of(each.name)}{value}"
        choices = f" One of {', '.join(said.choices)}." if said.choices else ""
        need = " Required." if required(each) else ""
        help = f"{said.help}{choices}{default_text(each)}{need}".replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| `{flag.replace('|', chr(92) + '|')}` | {help} |")
    examples = "\n".join(line.strip() for line in command.examples.strip().splitlines())
    return [*lines, "", "```sh", examples, "```", ""]


def api_page() -> str:
    """Every public name, by module."""
    lines = []
    for module, names in _MODULES.items():
        if module == "hopefear._core":
            continue
        for name in names.split():
            lines += [f"::: {module}.{name}", ""]
    return "\n".join(lines)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Append what is made to the two pages."""
    made = {"cli.md": commands_page, "api.md": api_page}.get(page.file.src_uri)
    return f"{markdown}\n\n{made()}" if made is not None else markdown
