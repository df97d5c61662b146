"""The winners of votes in a table. All winners together determine their meaning, not each row alone.

A number such as 1 may be the first side, the second side, or "yes". `A` may be a side or a bot of that name. If two
readings fit the table, an error asks the user to decide, and names the option for it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from spotthebot.contracts.annotation.annotations import Preference
from spotthebot.importers.tables.errors import NumbersNameWinner, ValuesUnknown, WinnerIsBotOrSide
from spotthebot.readers.files.cells import TableRow, shown
from spotthebot.readers.files.numbers import number_of
from spotthebot.readers.meanings.values import ValueWords, code_of, side_named

_INDEX: Final[Mapping[str, Preference]] = {"1": Preference.A, "2": Preference.B}
"""The meaning of 1 and 2 if the column has no other number."""
_SIDE_NUMBERS: Final = frozenset({"-1", "0", "1", "2", "3"})
"""Numbers that may be a bot's name or a side."""
_EXAMPLES = 5


class WinnersAre(StrEnum):
    """How to read a winner that is both a bot's name and a word for a side or a tie."""

    NAMES = "names"
    SIDES = "sides"


class Ballot(NamedTuple):
    """A vote as the table states it; `row` is its row in the table, without cells."""

    row: TableRow
    item: str
    bots: tuple[str, str]
    annotator: str
    winner: str
    turn: str
    swapped: bool
    """Whether the bots had exchanged sides in this vote."""


class Winners:
    """Decides the winners of all ballots of a table; raises the errors of an ambiguous column."""

    def __init__(
        self, ballots: Sequence[Ballot], words: ValueWords, column: str, given: WinnersAre | None = None
    ) -> None:
        self._words = words
        self._column = column
        named = [side_named(ballot.winner, ballot.bots) for ballot in ballots]
        codes = [code_of(ballot.winner) for ballot in ballots]
        self.are = given or self._decide(codes, named)
        numbers = {
            code
            for code, side in zip(codes, named, strict=True)
            if _is_number(code) and (side is None or self.are is WinnersAre.SIDES)
        }
        self._numbers = self._meaning_of(numbers)
        self.meanings = Counter[tuple[str, str]]()
        """The number of votes by the winner in the table and its reading."""
        if ballots and not any(self._preference(ballot) for ballot in ballots):
            values = list(dict.fromkeys(ballot.winner for ballot in ballots))
            found = ", ".join(map(shown, values[:_EXAMPLES]))
            example = ",".join(f"{side}={value}" for side, value in zip(Preference, values, strict=False))
            raise ValuesUnknown(column=shown(column), kind="winner", found=found, example=shown(example))

    def of(self, ballot: Ballot) -> Preference | None:
        """Return the side that won, or a tie; None for an unknown winner."""
        preference = self._preference(ballot)
        if preference is not None:
            self.meanings[self._said(ballot, preference)] += 1
        return preference

    @property
    def summary(self) -> str:
        """The reading of each winner, and how often it occurs."""
        said = [f"{shown(value)} is {meaning} ({count})" for (value, meaning), count in self.meanings.most_common(12)]
        return "; ".join(said)

    def _preference(self, ballot: Ballot) -> Preference | None:
        code = code_of(ballot.winner)
        if code in self._words.given:
            return self._words.preferences[code]
        by_word = self._numbers.get(code) or self._words.preferences.get(code)
        by_name = side_named(ballot.winner, ballot.bots)
        return by_word or by_name if self.are is WinnersAre.SIDES else by_name or by_word

    def _said(self, ballot: Ballot, preference: Preference) -> tuple[str, str]:
        if self.are is not WinnersAre.SIDES and side_named(ballot.winner, ballot.bots) is preference:
            return "a bot's name", "the bot that won"
        said = {Preference.A: "the first side", Preference.B: "the second side", Preference.TIE: "a tie"}
        return ballot.winner, said[preference]

    def _decide(self, codes: Sequence[str], named: Sequence[Preference | None]) -> WinnersAre | None:
        """Return how to read winners that are a bot's name and also a word for a side; None without such winners."""
        words = {**self._words.preferences, **dict.fromkeys(_SIDE_NUMBERS)}
        pairs = [pair for pair in zip(codes, named, strict=True) if pair[0] not in self._words.given]
        both = {code for code, side in pairs if side is not None and code in words and words[code] is not side}
        if not both:
            return None
        ties = {code for code, meaning in self._words.preferences.items() if meaning is Preference.TIE}
        all_names = all(side is not None or (code in ties and code not in both) for code, side in pairs)
        # Names of bots occur together with a word for a tie, not with `A` and `B` for the sides.
        all_words = all(code in words or (side is not None and both <= ties) for code, side in pairs)
        if all_names is all_words:
            raise WinnerIsBotOrSide(
                column=shown(self._column), found=" and ".join(f"'{shown(code)}'" for code in sorted(both))
            )
        return WinnersAre.NAMES if all_names else WinnersAre.SIDES

    def _meaning_of(self, numbers: set[str]) -> Mapping[str, Preference]:
        """Return the sides that numbers name; raises NumbersNameWinner if the numbers are ambiguous."""
        if not numbers or numbers & self._words.given:
            return {}
        if numbers == set(_INDEX):
            return _INDEX
        found = sorted(numbers, key=float)
        readings = _READINGS.get(len(found), _READINGS[3])
        examples = [
            ",".join(f"{side}={code}" for side, code in zip(sides, found, strict=False))
            for sides in (readings[-2:] if found[0].startswith("-") else readings)
        ]
        raise NumbersNameWinner(
            column=shown(self._column), found=", ".join(map(shown, found[:_EXAMPLES])), examples=" or ".join(examples)
        )


_READINGS: Final[Mapping[int, tuple[tuple[Preference, ...], ...]]] = {
    1: ((Preference.A,), (Preference.B,)),
    2: ((Preference.A, Preference.B), (Preference.B, Preference.A)),
    3: (
        (Preference.A, Preference.B, Preference.TIE),
        (Preference.TIE, Preference.A, Preference.B),
        (Preference.A, Preference.TIE, Preference.B),
        (Preference.B, Preference.TIE, Preference.A),
    ),
}


def _is_number(code: str) -> bool:
    return number_of(code) is not None
