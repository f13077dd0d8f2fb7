"""Minimum Bayes risk on a candidate list beside public packages: the same choice, and the CPU time of each.

    pip install fastchrf
    python bench/mbr.py dev.jsonl --sentences 40

fastchrf (Vamvas and Sennrich 2024) has chrF pair by pair, in Rust. The package mbrs calls sacreBLEU's sentence scores
pair by pair for BLEU and TER: so sacreBLEU stands for it here. All candidates are equally probable.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable

import numpy as np
import sacrebleu

import hopefear as hf
from hopefear._core import expected_gains
from hopefear.decode.consensus import EXACT


def seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def pairwise(score: Callable[[str, list[str]], float], lists: list[list[str]]) -> list[list[float]]:
    return [[sum(score(text, [other]) for other in texts) / len(texts) for text in texts] for texts in lists]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list")
    parser.add_argument("--sentences", type=int, default=40)
    options = parser.parse_args()
    pool = hf.read_nbest(options.list)[: options.sentences]
    lists = [[pool.text(i, j) for j in range(pool[i].edge_count)] for i in range(len(pool))]
    begin = pool.row_begin()
    bleu = sacrebleu.BLEU(effective_order=True, tokenize="none", force=True)
    ter = sacrebleu.TER()
    others: dict[str, Callable[[], list[list[float]]]] = {
        "bleu": lambda: pairwise(lambda text, refs: bleu.sentence_score(text, refs).score, lists),
        "ter": lambda: pairwise(lambda text, refs: 100 - ter.sentence_score(text, refs).score, lists),
    }
    try:
        from fastchrf import pairwise_chrf

        others["chrf"] = lambda: [np.mean(pairwise_chrf([texts], [texts])[0], axis=1).tolist() for texts in lists]
    except ImportError:
        pass
    for metric, run in others.items():
        start = seconds()
        theirs = run()
        middle = seconds()
        gains = expected_gains(pool, metric, None, 1.0, EXACT)
        ours = seconds() - middle
        worst = max(float(np.abs(100 * gains[begin[i] : begin[i + 1]] - own).max()) for i, own in enumerate(theirs))
        same = sum(int(np.argmax(own)) == int(gains[begin[i] : begin[i + 1]].argmax()) for i, own in enumerate(theirs))
        pairs = sum(len(texts) ** 2 for texts in lists)
        print(
            f"{metric}: {pairs} pairs, theirs {middle - start:.2f} s, ours {ours:.3f} s, "
            f"largest difference {worst:.1e}, same choice in {same} of {len(lists)} sentences"
        )


if __name__ == "__main__":
    main()
