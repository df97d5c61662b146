"""What the values of labels and preferences mean: words that are known, and those that `--values` names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spotthebot.contracts.annotation.annotations import Label, Preference
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.importers.tables.errors import MappingFault
from spotthebot.importers.tables.numbers import number_of, plain_number
from spotthebot.importers.tables.synonyms import LABELS, PREFERENCES, names_of, synonyms

_MEANINGS = (*Label, *Preference)
LEAD: Final[Mapping[str, Preference]] = {"1": Preference.A, "0": Preference.TIE, "-1": Preference.B}
"""What the numbers of a column such as `lead_fluency` mean, whose name says that they are the first side's lead."""


@dataclass(frozen=True)
class ValueWords:
    """Labels and preferences by the codes for them, and the names of sides that are people, in lower case.

    `given` are the codes of preferences that the user named.
    """

    labels: Mapping[str, Label]
    preferences: Mapping[str, Preference]
    people: frozenset[str]
    given: frozenset[str]

    @classmethod
    def of(cls, given: Iterable[tuple[str, str]] = (), people: Iterable[str] = ()) -> "ValueWords":
        """Return the known words with those that were given, which count first; raises MappingFault."""
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
        people = names_of("people") | {name.casefold() for name in people}
        return cls(labels, preferences, people, frozenset(named))

    def label(self, value: str) -> Label | None:
        """Return the label that a value is, if it is one."""
        return self.labels.get(code_of(value))

    def preference(self, value: str, sides: Sequence[str] = (), *, lead: bool = False) -> Preference | None:
        """Return the side that a value names, by a word or by the side's own name, or a tie; None: neither.

        A number has no meaning that is sure, so it has one by `--values` alone, or as a `lead`.
        """
        code = code_of(value)
        if code in self.given:
            return self.preferences[code]
        return side_named(value, sides) or self.preferences.get(code) or (LEAD.get(code) if lead else None)

    def names_two(self, value: str, sides: Sequence[str]) -> bool:
        """Return whether a value is a side's name and a word for another side or a tie, and was given for neither."""
        code, side = code_of(value), side_named(value, sides)
        return code not in self.given and side is not None and self.preferences.get(code, side) is not side

    def side(self, name: str) -> str:
        """Return what results call a side: all people are HU."""
        return HUMAN_NAME if name.casefold() in self.people else name


def code_of(value: str) -> str:
    """Return a value as it is compared: in lower case, and `1.0` as `1`."""
    number = number_of(value)
    return value.casefold() if number is None else plain_number(number)


def side_named(value: str, sides: Sequence[str]) -> Preference | None:
    """Return the side whose own name a value is, in the same letters or, where that is one side, in others."""
    for same in (str, str.casefold):
        if [same(name) for name in sides].count(same(value)) == 1:
            return (Preference.A, Preference.B)[[same(name) for name in sides].index(same(value))]
    return None
