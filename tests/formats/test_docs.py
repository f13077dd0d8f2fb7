import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


def test_the_example_on_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == (
        "2 ['LM', 'TM_0', 'TM_1'] a cat\n0 2 the cat\n1 1 yes\n{'LM': 0.5, 'TM_0': 1e-07}\n"
    )


def test_the_page_tells_the_truth_about_checksums(tmp_path: Path) -> None:
    """The layout on the page, followed by hand."""
    import struct

    import hopefear as hf

    def checksum(data: bytes) -> int:
        m = 2**64

        def mix(h: int) -> int:
            h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD % m
            h = (h ^ h >> 29) * 0xC4CEB9FE1A85EC53 % m
            return h ^ h >> 32

        lanes = [1, 2, 3, 4]
        padded = data + bytes(-len(data) % 32)
        for k, (x,) in enumerate(struct.iter_unpack("<Q", padded)):
            v = lanes[k % 4] ^ x * 0x9FB21C651E98DF25 % m
            lanes[k % 4] = ((v << 29 | v >> 35) % m * 0xFF51AFD7ED558CCD + 0x52DCE729) % m
        h = mix((len(data) + 0x9E3779B97F4A7C15) % m)
        for lane in lanes:
            h = mix(h ^ mix(lane))
        return h

    (tmp_path / "n").write_text("0 ||| a b ||| f= 1 ||| 0\n1 ||| c ||| f= 2.5 ||| 0\n")
    hf.write_forests(hf.read_nbest(tmp_path / "n"), tmp_path / "native")
    data = (tmp_path / "native").read_bytes()
    magic, version, sections, size, table, dense, columns, sentences, own = struct.unpack_from("<16sIIQQIIQQ", data)
    assert magic == b"\x89hopefear\r\n\x1a\n\0\0\0"
    assert (version, sections, size, dense, columns, sentences) == (1, 24, len(data), 1, 0, 2)
    assert own == checksum(data[:56])
    assert table == checksum(data[64 : 64 + 32 * 24])
    content = {}
    for kind, _, offset, length, check in struct.iter_unpack("<IIQQQ", data[64 : 64 + 32 * 24]):
        assert offset % 64 == 0
        content[kind] = data[offset : offset + length]
        assert check == checksum(content[kind])
    assert content[2] == b"abc"
    assert struct.unpack("<4Q", content[1]) == (0, 1, 2, 3)
    assert content[4] == b"f"
    assert struct.unpack("<2d", content[18]) == (1, 2.5)
    assert struct.unpack("<24Q", content[11])[16:] == (2, 2, 0, 3, 0, 0, 0, 0)
