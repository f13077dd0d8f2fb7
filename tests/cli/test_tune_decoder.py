"""``tune --decoder-command`` from end to end, around small decoders."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hopefear.cli.main import main
from hopefear.formats import read_weights

Capture = pytest.CaptureFixture[str]
TOY = Path(__file__).parents[2] / "examples" / "toy_decoder.py"
DECODE = f"{sys.executable} {TOY} source.txt {{weights}} --beam 8 > {{nbest}}"
TUNE = ["tune", "--refs", "ref.txt", "--trainer", "kbmira", "--initial", "initial.txt", "--out", "run"]
LOOP = [*TUNE, "--iterations", "2", "--decoder-command"]

# Its translations are right in as many words as its parameters are close to width = 6, depth = 0.35; lm tells the right
# candidate, which comes first only if the weight of lm is positive.
FAKE = """
import sys
weights, params = (dict(line.split() for line in open(path)) for path in sys.argv[1:3])
off = abs(int(params["width"]) - 6) + abs(float(params["depth"]) - 0.35) * 20
sign = float(weights.get("lm", 0)) > 0
open("calls", "a").write(f"{params['width']} {params['depth']}\\n")
for i, line in enumerate(open("ref.txt")):
    words = line.split()
    wrong = min(len(words), round(off))
    right = [f"x{k}" if k < wrong else word for k, word in enumerate(words)]
    both = [(" ".join(right), 1), (" ".join(words[:2]), 0)]
    for text, lm in both if sign else both[::-1]:
        print(f"{i} ||| {text} ||| lm= {lm} other= {i % 3} ||| 0")
"""
PARAMS = """
[width]
values = [2, 4]
least = 1
[depth]
low = 0.2
high = 0.6
step = 0.2
smallest = 0.04
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, TOY, "make", "."], check=True)
    for name in ("source.txt", "ref.txt"):
        lines = Path(name).read_text().splitlines(keepends=True)[:20]
        Path(name).write_text("".join(lines))
    Path("initial.txt").write_text("tm 0.5\nlm 0.5\nwords 0.2\n")


def record(run: str = "run") -> dict[str, Any]:
    record = json.loads(Path(run, "run.json").read_text())
    assert isinstance(record, dict)
    return record


def test_the_loop_leaves_a_run(capsys: Capture) -> None:
    assert main([*LOOP, DECODE]) == 0
    out, err = capsys.readouterr()
    head, before, after, _ = (line.split() for line in out.splitlines())
    assert head == ["bleu", "dev", "held", "out"]
    assert float(after[1]) > float(before[1]) + 5
    assert err.endswith("weights: run/weights.txt\n")
    saved = record()
    assert saved["status"] == "done"
    assert saved["final"]["best_iteration"] > 1
    assert saved["final"]["before"]["dev"]["bleu"] == pytest.approx(float(before[1]), abs=0.006)
    assert saved["sentences"] == {"dev": 18, "holdout": 2} and len(saved["holdout"]["ids"]) == 2
    assert [epoch["epoch"] for epoch in saved["epochs"]] == list(range(1, 1 + saved["final"]["decodings"]))
    best = Path("run/checkpoint/replicate-1", f"iteration-{saved['final']['best_iteration']}", "weights.txt")
    assert read_weights("run/weights.txt") == read_weights(best)


def test_a_finished_run_is_printed_again_without_decoding(capsys: Capture) -> None:
    assert main([*LOOP, DECODE, "--json"]) == 0
    first = capsys.readouterr().out
    assert main([*LOOP, DECODE, "--json", "--resume"]) == 0
    assert capsys.readouterr().out == first
    assert main([*LOOP, DECODE]) == 2
    assert "holds a finished run" in capsys.readouterr().err


def test_pro_mixes_old_and_new_weights_in_the_loop() -> None:
    command = [*LOOP, DECODE]
    command[command.index("kbmira")] = "pro"
    command += ["--set", "samples=100"]
    assert main(command) == 0
    assert record()["trainer"]["options"]["interpolation"] == 0.1
    assert main([*command, "--set", "interpolation=0.5", "--overwrite"]) == 0
    assert record()["trainer"]["options"]["interpolation"] == 0.5


