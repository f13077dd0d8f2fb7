"""The report: what is in it, what it says when inputs are gone, and that no text becomes markup."""

from __future__ import annotations

import itertools
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from hopefear.cli.main import main
from hopefear.data.forests import forest_pool
from hopefear.data.lists import Synthetic
from hopefear.metrics import Bleu, Ter
from hopefear.report.gather import Reader, curve
from hopefear.report.numbers import averaged_curve, moved_weights, outcome, surfaces, thinned
from hopefear.report.page import data_script
from hopefear.report.sentences import _joined, choose, clouds, diff, translations
from hopefear.train.tuning import score_of, vector

HOSTILE = '<script>window.hacked=1</script> <img src=x onerror="window.hacked=1"> </script><b>&amp; \u2028 x'


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lists with a hostile sentence, and runs on them; a run on forests."""
    folder = tmp_path_factory.mktemp("runs")
    Synthetic(sentences=40, candidates=30, dense=6).write(folder)
    lines = (folder / "nbest.txt").read_text().split("\n")
    (folder / "nbest.txt").write_text(
        "\n".join(f"{a[0]} ||| {HOSTILE} {a[1]} ||| {' ||| '.join(a[2:])}" if a[0] == "3" else " ||| ".join(a)
                  for a in (line.split(" ||| ") for line in lines))
    )  # fmt: skip
    references = (folder / "ref.0").read_text().split("\n")
    references[3] = HOSTILE + " " + references[3]
    (folder / "ref.0").write_text("\n".join(references))
    lists = ["--nbest", str(folder / "nbest.txt"), "--refs", *(str(folder / f"ref.{r}") for r in range(4))]
    initial = ["--initial", str(folder / "initial.txt"), "--quiet", "--holdout", "0.2"]
    for name, more in (
        ("kbmira", ["--trainer", "kbmira", "--set", "passes=5", "--replicates", "2"]),
        ("mert", ["--trainer", "mert", "--set", "restarts=2", "kicks=0"]),
        ("ter", ["--trainer", "mert", "--set", "restarts=1", "kicks=0", "--metric", "ter"]),
    ):
        assert main(["tune", *lists, *initial, *more, "--out", str(folder / name)]) == 0
    pool = forest_pool(8, 300, seed=3)
    hf.write_forests(pool, folder / "dev.forests")
    forests = ["--forests", str(folder / "dev.forests"), "--trainer", "kbmira", "--set", "passes=3", "--quiet"]
    assert main(["tune", *forests, "--out", str(folder / "forests")]) == 0
    return folder


@pytest.fixture(scope="module")
def page(runs: Path) -> Path:
    out = runs / "report.html"
    assert main(["report", *(str(runs / name) for name in ("kbmira", "mert")), "--out", str(out)]) == 0
    return out


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


def test_the_page_is_well_formed_and_self_contained(page: Path) -> None:
    found = parsed(page)
    assert found.scripts == ["application/json", None]
    assert len(set(found.ids)) == len(found.ids)
    assert all(target.startswith("#") and target[1:] in found.ids for target in found.targets)
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'".replace("'", "&#x27;") in text


def test_every_section_is_there(page: Path) -> None:
    wanted = {
        "start",
        "scores",
        "warnings",
        "curves",
        "sentence",
        "translations",
        "weights",
        "surface",
        "length",
        "made",
    }
    assert wanted <= set(parsed(page).ids)


def test_hostile_text_stays_text(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<script>window" not in text and "<img" not in text
    shown = "".join(parsed(page).text)
    assert "<script>window.hacked=1</script>" in shown  # as text, in the list of translations or the data
    data = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert data and json.loads(data[1])["runs"][0]["sentences"]


def test_data_cannot_end_its_script() -> None:
    text = data_script({"a": "</script><script>x\u2028&"})
    assert text.count("<") == 2 and "\u2028" not in text
    assert json.loads(text.partition(">")[2].rpartition("<")[0])["a"] == "</script><script>x\u2028&"


def test_inputs_that_are_gone_or_changed_leave_sections_out(runs: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(runs / "mert", tmp_path / "mert")
    record = json.loads((tmp_path / "mert" / "run.json").read_text())
    for change, says in (
        (lambda one: one.update(path="nowhere.txt"), "is gone"),
        (lambda one: one.update(sha256="0"), "changed"),
    ):
        other = json.loads(json.dumps(record))
        change(other["inputs"][0])
        (tmp_path / "mert" / "run.json").write_text(json.dumps(other))
        assert main(["report", str(tmp_path / "mert"), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
        found = parsed(tmp_path / "r.html")
        assert "sentence" not in found.ids and "weights" in found.ids
        assert says in "".join(found.text)


def test_runs_keep_their_numbers_where_some_have_no_pictures(runs: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(runs / "mert", tmp_path / "lost")
    record = json.loads((tmp_path / "lost" / "run.json").read_text())
    record["inputs"][0]["path"] = "nowhere.txt"
    (tmp_path / "lost" / "run.json").write_text(json.dumps(record))
    given = [str(tmp_path / "lost"), str(runs / "kbmira"), str(runs / "mert")]
    assert main(["report", *given, "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    parsed(tmp_path / "r.html")
    assert re.findall(r'data-panel="s" data-run="(\d)"', text) == ["1", "2"]
    assert re.findall(r'data-panel="w" data-run="(\d)"', text) == ["0", "1", "2"]


def test_a_decoder_in_the_loop(runs: Path, tmp_path: Path) -> None:
    """Lists of a loop are in its checkpoint: nothing else is needed for the pictures."""
    script = tmp_path / "decode.py"
    script.write_text(
        "import sys, collections\n"
        "weights = dict(line.split() for line in open(sys.argv[2]))\n"
        "found = collections.defaultdict(list)\n"
        "for line in open(sys.argv[1]):\n"
        "    number, text, features, *_ = line.rstrip('\\n').split(' ||| ')\n"
        "    pairs = (one.split('=') for one in features.replace('= ', '=').split())\n"
        "    score = sum(float(weights.get(name, 0)) * float(value) for name, value in pairs)\n"
        "    found[number].append((-score, len(found[number]), line))\n"
        "for lines in found.values():\n"
        "    sys.stdout.writelines(line for _, _, line in sorted(lines)[:8])\n"
    )
    command = f"{sys.executable} {script} {runs / 'nbest.txt'} {{weights}} > {{nbest}}"
    given = ["--refs", *(str(runs / f"ref.{r}") for r in range(4)), "--initial", str(runs / "initial.txt")]
    options = ["--trainer", "kbmira", "--set", "passes=3", "--iterations", "2", "--out", str(tmp_path / "loop")]
    assert main(["tune", "--decoder-command", command, *given, *options, "--quiet"]) == 0
    assert main(["report", str(tmp_path / "loop"), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    found = parsed(tmp_path / "r.html")
    assert "sentence" in found.ids and "surface" in found.ids
    run = Reader(jobs=1).read(tmp_path / "loop")
    assert run.missing is None and run.has_initial
    assert len(averaged_curve(run).x) == len(run.record["epochs"]) > 1


def test_not_a_run(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "r.html")]) == 2
    assert "run.json" in capsys.readouterr().err
    assert main(["report"]) == 2


def test_scores_are_those_of_the_run(runs: Path) -> None:
    run = Reader(jobs=1).read(runs / "kbmira")
    final = run.record["final"]
    for part in ("dev", "holdout"):
        found = outcome(run, part, 1)
        assert found.before == pytest.approx(final["before"][part]["bleu"])
        assert found.after == pytest.approx([one[part]["bleu"] for one in final["replicates"]])
    mean = averaged_curve(run)
    assert len(mean.x) == 5 and mean.error is not None
    first = [curve(one["history"], "bleu")[1][0] for one in run.replicates]
    assert mean.y[0] == pytest.approx(np.mean(first))


@pytest.mark.parametrize("name", ["mert", "ter", "forests"])
def test_surfaces_are_exact(runs: Path, name: str) -> None:
    """Against scoring the pool anew at points of the line."""
    run = Reader(jobs=1).read(runs / name)
    pool = run.parts["dev"]
    feature = max(run.weights, key=lambda f: abs(run.weights[f]))
    (found,) = surfaces(run, [feature], 1)
    assert found.score == pytest.approx(score_of(pool, run.metric, run.weights, 1), abs=1e-6)
    better = max if run.metric.higher_is_better else min
    assert found.best == pytest.approx(better([*found.y, found.best]))
    checked = 0
    for x0, x1, y0, y1 in zip(found.x, found.x[1:], found.y, found.y[1:], strict=False):
        if y0 == y1 and x1 - x0 > 1e-9 and checked < 20:
            moved = {**run.weights, feature: (x0 + x1) / 2}
            assert score_of(pool, run.metric, moved, 1) == pytest.approx(y0, abs=1e-6)
            checked += 1
    assert checked > 3


def test_thinning_keeps_the_extremes() -> None:
    random = np.random.default_rng(1)
    xs = np.sort(random.random(5000))
    ys = random.random(5000)
    x, y = thinned(xs, ys, 0.0, 1.0)
    assert len(x) == len(y) < 1000
    assert max(y) == ys.max() and min(y) == ys.min()
    assert all(a <= b for a, b in itertools.pairwise(x))
    short_x, short_y = thinned(np.array([0.0, 0.5]), np.array([1.0, 2.0]), 0.0, 1.0)
    assert short_x == [0.0, 0.5, 0.5, 1.0] and short_y == [1.0, 1.0, 2.0, 2.0]


def test_weights_are_compared_by_their_share(runs: Path) -> None:
    run = Reader(jobs=1).read(runs / "mert")
    pool = run.parts["dev"]
    spread = dict(zip(pool.feature_names, np.sqrt(_core.within_variance(pool)).tolist(), strict=True))
    moved, total = moved_weights(run, spread)
    assert total == len(run.weights)
    assert sum(abs(one.share_after) for one in moved) == pytest.approx(1.0)
    run.weights = {name: 7 * value for name, value in run.weights.items()}  # the scale does not matter
    again, _ = moved_weights(run, spread)
    assert [one.share_after for one in again] == pytest.approx([one.share_after for one in moved])


def test_diff() -> None:
    assert diff("a b c", "a x c d") == [["=", "a"], ["-", "b"], ["+", "x"], ["=", "c"], ["+", "d"]]
    assert diff("", "a") == [["+", "a"]]
    assert diff("a", "a") == [["=", "a"]]


@pytest.mark.parametrize("name", ["kbmira", "ter", "forests"])
def test_hope_is_better_and_fear_is_worse_than_the_best(runs: Path, name: str) -> None:
    run = Reader(jobs=1).read(runs / name)
    pool = run.parts["dev"]
    chosen = choose(translations(run, "dev", 1), 5)
    made = clouds(run, pool, [one.index for one in chosen], jobs=2)
    assert made == clouds(run, pool, [one.index for one in chosen], jobs=1)
    for one, found in zip(chosen, made, strict=True):
        for when in ("before", "after"):
            now = found[when]
            marks = now["marks"]
            gain = {kind: found["points"][place][1] for kind, place in marks.items()}
            assert set(marks) == {"best", "hope", "fear"}
            if name != "forests":  # a search in a forest is approximate
                assert gain["hope"] >= gain["best"] >= gain["fear"]
            assert now["x"][marks["best"]] == pytest.approx(0.0, abs=1e-6)
            assert max(now["x"]) <= 1e-6
        assert found["texts"][found["points"][found["after"]["marks"]["best"]][0]] == one.after
        assert ("trees" in found["after"]) == (name == "forests")


def test_a_tree_says_the_translation(runs: Path) -> None:
    run = Reader(jobs=1).read(runs / "forests")
    pool = run.parts["dev"]

    def said(node: dict[str, object]) -> list[str]:
        children = [said(child) for child in node["c"]]  # type: ignore[attr-defined]
        return [w for part in node["t"] for w in (children[part - 1] if isinstance(part, int) else [part])]  # type: ignore[attr-defined]

    for i, found in enumerate(clouds(run, pool, range(len(pool)))):
        for kind in ("best", "hope", "fear"):
            text = found["texts"][found["points"][found["after"]["marks"][kind]][0]]
            assert " ".join(said(found["after"]["trees"][kind])) == text
        best = pool[i].viterbi(vector(pool, run.weights))

        def total(node: dict[str, object]) -> float:
            return float(node["w"]) + sum(map(total, node["c"]))  # type: ignore[arg-type,call-overload]

        assert total(found["after"]["trees"]["best"]) == pytest.approx(best.score, abs=0.5)


def test_glue_becomes_flat() -> None:
    leaf = {"s": ["x"], "t": ["y"], "w": 1.0, "c": []}
    glue = {"s": [1, 2], "t": [1, 2], "w": 0.5, "c": [leaf, leaf]}
    found = _joined({"s": [1], "t": [1], "w": 0.25, "c": [{"s": [1, 2], "t": [1, 2], "w": 0.5, "c": [glue, leaf]}]})
    assert len(found["c"]) == 3 and found["t"] == [1, 2, 3] and found["w"] == 1.25


def test_metrics_that_fall_are_better(runs: Path) -> None:
    assert Reader(jobs=1).read(runs / "ter").metric == Ter()
    assert Reader(jobs=1).read(runs / "mert").metric == Bleu()
