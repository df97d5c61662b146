"""Labelled campaigns from what services say of a campaign, its annotations, packages and speakers."""

from collections.abc import Hashable, Sequence
from typing import Final

from spotthebot.analytics.clients.errors import OtherProtocol
from spotthebot.analytics.clients.read_collections import speakers_of
from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign
from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut
from spotthebot.contracts.annotation.packages import PackageOut
from spotthebot.contracts.annotation.protocols import LABELS_OF_SPEAKERS
from spotthebot.contracts.conversations.conversations import SpeakersOut
from spotthebot.contracts.repeated_texts import shown_texts

SPOT_THE_BOT: Final = "spot_the_bot"
_ALIKE: Final = {SPOT_THE_BOT: LABELS_OF_SPEAKERS}
"""Protocols that are read as another one; here a protocol that asks for the same labels and nothing else."""


def require_protocol(campaign: CampaignOut, protocol: str) -> None:
    """Raise OtherProtocol unless a campaign's labels can be read as those of a protocol."""
    if campaign.protocol not in _ALIKE.get(protocol, (protocol,)):
        raise OtherProtocol(campaign=campaign.name, protocol=campaign.protocol, known=protocol)


def labelled_of(
    campaign: CampaignOut,
    annotations: Sequence[CodedAnnotation],
    packages: Sequence[PackageOut],
    spoken: Sequence[SpeakersOut],
) -> LabelledCampaign:
    """Join a campaign's labels with those who spoke."""
    return LabelledCampaign(
        campaign_id=campaign.id,
        campaign=campaign.name,
        domain=campaign.domain,
        complete=campaign.state in ENDED,
        speakers=dict[Hashable, tuple[str, str]](speakers_of(spoken).items()),
        packages={each.id: frozenset(segment.conversation_id for segment in each.segments) for each in packages},
        annotations=annotations,
        texts=dict[Hashable, Hashable](shown_texts(packages).items()),
    )
