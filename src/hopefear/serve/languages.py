"""Languages: their names, which translator goes from which to which, and which one a text is in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hopefear.errors import InputError
from hopefear.serve.settings import RequestError
from hopefear.translator.translation import Translation
from hopefear.translator.translator import Translator

_NAMES = """
aa Afar; ab Abkhazian; ae Avestan; af Afrikaans; ak Akan; am Amharic; an Aragonese; ar Arabic; as Assamese; av Avaric;
ay Aymara; az Azerbaijani; ba Bashkir; be Belarusian; bg Bulgarian; bi Bislama; bm Bambara; bn Bengali; bo Tibetan;
br Breton; bs Bosnian; ca Catalan; ce Chechen; ch Chamorro; co Corsican; cr Cree; cs Czech; cu Church Slavic;
cv Chuvash; cy Welsh; da Danish; de German; dv Divehi; dz Dzongkha; ee Ewe; el Greek; en English; eo Esperanto;
es Spanish; et Estonian; eu Basque; fa Persian; ff Fulah; fi Finnish; fj Fijian; fo Faroese; fr French; fy Frisian;
ga Irish; gd Scottish Gaelic; gl Galician; gn Guarani; gu Gujarati; gv Manx; ha Hausa; he Hebrew; hi Hindi;
ho Hiri Motu; hr Croatian; ht Haitian Creole; hu Hungarian; hy Armenian; hz Herero; ia Interlingua; id Indonesian;
ie Interlingue; ig Igbo; ii Sichuan Yi; ik Inupiaq; io Ido; is Icelandic; it Italian; iu Inuktitut; ja Japanese;
jv Javanese; ka Georgian; kg Kongo; ki Kikuyu; kj Kuanyama; kk Kazakh; kl Kalaallisut; km Khmer; kn Kannada; ko Korean;
kr Kanuri; ks Kashmiri; ku Kurdish; kv Komi; kw Cornish; ky Kyrgyz; la Latin; lb Luxembourgish; lg Ganda; li Limburgish;
ln Lingala; lo Lao; lt Lithuanian; lu Luba-Katanga; lv Latvian; mg Malagasy; mh Marshallese; mi Maori; mk Macedonian;
ml Malayalam; mn Mongolian; mr Marathi; ms Malay; mt Maltese; my Burmese; na Nauru; nb Norwegian Bokmål;
nd North Ndebele; ne Nepali; ng Ndonga; nl Dutch; nn Norwegian Nynorsk; no Norwegian; nr South Ndebele; nv Navajo;
ny Nyanja; oc Occitan; oj Ojibwa; om Oromo; or Odia; os Ossetian; pa Punjabi; pi Pali; pl Polish; ps Pashto;
pt Portuguese; qu Quechua; rm Romansh; rn Rundi; ro Romanian; ru Russian; rw Kinyarwanda; sa Sanskrit; sc Sardinian;
sd Sindhi; se Northern Sami; sg Sango; si Sinhala; sk Slovak; sl Slovenian; sm Samoan; sn Shona; so Somali;
sq Albanian; sr Serbian; ss Swati; st Southern Sotho; su Sundanese; sv Swedish; sw Swahili; ta Tamil; te Telugu;
tg Tajik; th Thai; ti Tigrinya; tk Turkmen; tl Tagalog; tn Tswana; to Tongan; tr Turkish; ts Tsonga; tt Tatar; tw Twi;
ty Tahitian; ug Uyghur; uk Ukrainian; und Unnamed; ur Urdu; uz Uzbek; ve Venda; vi Vietnamese; vo Volapük;
wa Walloon; wo Wolof; xh Xhosa; yi Yiddish; yo Yoruba; za Zhuang; zh Chinese; zu Zulu
"""
NAMES = {code: name for code, _, name in (entry.strip().partition(" ") for entry in _NAMES.split(";"))}
AUTO = "auto"
SAMPLE = 300  # characters by which a language is told


def language_name(code: str) -> str:
    """In English; the code itself where it is of no language that we know."""
    return NAMES.get(base(code), code)


def base(code: str) -> str:
    """The language without country and script: ``de`` of ``de-AT``, ``zh`` of ``zh_Hans``."""
    return code.replace("_", "-").split("-")[0].lower()


class Pairs:
    """The translators of a server, by their languages."""

    def __init__(self, translators: Iterable[Translator]) -> None:
        self.translators = list(translators)
        self._by_pair: dict[tuple[str, str], Translator] = {}
        for translator in self.translators:
            pair = translator.source, translator.target
            if pair in self._by_pair:
                raise InputError(
                    f"{self._by_pair[pair].name} and {translator.name}: both translate from {pair[0]} to {pair[1]}. "
                    "Serve one of them, or the other from a second port"
                )
            self._by_pair[pair] = translator

    @property
    def first(self) -> Translator:
        return self.translators[0]

    def targets(self, source: str) -> list[str]:
        return sorted(target for begin, target in self._by_pair if begin == source)

    def sources(self) -> list[str]:
        return list(dict.fromkeys(source for source, _ in self._by_pair))

    def languages(self) -> list[dict[str, object]]:
        """As LibreTranslate lists them: languages that are only translated into have no targets."""
        codes = dict.fromkeys([*self.sources(), *(target for _, target in self._by_pair)])
        return [{"code": code, "name": language_name(code), "targets": self.targets(code)} for code in codes]

    def source(self, code: str) -> str:
        """The language as the translators call it, or a RequestError."""
        return self._known(code, "from", [source for source, _ in self._by_pair])

    def target(self, code: str) -> str:
        return self._known(code, "to", [target for _, target in self._by_pair])

    def _known(self, code: str, way: str, codes: Sequence[str]) -> str:
        small = {known.lower().replace("_", "-"): known for known in codes}
        exact = small.get(code.lower().replace("_", "-"))
        nearest = next((known for known in codes if base(known) == base(code)), None)
        if exact or nearest:
            return str(exact or nearest)
        if any(base(known) == base(code) for pair in self._by_pair for known in pair):
            raise RequestError(400, f"{code} is not supported: nothing here translates {way} {language_name(code)}")
        raise RequestError(400, f"{code[:40]} is not supported")

    def translator(self, source: str, target: str) -> Translator:
        """The translator from one language to another, or a RequestError."""
        translator = self._by_pair.get((source, target))
        if translator is None:
            raise RequestError(
                400,
                f"{language_name(target)} ({target}) is not available as a target language from "
                f"{language_name(source)} ({source})",
            )
        return translator

    def candidates(self, target: str | None = None) -> list[Translator]:
        """One translator for each source language, to ask each how much of a text it knows."""
        chosen: dict[str, Translator] = {}
        for translator in self.translators:
            if target in (None, translator.target):
                chosen.setdefault(translator.source, translator)
        return list(chosen.values())


def sample(texts: Sequence[str]) -> str:
    """The beginning of the texts, up to a word's end."""
    text = " ".join(" ".join(texts[:20]).split())
    if len(text) <= SAMPLE:
        return text
    head = text[:SAMPLE]
    return head.rpartition(" ")[0] or head


def confidence(translation: Translation) -> float:
    """Per cent of the words that the translator knows."""
    return round(100.0 * (1.0 - min(1.0, max(0.0, translation.quality.unknown_share))), 1)
