"""Turns that seem to hold personal data: e-mail addresses, telephone numbers, card numbers, IBANs and others.

A telephone number must be valid by the numbering plans of `phonenumbers` (Google's libphonenumber), with its country
code or in the form of the United States. IBANs are found by our own rule; the rest are patterns of glin-profanity's
scanner. Names and addresses are not searched.
"""

import re
from collections.abc import Sequence
from functools import cache

from glin_profanity import PiiScanner
from phonenumbers import PhoneNumberMatcher

from spotthebot.conversations.quality.domain.flags import PersonalDataKind
from spotthebot.conversations.quality.domain.ibans import iban_spans

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
