"""Reads what a judge learns from: the segments of a campaign, their speakers and their labels."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.contracts.annotation.annotations import AnnotatorKind, Label
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.protocols import LABELS_OF_SPEAKERS
from spotthebot.contracts.turns import Turn
from spotthebot.judges.shown import read_speakers, read_texts, turns_shown
from spotthebot.judges.trained.errors import LabelsMissing, ProtocolUnsuited
from spotthebot.judges.trained.units import GivenLabel, Side, Unit

_SIDES: Final[tuple[Side, Side]] = ("A", "B")
_Labels = dict[tuple[UUID, int], list[tuple[str, dict[str, str]]]]


async def read_units(
    annotation: AsyncAnnotation, conversations: AsyncConversations, campaign: CampaignOut
) -> tuple[list[Unit], AnnotatorKind]:
    """Return all sides of all segments of a campaign, with the labels of people, or else of simulated annotators.

    Labels of judges are never read. Raises ProtocolUnsuited and LabelsMissing.
    """
    if campaign.protocol not in LABELS_OF_SPEAKERS:
        raise ProtocolUnsuited(campaign=campaign.name, protocol=campaign.protocol)
    labels: defaultdict[AnnotatorKind, _Labels] = defaultdict(lambda: defaultdict(list))
    async for each in annotation.stream_annotations(campaign.id):
        entity: Any = each.answer["entity"]
        labels[each.annotator_kind][each.conversation_id, each.exchanges].append((each.annotator, dict(entity)))
    kind = next((kind for kind in (AnnotatorKind.PERSON, AnnotatorKind.SIMULATED) if labels[kind]), None)
    if kind is None:
        raise LabelsMissing(campaign=campaign.name)
    speakers = await read_speakers(conversations, campaign.collections)
    texts = {each.id: each async for each in read_texts(conversations, campaign.collections)}
    segments = {
        (segment.conversation_id, segment.exchanges)
        async for package in annotation.list_packages(campaign.id)
        for segment in package.segments
    }
    units = [
        unit
        for conversation, exchanges in sorted(segments, key=lambda each: (str(each[0]), each[1]))
        if conversation in speakers and conversation in texts
        for unit in _units(
            conversation,
            (speakers[conversation][0].name, speakers[conversation][1].name),
            turns_shown(texts[conversation], exchanges),
            labels[kind].get((conversation, exchanges), []),
        )
    ]
    return units, kind


def _units(
    conversation: UUID, speakers: tuple[str, str], turns: tuple[Turn, ...], labels: Sequence[tuple[str, dict[str, str]]]
) -> list[Unit]:
    return [
        Unit(
            conversation=str(conversation),
            speaker=speakers[at],
            other=speakers[1 - at],
            side=side,
            turns=turns,
            labels=tuple(
                GivenLabel(annotator, entity[side] == Label.HUMAN)
                for annotator, entity in sorted(labels, key=lambda each: each[0])
            ),
        )
        for at, side in enumerate(_SIDES)
    ]
