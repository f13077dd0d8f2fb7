"""Text through a translator: what must come out, and what must come out as it went in."""

from __future__ import annotations

import inspect
import random
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hopefear.decode import Hiero
from hopefear.documents.segment import Segment
from hopefear.errors import InputError
from hopefear.model.builder import build
from hopefear.model.options import BuildOptions
from hopefear.translator.drafts import Slot, rendered
from hopefear.translator.folder import pack, write_card
from hopefear.translator.glossary import Term
from hopefear.translator.translator import Translator
from tests.shared_data import SHARED
from tests.translator.conftest import ADJECTIVES, NOUNS


def test_a_text_is_a_text_a_list_a_list_an_iterator_an_iterator(translator: Translator) -> None:
    text = "Ein rotes Haus steht hier."
    assert translator(text) == "A red house stands here."
    assert translator([text, ""]) == ["A red house stands here.", ""]
    read: list[int] = []

    def endless() -> object:
        for number in range(10_000):
            read.append(number)
            yield text

    stream = translator(endless())  # type: ignore[call-overload]
    assert inspect.isgenerator(stream) and next(stream) == "A red house stands here."
    assert len(read) < 1000


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("Ein <b>rotes</b> Haus steht hier.", "A <b>red</b> house stands here."),
        ("Hallo {{kunde}}, das Haus steht hier!", "Hello {{kunde}}, the house stands here!"),
        ("Das __TERM1__ steht hier.", "The __TERM1__ stands here."),
        ("Ein rotes Haus --> ein altes Tor", "A red house --> a old gate"),
        ("Ein rotes Haus kommt von IKEA.", "A red house comes from IKEA."),
        ("Ein rotes Haus kostet %s Euro.", "A red house costs %s euros."),
        ("Ein rotes Haus kostet %(preis)d Euro.", "A red house costs %(preis)d euros."),
        ("Ein rotes Haus kostet 12,50 Euro.", "A red house costs 12,50 euros."),
    ],
)
def test_every_example_of_the_issue(translator: Translator, source: str, wanted: str) -> None:
    made = translator(source)
    assert made == wanted
    assert translator.translations([source])[0].text == wanted


@pytest.mark.parametrize(
    "kept",
    [
        "{{x}}", "{0}", "%s", "%(name)d", "${x}", "__X__", "https://a.example/b?c=d&e=(f)", "a.b@c.example", "bild.png",
        "`code x`", "&amp;", "3.4.2016", "12,5 km", "-->", "<br/>", "iPhone", "IKEA", "{kunde}", "10:30", "v1.2.3",
    ],
)  # fmt: skip
def test_protected_spans_come_out_once_byte_for_byte(translator: Translator, kept: str) -> None:
    for text in (f"Ein rotes {kept} steht hier.", f"{kept} steht hier, ein Haus!", f"Das Haus ({kept}) ist alt"):
        made = translator(text)
        assert made.count(kept) == 1, made
        assert f"({kept})" not in text or f"({kept})" in made


def test_the_same_span_twice(translator: Translator) -> None:
    made = translator("{x} und {x} und {y} steht hier %s: %d.")
    assert made.count("{x}") == 2 and made.count("{y}") == 1 and "%s: %d" in made


def test_names_and_numbers_of_the_users_own(folder: Path) -> None:
    own = Translator(folder, protect=[r"Haus-\w+"], keep=["Altes Tor"])
    assert own("Ein rotes Haus-Boot steht hier.") == "A red Haus-Boot stands here."
    assert own("Ein Altes Tor steht hier.") == "A Altes Tor stands here."
    with pytest.raises(InputError, match="not a regular expression"):
        Translator(folder, protect=["("])


def test_capitals(translator: Translator) -> None:
    assert translator("EIN ROTES HAUS STEHT HIER.") == "A RED HOUSE STANDS HERE."
    assert translator("Ein rotes Haus ist WICHTIG.") == "A red house is IMPORTANT."
    assert translator("ein rotes haus steht hier.") == "a red house stands here."


def test_white_space_and_lines_stay(translator: Translator) -> None:
    text = "  Ein rotes Haus steht hier. Ein altes Tor ist wichtig.\n\n\tDas Boot\r\nDas Glas"
    assert translator(text) == "  A red house stands here. A old gate is important.\n\n\tThe boat\r\nThe glass"
    assert translator("Das Boot&nbsp;kostet zwei Euro.") == "The boat&nbsp;costs two euros."
    assert translator("Das Karo\u00a0Lanze Boot") == "The Karo\u00a0Lanze boat"
    for nothing in ("", " ", "\n", "\n\n  \n", "12 - 34", "...", "<br>", "{x}\n{y}", "\t"):
        assert translator(nothing) == nothing


