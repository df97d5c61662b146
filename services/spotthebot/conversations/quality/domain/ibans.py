"""International bank account numbers (ISO 13616) in running text, with or without spaces."""

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

_LENGTHS: Final = MappingProxyType(
    {
        country: length
        for length, countries in {
            15: "NO",
            16: "BE",
            18: "DK FI FK FO GL NL SD",
            19: "MK SI",
            20: "AT BA EE KZ LT LU MN XK",
            21: "CH HR LI LV",
            22: "BG BH CR DE GB GE IE ME RS VA",
            23: "AE GI IL IQ OM SO TL",
            24: "AD CZ ES MD PK RO SA SE SK TN VG",
            25: "LY PT ST",
            26: "IS TR",
            27: "BI DJ FR GR IT MC MR SM",
            28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
            29: "BR EG PS QA UA",
            30: "JO KW MU YE",
            31: "MT SC",
            32: "LC",
            33: "RU",
        }.items()
        for country in countries.split()
    }
)
"""Characters of an IBAN by country, from the registry of SWIFT."""
_BEGINNING = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[ \u00a0-]?[0-9][ \u00a0-]?[0-9]")
_CHARACTER = re.compile(r"[ \u00a0\u2009\u202f-]?([A-Za-z0-9])")
_AFTER = re.compile(r"[A-Za-z0-9]")


def iban_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each IBAN with the right length for its country and valid check digits (MOD 97-10)."""
    beginnings = (match.start() for match in _BEGINNING.finditer(text))
    return [(start, end) for start in beginnings if (end := _end_of_iban(text, start)) is not None]


def _end_of_iban(text: str, start: int) -> int | None:
    length = _LENGTHS.get(text[start : start + 2].upper(), 0)
    characters, end = list[str](), start
    while len(characters) < length and (match := _CHARACTER.match(text, end)) is not None:
        characters.append(match[1])
        end = match.end()
    is_whole = len(characters) == length > 0 and _AFTER.match(text, end) is None
    return end if is_whole and _has_right_check_digits(characters) else None


def _has_right_check_digits(characters: Sequence[str]) -> bool:
    moved = (*characters[4:], *characters[:4])
    return int("".join(str(int(each, 36)) for each in moved)) % 97 == 1
