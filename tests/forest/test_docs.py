import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "forests.md"


def test_the_examples_of_the_page_run_and_say_what_it_says() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    best = names["best"]
    assert (best.text, best.score, best.features) == ("the house", -2.5, {"lm": -1.0, "tm": -1.5})
    assert names["derivation"].text == "the old home"
    assert names["hope"].text == "the old house"
    assert names["exact"] is True