def test_tags_surround_what_they_surrounded(translator: Translator) -> None:
    made = translator("<p>Ein <a href='x'><i>rotes</i> Haus</a> steht<br/>hier.</p>")
    assert made == "<p>A <a href='x'><i>red</i> house</a> stands<br/>here.</p>"
    assert translator("Ein <b> rotes </b> Haus") == "A <b> red </b> house"
    assert translator("Ein <b>rotes </b><br/>Haus") == "A <b>red </b><br/>house"
    assert translator("Ein <b>rotes</b><br/>Haus") == "A <b>red</b><br/>house"
    assert translator("Ein Karo <br/> Lanze") == "A Karo <br/> Lanze"
    assert translator("Ein <b>rotes Haus steht hier. Ein altes</b> Tor.").count("<b>") == 1


def test_html(translator: Translator) -> None:
    text = "<div><p>Ein <b>rotes</b> Haus &lt;hier&gt;</p><script>Haus</script><p>das Boot</p></div>"
    (made,) = translator.translations([text], n=2, format="html")
    assert made.text == "<div><p>A <b>red</b> house &lt;here&gt;</p><script>Haus</script><p>the boat</p></div>" or (
        "&lt;hier&gt;" in made.text
    )
    assert made.text.startswith("<div><p>A <b>red</b> house") and made.text.endswith("<p>the boat</p></div>")
    assert made.alternatives[0].text == made.text
    assert translator.translations(["Haus &amp; Boot"], format="html")[0].text.count("&amp;") == 1
    with pytest.raises(InputError, match="format"):
        translator.translations(["x"], format="rtf")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("Das Haus\tdas Boot\t\tdas Tor", "The house\tthe boat\t\tthe gate"),  # cells
        ("&Haus _Boot", "&house _boat"),  # access keys
        ("das Haus\\ndas Boot", "the house\\nthe boat"),
        ("AT&T & das Haus", "AT&T & the house"),
        ("das Haus im\u200bVerkauf", "the house imVerkauf"),  # cleaning took a character away
        ("das Haus \U0001f469\u200d\U0001f467", "the house \U0001f469\u200d\U0001f467"),
        ("das Haus<sup>1</sup>", "the house<sup>1</sup>"),  # a footnote
        ("das <b>H</b>aus", "the <b>house</b>"),  # a word that is formatted in part
        ("das Bo<i>ot</i>", "the <i>boat</i>"),
        ("<b>Kwan</b>zler", "<b>Kwan</b>zler"),
        ("das Haus {{a. B}}", "the house {{a. B}}"),  # no sentence ends in a protected span
    ],
)
def test_what_strangers_found(translator: Translator, source: str, wanted: str) -> None:
    assert translator(source).lower() == wanted.lower()


def test_sentences_without_a_blank_between_them() -> None:
    slots = [Slot(Segment(("你好。",)), "", None, True), Slot(Segment(("再见。",)), "", None)]
    assert rendered(slots, []).text == "你好。再见。"
    assert slots[0].space_behind("Hello.") == " " and slots[1].space_behind("Bye.") == ""
    assert slots[0].space_behind("こんにちは。") == ""


def test_what_is_no_text_is_told(translator: Translator) -> None:
    """A single text is a text, never its letters."""
    assert [each.text for each in translator.translations("das Haus")] == ["the house"]
    calls: list[Callable[[Any], object]] = [translator, translator.translations, translator.explain]
    for wrong in (None, 5, b"x", [1]):
        for call in calls:
            with pytest.raises(TypeError, match="a translator takes a str, a list of them or an iterator, not"):
                call(wrong)
    with pytest.raises(InputError, match="n: 0 is less than 1"):
        translator.alternatives("das Haus", 0)
    with pytest.raises(InputError, match=r"no such translator\. Make one: hopefear create"):
        Translator("nowhere")


def test_alternatives(translator: Translator) -> None:
    text = "Ein rotes Haus steht hier. Das Boot ist wichtig."
    several = translator.alternatives(text, 4)
    assert several[0].text == translator(text) and len({each.text for each in several}) == len(several) == 4
    assert [each.score for each in several] == sorted((each.score for each in several), reverse=True)
    assert translator.alternatives("", 3)[0].text == ""


