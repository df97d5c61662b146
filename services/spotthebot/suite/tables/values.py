"""What the values of labels and preferences mean: words that are known, and those that `--values` names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spotthebot.contracts.annotation import Label, Preference
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.suite.tables.errors import MappingFault
from spotthebot.suite.tables.synonyms import LABELS, PREFERENCES, names_of, synonyms

_MEANINGS = (*Label, *Preference)


@dataclass(frozen=True)
class ValueWords:
    """Labels and preferences by the words for them, in lower case, and the names of sides that are people."""

    labels: Mapping[str, Label]
    preferences: Mapping[str, Preference]
    people: frozenset[str]

    @classmethod
    def of(cls, given: Iterable[tuple[str, str]] = (), people: Iterable[str] = ()) -> "ValueWords":
        """Return the known words with those that were given, which count first; raises MappingFault."""
        labels = {word: Label(name) for name, words in synonyms(LABELS).items() for word in words}
        preferences = {word: Preference(name) for name, words in synonyms(PREFERENCES).items() for word in words}
        for meaning, value in given:
            if meaning in set(Label):
                labels[value.casefold()] = Label(meaning)
            elif meaning in set(Preference):
                preferences[value.casefold()] = Preference(meaning)
            else:
                reason = f"'{meaning}' is none of {', '.join(_MEANINGS)}"
                raise MappingFault(option="--values", given=f"{meaning}={value}", reason=reason)
        return cls(labels, preferences, names_of("people") | {name.casefold() for name in people})

    def label(self, value: str) -> Label | None:
        """Return the label that a value is, if it is one."""
        return self.labels.get(value.casefold())

    def preference(self, value: str, sides: Sequence[str] = ()) -> Preference | None:
        """Return the side that a value names, by a word or by the side's own name, or a tie; None: neither."""
        for side, name in zip((Preference.A, Preference.B), sides, strict=False):
            if value == name and sides.count(name) == 1:
                return side
        return self.preferences.get(value.casefold())

    def side(self, name: str) -> str:
        """Return what results call a side: all people are HU."""
        return HUMAN_NAME if name.casefold() in self.people else name
