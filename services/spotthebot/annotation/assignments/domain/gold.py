"""Gold items: dialogues with a known right answer among a package's items.

Annotators can't tell gold items from other items.

The positions of gold items are drawn when a package is made. The dialogues at these positions, and the number of turns
shown, are drawn when the package is leased. All draws use the campaign's secret.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.assignments.errors import (
    GoldInTraining,
    GoldStandsOut,
    GoldTooShort,
    NothingLeft,
    TooFewGoldDialogues,
)
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.trainings.domain.checks import texts_of
from spotthebot.contracts.annotation.trainings import Training, TrainingDialogue
from spotthebot.contracts.turns import Turn


@dataclass(frozen=True)
class Extent:
    """The number of turns that an item shows.

    If exchanges open one by one, the first `opening` turns come with the first exchange.
    """

    turns: int
    opening: int = 0

    @property
    def exchanges(self) -> int:
        """The number of exchanges that show all turns; the last exchange may lack its reply."""
        return (self.turns - self.opening + 1) // 2


@dataclass(frozen=True)
class PlacedGold:
    """A gold dialogue, by its number in the training, at a position of an assignment; only its first turns are shown.

    For a pair, the turns are those of the left dialogue. Both dialogues of a pair are shown whole.
    """

    position: int
    dialogue: int
    extent: Extent

    def shown_of(self, gold: Training) -> TrainingDialogue:
        """Return the visible part of the dialogue, with its right answers."""
        whole = gold.dialogues[self.dialogue]
        return whole.model_copy(update={"turns": whole.turns[: self.extent.turns]})


@dataclass(frozen=True)
class ShownSpeakers:
    """The speaker, A or B, of each turn that an item shows, such as `ABAB`.

    `right` has the speakers of the right dialogue of a pair.
    """

    left: str
    right: str | None = None

    @classmethod
    def of(cls, dialogue: TrainingDialogue) -> "ShownSpeakers":
        """Return the speakers of a gold dialogue that is shown whole."""
        right = dialogue.right_turns
        return cls(_speakers(dialogue.turns), None if right is None else _speakers(right))


def check_gold(gold: Training, *, per_package: int, packages_per_annotator: int, longest: int) -> None:
    """Raise TooFewGoldDialogues if annotators would see a dialogue twice, GoldTooShort if a dialogue is too short.

    `longest` is the longest segment in exchanges, or 0 if dialogues are shown whole.
    """
    needed = per_package * packages_per_annotator
    if len(gold.dialogues) < needed:
        raise TooFewGoldDialogues(
            per_package=per_package,
            packages=packages_per_annotator,
            name=gold.name,
            found=len(gold.dialogues),
            missing=needed - len(gold.dialogues),
        )
    for number, dialogue in enumerate(gold.dialogues):
        if len(dialogue.turns) < 2 * longest:
            raise GoldTooShort(number=number, name=gold.name, turns=len(dialogue.turns), needed=2 * longest)


def check_not_trained(gold: Training, training: Training) -> None:
    """Raise GoldInTraining if a gold dialogue is also in the training."""
    trained = {texts_of(each) for each in training.dialogues}
    for number, dialogue in enumerate(gold.dialogues):
        if texts_of(dialogue) in trained:
            raise GoldInTraining(number=number, name=gold.name, training=training.name)


def check_alike(gold: Training, shown: Collection[ShownSpeakers], *, is_cut: bool) -> None:
    """Raise GoldStandsOut if annotators could recognise a gold dialogue by its speakers or its number of turns.

    `is_cut` says that a gold dialogue is cut to the length of a drawn item; otherwise dialogues are shown whole.
    """
    for number, dialogue in enumerate(gold.dialogues if shown else ()):
        speakers = ShownSpeakers.of(dialogue)
        why = _why_cut(speakers.left, shown) if is_cut else _why_whole(speakers, shown)
        if why:
            raise GoldStandsOut(number=number, name=gold.name, why=why)


def _why_cut(speakers: str, shown: Collection[ShownSpeakers]) -> str | None:
    """Return why a gold dialogue stands out if it is cut to the lengths of items; None if it does not stand out."""
    known = {each.left for each in shown}
    longest = max(map(len, known))
    if len(speakers) < longest:
        return f"it has {len(speakers)} turns, not at least {longest}"
    if any(speakers[: len(each)] not in known for each in known):
        return f"its speakers take turns as {speakers}, as in no conversation"
    return None


def _why_whole(speakers: ShownSpeakers, shown: Collection[ShownSpeakers]) -> str | None:
    """Return why a gold dialogue or pair that is shown whole stands out; None if it does not stand out."""
    known = {side for each in shown for side in (each.left, each.right) if side is not None}
    lengths = {*map(len, known)}
    for side in (speakers.left, speakers.right):
        if side is None:
            continue
        if len(side) not in lengths:
            return f"it has {len(side)} turns, as no conversation has"
        if not any(each.startswith(side) for each in known):
            return f"its speakers take turns as {side}, as in no conversation"
    apart = max(map(_apart, shown))
    if _apart(speakers) > apart:
        return f"one of its dialogues has {_apart(speakers)} turns more than the other, not {apart} at most"
    return None


def _apart(speakers: ShownSpeakers) -> int:
    """Return the difference between the numbers of turns of a pair's dialogues; 0 for other items."""
    return 0 if speakers.right is None else abs(len(speakers.left) - len(speakers.right))


def gold_positions(shuffle: Shuffle, package: int | str, *, items: int, gold: int) -> frozenset[int]:
    """Draw the positions of `gold` gold items among the `items` other items of a package.

    `package` is the package's number or external id.
    """
    return frozenset(shuffle(f"gold/{package}", range(items + gold))[:gold])


def place_gold(
    gold: Training,
    shuffle: Shuffle,
    annotator_id: UUID,
    *,
    positions: Sequence[int],
    seen: Collection[int],
    extents: Sequence[Extent],
) -> tuple[PlacedGold, ...]:
    """Draw dialogues that an annotator has not seen for the gold positions of a package.

    Each dialogue is cut like one of the package's other items, which have these `extents`. Without `extents` dialogues
    are shown whole. Raises NothingLeft if too few dialogues are unseen.
    """
    unseen = [number for number in range(len(gold.dialogues)) if number not in seen]
    if len(unseen) < len(positions):
        raise NothingLeft
    drawn = shuffle(f"dialogues/{annotator_id}/{len(seen)}", unseen)
    return tuple(
        PlacedGold(
            position,
            number,
            extents[shuffle.number(f"turns/{annotator_id}/{number}", len(extents))]
            if extents
            else Extent(len(gold.dialogues[number].turns)),
        )
        for position, number in zip(positions, drawn, strict=False)
    )


def _speakers(turns: Iterable[Turn]) -> str:
    return "".join(turn.speaker for turn in turns)