def test_alignment_is_by_characters(translator: Translator) -> None:
    text = " Ein <b>rotes</b> Haus steht hier.\nDas {x} ist wichtig. Ein altes Tor."
    (made,) = translator.translations([text])
    pairs = {(made.source[a:b], made.text[c:d]) for a, b, c, d in made.alignment}
    assert {("rotes", "red"), ("Haus", "house"), ("{x}", "{x}"), ("wichtig", "important"), ("Tor", "gate")} <= pairs
    assert not {("rotes", "house"), ("Tor", "old")} & pairs


def test_quality_tells_what_to_check(translator: Translator) -> None:
    good, bad = translator.translations(["Ein rotes Haus steht hier.", "Ein gwrxl brmpf steht qwk."])
    assert bad.quality.unknown_share == pytest.approx(3 / 6) and good.quality.unknown_share == 0
    assert 0 <= bad.quality.score < good.quality.score <= 1
    assert translator.translations([""])[0].quality.score == 1
    (noun,) = translator.translations(["Ein Gwrxl steht hier."])
    assert "Gwrxl" in noun.text and noun.quality.unknown_share == pytest.approx(1 / 5)


def test_explanations(translator: Translator) -> None:
    shown = translator.explain("Ein rotes {x} <steht> hier. Das Boot.")
    assert "{x} -> {x}" in str(shown) and str(shown).count("How it was put together") == 2
    html = shown._repr_html_()
    assert "<steht>" not in html and "&lt;steht&gt;" in html
    assert repr(shown).startswith("Explanation('Ein rotes {x}") and "\ue000" not in str(shown)


def test_odd_text(translator: Translator) -> None:
    assert translator("Ein \0rotes Haus") == "A red house"
    assert "\ue0001" in translator("Das \ue0001 \ue0000 {x} Haus")
    right_to_left = "مرحبا بالعالم 😀 e\u0301"
    assert "😀" in translator(right_to_left)
    assert translator("Haus\ud800")  # a lone surrogate, as broken JSON gives it
    long = translator("Haus " * 5000)
    assert long.count("ouse") == 5000
    assert len(translator("x" * 100_000)) == 100_000


def test_glossary(folder: Path, tmp_path: Path) -> None:
    text = "Ein rotes Tor steht hier. Das Tor, ein altes Tor!"
    forced = Translator(folder, glossary=[Term("Tor", "goal post")])
    assert forced(text).count("goal post") == 3 and "gate" not in forced(text)
    wild = Translator(folder, glossary=[Term("rot* haus", "Red House Ltd.")])
    assert wild("Ein rotes Haus steht hier.") == "A Red House Ltd. stands here."
    first = Translator(folder, glossary=[Term("Ein rotes", "some crimson")])
    assert first("Ein rotes Haus steht hier.") == "Some crimson house stands here."
    case = Translator(folder, glossary=[Term("TOR", "gateway", case=True)])
    assert "gateway" in case("Das TOR steht hier.") and "gateway" not in case("Das Tor steht hier.")
    over = Translator(folder, glossary=[Term("IKEA", "the furniture store")])
    assert over("Ein rotes Haus kommt von IKEA.") == "A red house comes from the furniture store."
    (tmp_path / "own.tsv").write_text("Haus\tbuilding\n")
    assert Translator(folder, glossary=tmp_path / "own.tsv")("Das Haus") == "The building"


def test_terms_longer_than_any_rule(folder: Path) -> None:
    text = " ".join(["boat"] * 300)
    assert Translator(folder, glossary=[Term("Boot", text)])("Das Boot ist wichtig.") == f"The {text} is important."
    assert Translator(folder, glossary=[Term("Boot", text, forced=False)])("Das Boot") == "The boat"


