"""ARPA files, ours and others'."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear import InputError
from hopefear.model.language_model import LanguageModel
from tests.model.lm_corpora import arpa_text, backoff_arpa, zipf_sentences

ELSEWHERE = """\
This text before the data is allowed, and skipped.

\\data\\
ngram 1=6
ngram  2 = 4
ngram 3= 2

\\1-grams:
-1.25\t<unk>
-99 <s>\t-0.5
-0.75  </s>
-1.5\ta\t-0.25
 -2\tb   -0.125
-3.0e0\tcafé\t+0.0625

\\2-grams:
-0.5\t<s> a\t-0.0625
-0.25 a b -0.75\t
-1\ta a
-0.5\tb </s>

\\3-grams:
-0.125\t<s> a b
-0.0625\ta\tb\t</s>

\\end\\
anything may follow
"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Any:
    (tmp_path / "elsewhere.arpa").write_text(ELSEWHERE)
    return LanguageModel.read_arpa(tmp_path / "elsewhere.arpa")


def test_a_file_made_elsewhere_gives_its_own_probabilities(elsewhere: Any) -> None:
    assert elsewhere.order == 3
    assert elsewhere.counts == (6, 4, 2)
    assert elsewhere.full_scores("a b") == [(-0.5, 2, False), (-0.125, 3, False), (-0.0625, 3, False)]
    assert elsewhere.full_scores("a") == [(-0.5, 2, False), (-0.0625 - 0.25 - 0.75, 1, False)]
    assert elsewhere.full_scores("b a") == [(-0.5 - 2, 1, False), (-0.125 - 1.5, 1, False), (-0.25 - 0.75, 1, False)]
    assert elsewhere.full_scores("zzz", eos=False) == [(-0.5 - 1.25, 1, True)]
    assert elsewhere.full_scores("café b", bos=False, eos=False) == [(-3, 1, False), (0.0625 - 2, 1, False)]
    assert elsewhere.full_scores("a a b", bos=False, eos=False)[2] == (-0.25, 2, False)
    assert elsewhere.score("") == -0.5 - 0.75
    assert elsewhere.score("", eos=False) == 0
    # The marks are no words of a text.
    assert elsewhere.score("<s>", bos=False, eos=False) == elsewhere.score("</s>", bos=False, eos=False) == -1.25


def test_crlf_and_a_byte_order_mark(elsewhere: Any, tmp_path: Path) -> None:
    (tmp_path / "dos").write_bytes(b"\xef\xbb\xbf" + ELSEWHERE.replace("\n", "\r\n").encode())
    assert np.array_equal(LanguageModel.read_arpa(tmp_path / "dos").core.data, elsewhere.core.data)


def test_what_a_file_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\\data\\\nngram 1=2\n\n\\1-grams:\n-1\tx\n-inf\ty\n\n\\end\\\n")
    model = LanguageModel.read_arpa(tmp_path / "a")
    assert model.vocab == ["<unk>", "<s>", "</s>", "x", "y"]
    assert [s.log10_prob for s in model.full_scores("x y z")] == [-1, -100, -100, -100]
    upper = "\\data\\\nngram 1=2\nngram 2=1\n\n\\1-grams:\n-1\t<UNK>\n-2 y\n\\2-grams:\n-0.5 y <UNK>\n\\end\\\n"
    (tmp_path / "a").write_text(upper)
    model = LanguageModel.read_arpa(tmp_path / "a")
    assert [s.log10_prob for s in model.full_scores("x y <UNK>", bos=False, eos=False)] == [-1, -2, -0.5]
    # An order without n-grams, with or without its section.
    for section in ("\\2-grams:\n\n", ""):
        (tmp_path / "a").write_text(f"\\data\\\nngram 1=1\nngram 2=0\n\n\\1-grams:\n-1\tx\n\n{section}\\end\\\n")
        model = LanguageModel.read_arpa(tmp_path / "a")
        assert (model.order, model.counts) == (2, (4, 0))
        assert model.score("x x", False, False) == -2


@pytest.mark.parametrize("order", [1, 2, 3, 5, 6])
def test_round_trip_to_the_bit(order: Any, tmp_path: Path) -> None:
    model = LanguageModel.estimate([" ".join(s) for s in zipf_sentences(order)], order, (0, 0, 1)[:order])
    for name in ("a.arpa", "a.arpa.gz", "a.arpa.xz", "a.arpa.zst"):
        model.write_arpa(tmp_path / name)
        again = LanguageModel.read_arpa(tmp_path / name)
        again.write_arpa(tmp_path / "b.arpa")
        assert again.vocab == model.vocab
        if name == "a.arpa":
            assert (tmp_path / "a.arpa").read_bytes() == (tmp_path / "b.arpa").read_bytes()
        lines = [" ".join(s) + " new" for s in zipf_sentences(99)]
        assert [again.score(line) for line in lines] == [model.score(line) for line in lines]


def test_round_trip_of_odd_values(tmp_path: Path) -> None:
    p, b = backoff_arpa(4)
    (tmp_path / "a").write_text(arpa_text(p, b, 4))
    LanguageModel.read_arpa(tmp_path / "a").write_arpa(tmp_path / "b")
    for line in (tmp_path / "b").read_text().split("\n"):
        if "\t" in line:
            prob, words, *backoff = line.split("\t")
            gram = tuple(words.split(" "))
            assert np.float32(prob) == np.float32(p[gram])
            assert np.float32(backoff[0] if backoff else 0) == np.float32(b.get(gram, 0))


