"""How long people chat with a bot, for one conversation."""

from collections.abc import Sequence

import numpy as np

from spotthebot.analytics.labels.domain import annotators_by_kind
from spotthebot.analytics.provenance.domain import uncertainty_of
from spotthebot.analytics.stats.times import annotation_times
from spotthebot.contracts.analytics.annotation_quality import Time
from spotthebot.contracts.analytics.costs import ChatTimesOut
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.conversations.chats import ChatState, ChatSummaryOut
from spotthebot.contracts.conversations.collections import CollectionOut


def chat_times(collection: CollectionOut, chats: Sequence[ChatSummaryOut]) -> ChatTimesOut:
    """Summarise the seconds of the finished chats of a collection. Chats of one person vary together."""
    finished = [each for each in chats if each.state in {ChatState.RATING, ChatState.RATED} and each.conversations]
    seconds = [(each.last_turn_at - each.created_at).total_seconds() / len(each.conversations) for each in finished]
    people = [each.interactor for each in finished]
    found = annotation_times(1000 * np.array(seconds), np.zeros(len(seconds)), np.arange(len(seconds)), people)
    kinds = annotators_by_kind((each.interactor, each.interactor_kind) for each in finished)
    return ChatTimesOut(
        annotators=kinds.total(),
        simulated_annotators=kinds[AnnotatorKind.SIMULATED],
        judges=kinds[AnnotatorKind.JUDGE],
        collection_id=collection.id,
        name=collection.name,
        time=Time.of(found, uncertainty=uncertainty_of(found.uncertainty), rule=found.method, segments=()),
    )
