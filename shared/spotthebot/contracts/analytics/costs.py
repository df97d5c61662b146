"""What an evaluation costs by annotating conversations of bots, and by chatting with the bots; seconds of chats."""

from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.annotation_quality import Time
from spotthebot.contracts.analytics.bounds import MAX_BOTS
from spotthebot.contracts.analytics.provenance import AnnotatorCounts
from spotthebot.contracts.wire import Wire

_LEAST, _MOST = 0.001, 1_000_000


class CostIn(Wire):
    """Two designs. The defaults are the numbers of Spot The Bot, section 5.3, for PersonaChat."""

    bots: int = Field(default=5, ge=2, le=MAX_BOTS, description="Bots to compare.")
    conversations_per_pair: int = Field(
        default=40, ge=1, le=_MOST, description="Conversations of each pair of bots, which people annotate."
    )
    annotations_per_conversation: float = Field(
        default=1, ge=_LEAST, le=_MOST, description="Annotations of each conversation."
    )
    seconds_per_annotation: float = Field(default=24, ge=_LEAST, le=_MOST, description="Seconds of one annotation.")
    chats_per_bot: int = Field(default=100, ge=1, le=_MOST, description="Chats of people with each bot.")
    seconds_per_chat: float = Field(default=240, ge=_LEAST, le=_MOST, description="Seconds of one chat.")
    hourly_wage: float = Field(
        default=0, ge=0, le=_MOST, description="Pay of an hour, to compare costs; with 0 only hours are compared."
    )


class CostOut(Wire):
    """The person-hours of both designs, and where they cross. The time of bots costs nothing."""

    annotation_hours: float
    chatting_hours: float
    annotation_cost: float
    chatting_cost: float
    ratio: float = Field(description="Hours of chatting by hours of annotation: above 1, annotation is cheaper.")
    cheaper_up_to: int = Field(description="The most bots with which annotation costs no more; 1: it never does.")
    method: str


class ChatTimesOut(AnnotatorCounts):
    """How long people chat with a bot, for one conversation (Table 4 of Spot The Bot)."""

    collection_id: UUID
    name: str
    time: Time = Field(
        description="Of finished chats: from the beginning of the chat to its last turn, by its conversations;"
        " the bots' seconds are part of it."
    )
