"""Bodies: JSON, forms, files in forms."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from hopefear.serve.bodies import DEEPEST, Body, _depth, _form, _json
from hopefear.serve.multipart import parse_multipart, plain_name
from hopefear.serve.settings import RequestError

KIND = "boundary=xx"


def sent(*parts: tuple[str, bytes]) -> bytes:
    return b"".join(b"--xx\r\n" + head.encode() + b"\r\n\r\n" + data + b"\r\n" for head, data in parts) + b"--xx--\r\n"


def test_a_form_with_a_file() -> None:
    data = sent(
        ('Content-Disposition: form-data; name="q"', b"first"),
        ("content-disposition: form-data; name=q\r\nContent-Type: text/plain", b"second"),
        ('Content-Disposition: form-data; name="file"; filename="a.txt"', b"\xff\r\n--x\r\n\0"),
        ("Content-Disposition: form-data; name=\"f\"; filename*=UTF-8''%C3%BC.txt", b""),
    )
    values, files = parse_multipart(data, KIND, 9)
    assert values == {"q": ["first", "second"]}
    assert {name: (file.name, file.data) for name, file in files.items()} == {
        "file": ("a.txt", b"\xff\r\n--x\r\n\0"),
        "f": ("ü.txt", b""),
    }


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (sent(), ""),
        (b"", KIND),
        (b"--xx", KIND),
        (b"--xx\r\n\r\n--xx--", KIND),
        (sent(("Content-Disposition: form-data", b"")), KIND),
        (sent(("X: y", b"")), KIND),
        (sent(('Content-Disposition: form-data; name="q"', b"\xff")), KIND),
        (sent(*[('Content-Disposition: form-data; name="q"', b"")] * 10), KIND),
        (sent(("X: " + "y" * 9000 + '\r\nContent-Disposition: form-data; name="q"', b"")), KIND),
        (b"before" + sent(('Content-Disposition: form-data; name="q"', b"")), KIND),
        (sent(('Content-Disposition: form-data; name="q"', b""))[:-8], KIND),
    ],
)
def test_damaged_forms(data: bytes, kind: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_multipart(data, kind, 9)
    assert refused.value.status == 400


@given(st.binary(max_size=300), st.sampled_from([KIND, 'boundary="x x"', "boundary=\xff"]))
def test_any_bytes_are_a_form_or_refused(data: bytes, kind: str) -> None:
    try:
        parse_multipart(data, kind, 9)
    except RequestError as refused:
        assert refused.status == 400


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\a\\b.docx", "b.docx"),
        ("a\0b\n.txt", "ab.txt"),
        ('a"<>|:*?b.txt', "ab.txt"),
        ("..", ""),
        (" . ", ""),
        ("x" * 300 + ".txt", "x" * 116 + ".txt"),
        ("\u202etxt.exe", "txt.exe"),
        ("Übersicht 日本.md", "Übersicht 日本.md"),
    ],
)
def test_names_of_files(name: str, plain: str) -> None:
    assert plain_name(name) == plain


@given(st.text(max_size=400))
def test_a_plain_name_is_no_path(name: str) -> None:
    plain = plain_name(name)
    assert len(plain) <= 120 and not {*plain} & {"/", "\\", "\0", "\n"} and plain not in (".", "..")
    assert plain_name(plain) == plain or len(plain) == 120


@pytest.mark.parametrize("data", [b"", b"[]", b"3", b"{", b'{"a": NaN}', b'{"a": ' + b"9" * 5000 + b"}", b"\xff{}"])
def test_json_that_is_refused(data: bytes) -> None:
    with pytest.raises(RequestError, match="Invalid JSON"):
        _json(data)


def test_deep_json() -> None:
    inside = b"[" * (DEEPEST - 1) + b"]" * (DEEPEST - 1)
    assert _json(b'{"a": ' + inside + b', "b": "[[[[[[[[[[[[ \\" {{{{{{{{ \\\\"}')["b"].startswith("[[[")
    for depth in (DEEPEST, 1000, 100_000):
        with pytest.raises(RequestError):
            _json(b'{"a": ' + b"[" * depth + b"]" * depth + b"}")


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=20))
def test_depth(value: object) -> None:
    import json

    def depth(value: object) -> int:
        return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0

    assert _depth(json.dumps(value).encode()) == depth(value)
    assert _depth(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")) == depth(value)


def test_forms() -> None:
    assert _form(b"q=a+b&q=%C3%BC&x=", 9) == {"q": ["a b", "ü"], "x": ""}
    for data in (b"q=%ff", b"q=\xff", b"&".join([b"q=1"] * 10)):
        with pytest.raises(RequestError):
            _form(data, 9)


def test_values() -> None:
    form = Body({"n": " 3 ", "yes": "true", "q": "a\r\nb"}, form=True)
    assert form.count("n", 0, 5) == 3 and form.flag("yes") and form.text("q") == "a\nb"
    plain = Body({"n": 3, "yes": True, "big": 10**30, "minus": -3})
    assert plain.count("n", 0, 5) == 3 and plain.count("minus", 0, 5) == 0 and plain.flag("yes")
    assert not plain.flag("other")
    for name in ("big", "yes"):
        with pytest.raises(RequestError):
            plain.count(name, 0, 5)
    with pytest.raises(RequestError):
        plain.flag("n")
