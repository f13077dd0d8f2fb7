"""How many candidates per second and core can be counted? hopefear against sacreBLEU, in one run.

python bench/metrics.py [--json] [--sentences N] [--candidates K]

Seeded lists of K candidates of 25 words for N sentences with 4 references. CPU seconds of one thread;
sacreBLEU counts a part of the candidates, with what it knows of the references computed once per sentence.
"""

import argparse
import json
import random
import time

import numpy as np
import sacrebleu

import hopefear as hf

LENGTH, REFERENCES, VOCABULARY = 25, 4, 5000


def noisy(words, rng, edits):
    words = list(words)
    for _ in range(edits):
        i = rng.randrange(len(words))
        match rng.randrange(4):
            case 0:
                words[i] = word(rng)
            case 1:
                words.insert(i, word(rng))
            case 2 if len(words) > 1:
                del words[i]
            case _:  # move a block
                block = words[i : i + 3]
                del words[i : i + 3]
                at = rng.randrange(len(words) + 1)
                words[at:at] = block
    return words


def word(rng):
    """Frequent words are short, as in language."""
    rank = int(VOCABULARY ** rng.random())
    return "".join(chr(97 + (rank * 7919 >> 3 * k) % 26) for k in range(1 + len(str(rank)) + rank % 4))


def lists(sentences, candidates, seed=1):
    rng = random.Random(seed)
    hyps, refs = [], []
    for _ in range(sentences):
        base = [word(rng) for _ in range(LENGTH)]
        refs.append([" ".join(noisy(base, rng, 6)) for _ in range(REFERENCES)])
        hyps.append([" ".join((noisy(base, rng, rng.randrange(4, 12)) + base)[:LENGTH]) for _ in range(candidates)])
    return hyps, refs


def as_pool(hyps, refs):
    pool = hf.Pool()
    for i, (texts, references) in enumerate(zip(hyps, refs, strict=True)):
        words = [[pool.vocab.add(w) for w in text.split()] for text in texts]
        k = len(words)
        forest = hf.Forest.from_arrays(
            np.array([0, k], np.int32),
            np.zeros(k + 1, np.int32),
            np.zeros(0, np.int32),
            np.cumsum([0, *map(len, words)], dtype=np.int32),
            np.array([w for line in words for w in line], np.int32),
            np.zeros((k, 0)),
            pool.vocab,
            pool.features,
        )
        pool.append(str(i), forest, references=references)
    return pool


def cpu(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def theirs(metric, hyps, refs, budget):
    """CPU seconds a candidate, and the statistics of the first candidates."""
    seconds, count, stats = 0.0, 0, []
    for texts, references in zip(hyps, refs, strict=True):

        def one(texts=texts, references=references):
            cache = metric._extract_reference_info([metric._preprocess_segment(r) for r in references])
            return [metric._compute_segment_statistics(metric._preprocess_segment(text), cache) for text in texts]

        spent, rows = cpu(one)
        seconds, count = seconds + spent, count + len(texts)
        stats += rows
        if seconds > budget:
            break
    return seconds / count, stats


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=3, help="how long sacreBLEU may take for each metric")
    options = parser.parse_args()
    hyps, refs = lists(options.sentences, options.candidates)
    pool = as_pool(hyps, refs)
    rows = options.sentences * options.candidates
    table = []
    for name, ours, sacre in [
        ("BLEU", hf.Bleu(), sacrebleu.BLEU(tokenize="none", force=True)),
        ("chrF", hf.Chrf(), sacrebleu.CHRF()),
        ("chrF++", hf.Chrf(word_order=2), sacrebleu.CHRF(word_order=2)),
        ("TER", hf.Ter(), sacrebleu.TER()),
        ("WER", hf.Wer(), None),
        ("ROUGE-S", hf.RougeS(), None),
    ]:
        seconds, stats = min(
            (cpu(lambda ours=ours: ours.stats(pool, jobs=1)) for _ in range(3)), key=lambda run: run[0]
        )
        row = {"metric": name, "per_second": rows / seconds}
        if sacre is not None:
            each, their_stats = theirs(sacre, hyps, refs, options.seconds)
            same = sacre._aggregate_and_compute(their_stats).score
            assert abs(ours.score(stats[: len(their_stats)].sum(axis=0)) - same) < 1e-6, name
            row |= {"sacrebleu_per_second": 1 / each, "ratio": each * rows / seconds}
        table.append(row)
    # whole documents of text: read, split, count, score
    document = [texts[0] for texts in hyps] * 8
    streams = [[r[k] for r in refs] * 8 for k in range(REFERENCES)]
    for name, ours, sacre in [
        ("document, BLEU 13a", hf.Bleu(tokenize="13a"), sacrebleu.BLEU(tokenize="13a", force=True)),
        ("document, chrF", hf.Chrf(), sacrebleu.CHRF()),
    ]:
        seconds, score = cpu(lambda ours=ours: ours.corpus_score(document, streams))
        slow, same = cpu(lambda sacre=sacre: sacre.corpus_score(document, streams).score)
        assert abs(score - same) < 1e-6, name
        n = len(document)
        row = {"metric": name, "per_second": n / seconds, "sacrebleu_per_second": n / slow, "ratio": slow / seconds}
        table.append(row)
    if options.json:
        print(json.dumps({"rows": rows, "length": LENGTH, "references": REFERENCES, "table": table}, indent=1))
        return
    print(f"{'metric':20} {'hopefear /s':>14} {'sacreBLEU /s':>14} {'times as fast':>14}")
    for row in table:
        other = f"{row['sacrebleu_per_second']:14,.0f} {row['ratio']:14,.0f}" if "ratio" in row else ""
        print(f"{row['metric']:20} {row['per_second']:14,.0f} {other}")


if __name__ == "__main__":
    main()
