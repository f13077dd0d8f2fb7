"""A decoder to play with: it reads words backwards, badly at first. Standard library only, the same output every time.

    python toy_decoder.py make FOLDER                      a tuning set: FOLDER/source.txt, FOLDER/ref.txt
    python toy_decoder.py SOURCE WEIGHTS > nbest           20 candidates a sentence, in Moses' format, best first
        [--beam 30]                                        hypotheses kept after each word
        [--caution 0.5]                                    a parameter that is no feature weight: noise is least at 0.7

Each word may become the right one, a wrong one, nothing, or come twice. Features: tm and lm, which see mistakes through
noise, and words, which counts. A decoder without weights takes every weight to be 0.
"""

import argparse
import sys
import zlib
from pathlib import Path

WORDS = [
    "moon",
    "river",
    "stone",
    "bread",
    "cloud",
    "green",
    "seven",
    "walks",
    "under",
    "light",
    "paper",
    "house",
    "sings",
]


def chance(*what: object) -> float:
    """A number from 0 to 1 that depends on its arguments only."""
    return zlib.crc32("\t".join(map(str, what)).encode()) / 2**32


def make(folder: Path, sentences: int = 60) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        [WORDS[int(chance("word", i, j) * len(WORDS))] for j in range(5 + int(6 * chance("length", i)))]
        for i in range(sentences)
    ]
    (folder / "ref.txt").write_text("".join(" ".join(line) + "\n" for line in lines))
    (folder / "source.txt").write_text("".join(" ".join(word[::-1] for word in line) + "\n" for line in lines))


def options(word: str, place: int, noise: float) -> list[tuple[list[str], dict[str, float]]]:
    right = word[::-1]
    wrong = WORDS[int(chance("confuse", word, place) * len(WORDS))]
    found = []
    for target, good in (([right], 1.0), ([wrong], 0.0), ([], 0.2), ([right, right], 0.4)):
        key = (word, place, *target)
        tm = good - 2.0 * noise * chance("tm", *key) - 0.8 * len(target)
        lm = 1.5 * good - 2.5 * noise * chance("lm", *key) - 0.3 * len(target)
        found.append((target, {"tm": tm, "lm": lm, "words": float(len(target))}))
    return found


def decode(source: list[str], weights: dict[str, float], beam: int, caution: float) -> list[tuple]:
    noise = 1.0 + 4.0 * (caution - 0.7) ** 2
    hypotheses = [(0.0, [], dict.fromkeys(("tm", "lm", "words"), 0.0))]
    for place, word in enumerate(source):
        longer = []
        for score, text, features in hypotheses:
            for target, own in options(word, place, noise):
                score_too = score + sum(weights.get(name, 0.0) * value for name, value in own.items())
                longer.append((score_too, text + target, {name: features[name] + own[name] for name in own}))
        longer.sort(key=lambda one: (-one[0], one[1]))
        hypotheses = longer[:beam]
    return hypotheses


def main() -> None:
    if sys.argv[1:2] == ["make"]:
        make(Path(sys.argv[2]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--beam", type=int, default=30)
    parser.add_argument("--caution", type=float, default=0.5)
    arguments = parser.parse_args()
    if arguments.beam < 1:
        parser.error("the beam must be 1 or more")
    lines = [line.split() for line in arguments.weights.read_text().splitlines()]
    weights = {name: float(value) for name, value in lines}
    for number, line in enumerate(arguments.source.read_text().splitlines()):
        for score, text, features in decode(line.split(), weights, arguments.beam, arguments.caution)[:20]:
            shown = " ".join(f"{name}= {value:.6f}" for name, value in features.items())
            print(f"{number} ||| {' '.join(text)} ||| {shown} ||| {score:.6f}")


if __name__ == "__main__":
    main()
