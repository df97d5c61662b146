"""The meaning of values for labels and preferences: known words, and words given by `--values`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

from spotthebot.contracts.annotation.annotations import Label, Preference
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.readers.errors import MappingFault
from spotthebot.readers.files.numbers import number_of, plain_number
from spotthebot.readers.meanings.synonyms import LABELS, PREFERENCES, names_of, synonyms

_MEANINGS = (*Label, *Preference)
LEAD: Final[Mapping[str, Preference]] = {"1": Preference.A, "0": Preference.TIE, "-1": Preference.B}
"""The meaning of numbers in a column such as `lead_fluency`: how far the first side leads."""


@dataclass(frozen=True)
class ValueWords:
    """Labels and preferences by the words that mean them, and the names of sides that are people.

    All words are in lower case.

    `given` has the words for preferences that the user gave.
    """

    labels: Mapping[str, Label]
    preferences: Mapping[str, Preference]
    people: frozenset[str]
    given: frozenset[str]

    @classmethod
    def of(cls, given: Iterable[tuple[str, str]] = (), people: Iterable[str] = ()) -> "ValueWords":
        """Return the known words, overridden by the given words; raises MappingFault."""
        labels = {word: Label(name) for name, words in synonyms(LABELS).items() for word in words}
        preferences = {word: Preference(name) for name, words in synonyms(PREFERENCES).items() for word in words}
        named = set[str]()
        for meaning, value in given:
            if meaning in set(Label):
                labels[code_of(value)] = Label(meaning)
            elif meaning in set(Preference):
                preferences[code_of(value)] = Preference(meaning)
                named.add(code_of(value))
            else:
                reason = f"'{meaning}' is not one of {', '.join(_MEANINGS)}"
                raise MappingFault(option="--values", given=f"{meaning}={value}", reason=reason)
        people = names_of("people") | {normalize("NFC", name).casefold() for name in people}
        return cls(labels, preferences, people, frozenset(named))

    def label(self, value: str) -> Label | None:
        """Return the label for a value, if any."""
        return self.labels.get(code_of(value))

    def preference(self, value: str, sides: Sequence[str] = (), *, lead: bool = False) -> Preference | None:
        """Return the side or tie that a value names, by a word or by the side's name; else None.

        A number has no certain meaning, so it counts only with `--values`, or as a `lead`.
        """
        code = code_of(value)
        if code in self.given:
            return self.preferences[code]
        return side_named(value, sides) or self.preferences.get(code) or (LEAD.get(code) if lead else None)

    def names_two(self, value: str, sides: Sequence[str]) -> bool:
        """Return whether a value is a side's name and also a word for another side or a tie, and is not in `given`."""
        code, side = code_of(value), side_named(value, sides)
        return code not in self.given and side is not None and self.preferences.get(code, side) is not side

    def side(self, name: str) -> str:
        """Return a side's name in results; all people have the name HU."""
        return HUMAN_NAME if name.casefold() in self.people else name


def code_of(value: str) -> str:
    """Return a value in the form for comparisons: in lower case, in the Unicode form NFC, and `1.0` as `1`."""
    number = number_of(value)
    return normalize("NFC", value).casefold() if number is None else plain_number(number)


def side_named(value: str, sides: Sequence[str]) -> Preference | None:
    """Return the side with this name; else the side whose name differs only in upper and lower case, if it is one."""
    for same in (str, str.casefold):
        if [same(name) for name in sides].count(same(value)) == 1:
            return (Preference.A, Preference.B)[[same(name) for name in sides].index(same(value))]
    return None
