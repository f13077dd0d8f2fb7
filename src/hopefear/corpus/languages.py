"""Languages: their codes (``de`` is ``de-DE`` and ``deu``), their scripts, and words that give them away."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from hopefear.errors import InputError

# ISO 639: the code of two letters, then those of three.
_CODES = """
aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul bh:bih
bi:bis bm:bam bn:ben bo:bod:tib br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces:cze cu:chu cv:chv
cy:cym:wel da:dan de:deu:ger dv:div dz:dzo ee:ewe el:ell:gre en:eng eo:epo es:spa et:est eu:eus:baq fa:fas:per
ff:ful fi:fin fj:fij fo:fao fr:fra:fre fy:fry ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau he:heb:iw hi:hin
ho:hmo hr:hrv ht:hat hu:hun hy:hye:arm hz:her ia:ina id:ind:in ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl:ice it:ita
iu:iku ja:jpn jv:jav ka:kat:geo kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur
kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri:mao
mk:mkd:mac ml:mal mn:mon mr:mar ms:msa:may mt:mlt my:mya:bur na:nau nb:nob:no:nor nd:nde ne:nep ng:ndo nl:nld:dut
nn:nno nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por qu:que
rm:roh rn:run ro:ron:rum ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag si:sin sk:slk:slo sl:slv sm:smo sn:sna
so:som sq:sqi:alb sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl
tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol
xh:xho yi:yid:ji yo:yor za:zha zh:zho:chi zu:zul"""

# Latin is the script of every other language of two letters. Several: any of them will do.
_SCRIPTS = """
ARABIC: ar fa ps ur ug
ARABIC LATIN: ku sd ha ms
ARABIC DEVANAGARI: ks
CYRILLIC: ab av ba be bg ce cv kv ky mk os ru tg tt uk cu
CYRILLIC LATIN: az bs kk mn sr tk uz
GREEK: el
HEBREW: he yi
ARMENIAN: hy
GEORGIAN: ka
ETHIOPIC: am ti
DEVANAGARI: hi mr ne sa pi
BENGALI: bn as
GURMUKHI ARABIC: pa
GUJARATI: gu
ORIYA: or
TAMIL: ta
TELUGU: te
KANNADA: kn
MALAYALAM: ml
SINHALA: si
THAANA: dv
THAI: th
LAO: lo
MYANMAR: my
KHMER: km
TIBETAN: bo dz
CJK: zh
CJK HIRAGANA KATAKANA KATAKANA-HIRAGANA: ja
HANGUL CJK: ko
CANADIAN LATIN: cr iu oj
YI: ii
"""
UNSEGMENTED = frozenset(["zh", "ja", "th", "lo", "my", "km", "bo", "dz"])  #: languages that put no blanks between words

# Frequent words. Those that two languages share tell nothing about which is which.
_FREQUENT = {
    "ca": "el la els les i que amb per una no del és més com però aquest aquesta són hi ha al seva",
    "cs": "a se je na v že to s z do byl jsem jako pro ale která jeho po tak jsou není když",
    "da": "og i at det er en den til af på som ikke med jeg han var har et fra der hun vi blev",
    "de": "der die und das ist nicht ein eine zu den mit sich auf für ich von dem des im es auch wird",
    "en": "the of and to in is that it was for on are with as his they at be this have from you not",
    "es": "el la los las y de que en un una por con no para su es lo como pero más está muy al",
    "fi": "ja on ei se että hän oli mutta ovat kun niin joka myös minä tämä olla hänen mitä sen ole",
    "fr": "le la les et des que un une dans pour est pas qui sur il elle avec plus ce au du nous vous",
    "hr": "i je u da se na za su od s kao što nije bio ili ali koji ne sam će iz",
    "hu": "a az és hogy nem egy is volt van ez de meg csak mint már el ki még azt vagy volna",
    "id": "yang dan di dengan untuk ini itu tidak dari dalam akan pada adalah saya ke orang bisa ada",
    "it": "il la che di e un una per non sono con gli le del è come anche ma più questo della nel",
    "nb": "og i det er en som på til av ikke med jeg han var har et fra hun vi seg etter ble",
    "nl": "de het een en van is dat niet op te zijn met voor hij maar aan ik er ook als door werd",
    "pl": "i w na z się nie że to jest do jak ale przez od jego był po tym tak które oraz dla",
    "pt": "o a os as de que e em um uma não para com por mais se do da no na é como mas ele muito",
    "ro": "și de în la a cu nu pe o un este din care să că mai pentru sunt se fost dar lui",
    "sv": "och i att det är en som på för av inte med jag han var den till har om ett hon så",
    "tr": "ve bir bu da de için ile ne çok daha olarak var gibi ben değil o ama mi sonra kadar",
}


@functools.cache
def _two_letters() -> Mapping[str, str]:
    codes = [entry.split(":") for entry in _CODES.split()]
    return {code: two for two, *others in codes for code in (two, *others)}


@functools.cache
def _scripts() -> Mapping[str, frozenset[str]]:
    scripts = {two: frozenset(["LATIN"]) for two in _two_letters().values()}
    for line in _SCRIPTS.strip().splitlines():
        names, _, languages = line.partition(":")
        scripts |= dict.fromkeys(languages.split(), frozenset(names.split()))
    return scripts


def primary(code: str) -> str:
    """The language of a code without country or script, in two letters where there are such: ``de`` of ``DE_at``."""
    first = re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]
    return _two_letters().get(first, first)


def is_language(code: str) -> bool:
    """Whether a word is the code of a language that has one of two letters, as ``de``, ``deu`` or ``de-DE``."""
    return bool(re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*", code)) and primary(code) in _scripts()


def check_language(code: str) -> str:
    """A language that a user names, as :func:`primary` has it. Languages without a code of two letters are welcome."""
    if not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*", code.strip()):
        raise InputError(f"language {code!r}: not a language code. Give one such as de, en or gn")
    return primary(code)


def check_languages(source: str, target: str) -> tuple[str, str]:
    """Both languages of a pair, which must differ."""
    pair = check_language(source), check_language(target)
    if pair[0] == pair[1]:
        raise InputError(f"from {source} to {target}: both are the same language. Give two")
    return pair


def scripts_of(language: str) -> frozenset[str]:
    """The scripts that a language is written in, by Unicode's names; nothing for one that is not known."""
    return _scripts().get(language, frozenset())


