"""Gold items: dialogues with a known right answer between a package's items, which nothing tells from the others.

The places of gold items in a package are drawn when it is made; which dialogues stand there, and how far they are
shown, when it is leased. All draws are by the campaign's secret.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.domain.conversations import ShownConversation
from spotthebot.annotation.domain.errors import (
    GoldInTraining,
    GoldStandsOut,
    GoldTooShort,
    NothingLeft,
    TooFewGoldDialogues,
)
from spotthebot.annotation.domain.shuffle import Shuffle
from spotthebot.annotation.domain.trainings.checks import texts_of
from spotthebot.contracts.trainings import Training
from spotthebot.contracts.turns import Turn


@dataclass(frozen=True)
class PlacedGold:
    """The first turns of a gold dialogue, by its number in the training, at a position of an assignment."""

    position: int
    dialogue: int
    turns: int


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


def check_alike(gold: Training, shown: Collection[ShownConversation], *, longest: int) -> None:
    """Raise GoldStandsOut where a gold dialogue could be told from the conversations by speakers or number of turns.

    `longest` is the longest segment in exchanges, 0 where dialogues are shown whole.
    """
    if longest:
        known = {_speakers((*each.opening, *each.turns[: 2 * longest])) for each in shown}
        least, most = max(map(len, known)), None
    else:
        known = {_speakers((*each.opening, *each.turns)) for each in shown}
        least, most = min(map(len, known)), max(map(len, known))
    for number, dialogue in enumerate(gold.dialogues):
        speakers = _speakers(dialogue.turns)
        if len(speakers) < least or (most is not None and len(speakers) > most):
            limits = f"at least {least}" if most is None else f"{least} to {most}"
            raise GoldStandsOut(number=number, name=gold.name, why=f"it has {len(speakers)} turns, not {limits}")
        if not any(each.startswith(speakers) or speakers.startswith(each) for each in known):
            why = f"its speakers take turns as {speakers}, as in no conversation"
            raise GoldStandsOut(number=number, name=gold.name, why=why)


def gold_positions(shuffle: Shuffle, package: int, *, items: int, gold: int) -> frozenset[int]:
    """Draw the positions of gold items in a package, by its number, which holds `items` others."""
    return frozenset(shuffle(f"gold/{package}", range(items + gold))[:gold])


def place_gold(
    gold: Training,
    shuffle: Shuffle,
    annotator_id: UUID,
    *,
    positions: Sequence[int],
    seen: Collection[int],
    lengths: Iterable[int],
) -> tuple[PlacedGold, ...]:
    """Draw dialogues that an annotator has not seen for the gold positions of a package.

    Each is shown as far as one of the package's other items, whose numbers of turns are `lengths`; one that may not be
    cut is shown whole, where there are no `lengths`. Raises NothingLeft where too few dialogues are unseen.
    """
    unseen = [number for number in range(len(gold.dialogues)) if number not in seen]
    if len(unseen) < len(positions):
        raise NothingLeft
    drawn = shuffle(f"dialogues/{annotator_id}/{len(seen)}", unseen)
    as_long = [*lengths]
    return tuple(
        PlacedGold(
            position,
            number,
            as_long[shuffle.number(f"turns/{annotator_id}/{number}", len(as_long))]
            if as_long
            else len(gold.dialogues[number].turns),
        )
        for position, number in zip(positions, drawn, strict=False)
    )


def _speakers(turns: Iterable[Turn]) -> str:
    return "".join(turn.speaker for turn in turns)
