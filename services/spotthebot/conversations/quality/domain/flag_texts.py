"""Flags of texts: their language, profanity, and turns that seem to hold personal data.

Personal data are e-mail addresses, telephone numbers, card numbers, IBANs and others. A telephone number must be valid
by the numbering plans of `phonenumbers` (Google's libphonenumber), with its country code or in the form of the United
States. IBANs are found by our own rule; the rest are patterns of glin-profanity's scanner. Names and addresses are not
searched. Profane is a word that glin-profanity's English list calls so, spelled out or lightly disguised; the list
holds mild words too (`that sucks`). A flag asks a person to look; it is not a verdict.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from glin_profanity import Filter, PiiScanner
from phonenumbers import PhoneNumberMatcher
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from spotthebot.conversations.quality.domain.duplicates import signature
from spotthebot.conversations.quality.domain.flags import PersonalDataKind, TextFlags
from spotthebot.conversations.texts.domain import exchange_hashes
from spotthebot.kit.text.words import text_hash, words

_HOME_COUNTRY = "US"
_NUMBERED = re.compile(
    r"(?:\b(?:versions?|ver|v|releases?|rev|revisions?|builds?|updates?|patch|firmware|drivers?|sections?|chapters?"
    r"|clauses?|articles?|paragraphs?)\b|§)[\s.:#]*(?:(?:is|was|number|no|to|from)[\s.:#]*)?$",
    re.IGNORECASE,
)
"""Words before the number of a version or a section, which can look like an IP address."""
_LOOK_BACK = 40
_SCANNED = {
    "email": PersonalDataKind.EMAIL,
    "credit_card": PersonalDataKind.CREDIT_CARD,
    "ip": PersonalDataKind.IP_ADDRESS,
    "ssn": PersonalDataKind.SOCIAL_SECURITY_NUMBER,
}
FEWEST_WORDS: Final = 5
_WITHOUT_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
"""Scripts that are written without spaces: Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
_CHARACTERS_PER_WORD = 2
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


def personal_data(turns: Sequence[str]) -> tuple[tuple[int, PersonalDataKind], ...]:
    """Return the turns with personal data, counted from 0, and its kinds, each kind once per turn."""
    return tuple((position, kind) for position, turn in enumerate(turns) for kind in _kinds(turn))


def _kinds(turn: str) -> list[PersonalDataKind]:
    if "@" not in turn and not any(character.isdigit() for character in turn):
        return []
    taken = iban_spans(turn)
    found = {PersonalDataKind.IBAN} if taken else set()
    for match in _scanner().scan(turn).matches:
        kind, start, end = _SCANNED.get(match.category), match.start_index, match.end_index
        if kind is None or _within(start, end, taken):
            continue
        taken.append((start, end))
        if kind is not PersonalDataKind.IP_ADDRESS or not _is_a_number_of_parts(turn, start, end):
            found.add(kind)
    phones = (phone for phone in PhoneNumberMatcher(turn, _HOME_COUNTRY) if not _within(phone.start, phone.end, taken))
    if any(phones):
        found.add(PersonalDataKind.PHONE)
    return sorted(found)


def _is_a_number_of_parts(turn: str, start: int, end: int) -> bool:
    """Return whether four numbers with dots are the number of a version or section, or part of a longer number."""
    before, after = turn[max(0, start - _LOOK_BACK) : start], turn[end:]
    is_longer = (before.endswith(".") and before[-2:-1].isdigit()) or bool(re.match(r"\.\d", after))
    return is_longer or _NUMBERED.search(before) is not None


def _within(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    """Return whether a span overlaps a span of another kind, such as the digits of a card."""
    return any(start < other_end and other_start < end for other_start, other_end in taken)


@cache
def _scanner() -> PiiScanner:
    return PiiScanner()


def profane_turns(turns: Sequence[str]) -> tuple[int, ...]:
    """Return the positions, from 0, of the turns with a profane word."""
    return tuple(position for position, turn in enumerate(turns) if _is_profane(turn))


@lru_cache(maxsize=8192)
def _is_profane(turn: str) -> bool:  # bots repeat themselves
    return bool(_filter().is_profane(turn))


@cache
def _filter() -> Filter:
    return Filter({"languages": ["english"]})


def language_of(turns: Sequence[str]) -> tuple[str, float] | None:
    """Return the ISO 639-1 code of the language and its probability; None for fewer than five different words.

    In scripts without spaces, two different characters count as a word.
    """
    if _different_words(turns) < FEWEST_WORDS:
        return None
    code, probability = _identifier().classify("\n".join(turns))
    return str(code), round(min(float(probability), 1.0), 4)


def _different_words(turns: Sequence[str]) -> int:
    characters, spaced = set[str](), set[str]()
    for turn in turns:
        plain = turn if turn.isascii() else unicodedata.normalize("NFKC", turn)
        characters.update(_WITHOUT_SPACES.findall(plain))
        spaced.update(words(_WITHOUT_SPACES.sub(" ", plain)))
    return len(spaced) + len(characters) // _CHARACTERS_PER_WORD


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


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


def flag_texts(texts: Sequence[Sequence[str]]) -> list[TextFlags]:
    """Return the flags of conversations, each given as its turns."""
    return [
        TextFlags(
            turns=len(turns),
            words=sum(len(words(turn)) for turn in turns),
            language=language_of(turns),
            profanity=profane_turns(turns),
            personal_data=personal_data(turns),
            text_hash=text_hash(turns),
            signature=signature(turns),
            exchange_hashes=exchange_hashes(turns),
        )
        for turns in texts
    ]
