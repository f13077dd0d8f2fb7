"""What tests of the report share: a hostile text, and a parser that is strict about pages."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

HOSTILE = '<script>window.hacked=1</script> <img src=x onerror="window.hacked=1"> </script><b>&amp; \u2028 x'
VOID = {"meta", "br", "img", "input", "link", "hr"}


class Strict(HTMLParser):
    """Every element is closed, in order; nothing is fetched; one script of ours."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.scripts: list[str | None] = []
        self.targets: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert len(given) == len(attrs), f"an attribute twice in {tag}"
        assert not any(name.startswith("on") for name in given), f"a handler in {tag}"
        assert not {"src", "srcset", "data", "action"} & set(given), f"{tag} fetches something"
        if tag == "script":
            self.scripts.append(given.get("type"))
        if "id" in given:
            self.ids.append(str(given["id"]))
        if tag == "a":
            self.targets.append(str(given["href"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> within {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(path: Path) -> Strict:
    parser = Strict()
    parser.feed(path.read_text(encoding="utf-8"))
    parser.close()
    assert parser.open == []
    return parser
