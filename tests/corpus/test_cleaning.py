# ruff: noqa: RUF001 -- scripts are meant
"""Every rule of cleaning: what it drops, what it leaves, that it can be switched off; counts and samples."""

import pytest

from hopefear.corpus import RULES, CleaningRules, Pair, clean
from hopefear.corpus.cleaning import SAMPLES, decode_entities, is_damaged, without_tags
from hopefear.errors import OptionError

GOOD = ("Der Hund läuft über die Straße.", "The dog runs across the street.")


def pair(source: str, target: str, number: int = 1) -> Pair:
    return Pair(source, target, None, "x", f"x.tsv:{number}")


def cleaned(
    *texts: tuple[str, str], rules: CleaningRules | None = None, languages: tuple[str, str] = ("de", "en")
) -> tuple[list[tuple[str, str]], dict[str, int], dict[str, int]]:
    kept, report = clean((pair(*each) for each in texts), *languages, rules)
    result = [(each.source, each.target) for each in kept]
    assert report.read == len(texts) == report.kept + sum(report.dropped.values())
    return result, report.dropped, report.repaired


#: Rule -> a pair that it alone drops.
BROKEN = {
    "empty": ("...", "The dog runs."),
    "damaged": ("Der Hund l\ufffduft.", "The dog runs."),
    "markup": ("if (a[0] == {1}) { b += --c; } // [x]: *** }}", "This is not code at all, certainly."),
    "long": ("Wort " * 101, "word " * 101),
    "identical": ("Windows Server Update", "Windows Server Update"),
    "ratio": ("Ja.", "This is much longer than what stands on the other side of it."),
    "script": ("Съешь ещё этих мягких булок", "The dog runs across the street."),
    "duplicate": GOOD,
}


@pytest.mark.parametrize("rule", BROKEN)
def test_each_rule_drops_and_can_be_switched_off(rule: str) -> None:
    kept, dropped, _ = cleaned(GOOD, BROKEN[rule])
    assert kept == [GOOD]
    assert dropped == {rule: 1}
    kept, dropped, _ = cleaned(GOOD, BROKEN[rule], rules=CleaningRules(off=(rule,)))
    assert len(kept) == 2
    assert not dropped


def test_every_rule_has_a_test() -> None:
    assert set(RULES) == {*BROKEN, "entities", "tags"}


def test_what_is_repaired() -> None:
    kept, dropped, repaired = cleaned(("Q&amp;A im <b>roten</b> Haus", "Q&A in the red house"))
    assert kept == [("Q&A im roten Haus", "Q&A in the red house")]
    assert repaired == {"entities": 1, "tags": 1} and not dropped
    kept, _, repaired = cleaned(("Q&amp;A <b>", "Q&A <b>!"), rules=CleaningRules(off=("entities", "tags")))
    assert kept == [("Q&amp;A <b>", "Q&A <b>!")] and not repaired


@pytest.mark.parametrize(
    "text, decoded",
    [
        ("a &lt;b&gt; &quot;c&quot; &#252; &#xFC; &nbsp;d", 'a <b> "c" ü ü d'),
        ("&amp;quot;x&amp;quot;", '"x"'),
        ("AT&T; R&D", "AT&T; R&D"),
        ("&nosuchentity;", "&nosuchentity;"),
        ("a & b;", "a & b;"),
    ],
)
def test_entities(text: str, decoded: str) -> None:
    assert decode_entities(text) == decoded


@pytest.mark.parametrize(
    "text, plain",
    [
        ("ein <b>rotes</b> Haus", "ein rotes Haus"),
        ('<a href="x">Link</a>', "Link"),
        ("eine<br/>Zeile", "eine Zeile"),
        ("a < b und b > c", "a < b und b > c"),
        ("<3", "<3"),
        ("{\\an8}Untertitel", "Untertitel"),
        ("weiche\u00adTrennung", "weicheTrennung"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("<!-- x -->a", "a"),
    ],
)
def test_tags(text: str, plain: str) -> None:
    assert without_tags(text) == plain


@pytest.mark.parametrize(
    "text, damaged",
    [
        ("GrÃ¶ÃŸe", True),
        ("itâ€™s", True),
        ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", True),
        ("a\x07b", True),
        ("a\x85b", True),
        ("\ue000", True),
        ("Größe", False),
        ("SÃO PAULO", False),
        ("À «propos» de l’Â", False),
        ("привет", False),
        ("«PÅ»", False),
        ("हिन्दी में", False),
        ("it's", False),
    ],
)
def test_damage(text: str, damaged: bool) -> None:
    assert is_damaged(text) is damaged


@pytest.mark.parametrize(
    "languages, texts",
    [
        (("de", "en"), ("Ja.", "Yes, of course.")),
        (("de", "en"), ("1967", "In 1967.")),
        (("ur", "en"), ("ڈی این اے", "DNA")),
        (("hi", "en"), ("हिन्दी में कुछ शब्द", "Some words in Hindi")),
        (("zh", "en"), ("他们在公园里一起踢足球。", "They are playing football together in the park.")),
        (("sr", "en"), ("Dobar dan, kako ste danas?", "Good day, how are you today?")),
        (("arn", "es"), ("Съешь ещё этих мягких булок", "Come más de estos bollos")),
        (("de", "en"), ('"Was?", "Wie?"', '"What?", "How?"')),
    ],
)
def test_what_is_left_alone(languages: tuple[str, str], texts: tuple[str, str]) -> None:
    kept, dropped, repaired = cleaned(texts, languages=languages)
    assert kept == [texts] and not dropped and not repaired


def test_limits() -> None:
    short = ("eins zwei drei", "one two three")
    assert cleaned(short, rules=CleaningRules(max_words=2))[1] == {"long": 1}
    assert cleaned(("Hund und Katze sind da, ja", "a dog"), rules=CleaningRules(max_ratio=1.2))[1] == {"ratio": 1}
    assert cleaned(("长" * 201, "long " * 50), languages=("zh", "en"))[1] == {"long": 1}


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(OptionError, match="Did you mean 'duplicate'"):
        CleaningRules(off=("duplicates",))
    with pytest.raises(OptionError, match="max_words"):
        CleaningRules(max_words=0)


def test_samples_are_few_and_name_their_place() -> None:
    kept, report = clean((pair("a" * 500, "a" * 500, n) for n in range(1, 20)), "de", "en")
    assert not list(kept)
    samples = report.samples["identical"]
    assert len(samples) == SAMPLES
    assert samples[0] == {"source": "a" * 200, "target": "a" * 200, "origin": "x.tsv:1"}
    assert report.as_dict()["dropped"] == {"identical": 19}


def test_pairs_stream() -> None:
    taken: list[int] = []

    def endless() -> object:
        for number in range(1 << 60):
            taken.append(number)
            yield pair(f"Satz {number}", f"sentence {number}")

    kept, _ = clean(endless(), "de", "en")  # type: ignore[arg-type]
    assert next(kept).source == "Satz 0"
    assert taken == [0]
