"""Another process that holds a journal."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOLD = """
import sys
from hopefear.learning.journal import Journal
journal = Journal(sys.argv[1])
journal.hold()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(folder: Path) -> Iterator[None]:
    """Within it, another process writes to the journal in this folder."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == "held\n"
        yield
        process.stdin.close()