def replaced(old: Any, new: Any) -> Any:
    assert ELSEWHERE.count(old) == 1, old
    return ELSEWHERE.replace(old, new)


MALFORMED = {
    "": ": no \\data\\ line. Is this an ARPA file?",
    "hello\n": ": no \\data\\ line. Is this an ARPA file?",
    "iARPA\n\\data\\\n": ":1: an IRSTLM iARPA file. Turn it into ARPA with: compile-lm --text=yes",
    "mmap lm http://kheafield.com/code format version 5\n\0": ":1: a binary file of KenLM. Give the ARPA file that",
    "\\data\\\n": ':1: expected "ngram 1=COUNT" behind \\data\\',
    replaced("ngram 1=6", "ngram 2=6"): ':4: expected "ngram 1=COUNT". Is the head',
    replaced("ngram 1=6", "ngram 1=six"): ':4: expected "ngram 1=COUNT". Is the head',
    replaced("ngram 1=6", "ngram 1"): ':4: expected "ngram 1=COUNT". Is the head',
    replaced("ngram 1=6", "ngram 1=-6"): ':4: expected "ngram 1=COUNT". Is the head',
    replaced("ngram 1=6", "ngram 1=7"): ":8: 6 1-grams follow, where the head of the file says 7",
    replaced("ngram 3= 2", "ngram 3=99999999999999999999"): ':6: expected "ngram 3=COUNT"',
    replaced("\\2-grams:", "\\4-grams:"): ":16: expected \\2-grams:.",
    replaced("-1\ta a\n", "-1\ta a\n-1\ta a\n").replace("2 = 4", "2=5"): ":20: this n-gram is there twice",
    replaced("-1.5\ta\t-0.25", "-1.5\t<unk>\t-0.25"): ":12: '<unk>' is there twice",
    replaced("-1.5\ta\t-0.25", "-1.5\t<UNK>\t-0.25"): ":12: '<UNK>' is there twice",
    replaced("-1\ta a", "-1\ta q"): ":19: 'q' is not among the unigrams",
    replaced("-1\ta a", "-1\ta"): ":19: expected a log10 probability, 2 words and perhaps a back-off weight, found 2",
    replaced("-1\ta a", "-1\ta a -1 -1"): ":19: expected a log10 probability, 2 words",
    replaced("-1\ta a", "one\ta a"): ":19: the log10 probability is no number: 'one'",
    replaced("-1\ta a", "-1x\ta a"): ":19: the log10 probability is no number: '-1x'",
    replaced("-1\ta a", "nan\ta a"): ":19: the log10 probability is not finite: 'nan'",
    replaced("-1\ta a", "0.5\ta a"): ":19: a log10 probability above 0: '0.5'",
    replaced("-1\ta a", "-1\ta a\tinf"): ":19: the back-off weight is not finite: 'inf'",
    replaced("-1\ta a", "-1\ta a\t1e99"): ":19: the back-off weight is not finite: '1e99'",
    replaced("\\end\\\nanything may follow\n", ""): ":25: expected \\end\\. Was the file cut off?",
    "\\data\\\n" + "".join(f"ngram {n}=1\n" for n in range(1, 8)): ":8: order 7, where at most 6 is possible",
}


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed(text: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.arpa"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        LanguageModel.read_arpa(path)
    assert str(error.value).startswith(f"{path}{MALFORMED[text]}")
    assert "\n" not in str(error.value)


def test_latin1_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(ELSEWHERE.encode("latin1"))
    with pytest.raises(InputError, match=r"a:14: not UTF-8\. Convert the file"):
        LanguageModel.read_arpa(tmp_path / "a")


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for size in range(ELSEWHERE.index("anything") - 2):
        path.write_bytes(ELSEWHERE.encode()[: size + 1])  # é takes two bytes
        with pytest.raises(InputError):
            LanguageModel.read_arpa(path)


def test_a_missing_file_and_a_missing_folder(tmp_path: Path, elsewhere: Any) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        LanguageModel.read_arpa(tmp_path / "none")
    with pytest.raises(InputError, match="no such file or folder"):
        elsewhere.write_arpa(tmp_path / "none" / "a.arpa")
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere.arpa"]


def test_numbers_too_small_for_a_float(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(replaced("-1\ta a", "-1e-60\ta a\t-1e-70"))
    model = LanguageModel.read_arpa(tmp_path / "a")
    assert model.score("a a", False, False) == -1.5


@pytest.mark.parametrize("number", ["-Infinity", "-1e999", "-INF", "-infinity"])
def test_only_the_minus_infinity_that_toolkits_write_is_read(tmp_path: Path, number: Any) -> None:
    (tmp_path / "a").write_text(f"\\data\\\nngram 1=2\n\n\\1-grams:\n-1\tx\n{number}\ty\n\n\\end\\\n")
    with pytest.raises(InputError, match=r"a:6: the log10 probability is not finite"):
        LanguageModel.read_arpa(tmp_path / "a")
