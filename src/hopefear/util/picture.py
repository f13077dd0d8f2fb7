"""Bars as SVG, for notebooks without matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from hopefear.util.files import PathLike, atomic_write


@dataclass(frozen=True)
class Picture:
    """A picture that notebooks show; ``str()`` is its SVG."""

    svg: str

    def __str__(self) -> str:
        return self.svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: PathLike) -> Path:
        """Write the SVG to a file."""
        with atomic_write(path) as file:
            file.write(self.svg)
        return Path(path)


def bars(names: Sequence[str], values: Sequence[float]) -> str:
    """Bars from 0 to both sides."""
    width, label, row = 560, 160, 22
    scale = (width - label) / 2 / max((abs(value) for value in values), default=1.0)
    middle = label + (width - label) / 2
    parts = []
    for number, (name, value) in enumerate(zip(names, values, strict=True)):
        y = row * number
        length = abs(value) * scale
        x = middle if value >= 0 else middle - length
        colour = "#2a6fdb" if value >= 0 else "#c2410c"
        title = f"<title>{escape(name)}: {value:.6g}</title>"
        parts.append(
            f'<text x="{label - 8}" y="{y + 15}" text-anchor="end" fill="currentColor">{escape(name)}</text>'
            f'<rect x="{x:.1f}" y="{y + 4}" width="{length:.1f}" height="{row - 8}" fill="{colour}">{title}</rect>'
        )
    height = row * len(names) + 4
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="weights"'
    return f'{head} font-family="system-ui,sans-serif" font-size="12">{"".join(parts)}</svg>'
