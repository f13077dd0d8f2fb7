"""Reference pages made from the program when the site is built (docs/conf.py): all options, all public names."""

from __future__ import annotations

import sys
from dataclasses import Field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

import hopefear  # noqa: E402
from hopefear import _MODULES, commands  # noqa: E402
from hopefear.commands.base import about, default_text, flag_of, many, options, placeholder, required  # noqa: E402


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
        value = "" if each.type == "bool" else f" {value_of(each)}{' ...' if many(each) else ''}"
        flag = placeholder(each) if said.positional else f"{flag_of(each.name)}{value}"
        need = " Required." if required(each) else ""
        help = f"{said.help}{default_text(each)}{need}".replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| `{flag.replace('|', chr(92) + '|')}` | {help} |")
    examples = "\n".join(line.strip() for line in command.examples.strip().splitlines())
    return [*lines, "", "```sh", examples, "```", ""]


def value_of(option: Field[Any]) -> str:
    """The value of an option, named as in its help."""
    declared, kind = about(option), str(option.type)
    if declared.choices:
        return f"[{'|'.join(declared.choices)}]"
    whole = "N" if kind.startswith("int") else "NUMBER" if kind.startswith("float") else "TEXT"
    return declared.metavar or ("FILE" if declared.file else whole)


#: Sections of the page, and the packages whose names they have.
SECTIONS = {
    "Commands as functions": ("api",),
    "Translators": ("translator",),
    "Weights in production": ("reranker",),
    "Trainers": ("trainers", "train"),
    "Metrics": ("metrics", "evaluation"),
    "Lists, forests, files": ("_core", "formats"),
    "Models and decoders": ("model", "decode"),
    "Everything else": (),
}


def api_page() -> str:
    """Every public name."""
    known = {package: title for title, packages in SECTIONS.items() for package in packages}
    names: dict[str, list[str]] = {title: [] for title in SECTIONS}
    for module, some in _MODULES.items():
        names[known.get(module.split(".")[1], "Everything else")] += some.split()
    lines = []
    for title, section in names.items():
        lines += [f"## {title}", "", "```{eval-rst}"]
        for name in section:
            kind = "class" if isinstance(getattr(hopefear, name), type) else "function"
            lines += [f".. auto{kind}:: hopefear.{name}", ""]
        lines += ["```", ""]
    return "\n".join(lines)