def test_recent_lists(capsys: Capture) -> None:
    counts = []
    for more in ([], ["--recent", "1", "--overwrite"]):
        assert main([*LOOP, DECODE, *more]) == 0
        counts.append([epoch["candidates"] for epoch in record()["epochs"]])
    assert counts[1][0] == counts[0][0] and counts[1][-1] < counts[0][-1]
    assert main([*LOOP, DECODE, "--resume"]) == 2  # another recipe
    assert "recent" in capsys.readouterr().err


def test_replicates_from_random_models(capsys: Capture) -> None:
    assert main([*LOOP, DECODE, "--replicates", "2", "--random-init"]) == 0
    assert "mean of 2" in capsys.readouterr().out
    starts = [read_weights(f"run/checkpoint/replicate-{k}/iteration-1/weights.txt") for k in (1, 2)]
    assert starts[0] != starts[1] and len(record()["final"]["replicates"]) == 2


def test_a_column_of_the_decoders_own(capsys: Capture) -> None:
    line = '{"id": "0", "candidates": [{"text": "a", "features": {"f": 0}, "metrics": {"judge": 0.1}}, '
    line += '{"text": "b", "features": {"f": 1}, "metrics": {"judge": 0.9}}]}'
    Path("list").write_text(line + "\n")
    command = ["tune", "--decoder-command", "cat list # {weights}", "--metric", "judge", "--trainer", "mert"]
    assert main([*command, "--out", "run", "--iterations", "1"]) == 0
    assert capsys.readouterr().out.split()[0] == "judge"


@pytest.mark.parametrize(
    ("more", "finding"),
    [
        (["echo lost >&2; exit 3; {weights}"], "decoder, iteration 1: failed with exit code 3"),
        (["head -c 900 /dev/zero # {weights}"], "nbest:1: "),
        (["sleep 60; {weights}", "--decoder-timeout", "0.3"], "no answer within 0.3 seconds"),
        (["decode"], "no {weights}"),
        (["decode {weights} {param:beam}"], "Give --params"),
        ([DECODE, "--nbest", "source.txt"], "give one of --nbest, --forests, --table, --decoder-command"),
        ([DECODE, "--dev-nbest", "source.txt"], "--dev-nbest works only with --nbest or --forests"),
        ([DECODE, "--retune-every", "2"], "--retune-every works only with --params"),
        ([DECODE, "--decoder-timeout", "-1"], "must be more than 0"),
        ([DECODE, "--holdout", "2"], "2 is too large: 1 at most"),
        ([DECODE.replace("source.txt", "absent.txt")], "No such file or directory: 'absent.txt'"),
    ],
)
def test_faults_are_one_line_errors(more: list[str], finding: str, capsys: Capture) -> None:
    assert main([*LOOP, *more]) == 2
    out, err = capsys.readouterr()
    assert out == "" and finding in err and err.count("\n") == 1 and err.startswith("hopefear: ")


def test_a_run_resumes_after_a_failure(capsys: Capture) -> None:
    assert main([*LOOP, DECODE, "--json"]) == 0
    whole = capsys.readouterr().out
    # A decoder that fails in iteration 2, until it is repaired.
    breaks = DECODE + "; [ {iteration} = 2 ] && [ ! -e mended ] && echo out of order >&2 && exit 9; exit 0"
    elsewhere = [*TUNE[:-1], "again", "--iterations", "2", "--json", "--decoder-command", breaks]
    assert main(elsewhere) == 2
    assert "iteration 2: failed with exit code 9" in capsys.readouterr().err
    kept = Path("again/checkpoint/replicate-1/iteration-1/candidates.forests").stat().st_mtime_ns
    Path("mended").touch()
    assert main([*elsewhere, "--resume"]) == 0
    assert capsys.readouterr().out == whole
    assert Path("again/weights.txt").read_bytes() == Path("run/weights.txt").read_bytes()
    assert Path("again/checkpoint/replicate-1/iteration-1/candidates.forests").stat().st_mtime_ns == kept


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_resumes_to_the_same_weights(number: signal.Signals, capsys: Capture) -> None:
    slow = DECODE + "; [ {iteration} = 2 ] && [ ! -e quick ] && echo $$ > pid && sleep 60; exit 0"
    arguments = [*LOOP, slow]
    process = subprocess.Popen([sys.executable, "-m", "hopefear.cli.main", *arguments], stderr=subprocess.DEVNULL)
    while process.poll() is None and not (Path("pid").exists() and Path("pid").read_text().strip()):
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait() == (130 if number != signal.SIGKILL else -number)
    shell = int(Path("pid").read_text())
    if number == signal.SIGKILL:  # nobody was left to end the decoder
        os.killpg(shell, signal.SIGKILL)
    else:
        assert not Path(f"/proc/{shell}").exists()
    Path("quick").touch()
    assert main([*arguments, "--resume"]) == 0
    assert main([*TUNE[:-1], "whole", "--iterations", "2", "--decoder-command", slow]) == 0
    assert Path("run/weights.txt").read_bytes() == Path("whole/weights.txt").read_bytes()


