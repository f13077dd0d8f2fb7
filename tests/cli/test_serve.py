"""``hopefear serve``: a real translator behind the command."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hopefear.cli.main import main
from hopefear.errors import InputError
from hopefear.serve.server import require_packages
from hopefear.translator.folder import write_card
from hopefear.translator.translator import Translator


@pytest.fixture(scope="module")
def translator(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a card. A copy: the task's own model is shared by the tests and has none."""
    folder = Path(shutil.copytree(task / "model", tmp_path_factory.mktemp("served") / "small"))
    write_card(folder, {"name": "small", "source": "es", "target": "en", "licence": "CC0"})
    return folder


@contextmanager
def served(*arguments: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of ``hopefear serve``, and its process."""
    command = [sys.executable, "-m", "hopefear.cli.main", "serve", *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert line.startswith("listening on http://127.0.0.1:"), line + process.stderr.read()
        yield line.split()[-1], process
    finally:
        process.kill()
        process.communicate()


def ask(url: str, **values: Any) -> Any:
    request = urllib.request.Request(url, json.dumps(values).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_it_matches_the_translator(translator: Path, task: Path, tmp_path: Path) -> None:
    lines = (task / "dev.source").read_text().splitlines()[:12]
    texts = [*lines[:10], f"{lines[10]} {{{{x}}}}", ""]
    word = lines[0].split()[0]
    (tmp_path / "terms.tsv").write_text(f"{word}\tTERM\n")
    whole = Translator(translator, glossary=tmp_path / "terms.tsv")
    with served(translator, "--glossary", tmp_path / "terms.tsv", "--quiet", "--jobs", "2") as (url, process):
        plain = ask(f"{url}/translate", q=texts, source="es", target="en")
        assert plain["translatedText"] == whole(texts)
        rich = ask(f"{url}/v1/translate", text=texts, target="en", alternatives=3)
        for text, answer in zip(texts, rich["translations"], strict=True):
            (expected,) = whole.translations([text], n=4)
            assert answer["text"] == expected.text
            assert answer["alignment"] == [list(link) for link in expected.alignment]
            others = [other.text for other in expected.alternatives if other.text != expected.text]
            assert [other["text"] for other in answer["alternatives"]] == others[:3]
        assert "term" in {mark["kind"] for mark in rich["translations"][0]["marks"]}
        assert {mark["kind"] for mark in rich["translations"][10]["marks"]} >= {"kept"}
        assert ask(f"{url}/v1/explain", text=lines[1], target="en")["explanation"] == str(whole.explain(lines[1]))
        process.send_signal(signal.SIGTERM)
        _, output = process.communicate(timeout=30)
        assert process.returncode == 0 and output == ""  # --quiet: no log


def test_documents_of_each_kind(translator: Path, task: Path) -> None:
    line = (task / "dev.source").read_text().splitlines()[0]
    translation = Translator(translator)(line)
    files = {
        "a.txt": (f"{line}\n", f"{translation}\n"),
        "a.srt": (f"1\n00:00:01,000 --> 00:00:02,000\n{line}\n", f"1\n00:00:01,000 --> 00:00:02,000\n{translation}\n"),
        "a.csv": (f"id,text\n7,{line}\n", f"id,text\n7,{translation}\n"),
        "a.json": (json.dumps({"a": line}), json.dumps({"a": translation})),
    }
    with served(translator, "--log", "errors") as (url, _):
        for name, (text, expected) in files.items():
            form = (
                f'--xx\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n{text}\r\n'
                '--xx\r\nContent-Disposition: form-data; name="column"\r\n\r\ntext\r\n'
                '--xx\r\nContent-Disposition: form-data; name="source"\r\n\r\nes\r\n'
                '--xx\r\nContent-Disposition: form-data; name="target"\r\n\r\nen\r\n--xx--\r\n'
            )
            kind = {"Content-Type": "multipart/form-data; boundary=xx"}
            request = urllib.request.Request(f"{url}/translate_file", form.encode(), kind)
            with urllib.request.urlopen(request, timeout=60) as answer:
                address = json.load(answer)["translatedFileUrl"]
            with urllib.request.urlopen(address) as answer:
                assert answer.read().decode() == expected, name


def test_the_log(translator: Path) -> None:
    with served(translator, "--workers", "2", "--log", "text") as (url, process):
        ask(f"{url}/translate", q="casa", source="es", target="en")
        process.send_signal(signal.SIGINT)
        _, output = process.communicate(timeout=30)
    entry = json.loads(output.splitlines()[0])
    assert (entry["path"], entry["status"], entry["text"], entry["pair"]) == ("/translate", 200, ["casa"], "es-en")
    assert process.returncode == 0


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["serve", *map(str, arguments)]) == 2
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    return output


def test_wrong_arguments_are_errors(translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "keys").write_text("short\n")
    (tmp_path / "folder").mkdir()
    assert "nowhere" in refused(capsys, tmp_path / "nowhere")
    assert "is not a model" in refused(capsys, tmp_path / "folder", "--port", "0")
    assert "fewer than 8 characters" in refused(capsys, translator, "--api-keys", tmp_path / "keys")
    assert "both translate from es to en" in refused(capsys, translator, translator, "--port", "0")
    assert "--public-url" in refused(capsys, translator, "--public-url", "translate.example.org")
    assert "--protect" in refused(capsys, translator, "--protect", "(", "--port", "0")
    assert "--port" in refused(capsys, translator, "--port", "70000")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port {port}: address already in use" in refused(capsys, translator, "--port", port)


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        InputError, match=r"serve needs starlette and uvicorn. Install it: pip install 'hopefear\[serve\]'"
    ):
        require_packages()
