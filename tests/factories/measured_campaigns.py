"""Campaigns by any protocol with their annotations, as `analytics` reads them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from spotthebot.analytics.values.domain.values import MeasuredCampaign, item_of
from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.contracts.annotation.annotations import AnnotationOut, AnnotatorKind
from spotthebot.contracts.annotation.measures import ShownTurns, measured_questions
from spotthebot.contracts.annotation.packages import ConversationRef

PACKAGE = UUID(int=99)


def answered(
    conversation: int,
    annotator: str,
    answer: Mapping[str, Any],
    *,
    right: int | None = None,
    exchanges: int = 3,
    kind: AnnotatorKind = AnnotatorKind.PERSON,
) -> AnnotationOut:
    return AnnotationOut(
        id=UUID(int=1000 + conversation),
        conversation_id=UUID(int=conversation),
        package_id=PACKAGE,
        exchanges=exchanges,
        right=None if right is None else ConversationRef(conversation_id=UUID(int=right), exchanges=exchanges),
        annotator=annotator,
        annotator_kind=kind,
        judge=None,
        judge_labels=None,
        answer=dict(answer),
        decisions=(),
        started_at=None,
        ended_at=None,
        elapsed_ms=None,
        reported_ms=None,
    )


def measured_campaign(
    protocol: str,
    speakers: Mapping[int, tuple[str, str]],
    annotations: Sequence[AnnotationOut],
    *,
    texts: Mapping[int, str] | None = None,
    turns: Mapping[int, ShownTurns] | None = None,
    headline: str | None = None,
) -> MeasuredCampaign:
    items = {item_of(each.conversation_id, each.right.conversation_id if each.right else None) for each in annotations}
    return MeasuredCampaign(
        campaign_id=UUID(int=7),
        campaign="measured",
        domain="everyday",
        complete=True,
        questions=measured_questions(built_in_protocols()[protocol, 1]),
        declared_headline=headline,
        annotations=annotations,
        packages={PACKAGE: frozenset(items)},
        speakers={UUID(int=key): names for key, names in speakers.items()},
        texts={UUID(int=key): text for key, text in (texts or {}).items()},
        turns={UUID(int=key): each for key, each in (turns or {}).items()},
        is_import=False,
    )
