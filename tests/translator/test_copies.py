"""A model that knows no word of a document gives the same bytes."""

from __future__ import annotations

import random
from pathlib import Path
from unicodedata import normalize

import pytest

from hopefear.model.builder import build
from hopefear.model.options import BuildOptions
from hopefear.translator.folder import write_card
from hopefear.translator.translator import Translator
from tests.documents import samples


@pytest.fixture(scope="module")
def copier(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    folder = tmp_path_factory.mktemp("copier")
    rng = random.Random(1)
    words = ["".join(rng.choices("bcdfgklmnpqrstvwxz", k=5)) for _ in range(20)]
    lines = [f"{' '.join(rng.sample(words, 4)).capitalize()} .\n" for _ in range(100)]
    for side in ("de", "en"):
        (folder / side).write_text("".join(lines))
    build([folder / "de"], [folder / "en"], folder / "model", BuildOptions(lm_order=2, lex_frequency=5))
    write_card(folder / "model", {"name": "copier", "source": "de", "target": "en"})
    return Translator(folder / "model")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.html", samples.PAGE),
        ("page.md", samples.MARKDOWN),
        ("film.srt", samples.SRT),
        ("film.vtt", samples.VTT),
        ("values.json", samples.JSON),
        ("text.txt", "Ein Mann & ein Hund: 12\u00a0km, 3\u2009€ (z. B. %s bei IKEA).\r\n\tund {{x}} — ein Kind\r\n"),
        ("page.md", "Wort\n: Was es heißt.[^1] Noch *ein* Satz <b>hier </b><br/>und da.\n\n[^1]: Eine Fußnote.\n"),
        ("film.srt", "1\n00:00:01,000 --> 00:00:02,000 X1:1 X2:2\n{\\an8}♪ Ein Lied ♪\n[MUSIK]\n"),
    ],
)
def test_the_same_bytes(copier: Translator, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "out").mkdir()
    written = copier.document(tmp_path / name, tmp_path / "out")
    assert Path(written).read_bytes() == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "h\u00fcnd",
        "der h\u00fcnd, \u00dcmut w\u00f6rt.",
        "\ud55c\uad6d\uc5b4 x",
        "a\u030a\u0302b cd\u0308",
        "x\u200by zo\u00e9\u00adb",
    ],
)
def test_decomposed_letters_are_copied_once(copier: Translator, text: str) -> None:
    """Accents as characters of their own made the end of a word come twice."""
    for form in ("NFC", "NFD"):
        copied = normalize("NFC", copier(normalize(form, text)))
        assert [c for c in copied if c.isalpha()] == [c for c in normalize("NFC", text) if c.isalpha()], form
