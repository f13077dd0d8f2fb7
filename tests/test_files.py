from pathlib import Path

import pytest

from hopefear.files import atomic_write


def test_text_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "weights.txt"
    with atomic_write(path) as file:
        file.write("größer 1\n")
        assert not path.exists()
    assert path.read_bytes() == "größer 1\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "weights.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_write(path, "wb") as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    (tmp_path / "ordinary").write_text("")
    with atomic_write(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    with atomic_write(tmp_path / "link") as file:
        file.write("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "x"


@pytest.mark.parametrize(("path", "error"), [(".", IsADirectoryError), ("missing/file", FileNotFoundError)])
def test_the_error_names_the_file_that_was_asked_for(tmp_path: Path, path: str, error: type[OSError]) -> None:
    with pytest.raises(error) as raised, atomic_write(tmp_path / path):
        pass
    assert raised.value.filename == str(tmp_path / path)


def test_a_device_is_written_in_place() -> None:
    with atomic_write("/dev/null") as file:
        file.write("x")
    assert Path("/dev/null").is_char_device()
