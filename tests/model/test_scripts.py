"""Scripts without blanks between words are known, and text in which they have been put is not taken for one."""

from __future__ import annotations

import re
import unicodedata

import pytest

from hopefear.model.scripts import UNSEGMENTED, is_unsegmented, stand_together

CHINESE = ["今天天气很好、我们去公园。", "他昨天买了一本新书、iPhone 3。", "你好吗。"]
THAI = ["ภาษาไทยไม่มีช่องว่างระหว่างคำ", "วันนี้อากาศดีมาก เราไปสวนสาธารณะ"]


@pytest.mark.parametrize(
    "lines",
    [
        CHINESE,
        THAI,
        ["これは日本語のテキストです。カタカナ。"],
        ["ខ្ញុំចង់ទៅផ្សារនៅថ្ងៃនេះ"],
        ["ကျွန်တော်ဈေးကိုသွားချင်တယ်"],
        ["ຂ້ອຍຢາກໄປຕະຫຼາດມື້ນີ້"],
    ],
)
def test_text_without_blanks(lines: list[str]) -> None:
    assert is_unsegmented(lines * 3)


@pytest.mark.parametrize(
    "lines",
    [
        ["Ein Mann geht durch die Stadt."],
        ["오늘 날씨가 매우 좋습니다"],
        ["यह अच्छा है"],
        ["می‌خواهم بروم"],
        ["今天 天气 很 好 、 我们 去 公园 。"],
        ["ภาษา ไทย ไม่ มี ช่องว่าง ระหว่าง คำ"],
        ["The sign says 今天天气很好 in the park of the city, and nobody knows why."],
        ["12 34", "...", ""],
        [],
    ],
)
def test_text_whose_words_are_parted(lines: list[str]) -> None:
    assert not is_unsegmented(lines)


def test_the_letters_are_those_of_the_scripts() -> None:
    names = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "BOPOMOFO", "YI")
    known = re.compile(f"[{UNSEGMENTED}]")
    for code in range(0x2FA20):
        character = chr(code)
        if unicodedata.category(character) != "Lo":
            continue
        name = unicodedata.name(character, "")
        expected = name.startswith(tuple(f"{script} " for script in names))
        if expected:
            assert known.match(character), name
        elif known.match(character):
            assert name.startswith(
                ("TAI ", "NEW TAI", "HALFWIDTH KATAKANA", "MASU", "IDEOGRAPHIC CLOSING", "HENTAIGANA")
            ), name


def test_blanks_between_tokens() -> None:
    assert stand_together("天", "气") and stand_together("用", "iPhone") and stand_together("好", "。")
    assert stand_together("ท", "ย") and not stand_together("ท", "iPhone") and not stand_together("a", "b")
