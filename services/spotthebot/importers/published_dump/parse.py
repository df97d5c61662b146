"""Converts rows to records. It states the meaning of each published field, and which fields mislead."""

from collections.abc import Mapping
from typing import Final

from spotthebot.contracts.annotation.annotations import Feature, Label
from spotthebot.importers.published_dump.domains import Domain
from spotthebot.importers.published_dump.fields import (
    flag,
    flag_or_null,
    integer,
    list_of_objects,
    name,
    object_id,
    object_of,
    text,
)
from spotthebot.importers.published_dump.records import (
    DumpAnnotation,
    DumpConversation,
    DumpPackage,
    DumpParticipant,
    DumpSegment,
    DumpTurn,
    Side,
)
from spotthebot.readers.rejected import FieldFault

_SIDES: Final[tuple[Side, Side]] = (0, 1)
_LABELS: Final[Mapping[bool | None, Label]] = {True: Label.HUMAN, False: Label.BOT, None: Label.UNSURE}
_FEATURE_KEYS: Final[Mapping[Feature, str]] = {
    "fluency": "fluencyValue",
    "sensibleness": "sensitivenessValue",
    "specificity": "specificityValue",
}
_NOT_STARTED = -1


def conversation_of(row: Mapping[str, object], domain: Domain) -> DumpConversation:
    """Convert a row to a conversation; a turn's position tells its speaker, since both speakers may have the same type.

    `exchange_nr` is ignored: it starts at 0 for humans and at 1 for bots, and half of the bots' own conversations count
    1, 2, 2, 3.
    """
    if name(row, "domain_name") != domain.name_in_rows:
        raise FieldFault(reason=f"domain_name must be '{domain.name_in_rows}'")
    types = (name(row, "system_type0"), name(row, "system_type1"))
    turns = tuple(
        DumpTurn(_SIDES[k % 2], _text_by(turn, types[k % 2], k)) for k, turn in enumerate(list_of_objects(row, "convo"))
    )
    participants = (_participant(row, 0, domain), _participant(row, 1, domain))
    return DumpConversation(object_id(row, "_id"), domain.key, participants, turns)


def package_of(row: Mapping[str, object]) -> DumpPackage:
    """Convert a row to a package; `start_turn` is the index, from 0, of the last turn shown."""
    segments = tuple(
        DumpSegment(object_id(item, "convo_id"), _turns_shown(integer(item, "start_turn") + 1))
        for item in list_of_objects(row, "package")
    )
    return DumpPackage(object_id(row, "_id"), segments)


def annotation_of(row: Mapping[str, object]) -> DumpAnnotation:
    """Convert a row to an annotation. For each feature, each side has a flag; two true flags mean a tie."""
    first, second = (_entity(row, side) for side in _SIDES)
    turns_shown = integer(first, "decision_turn")
    if integer(second, "decision_turn") != turns_shown:
        raise FieldFault(reason="decision_turn differs between the two entities")
    started_at_ms = integer(row, "start_time")
    return DumpAnnotation(
        external_id=object_id(row, "_id"),
        conversation=object_id(row, "convo_id"),
        package=object_id(row, "package_id"),
        annotator=name(row, "user_name"),
        turns_shown=_turns_shown(turns_shown),
        labels=(_LABELS[flag_or_null(first, "is_human")], _LABELS[flag_or_null(second, "is_human")]),
        preferences={feature: _preferred(first, second, key) for feature, key in _FEATURE_KEYS.items()},
        started_at_ms=None if started_at_ms == _NOT_STARTED else started_at_ms,
        ended_at_ms=integer(row, "end_time"),
        elapsed_ms=integer(row, "elapsed_time"),
        completion_code=str(integer(row, "random_number")),
    )


def _text_by(turn: Mapping[str, object], expected: str, index: int) -> str:
    if name(turn, "id") != expected:
        raise FieldFault(reason=f"turn {index} must be by '{expected}', since speakers alternate")
    return text(turn, "text")


def _participant(row: Mapping[str, object], side: Side, domain: Domain) -> DumpParticipant:
    system_type = name(row, f"system_type{side}")
    is_human = flag(row, f"is_human{side}")
    if is_human != (system_type == "human"):
        raise FieldFault(reason=f"is_human{side} contradicts system_type{side}")
    return DumpParticipant(
        kind="human" if is_human else "bot",
        name=domain.abbreviations.get(system_type, system_type),
        system=name(row, f"system_name{side}"),
    )


def _entity(row: Mapping[str, object], side: Side) -> dict[str, object]:
    key = f"entity{side}_annotation"
    entity = object_of(row, key)
    if integer(entity, "entity_number") != side:
        raise FieldFault(reason=f"entity_number of {key} is not {side}")
    return entity


def _preferred(first: Mapping[str, object], second: Mapping[str, object], key: str) -> Side | None:
    raised = (flag(first, key), flag(second, key))
    if raised == (False, False):
        raise FieldFault(reason=f"{key} is false for both entities")
    return None if raised[0] == raised[1] else _SIDES[raised[1]]


def _turns_shown(number: int) -> int:
    if number < 2 or number % 2:
        raise FieldFault(reason=f"{number} turns are shown: the number must be even, two turns for each exchange")
    return number
