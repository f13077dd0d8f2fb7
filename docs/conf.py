"""The site: `./run docs` makes it, with Sphinx. The contents below are the whole navigation."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from hopefear import __version__  # the installed package: reference looks into src/, which has no compiled core

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging"))

import gallery  # noqa: E402
import reference  # noqa: E402

project = "hopefear"
author = "The hopefear maintainers"
copyright = author
version = release = __version__

CONTENTS = {
    "Start": ["install", "why", "whats-new", "faq"],
    "Tutorials": ["tour", "create", "compare"],
    "How to: weights": [
        "prepare-data",
        "weigh",
        "production",
        "neural",
        "combine",
        "outer-loop",
        "speech",
        "report",
        "diagnosis",
    ],
    "How to: translation": [
        "translator",
        "documents",
        "serve",
        "corrections",
        "build",
        "training",
        "import",
        "cluster",
        "plugins",
    ],
    "Examples": ["case-studies", "gallery", "notebooks"],
    "Explanation": ["hope-and-fear", "which-trainer", "verdict", "reproducibility", "architecture", "security"],
    "Reference": [
        "commands",
        "cli",
        "api",
        "formats",
        "runs",
        "model-directory",
        "trainers",
        "metrics",
        "forests",
        "decoder",
        "language-model",
        "joint-model",
        "blocks",
        "glossary",
    ],
    "Research notes": [
        "papers",
        "audit",
        "notation",
        "quality",
        "evidence",
        "block-results",
        "benchmarks",
        "scaling",
        "reliability",
    ],
    "Contributing": ["writing"],
}
MADE = {"cli": reference.commands_page, "api": reference.api_page}  # the rest of a page, from the program itself

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["_static", "decisions"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
highlight_language = "none"
smartquotes = False  # options begin with two hyphens
nitpicky = False

html_theme = "furo"
html_title = "hopefear"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # it would fetch the pages, which a browser denies to a site that is opened from disk
html_extra_path = [str(gallery.WORK.parent / "site")]


def complete(app: Any, name: str, source: list[str]) -> None:
    """Add what does not stand in the page: the contents, what comes from the program, links to the gallery."""
    if name == "index":
        source[0] += "".join(
            f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n"
            for title, pages in CONTENTS.items()
        )
    elif name in MADE:
        source[0] += f"\n\n{MADE[name]()}"
    source[0] = re.sub(r"\[([^]]+)\]\((gallery/[^)]+\.html)\)", r'<a href="\2">\1</a>', source[0])


def literal(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with ``code``, examples and a list of options: nothing else in them is markup."""
    text: list[str] = []
    indent = 0
    listed = example = False
    for line in lines:
        listed = listed or line == "Options:"  # two blanks, name, colon, text; more blanks where a text goes on
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if listed:
            if found := re.match(r"  (\w+): (.*)", line):
                text.append(f"- ``{found[1]}``: {plain(found[2])}")
            elif line.strip() and text and text[-1].startswith("- "):
                text[-1] += f" {plain(line.strip())}"
            else:
                text += ["", line]
            continue
        if line.strip():
            before, indent = indent, len(line) - len(line.lstrip())
            bullet = bool(text) and text[-1].lstrip().startswith("- ")
            if text and text[-1].strip() and (indent < before or (indent > before and not bullet)):
                text.append("")
        text.append(line if example else plain(line))
    lines[:] = text


def plain(line: str) -> str:
    """A line in which only ``code`` is markup."""
    words = re.split("(:\\w+:`[^`]*`|``.*?``)", line)
    return "".join(word if word.endswith("`") else re.sub(r"([*_|])", r"\\\1", word) for word in words)


def setup(app: Any) -> None:
    gallery.make(gallery.WORK.parent / "site" / "gallery")
    app.connect("source-read", complete)
    app.connect("autodoc-process-docstring", literal)
