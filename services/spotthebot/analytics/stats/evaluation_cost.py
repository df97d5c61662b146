"""The cost of an evaluation: annotating conversations, compared with chatting with bots (Spot The Bot, section 5.3)."""

import math
from dataclasses import dataclass
from typing import Final

from spotthebot.statistics.errors import SettingOutOfRange

MAX_CROSSING: Final = 1_000_000_000
"""A larger crossing is cut to this number."""


@dataclass(frozen=True)
class EvaluationCost:
    """Person-hours and money for annotating all pairs of bots, and for chatting with all bots; and their ratio.

    `ratio` is the hours of chatting, divided by the hours of annotation. If it is above 1, annotation is cheaper.
    Annotation grows with the square of the number of bots, chatting with the number: up to `cheaper_up_to` bots,
    annotation costs no more. Below 2 it never does.
    """

    annotation_hours: float
    chatting_hours: float
    annotation_cost: float
    chatting_cost: float
    ratio: float
    cheaper_up_to: int
    method: str


def evaluation_cost(
    *,
    bots: int,
    conversations_per_pair: int,
    annotations_per_conversation: float,
    seconds_per_annotation: float,
    chats_per_bot: int,
    seconds_per_chat: float,
    hourly_wage: float,
) -> EvaluationCost:
    """Compare the hours that people spend. The time of bots costs nothing in either design.

    The time of annotation is the number of pairs, bots * (bots - 1) / 2, times conversations per pair, annotations per
    conversation and seconds per annotation. The time of chatting is the number of bots times chats per bot and seconds
    per chat. You supply all numbers. For the seconds of an annotation, the median of `annotation_times` is suitable.
    Raises `SettingOutOfRange`.

    >>> cost = evaluation_cost(
    ...     bots=4, conversations_per_pair=40, annotations_per_conversation=6, seconds_per_annotation=25,
    ...     chats_per_bot=100, seconds_per_chat=180, hourly_wage=12,
    ... )  # 6 * 40 * 6 * 25 s = 10 h against 4 * 100 * 180 s = 20 h
    >>> cost.annotation_hours, cost.chatting_hours, cost.annotation_cost, cost.ratio
    (10.0, 20.0, 120.0, 2.0)
    >>> cost.cheaper_up_to  # 1 + 2 * 100 * 180 / (40 * 6 * 25) bots
    7
    """
    for setting, value, least in (
        ("bots", bots, 2),
        ("conversations_per_pair", conversations_per_pair, 1),
        ("chats_per_bot", chats_per_bot, 1),
    ):
        if not least <= value < math.inf:
            raise SettingOutOfRange(setting=setting, allowed=f"{least} or more", value=value)
    for setting, amount in (
        ("annotations_per_conversation", annotations_per_conversation),
        ("seconds_per_annotation", seconds_per_annotation),
        ("seconds_per_chat", seconds_per_chat),
    ):
        if not 0 < amount < math.inf:
            raise SettingOutOfRange(setting=setting, allowed="above 0", value=amount)
    if not 0 <= hourly_wage < math.inf:
        raise SettingOutOfRange(setting="hourly_wage", allowed="0 or more", value=hourly_wage)
    annotations = bots * (bots - 1) / 2 * conversations_per_pair * annotations_per_conversation
    annotating = annotations * seconds_per_annotation / 3600
    chatting = bots * chats_per_bot * seconds_per_chat / 3600
    of_pair = conversations_per_pair * annotations_per_conversation * seconds_per_annotation
    crossing = 1 + 2 * chats_per_bot * seconds_per_chat / of_pair
    return EvaluationCost(
        annotation_hours=annotating,
        chatting_hours=chatting,
        annotation_cost=annotating * hourly_wage,
        chatting_cost=chatting * hourly_wage,
        ratio=chatting / annotating if annotating else math.inf,
        # Rounding must not take the last bot away: 51 bots in the paper.
        cheaper_up_to=math.floor(min(crossing * (1 + 1e-12), MAX_CROSSING)),
        method="person-hours of all pairs' annotations against all bots' chats",
    )
