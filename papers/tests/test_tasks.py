"""Translation tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear.errors import InputError
from hopefear_papers import Lab
from hopefear_papers.setups import main_setup
from hopefear_papers.tasks import Part, tasks


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


WHOLE = {
    "train_source": "a\n",
    "train_target": "b\n",
    "dev_source": "a\n",
    "dev_ref_0": "b\n",
    "dev_ref_1": "c\n",
    "test_source": "a\n",
    "test_ref_0": "b\n",
}


def test_a_task_of_ones_own(tmp_path: Path) -> None:
    (task,) = tasks(Lab(tmp_path, data=written(tmp_path / "mine", **WHOLE)))
    assert task.name == "mine" and len(task.dev[1]) == 2 and len(task.test[1]) == 1
    assert {path.name for path in task.files} == {name.replace("_", ".") for name in WHOLE}


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    data = written(tmp_path / "mine", **{name: text for name, text in WHOLE.items() if name != "test_source"})
    with pytest.raises(InputError, match=r"test\.source"):
        tasks(Lab(tmp_path, data=data))
    with pytest.raises(InputError, match="no such directory"):
        tasks(Lab(tmp_path, data=tmp_path / "nowhere"))


def test_a_language_is_generated_once(lab: Lab) -> None:
    (task,) = tasks(lab)
    before = {path: path.stat().st_mtime_ns for path in task.files}
    assert tasks(lab) == [task]
    assert {path: path.stat().st_mtime_ns for path in task.files} == before


def test_a_part_has_the_first_lines_with_words(lab: Lab, tmp_path: Path) -> None:
    model = main_setup(lab).model
    folder = written(tmp_path, s="Eins\n\nzwei\ndrei\n", r="One\nnothing\ntwo\nthree\n", short="One\n")
    part = Part.read(model, folder / "s", [folder / "r"], 2)
    assert part.sources == ["Eins", "zwei"] and part.raw == [["One", "two"]]
    assert part.references == [[model.target_text.text(line) for line in part.raw[0]]]
    assert part.subset([1]).sources == ["zwei"] and part.subset([1]).digest != part.digest
    with pytest.raises(InputError, match="another number of lines"):
        Part.read(model, folder / "s", [folder / "short"], 2)