@functools.lru_cache(maxsize=1 << 16)
def script(letter: str) -> str:
    """The script of a letter by its Unicode name (``LATIN``); nothing for what is no letter."""
    return unicodedata.name(letter, "").partition(" ")[0] if letter.isalpha() else ""


def share_in_scripts(text: str, scripts: Iterable[str]) -> tuple[int, int]:
    """How many letters a text has, and how many of them are in these scripts."""
    letters = inside = 0
    for letter in text:
        name = script(letter)
        letters += bool(name)
        inside += name in scripts
    return letters, inside


def look_swapped(sources: Iterable[str], targets: Iterable[str], source_language: str, target_language: str) -> bool:
    """Whether texts are certainly each in the other language: by their scripts, else by their frequent words."""
    sources, targets = list(sources), list(targets)
    scripts = scripts_of(source_language), scripts_of(target_language)
    if scripts[0] and scripts[1] and not scripts[0] & scripts[1]:
        return _mostly(sources, scripts[1]) and _mostly(targets, scripts[0])
    words = (_FREQUENT.get(source_language, ""), _FREQUENT.get(target_language, ""))
    if not all(words):
        return False
    own, other = (set(each.split()) for each in words)
    counts = [Counter(re.findall(r"\w+", " ".join(texts).lower())) for texts in (sources, targets)]
    shared = (own & other) | {word for word in own | other if _as_often(*(count[word] for count in counts))}
    return _tells(counts[0], other - shared, own - shared) and _tells(counts[1], own - shared, other - shared)


def looks_like(texts: Iterable[str], language: str) -> str:
    """Another language that texts are certainly in, by their frequent words; nothing if they may be in this one."""
    if language not in _FREQUENT:
        return ""
    own = set(_FREQUENT[language].split())
    count = Counter(re.findall(r"\w+", " ".join(texts).lower()))
    others = {code: set(words.split()) - own for code, words in _FREQUENT.items() if code != language}
    certain = [code for code, words in others.items() if _tells(count, words, own)]
    return max(certain, key=lambda code: sum(count[word] for word in others[code]), default="")


def _mostly(texts: Iterable[str], scripts: Iterable[str]) -> bool:
    letters, inside = share_in_scripts(" ".join(texts), scripts)
    return letters >= 40 and inside >= 0.9 * letters


def _as_often(one: int, other: int) -> bool:
    """Whether a word belongs to both sides, as ``in`` of English and German does."""
    return 0 < max(one, other) <= 8 * min(one, other)


def _tells(words: Counter[str], these: set[str], those: set[str]) -> bool:
    hits, others = (sum(words[word] for word in known) for known in (these, those))
    return hits >= 20 and hits >= 8 * others and hits >= 0.08 * words.total()
