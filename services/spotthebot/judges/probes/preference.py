"""Self-preference: how much more a judge favours bots with its own model than people do, on items as they are.

Judges don't learn which bots these are: the caller names them. The other bots are the control.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from spotthebot.analytics.stats.judge_quality.clustered_means import ClusteredMean
from spotthebot.analytics.stats.judge_quality.columns import ScoredLabels
from spotthebot.analytics.stats.judge_quality.probes import self_preference
from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.measures import LABEL, LABELS, measured_questions
from spotthebot.contracts.conversations.conversations import ParticipantKind
from spotthebot.judges.probes.errors import NoOwnBot
from spotthebot.judges.probes.sample import SIDES
from spotthebot.judges.shown import read_speakers
from spotthebot.judges.trained.units import Side
from spotthebot.statistics.columns import read_codes


@dataclass(frozen=True)
class LabelledSide:
    """A person's label of a bot's side: whether it is "human", and whether the bot has the judge's model."""

    conversation: UUID
    exchanges: int
    side: Side
    annotator: str
    human: bool
    own: bool


async def read_labelled_sides(
    annotation: AsyncAnnotation, conversations: AsyncConversations, campaign: CampaignOut, own: Sequence[str]
) -> list[LabelledSide]:
    """Return people's labels of the sides of bots; `own` names those with the judge's model. Raises NoOwnBot."""
    protocol = await annotation.get_protocol(campaign.protocol, campaign.protocol_version)
    label = measured_questions(protocol.protocol).get(LABEL)
    speakers = await read_speakers(conversations, campaign.collections)
    known = {each.name for both in speakers.values() for each in both}
    if strange := sorted(set(own) - known):
        raise NoOwnBot(campaign=campaign.name, bot=strange[0])
    return [
        LabelledSide(
            each.conversation_id, each.exchanges, side, each.annotator, given[side] == LABELS["human"], bot.name in own
        )
        async for each in annotation.stream_annotations(campaign.id)
        if label is not None and each.conversation_id in speakers
        for given in (label.numbers(each.answer),)
        for side, bot in zip(SIDES, speakers[each.conversation_id], strict=True)
        if side in given and bot.kind is ParticipantKind.BOT
    ]


def preference(labels: Sequence[LabelledSide], said: Mapping[tuple[object, int], Mapping[str, float]]) -> ClusteredMean:
    """Return the self-preference. `said` has P(human) of the sides of the items that were shown to the judge."""
    shown = [each for each in labels if (each.conversation, each.exchanges) in said]
    unit, conversation, annotator = (
        read_codes(names, "labels").code
        for names in (
            [f"{each.conversation} {each.exchanges} {each.side}" for each in shown],
            [str(each.conversation) for each in shown],
            [each.annotator for each in shown],
        )
    )
    human = np.array([each.human for each in shown], dtype=np.float64)
    given = [said[each.conversation, each.exchanges].get(each.side, np.nan) for each in shown]
    scored = ScoredLabels(unit, conversation, annotator, human, np.array(given, dtype=np.float64))
    return self_preference(scored, np.array([each.own for each in shown], dtype=np.bool_))
