"""The neural joint model: affiliations, examples, training, its file, and models that have one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear._core import ParallelText
from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model.builder import build
from hopefear.model.directory import Model
from hopefear.model.imported import export_model
from hopefear.model.joint import ARRAYS, BOS, EOS, MARKS, NULL, UNK, JointModel, affiliations, mean_of
from hopefear.model.joint_training import JointOptions, examples, gradient, merged, perplexity, start, train_joint
from hopefear.model.options import BuildOptions
from hopefear.runs.events import Note
from hopefear.runs.session import Session
from tests.models import sentence
from tests.reference.joint import noise_contrastive, text_score

SMALL = JointOptions(embedding=6, hidden=10, least=1, epochs=4, batch=50, noise=20, held_out=100)


def links(*pairs: tuple[int, int]) -> np.ndarray:
    return np.array(pairs, np.uint16).reshape(-1, 2)


def test_affiliations() -> None:
    pairs = [
        links((1, 0), (2, 0), (4, 0), (7, 3)),  # the middle one; then the nearest, the right one of two
        links(),
        links((5, 1), (6, 1)),  # the left one of two middle ones
        links((0, 2)),
    ]
    computed = affiliations(pairs, np.array([5, 3, 2, 3], np.int32), np.array([8, 2, 7, 1], np.int32))
    assert computed.tolist() == [2, 2, 7, 7, 7, *[0, 1, 1], *[5, 5], *[0, 0, 0]]
    assert affiliations([], np.zeros(0, np.int32), np.zeros(0, np.int32)).tolist() == []


def text_of(rows: list[tuple[str, str, str]]) -> ParallelText:
    text = ParallelText()
    text.add([row[0] for row in rows], [row[1] for row in rows])
    text.add_pharaoh([row[2] for row in rows], "links", list(range(1, len(rows) + 1)))
    return text


def test_examples_are_histories_and_windows() -> None:
    text = text_of([("a b", "x y z", "1-0 0-2"), ("c", "x", "0-0")])
    numbers = np.arange(4, 10, dtype=np.int32)
    data = examples(text, numbers, numbers)
    contexts, words = data.batch(np.arange(len(data.place)))
    a, b, c, x, y, z = 4, 5, 6, 4, 5, 6
    assert words.tolist() == [x, y, z, EOS, x, EOS]
    assert contexts[:, :3].tolist() == [[1, 1, 1], [x, 1, 1], [y, x, 1], [z, y, x], [1, 1, 1], [x, 1, 1]]
    before, behind = [BOS] * 5, [EOS] * 5
    around_a, around_b = [*before, a, b, *behind[1:]], [*before[1:], a, b, *behind]
    around_end = [*before[2:], a, b, *behind, EOS]
    assert contexts[:4, 3:].tolist() == [around_b, around_a, around_a, around_end]  # y: z is as near, and to the right
    assert contexts[4:, 3:].tolist() == [[*before, c, *behind], [*before[1:], c, *behind, EOS]]


def test_gradients_by_finite_differences() -> None:
    rng = np.random.default_rng(1)
    sizes, options = (7, 8), JointOptions(embedding=2, hidden=3)
    params = {k: v.astype(np.float64) for k, v in start(rng, sizes, np.full(8, 1 / 8, np.float32), options).items()}
    params["hidden_bias"] += 0.3
    contexts = np.concatenate([rng.integers(0, 8, (5, 3)), rng.integers(0, 7, (5, 11))], axis=1).astype(np.int32)
    words, noise = np.array([4, 5, 4, 7, 2], np.int32), np.array([4, 6, 4], np.int32)
    log_kq = rng.normal(0, 1, 8)
    halves = [gradient(params, contexts[part], words[part], noise, log_kq) for part in (slice(0, 3), slice(3, 5))]
    for name in ARRAYS:
        rows, values = merged(halves[0][name], halves[1][name])
        slopes = np.zeros_like(params[name])
        slopes[slice(None) if rows is None else rows] = values
        for place in np.ndindex(params[name].shape):
            sides = []
            for change in (1e-5, -1e-5):
                moved = params[name].copy()
                moved[place] += change
                sides.append(noise_contrastive({**params, name: moved}, contexts, words, noise, log_kq))
            assert slopes[place] == pytest.approx((sides[0] - sides[1]) / 2e-5, abs=1e-6), (name, place)


def pairs(count: int, seed: int = 1) -> list[tuple[str, str, str]]:
    """A small language with a word alignment by its words."""
    import random

    rng = random.Random(seed)
    words = {"der": "the", "das": "the", "haus": "house", "hund": "dog", "mann": "man", "ball": "ball", "baum": "tree"}
    words |= {
        "kind": "child",
        "hier": "here",
        "dort": "there",
        "heute": "today",
        "sieht": "sees",
        "hat": "has",
        "will": "wants",
    }
    rows = []
    for _ in range(count):
        f, e = sentence(rng)
        target = e.split()
        links, used = [], set()
        for s, word in enumerate(f.split()):
            t = next(t for t, other in enumerate(target) if other == words[word] and t not in used)
            used.add(t)
            links.append(f"{s}-{t}")
        rows.append((f, e, " ".join(links)))
    return rows


def test_training_learns_and_sums_to_one_and_repeats_itself() -> None:
    text = text_of(pairs(400))
    told: list[str] = []
    run = Session(lambda event: told.append(event.text) if isinstance(event, Note) else None)
    one, two = train_joint(text, SMALL, seed=3, run=run), train_joint(text, SMALL, seed=3)
    assert all(np.array_equal(one.arrays[name], two.arrays[name]) for name in ARRAYS)
    assert not np.array_equal(one.arrays["hidden"], train_joint(text, SMALL, seed=4).arrays["hidden"])
    assert len(told) == SMALL.epochs and all("held-out perplexity" in line for line in told)
    numbers = [{w: i for i, w in enumerate(words)} for words in (one.source_words, one.target_words)]
    of = [
        np.array([number.get(vocab[i], UNK) for i in range(len(vocab))], np.int32)
        for number, vocab in zip(numbers, (text.source_vocab, text.target_vocab), strict=True)
    ]
    data = examples(text, *of)
    normal, raw, z = perplexity(one.arrays, data, np.arange(1000))
    assert normal < 3  # of about 15 words
    assert abs(np.log(raw / normal)) <= z < 0.5


def test_too_little_text() -> None:
    with pytest.raises(InputError, match=r"too small for a joint model\. Leave --joint-model out"):
        train_joint(text_of(pairs(2)), SMALL)


def test_a_file_gives_back_what_was_saved_and_damage_is_named(tmp_path: Path) -> None:
    model = train_joint(text_of(pairs(60)), SMALL)
    path = tmp_path / "joint.npz"
    model.save(path)
    again = JointModel.open(path)
    assert again.source_words == model.source_words and again.target_words[:4] == MARKS
    assert all(np.array_equal(again.arrays[name], model.arrays[name]) for name in ARRAYS)
    whole = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == whole
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"joint\.npz: is not a joint model, or is damaged .*build it again"):
        JointModel.open(path)
    for change, why in (
        ({"output_bias": np.zeros(3, np.float32)}, "the sizes of its arrays do not fit"),
        ({"output": np.zeros(3, np.float32)}, "is not a joint model, or is damaged"),
        ({"hidden_bias": np.full(10, np.nan, np.float32)}, "some of its numbers are none"),
    ):
        JointModel(model.source_words, model.target_words, {**model.arrays, **change}).save(path)
        with pytest.raises(InputError, match=rf"joint\.npz: {why}"):
            JointModel.open(path)
    JointModel((*MARKS, "a", "a"), model.target_words, model.arrays).save(path)
    with pytest.raises(InputError, match="a word stands there twice"):
        JointModel.open(path)


def test_the_mean_of_joint_models_is_one() -> None:
    rng = np.random.default_rng(2)

    def made(source: str, target: str, d: int, h: int) -> JointModel:
        f, e = (*MARKS, *source), (*MARKS, *target)
        shapes = {"source": (len(f), d), "target": (len(e), d), "hidden": (14 * d, h), "hidden_bias": (h,)}
        shapes |= {"output": (len(e), h), "output_bias": (len(e),)}
        return JointModel(f, e, {name: rng.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()})

    models = [made("ab", "xyz", 3, 5), made("bc", "yxw", 2, 7), made("a", "z", 4, 3)]
    mean = mean_of(models)
    source, words, at = list("abcdb"), list("xyzwvx"), [0, 2, 1, 4, 3, 3]
    wanted = np.mean([model.core.scores(source, words, at) for model in models], axis=0)
    assert mean.core.scores(source, words, at) == pytest.approx(wanted, abs=1e-5)
    assert all(np.array_equal(mean_of(models[:1]).arrays[name], models[0].arrays[name]) for name in ARRAYS)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joint")
    rows = pairs(300)
    for k, name in enumerate(("de", "en", "align")):
        (folder / name).write_text("".join(row[k] + "\n" for row in rows))
    options = BuildOptions(lm_order=2, max_phrase=5, joint_model=True)
    build(folder / "de", folder / "en", folder / "model", options, align=[folder / "align"])
    return folder


def test_a_model_with_a_joint_model_translates_with_it(built: Path) -> None:
    model = Model.open(built / "model")
    assert model.joint is not None and "njm" in model.dense_names and model.weights["njm"] > 0
    rows = pairs(5, seed=9)
    decoder = Hiero(model)
    for (line, reference, alignment), forest in zip(rows, decoder.decode([row[0] for row in rows]), strict=True):
        best = forest.viterbi(decoder.weights)
        assert best.text == reference
        at = {int(t): int(s) for s, t in (link.split("-") for link in alignment.split())}
        words = [(word, at[t]) for t, word in enumerate(reference.split())]
        assert best.features["njm"] == pytest.approx(text_score(model.joint, line.split(), words), abs=1e-4)
    assert decoder.opener()().model.joint is not None


def test_the_same_seed_gives_the_same_bytes_whatever_jobs(built: Path, tmp_path: Path) -> None:
    options = BuildOptions(lm_order=2, max_phrase=5, joint_model=True)
    build(built / "de", built / "en", tmp_path / "model", options, align=[built / "align"], jobs=2)
    for name in ("joint.npz", "model.json"):
        assert (tmp_path / "model" / name).read_bytes() == (built / "model" / name).read_bytes()


def test_damage_in_a_model_directory(built: Path, tmp_path: Path) -> None:
    for damage in ("cut", "flip", "remove"):
        folder = tmp_path / damage
        shutil.copytree(built / "model", folder)
        data = bytearray((folder / "joint.npz").read_bytes())
        data[len(data) // 2] ^= 4
        (folder / "joint.npz").unlink()
        if damage != "remove":
            (folder / "joint.npz").write_bytes(data if damage == "flip" else data[: len(data) // 2])
        with pytest.raises(InputError, match=r"joint\.npz"):
            Model.open(folder)


def test_what_cannot_be(built: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="joint model is for hierarchical models"):
        BuildOptions(kind="blocks", joint_model=True)
    with pytest.raises(InputError, match="neural joint model cannot be exported"):
        export_model(Model.open(built / "model"), "moses", tmp_path / "moses")


def test_words_of_the_history_may_be_unknown() -> None:
    text = text_of(pairs(300))
    model = train_joint(text, SMALL)
    e = model.target_words.index("the")
    x = np.concatenate([np.tile(model.arrays["target"][NULL], 3), np.tile(model.arrays["source"][BOS], 11)])
    h = np.maximum(x @ model.arrays["hidden"] + model.arrays["hidden_bias"], 0)
    assert -15 < model.arrays["output"][e] @ h + model.arrays["output_bias"][e] < 1


def test_features_of_lists_have_a_column(built: Path, tmp_path: Path) -> None:
    rows = pairs(3, seed=9)
    (tmp_path / "list").write_text("".join(f"{i} ||| {row[1]} ||| lm= -1 ||| 0\n" for i, row in enumerate(rows)))
    (tmp_path / "sources").write_text("".join(row[0] + "\n" for row in rows))
    added = hf.add_features(
        list=tmp_path / "list", out=tmp_path / "more.jsonl", model=built / "model", sources=tmp_path / "sources"
    )
    assert added.families["joint"] == ["model_njm"]
    first = json.loads((tmp_path / "more.jsonl").read_text().splitlines()[0])
    assert abs(first["candidates"][0]["features"]["model_njm"]) > 0  # the value: tests/decode/test_joint.py


def test_small_texts_get_more_epochs_and_smaller_minibatches() -> None:
    def made(count: int) -> tuple[int, int]:
        options = JointOptions().scheduled(count)
        return options.epochs, options.batch

    assert made(100_000) == (10, 300)
    assert made(400_000) == (9, 1000)
    assert made(1_200_000) == made(5_000_000) == (3, 1000)
    assert JointOptions(epochs=4, batch=50).scheduled(10).epochs == 4
