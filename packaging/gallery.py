"""The gallery of the documentation: real pages that the commands write, made when the site is built (docs/conf.py).

They are kept in build/gallery/ and made again when the version or a command changes.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "gallery"
LISTS = "--nbest data/nbest.txt --refs data/ref.0 data/ref.1 data/ref.2 --initial data/initial.txt"
#: A page of the site, the commands that make it, and what they call it.
PAGES = {
    "two-runs.html": (
        [
            "hopefear example --out data --overwrite",
            f"hopefear tune {LISTS} --trainer kbmira --replicates 3 --out kbmira --overwrite",
            f"hopefear tune {LISTS} --trainer mert --replicates 3 --out mert --overwrite",
            "hopefear report kbmira mert --out two-runs.html",
        ],
        "two-runs.html",
    ),
    "fused-search.html": (
        [
            f"python {ROOT}/bench/weigh_examples.py write .",
            "hopefear weigh bm25.run dense.run cross.run --qrels qrels.txt --metric ndcg@10 --out fused --overwrite",
        ],
        "fused/weigh.html",
    ),
}
log = logging.getLogger("hopefear.gallery")


def made(page: str) -> Path:
    """The file of a page; its commands are run unless they were."""
    commands, name = PAGES[page]
    folder = WORK / page.removesuffix(".html")
    stamp = folder / "commands.txt"
    text = "\n".join([_version(), *commands])
    if not (folder / name).exists() or not stamp.exists() or stamp.read_text() != text:
        folder.mkdir(parents=True, exist_ok=True)
        for command in commands:
            log.info("%s", command)
            program, *words = command.split()
            subprocess.run(
                [Path(sys.executable).parent / program, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL
            )
        stamp.write_text(text)
    return folder / name


def _version() -> str:
    import hopefear

    return hopefear.__version__


def make(folder: Path) -> None:
    """All pages, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        shutil.copy(made(page), folder / page)
