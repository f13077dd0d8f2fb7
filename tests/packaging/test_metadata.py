"""One version, and metadata that agrees with the rest."""

import re
import tomllib
from pathlib import Path

import hopefear

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["scikit-build"]["metadata"]["version"]["input"] == "src/hopefear/__init__.py"
    assert re.search(
        rf"^version: {re.escape(hopefear.__version__)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE
    )
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    assert "load_file_regex" in recipe
    assert hopefear.__version__ not in recipe


def test_conda_needs_what_pip_needs() -> None:
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    for requirement in [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]:
        name, least = requirement.split(">=")
        assert f"{name} >={least}" in recipe or name == "sil-thot", requirement
