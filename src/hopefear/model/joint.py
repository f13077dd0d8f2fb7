"""A neural joint model (Devlin et al. 2014): each target word, given the words before it and a window of the source.

    log p(e_i | e_{i-1} .. e_{i-n}, f_{a_i-m} .. f_{a_i+m})  =  u_e . max(0, z) + b_e

where z is a matrix times the embeddings of these n + 2m + 1 words, and a_i is the source word that e_i is affiliated
with. Training (``joint_training.py``) makes the probabilities sum to about 1, so that nobody has to sum them. The file
has arrays, and the decoder computes with them (``core/joint/``). See docs/joint-model.md.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear.errors import InputError, input_error
from hopefear.util.files import PathLike, printable
from hopefear.util.unpacking import check_size

HISTORY = 3  #: n, target words before the one that is predicted
REACH = 5  #: m, source words on either side of the affiliated one
WINDOW = 2 * REACH + 1
#: Words that stand for what is no word: <null> is a word of the history that is not known yet.
UNK, BOS, EOS, NULL = range(4)
MARKS = ("<unk>", "<s>", "</s>", "<null>")
#: The arrays of the file; their shapes are checked where they are used, in the core.
ARRAYS = ("source", "target", "hidden", "hidden_bias", "output", "output_bias")

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class JointModel:
    """The words that the model knows, marks first, and its arrays by name."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    arrays: Mapping[str, Floats]
    name: str = "joint model"  #: for messages

    def save(self, path: PathLike) -> None:
        text = {
            f"{side}_words": np.frombuffer("\n".join(words).encode(), np.uint8)
            for side, words in (("source", self.source_words), ("target", self.target_words))
        }
        with Path(path).open("wb") as file:
            arrays: dict[str, Any] = {**text, **self.arrays}
            np.savez(file, **arrays)

    @classmethod
    def open(cls, path: PathLike) -> JointModel:
        try:
            with zipfile.ZipFile(path) as whole:
                check_size(path, sum(member.file_size for member in whole.infolist()))
            with np.load(path, allow_pickle=False) as file:
                words = [tuple(file[f"{side}_words"].tobytes().decode().split("\n")) for side in ("source", "target")]
                arrays = {name: np.ascontiguousarray(file[name], np.float32) for name in ARRAYS}
            if wrong := [name for name in ARRAYS if arrays[name].ndim != (1 if name.endswith("bias") else 2)]:
                raise ValueError(f"{wrong[0]} has {arrays[wrong[0]].ndim} dimensions")
        except InputError:
            raise
        except Exception as error:  # a damaged header can mean anything
            cure = "Copy the model again, or build it again"
            raise input_error(
                path, None, f"is not a joint model, or is damaged ({printable(' '.join(str(error).split()))}). {cure}"
            ) from None
        model = cls(words[0], words[1], arrays, str(Path(path)))
        assert model.core is not None  # looks at all shapes
        return model

    @cached_property
    def core(self) -> _core.JointModel:
        """What decoders compute with."""
        named: dict[str, Any] = {**self.arrays, "name": self.name}
        return _core.JointModel(list(self.source_words), list(self.target_words), **named)


def mean_of(models: Sequence[JointModel]) -> JointModel:
    """The mean of the scores of several joint models, as one model with the hidden units of all of them.

    A word that one of them does not know is ``<unk>`` for it.
    """
    sides = [[getattr(model, f"{side}_words") for model in models] for side in ("source", "target")]
    source_words, target_words = (tuple(dict.fromkeys(word for words in side for word in words)) for side in sides)
    arrays: dict[str, list[Floats]] = {name: [] for name in ARRAYS}
    inputs, width = HISTORY + WINDOW, sum(len(model.arrays["hidden_bias"]) for model in models)
    begin, share = 0, np.float32(1 / len(models))
    for model in models:
        own = model.arrays
        f, e = _numbers(model.source_words, source_words), _numbers(model.target_words, target_words)
        hidden = np.zeros((inputs, own["source"].shape[1], width), np.float32)
        end = begin + len(own["hidden_bias"])
        hidden[:, :, begin:end] = own["hidden"].reshape(inputs, -1, end - begin)
        begin = end
        arrays["source"].append(own["source"][f])
        arrays["target"].append(own["target"][e])
        arrays["hidden"].append(hidden)
        arrays["hidden_bias"].append(own["hidden_bias"])
        arrays["output"].append(own["output"][e] * share)
        arrays["output_bias"].append(own["output_bias"][e] * share)
    joined = {name: np.concatenate(arrays[name], axis=-1) for name in ("source", "target", "hidden_bias", "output")}
    joined["hidden"] = np.concatenate(arrays["hidden"], axis=1).reshape(-1, width)
    joined["output_bias"] = np.sum(arrays["output_bias"], axis=0, dtype=np.float32)
    return JointModel(source_words, target_words, {name: np.ascontiguousarray(joined[name]) for name in ARRAYS})


def _numbers(known: Sequence[str], words: Sequence[str]) -> Ints:
    """The numbers that a model has for words; the marks of all models are the same."""
    number = {word: place for place, word in enumerate(known)}
    return np.array([number.get(word, UNK) for word in words], np.int32)


def affiliations(links: Sequence[NDArray[np.uint16]], lengths: Ints, source_lengths: Ints) -> Ints:
    """The source word of each target word, all pairs in a row; ``lengths`` are those of the target sides.

    Of several linked words it is the middle one, the left one of two middle ones. A word without links has what the
    nearest linked word has, of two the one to the right (Devlin et al. 2014, section 2.1). In a pair without links the
    first target word has the first source word, and so on up to the last one.
    """
    begin = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    count = int(begin[-1])
    flat = np.concatenate([*links, np.zeros((0, 2), np.uint16)]).astype(np.int64)
    of_pair = np.repeat(np.arange(len(links)), [len(each) for each in links])
    source, target = flat[:, 0], flat[:, 1] + begin[of_pair]
    order = np.lexsort((source, target))
    linked, first, linked_words = np.unique(target[order], return_index=True, return_counts=True)
    positions = np.full(count, -1, np.int64)
    positions[linked] = source[order][first + (linked_words - 1) // 2]

    place = np.arange(count)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    far = 2 * count + 2
    left = np.maximum.accumulate(np.where(positions >= 0, place, -far))  # the nearest linked words
    right = np.minimum.accumulate(np.where(positions >= 0, place, far)[::-1])[::-1]
    left = np.where(left >= begin[sentence], left, -far)
    right = np.where(right < begin[sentence + 1], right, far)
    nearest = np.where(right - place <= place - left, right, left)
    none = (nearest < 0) | (nearest >= count)
    in_step = np.minimum(place - begin[sentence], source_lengths[sentence] - 1)
    return np.where(none, in_step, positions[np.where(none, 0, nearest)]).astype(np.int32)
