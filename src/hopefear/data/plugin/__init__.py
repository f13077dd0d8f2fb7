"""The plug-in that ``hopefear new-plugin`` writes. The other files of this folder are its templates."""

from __future__ import annotations

from pathlib import Path

from hopefear.errors import InputError
from hopefear.util.files import PathLike, atomic_write

PLACES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "package.py": "hopefear_@name@/__init__.py",
    "trainer.py": "hopefear_@name@/trainer.py",
    "metric.py": "hopefear_@name@/metric.py",
    "command.py": "hopefear_@name@/command.py",
    "test_trainer.py": "tests/test_trainer.py",
    "test_metric.py": "tests/test_metric.py",
}


def write_plugin(name: str, out: PathLike) -> Path:
    """Write the package into a new folder."""
    folder = Path(out)
    if folder.exists():
        raise InputError(f"{folder}: already exists. Remove it, or choose another name")
    words = name.split("-")
    values = {"@dashed@": name, "@name@": "_".join(words), "@Class@": "".join(word.capitalize() for word in words)}

    def filled(text: str) -> str:
        for sign, value in values.items():
            text = text.replace(sign, value)
        return text

    for template, place in PLACES.items():
        path = folder / filled(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(filled(Path(__file__).with_name(f"{template}.txt").read_text(encoding="utf-8")))
    return folder
