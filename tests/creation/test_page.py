"""The page shows text of others as text, and what was left out as left out."""

from pathlib import Path
from typing import Any

from hopefear.creation import Created
from hopefear.creation.page import report_page

EVIL = "<script>alert(1)</script>&\"'"


def stages() -> dict[str, dict[str, Any]]:
    other = {"bleu": 1.0, "chrf": 2.0, "gain": 3.0, "low": -1.0, "high": 4.0, "p": 0.5}
    sentence = {"source": EVIL, "translation": EVIL, "untrained": EVIL, "references": [EVIL, EVIL], "score": 0.25}
    sample = {"source": EVIL, "target": EVIL, "origin": EVIL}
    return {
        "data": {
            "pairs": {"read": 9, "kept": 5, "dropped": {"empty": 4}, "repaired": {"tags": 1}},
            "sentences": {"train": 3, "dev": 1, "test": 1},
            "near_copies": 2,
            "dev_text": {EVIL: 7},
            "target_text": {"read": 0, "kept": 0, "held_out": 0},
            "documents": {"test": 1},
            "train": {"domains": [EVIL], "pairs": [3]},
            "samples": {"empty": [sample], "tags": [sample]},
            "seconds": 1.0,
        },
        "learn": {"learnt": False, "why": EVIL, "seconds": 1.0},
        "choose": {"scale": None, "bleu": {"best score": 1.0}, "sentences": 1, "seconds": 1.0},
        "test": {
            "bleu": 1.0,
            "chrf": 1.0,
            "low": 0.5,
            "high": 1.5,
            "sentences": 1,
            "signature": EVIL,
            "against": {"untrained": other, "copy": other},
            "examples": {"some": [sentence], "best": [sentence], "worst": [sentence]},
            "unknown": {"words": 2, "unknown": 1, "frequent": [[EVIL, 1]]},
            "seconds": 1.0,
        },
    }


def page(**more: Any) -> str:
    made = Created(Path("x"), {}, {}, {"mbr": EVIL}, 1.0, EVIL)
    return report_page(EVIL, "de", "en", made, {**stages(), **more})


def test_text_of_others_is_text() -> None:
    assert "<script>alert" not in page()
    assert page().count("&lt;script&gt;alert") > 12


def test_the_curve() -> None:
    assert "--no-curve" in page()
    points = [{"pairs": n, "bleu": b} for n, b in ((1, 10.0), (2, 12.0), (4, 14.5))]
    assert "about +2.4 BLEU" in page(curve={"points": points, "twice": 2.4, "sentences": 1, "seconds": 1.0})
    assert "would help little" in page(curve={"points": points, "twice": 0.0, "sentences": 1, "seconds": 1.0})


def test_development_text() -> None:
    assert "7 pairs for the final model" not in page()
    made = Created(Path("x"), {}, {}, {"dev_text": True}, 1.0, EVIL)
    assert "7 pairs for the final model" in report_page(EVIL, "de", "en", made, stages())