def test_preferred_terms_compete(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    card = {"name": "small", "source": "de", "target": "en"}
    terms = [Term("Tor", "portal", forced=False)]
    for weight, wanted in [(20.0, "A red portal stands here."), (-20.0, "A red gate stands here.")]:
        write_card(copy, {**card, "recipe": {"glossary": weight}})
        assert Translator(copy, glossary=terms)("Ein rotes Tor steht hier.") == wanted
    assert Translator(copy, glossary=terms).alternatives("das Tor", 30)


def test_the_folder_s_own_glossary_and_recipe(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPEFEAR_CACHE", str(tmp_path / "cache"))
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / "glossary.tsv").write_text("Tor\tportal\n")
    recipe = {"mbr": "bleu", "scale": 0.5, "pop_limit": 50}
    write_card(copy, {"name": "other", "source": "de", "target": "en-GB", "recipe": recipe})
    for path in (copy, pack(copy, tmp_path / "packed.hft")):
        opened = Translator(path)
        assert (opened.name, opened.source, opened.target) == ("other", "de", "en-GB")
        assert opened("Ein rotes Tor steht hier.") == "A red portal stands here."
        assert opened.glossary == [Term("Tor", "portal")]
    over = Translator(copy, glossary=[Term("Tor", "arch")])
    assert over("Ein rotes Tor steht hier.") == "A red arch stands here."


@pytest.mark.parametrize("mbr", [None, "bleu", "chrf", "ter"])
def test_every_way_gives_the_same_text(folder: Path, tmp_path: Path, mbr: str | None) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    write_card(copy, {"name": "x", "source": "de", "target": "en", "recipe": {"mbr": mbr}})
    translator = Translator(copy)
    rng = random.Random(1)
    words = [word for word, _ in [*NOUNS, *ADJECTIVES]] + ["<b>", "</b>", "{x}", ".", "?", "HAUS", "12", "und"]
    texts = [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(60)]
    made = translator(texts)
    assert [each.text for each in translator.translations(texts, n=3)] == made
    assert [translator(text) for text in texts] == made
    for text, other in zip(texts, made, strict=True):
        for kept in ("<b>", "</b>", "{x}", "12"):
            assert len(re.findall(re.escape(kept), text)) == len(re.findall(re.escape(kept), other)), (text, other)


def test_threads_share_a_translator(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    (made,) = translator._engine._decoders._made
    monkeypatch.setattr(made, "_most_words", 0)  # a new decoder is made meanwhile
    pairs = list(zip(NOUNS, ADJECTIVES, strict=False))
    texts = [f"Ein {a} {n} steht hier {{x{k}}} wort{k}." for k, ((n, _), (a, _)) in enumerate(pairs)]
    wanted = [translator(text) for text in texts]
    with ThreadPoolExecutor(6) as pool:
        results: list[Any] = list(pool.map(translator, [texts] * 30))
    assert results == [wanted] * 30


def test_documents(translator: Translator, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<h1>Das Haus</h1>\n<p>Ein <b>rotes</b> Haus steht hier.</p>\n")
    (tmp_path / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nDas Boot ist wichtig.\n")
    said: list[str] = []
    out = translator.document(tmp_path / "page.html", tmp_path / "page.en.html", report=said.append)
    assert out.read_text() == "<h1>The house</h1>\n<p>A <b>red</b> house stands here.</p>\n" and not said
    (tmp_path / "out").mkdir()
    out = translator.document(tmp_path / "film.srt", tmp_path / "out")
    assert out.read_text() == "1\n00:00:01,000 --> 00:00:02,000\nThe boat is important.\n"


def test_short_texts_of_objects(translator: Translator) -> None:
    assert repr(translator) == "Translator(small: de to en, bleu 90)"
    (made,) = translator.translations(["Ein rotes Haus steht hier."])
    assert re.fullmatch(r"Translation\('A red house stands here\.', quality=(0\.\d\d|1\.00)\)", repr(made))
    assert str(made) == made.text


@pytest.mark.skipif(SHARED is None, reason="needs the shared data")
def test_on_german_captions_it_says_what_the_model_says(tmp_path: Path) -> None:
    """Where nothing is protected, the pipeline changes nothing; where something is, BLEU does not suffer."""
    import lzma

    import sacrebleu

    assert SHARED is not None
    data = SHARED / "data" / "de-en-multi30k"
    for side in ("de", "en"):
        lines = lzma.decompress((data / f"train.{side}.xz").read_bytes()).decode().splitlines()[:3000]
        (tmp_path / side).write_text("".join(line + "\n" for line in lines))
    build([tmp_path / "de"], [tmp_path / "en"], tmp_path / "model", BuildOptions(lm_order=3))
    translator = Translator(tmp_path / "model")
    source, reference = ((data / f"val.{side}").read_text().splitlines()[:300] for side in ("de", "en"))
    made, plain = translator(source), Hiero(translator.model).translate(source)
    differ = [text for text, one, other in zip(source, made, plain, strict=True) if one != other]
    assert all(re.search(r"\d|[A-Z]\w*[A-Z]|[^\w\s]\w|\w[.!?] ", text) for text in differ) and len(differ) < 30
    scores = [sacrebleu.corpus_bleu(each, [reference]).score for each in (made, plain)]
    assert scores[0] > scores[1] - 0.2 and scores[1] > 20
