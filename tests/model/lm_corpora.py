"""Random small corpora and models for the tests of the language model."""

import random
from typing import Any


def zipf_sentences(seed: Any, lines: Any = 60, types: Any = 12, longest: Any = 9) -> Any:
    """Sentences over w0, w1, ... with frequencies that fall, so that all counts of counts occur."""
    generator = random.Random(seed)
    words = [f"w{i}" for i in range(types)]
    weights = [1 / (i + 1) for i in range(types)]
    return [generator.choices(words, weights, k=generator.randint(0, longest)) for _ in range(lines)]


def backoff_arpa(seed: Any, order: Any = 4, types: Any = 7, rate: float = 0.5, closed: bool = True) -> Any:
    """A random model, not a distribution: {n-gram: log10 p}, {n-gram: log10 b}.

    Some n-grams have back-off weights though nothing follows them; closed=False leaves out beginnings and ends of
    n-grams, as SRILM does."""
    generator = random.Random(seed)
    words = ["<unk>", "</s>", *[f"w{i}" for i in range(types)]]
    p = {(w,): -generator.uniform(1.6, 4) for w in ["<s>", *words]}
    b = {}
    last = list(p)
    for n in range(2, order + 1):
        grams = []
        for context in last:
            if context[-1] in ("</s>", "w0"):
                continue
            for word in words:
                gram = (*context, word)
                if generator.random() < rate / n and (gram[1:] in p or not closed):
                    p[gram] = -generator.uniform(1.6, 4)
                    grams.append(gram)
        last = grams
    for gram in p:
        if len(gram) < order and gram[-1] != "</s>" and generator.random() < 0.8:
            b[gram] = generator.uniform(-2, 0.3)
    b.pop(("w0",), None)  # nothing follows w0, and it has no back-off weight, but n-grams that end in it may have one
    if not closed:
        for gram in list(p):
            if 1 < len(gram) < order and generator.random() < 0.3:
                del p[gram]
                b.pop(gram, None)
    return p, b


def arpa_text(p: Any, b: Any, order: Any) -> Any:
    lines = ["\\data\\"]
    by_order = [[g for g in p if len(g) == n] for n in range(1, order + 1)]
    lines += [f"ngram {n}={len(grams)}" for n, grams in enumerate(by_order, 1)]
    for n, grams in enumerate(by_order, 1):
        lines += ["", f"\\{n}-grams:"]
        for gram in grams:
            backoff = f"\t{b[gram]!r}" if gram in b else ""
            lines.append(f"{p[gram]!r}\t{' '.join(gram)}{backoff}")
    return "\n".join([*lines, "", "\\end\\", ""])
