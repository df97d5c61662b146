"""Gold items: dialogues with a known right answer between a package's items, which nothing tells from the others.

The places of gold items in a package are drawn when it is made; which dialogues stand there, and how far they are
shown, when it is leased. All draws are by the campaign's secret.
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
    """How many turns an item shows; where exchanges are opened, the first `opening` of them come with the first one."""

    turns: int
    opening: int = 0

    @property
    def exchanges(self) -> int:
        """How many exchanges show all of it, with a last one that has no reply."""
        return (self.turns - self.opening + 1) // 2


@dataclass(frozen=True)
class PlacedGold:
    """The first turns of a gold dialogue, by its number in the training, at a position of an assignment.

    Of a pair that is the one on the left; the other is shown whole, as both are.
    """

    position: int
    dialogue: int
    extent: Extent

    def shown_of(self, gold: Training) -> TrainingDialogue:
        """Return what is shown of the dialogue, with its right answers."""
        whole = gold.dialogues[self.dialogue]
        return whole.model_copy(update={"turns": whole.turns[: self.extent.turns]})


@dataclass(frozen=True)
class ShownSpeakers:
    """The side of each turn that an item shows, such as `ABAB`; `right` is of the dialogue on the right of a pair."""

    left: str
    right: str | None = None

    @classmethod
    def of(cls, dialogue: TrainingDialogue) -> "ShownSpeakers":
        """Return the speakers of a gold dialogue that is shown whole."""
        right = dialogue.right_turns
        return cls(_speakers(dialogue.turns), None if right is None else _speakers(right))


def check_gold(gold: Training, *, per_package: int, packages_per_annotator: int, longest: int) -> None:
    """Raise TooFewGoldDialogues or GoldTooShort where annotators would see a dialogue twice, or a short one.

    `longest` is the longest segment in exchanges, 0 where dialogues are shown whole.
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
    """Raise GoldInTraining where annotators know a gold dialogue from their training."""
    trained = {texts_of(each) for each in training.dialogues}
    for number, dialogue in enumerate(gold.dialogues):
        if texts_of(dialogue) in trained:
            raise GoldInTraining(number=number, name=gold.name, training=training.name)


def check_alike(gold: Training, shown: Collection[ShownSpeakers], *, is_cut: bool) -> None:
    """Raise GoldStandsOut where a gold dialogue could be told from the items by its speakers or numbers of turns.

    `is_cut` says that gold is shown as far as a drawn item; else dialogues are shown whole.
    """
    for number, dialogue in enumerate(gold.dialogues if shown else ()):
        speakers = ShownSpeakers.of(dialogue)
        why = _why_cut(speakers.left, shown) if is_cut else _why_whole(speakers, shown)
        if why:
            raise GoldStandsOut(number=number, name=gold.name, why=why)


def _why_cut(speakers: str, shown: Collection[ShownSpeakers]) -> str | None:
    """Say why a gold dialogue that is shown as far as any item would stand out."""
    known = {each.left for each in shown}
    longest = max(map(len, known))
    if len(speakers) < longest:
        return f"it has {len(speakers)} turns, not at least {longest}"
    if any(speakers[: len(each)] not in known for each in known):
        return f"its speakers take turns as {speakers}, as in no conversation"
    return None


def _why_whole(speakers: ShownSpeakers, shown: Collection[ShownSpeakers]) -> str | None:
    """Say why a gold dialogue that is shown whole, or one of a pair, would stand out."""
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
    """Return by how many turns the dialogues of a pair differ; 0 of other items."""
    return 0 if speakers.right is None else abs(len(speakers.left) - len(speakers.right))


def gold_positions(shuffle: Shuffle, package: int | str, *, items: int, gold: int) -> frozenset[int]:
    """Draw the positions of gold items in a package, by its number or external id, which holds `items` others."""
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

    Each is shown as far as one of the package's other items, which have these `extents`; one that may not be cut is
    shown whole, where there are none. Raises NothingLeft where too few dialogues are unseen.
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
