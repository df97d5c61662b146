"""The cost of an evaluation: annotating conversations against chatting with bots (section 5.3 of Spot The Bot)."""

import math
from dataclasses import dataclass

from spotthebot.analytics.stats.errors import SettingOutOfRange


@dataclass(frozen=True)
class EvaluationCost:
    """Person-hours and money of annotating all pairs of bots and of chatting with all bots, and their ratio.

    `ratio` is the hours of chatting over those of annotation: above 1, annotation is cheaper.
    """

    annotation_hours: float
    chatting_hours: float
    annotation_cost: float
    chatting_cost: float
    ratio: float
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
    """Compare the hours that people spend; bots' own time is free in both designs.

    Annotation takes bots * (bots - 1) / 2 pairs times conversations, annotations and seconds; chatting takes bots times
    chats and seconds. All figures are yours: the median of `annotation_times` is a good one for an annotation, and a
    chat takes as long as people need to hold it. Raises `SettingOutOfRange`.

    >>> cost = evaluation_cost(
    ...     bots=4, conversations_per_pair=40, annotations_per_conversation=6, seconds_per_annotation=25,
    ...     chats_per_bot=100, seconds_per_chat=180, hourly_wage=12,
    ... )  # 6 * 40 * 6 * 25 s = 10 h against 4 * 100 * 180 s = 20 h
    >>> cost.annotation_hours, cost.chatting_hours, cost.annotation_cost, cost.ratio
    (10.0, 20.0, 120.0, 2.0)
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
    return EvaluationCost(
        annotation_hours=annotating,
        chatting_hours=chatting,
        annotation_cost=annotating * hourly_wage,
        chatting_cost=chatting * hourly_wage,
        ratio=chatting / annotating if annotating else math.inf,
        method="person-hours of all pairs' annotations against all bots' chats",
    )
