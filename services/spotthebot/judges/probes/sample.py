"""Takes a sample of the items of a campaign, as a judge sees them, with the sides at which bots speak."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from spotthebot.bots.builtin_bots.domain.chance import chance_of
from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.conversations.conversations import ParticipantKind
from spotthebot.judges.items import questions_of
from spotthebot.judges.opinions import Seen
from spotthebot.judges.probes.errors import NothingToProbe
from spotthebot.judges.shown import read_speakers, read_texts, turns_shown
from spotthebot.judges.sides import asks_who_is_human
from spotthebot.judges.trained.units import Side

SIDES: Final[tuple[Side, Side]] = ("A", "B")


@dataclass(frozen=True)
class SampledItem:
    """A conversation at a length as a judge sees it, and the sides at which bots speak, which it never learns."""

    conversation: UUID
    exchanges: int
    seen: Seen
    bots: tuple[Side, ...]


async def sample_items(
    annotation: AsyncAnnotation, conversations: AsyncConversations, campaign: CampaignOut, items: int, seed: int
) -> list[SampledItem]:
    """Return so many items of a campaign, or all if it has fewer. The same seed takes the same items.

    Raises NothingToProbe if no item asks of a side whether it is human.
    """
    protocol = (await annotation.get_protocol(campaign.protocol, campaign.protocol_version)).protocol
    segments = {
        (segment.conversation_id, segment.exchanges)
        async for package in annotation.list_packages(campaign.id)
        for segment in package.segments
        if segment.right is None and segment.text_hash is not None
    }
    ordered = sorted(segments, key=lambda each: (str(each[0]), each[1]))
    taken = chance_of(seed, "sample").sample(ordered, min(items, len(ordered)))
    kept = {conversation for conversation, _ in taken}
    texts = {each.id: each async for each in read_texts(conversations, campaign.collections) if each.id in kept}
    speakers = await read_speakers(conversations, campaign.collections)
    found = [
        SampledItem(
            conversation,
            exchanges,
            Seen(turns_shown(texts[conversation], exchanges), None, protocol, campaign.instructions),
            tuple(
                side
                for side, speaker in zip(SIDES, speakers.get(conversation, ()), strict=False)
                if speaker.kind is ParticipantKind.BOT
            ),
        )
        for conversation, exchanges in taken
        if conversation in texts
    ]
    if not any(asks_who_is_human(each) for item in found for each in questions_of(item.seen, {})):
        raise NothingToProbe(campaign=campaign.name)
    return found
