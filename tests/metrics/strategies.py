"""Random texts, real texts and pools for the metrics."""

import lzma
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import hopefear as hf
from tests.shared_data import SHARED

# Few, so that n-grams repeat: punctuation, digits, CJK, combining marks, letters whose lower case is longer
WORDS = [
    "a", "b", "the", "The", "few", "1,000.5", "3-4", "U.S.", "don't", "x.", ",", "...", "(b)", "&amp;", "-",
    "Straße", "ΟΔΟΣ", "ὈΔΥΣΣΕΎΣ", "İ", "中文", "日本語", "क्षि", "e\u0301", "é", "👍🏽", "¿que",
    "<skipped>", "a<skipped>b", "!", "b!",
]  # fmt: skip
SPACES = [" ", "  ", "\t", "\u00a0", "\u3000", "\x1f", "\u2028"]

words = st.lists(st.sampled_from(WORDS), max_size=12)


@st.composite
def lines(draw: Any, alphabet: Any = None, max_size: Any = 10, spaces: bool = True) -> Any:
    tokens = draw(st.lists(st.sampled_from(WORDS) if alphabet is None else alphabet, max_size=max_size))
    blank = st.sampled_from(SPACES) if spaces else st.just(" ")
    return "".join(token + draw(blank) for token in tokens)


@st.composite
def corpora(draw: Any, line: Any = None, max_sentences: Any = 5, max_references: Any = 4) -> Any:
    """Hypotheses, and references with some lines missing."""
    line = lines() if line is None else line
    n = draw(st.integers(1, max_sentences))
    r = draw(st.integers(1, max_references))
    hypotheses = draw(st.lists(line, min_size=n, max_size=n))
    references = [draw(st.lists(line, min_size=n, max_size=n)) for _ in range(r)]
    return hypotheses, references


def as_sacrebleu_wants(references: Any) -> Any:
    """Empty references become None, which sacreBLEU skips, unless all references of a line are empty."""
    out = [list(lines) for lines in references]
    for i in range(len(references[0])):
        if all(not (lines[i] or "").strip() for lines in references):
            for lines in out[1:]:
                lines[i] = None
        else:
            for lines in out:
                lines[i] = lines[i] if (lines[i] or "").strip() else None
    return out


def list_pool(lists: Any, references: Any) -> Any:
    """A pool of candidate lists from texts: lists[i] are the candidates of sentence i, references[i] its references."""
    pool = hf.Pool()
    for i, (candidates, refs) in enumerate(zip(lists, references, strict=True)):
        ids = [[pool.vocab.add(word) for word in text.split(" ") if word] for text in candidates]
        k = len(candidates)
        forest = hf.Forest.from_arrays(
            np.array([0, k], np.int32),
            np.zeros(k + 1, np.int32),
            np.zeros(0, np.int32),
            np.cumsum([0, *map(len, ids)], dtype=np.int32),
            np.array([w for words in ids for w in words], np.int32),
            np.zeros((k, 0)),
            pool.vocab,
            pool.features,
        )
        pool.append(str(i), forest, references=refs)
    return pool


def shared_lines(name: Any) -> Any:
    path = SHARED / "data" / name
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")[:-1]


def real_documents(limit: Any) -> Any:
    """Hypotheses and references from the shared data, for parametrize: 1, 3 and 4 references, some of them missing."""
    if SHARED is None:
        return [pytest.param([], [], marks=pytest.mark.skip(reason="shared data is not here"))]
    fisher, urdu = (
        [shared_lines(f"{name}.{i}")[:limit] for i in range(4)]
        for name in ("es-en-fisher/dev.en", "ur-en-indian/raw/dev.en")
    )
    first: dict[Any, Any] = {}  # the first candidate of each list of a real decoder
    for line in shared_lines("es-en-kbest/dev.nbest.xz") if limit else []:
        number, text, *_ = line.split(" ||| ")
        if int(number) >= limit:
            break
        first.setdefault(int(number), text)
    kbest = [shared_lines(f"es-en-kbest/dev.en.{i}") for i in range(4)]
    return [
        pytest.param(fisher[0], fisher[1:2], id="fisher-1"),
        pytest.param(fisher[0], fisher[1:], id="fisher-3"),
        pytest.param(urdu[0], urdu[1:], id="urdu-3-some-missing"),
        pytest.param([line.replace(" the ", " a ") for line in urdu[2]], urdu, id="urdu-4-some-missing"),
        pytest.param(list(first.values()), [[r[i] for i in first] for r in kbest], id="kbest-4"),
    ]
