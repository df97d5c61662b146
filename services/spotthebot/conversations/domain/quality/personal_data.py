"""Turns that seem to hold personal data: e-mail addresses, telephone and card numbers and such.

Telephone numbers are those that the numbering plans of `phonenumbers` (Google's libphonenumber) call valid, written
with their country or as in the United States; the rest are patterns of glin-profanity's scanner. Names and addresses
are not looked for.
"""

from collections.abc import Sequence
from functools import cache

from glin_profanity import PiiScanner
from phonenumbers import PhoneNumberMatcher

from spotthebot.conversations.domain.quality.flags import PersonalDataKind

_HOME_COUNTRY = "US"


_SCANNED = {
    "email": PersonalDataKind.EMAIL,
    "credit_card": PersonalDataKind.CREDIT_CARD,
    "iban": PersonalDataKind.IBAN,
    "ip": PersonalDataKind.IP_ADDRESS,
    "ssn": PersonalDataKind.SOCIAL_SECURITY_NUMBER,
}


def personal_data(turns: Sequence[str]) -> tuple[tuple[int, PersonalDataKind], ...]:
    """Return positions, from 0, and kinds of what was found, each kind once a turn."""
    return tuple((position, kind) for position, turn in enumerate(turns) for kind in _kinds(turn))


def _kinds(turn: str) -> list[PersonalDataKind]:
    if "@" not in turn and not any(character.isdigit() for character in turn):
        return []
    matches = [match for match in _scanner().scan(turn).matches if match.category in _SCANNED]
    found = {_SCANNED[match.category] for match in matches}
    taken = [(match.start_index, match.end_index) for match in matches]
    phones = (phone for phone in PhoneNumberMatcher(turn, _HOME_COUNTRY) if not _within(phone.start, phone.end, taken))
    if any(phones):
        found.add(PersonalDataKind.PHONE)
    return sorted(found)


def _within(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    """Say whether a place overlaps one that is known for something else, such as the digits of a card."""
    return any(start < other_end and other_start < end for other_start, other_end in taken)


@cache
def _scanner() -> PiiScanner:
    return PiiScanner()