@pytest.fixture
def fake() -> list[str]:
    Path("fake.py").write_text(FAKE)
    Path("params.toml").write_text(PARAMS)
    lines = [" ".join(f"w{i}{j}" for j in range(12)) for i in range(10)]
    Path("ref.txt").write_text("\n".join(lines) + "\n")
    decoder = f"{sys.executable} fake.py {{weights}} {{params}}"
    options = ["--decoder-command", decoder, "--params", "params.toml", "--refs", "ref.txt", "--holdout", "0"]
    return ["tune", *options, "--trainer", "mert", "--iterations", "1", "--set", "restarts=1", "--out", "run"]


def test_coordinate_ascent_finds_the_decoders_best_setting(fake: list[str], capsys: Capture) -> None:
    assert main(fake) == 0
    out, err = capsys.readouterr()
    saved = record()
    params = dict(line.split() for line in Path("run/params.txt").read_text().splitlines())
    assert saved["final"]["params"] == {"width": int(params["width"]), "depth": float(params["depth"])}
    # As good as the best of all settings on a grid; the quality is a step function of the distance.
    grid = itertools.product(range(1, 12), [k / 100 for k in range(5, 80)])
    best = min(round(abs(width - 6) + abs(depth - 0.35) * 20) for width, depth in grid)
    assert round(abs(int(params["width"]) - 6) + abs(float(params["depth"]) - 0.35) * 20) == best == 0
    assert saved["final"]["dev"]["bleu"] == pytest.approx(100.0)
    assert float(read_weights("run/weights.txt")["lm"]) > 0
    assert "params  width=6" in out and err.endswith("params: run/params.txt\n")
    # Each setting was decoded once with the same weights, and resuming decodes nothing.
    calls = Path("calls").read_text()
    assert main([*fake, "--resume"]) == 0
    assert Path("calls").read_text() == calls


def test_coordinate_ascent_resumes_to_the_same_result(fake: list[str], capsys: Capture) -> None:
    assert main([*fake, "--json"]) == 0
    whole, kept = capsys.readouterr().out, Path("run/params.txt").read_bytes()
    command = fake[fake.index("--decoder-command") + 1]
    once = f"echo >> count; [ $(wc -l < count) != 12 ] && {command}"  # fails at its twelfth call
    again = [once if word == command else "again" if word == "run" else word for word in fake]
    assert main([*again, "--json"]) == 2
    assert main([*again, "--json", "--resume"]) == 0
    assert capsys.readouterr().out == whole
    assert Path("again/params.txt").read_bytes() == kept


def test_the_limit_on_evaluations(fake: list[str], capsys: Capture) -> None:
    assert main([*fake, "--max-evaluations", "3"]) == 0
    assert record()["final"]["stopped"] == "3 settings were scored"


def test_findings_are_warned_of_and_recorded(capsys: Capture) -> None:
    # This decoder writes the same two candidates each time: the first of them stays the translation.
    Path("ref.txt").write_text("a b c d e\n")
    Path("list").write_text("0 ||| a b c d x ||| f= 1 g= 0 ||| 0\n0 ||| a b c d e ||| f= 2 g= 0 ||| 0\n")
    Path("initial.txt").write_text("f -0.1\n")
    assert main([*LOOP, "cat list # {weights}"]) == 0
    err = capsys.readouterr().err
    assert "warning: " in err and "[no-gain]" in err and "[silent-feature]" in err
    saved = record()
    assert {"no-gain", "silent-feature"} <= {finding["code"] for finding in saved["findings"]}
    assert all(f"warning: {text}\n" in err for text in saved["warnings"])
