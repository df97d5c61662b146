"""Types of the domain as contracts, for the endpoints that return them."""

from datetime import timedelta
from typing import Any

from spotthebot.contracts.conversations import (
    BotConversationOut,
    BotWarningOut,
    CollectionOut,
    CollectionPlanOut,
    ConversationOut,
    FailureOut,
    PairOut,
    PartnerOut,
    PartnerSetOut,
    SpeakersOut,
    StartedCollectionOut,
    TextsOut,
)
from spotthebot.conversations.domain.collections import Collection, FailureReason, PairProgress
from spotthebot.conversations.domain.conversations import Conversation, Speakers
from spotthebot.conversations.domain.exports import ExportSource
from spotthebot.conversations.domain.partner_sets import PartnerSet


def conversation_out(conversation: Conversation) -> ConversationOut:
    """Return a conversation with its turns so far."""
    return ConversationOut(
        id=conversation.id,
        collection_id=conversation.collection_id,
        external_id=conversation.external_id,
        state=conversation.state,
        ended_by=conversation.ended_by,
        failure=conversation.failure,
        participants=conversation.participants,
        opening=conversation.opening_turns,
        opening_shown=conversation.opening_shown,
        turns=conversation.spoken_turns,
    )


def bot_conversation_out(conversation: Conversation, collection: str) -> BotConversationOut:
    """Return a conversation with the name of its collection."""
    return BotConversationOut(**dict(conversation_out(conversation)), collection=collection)


def texts_out(conversation: Conversation) -> TextsOut:
    """Return a conversation for annotation, which must not learn who speaks."""
    return TextsOut(
        id=conversation.id,
        external_id=conversation.external_id,
        state=conversation.state,
        opening=conversation.opening_turns,
        opening_shown=conversation.opening_shown,
        turns=conversation.spoken_turns,
    )


def speakers_out(speakers: Speakers) -> SpeakersOut:
    """Return who speaks in a conversation."""
    return SpeakersOut(id=speakers.id, state=speakers.state, participants=speakers.participants)


def collection_out(collection: Collection) -> CollectionOut:
    """Return a collection, with the time that is left at the rate of the last minute, unless a bot is waited for."""
    rate = collection.rate_turns_per_second
    left = collection.turns_planned - collection.turns
    return CollectionOut(
        id=collection.id,
        name=collection.name,
        domain=collection.domain,
        mode=collection.mode,
        state=collection.state,
        priority=collection.priority,
        conversations=collection.conversations,
        complete=collection.complete,
        failed=collection.failed,
        cancelled=collection.cancelled,
        waiting=collection.waiting,
        turns=collection.turns,
        turns_planned=collection.turns_planned,
        rate_turns_per_second=round(rate, 3) if rate else None,
        seconds_left=round(left / rate, 1) if rate and not collection.waiting else None,
        created_at=collection.created_at,
        finished_at=collection.finished_at,
    )


def started_collection_out(collection: Collection, warnings: tuple[BotWarningOut, ...]) -> StartedCollectionOut:
    """Return a collection as it was started."""
    return StartedCollectionOut(**dict(collection_out(collection)), warnings=warnings)


def plan_out(source: ExportSource) -> CollectionPlanOut:
    """Return the part of a collection's plan that the modes by which bots talk have."""
    plan: dict[str, Any] = dict.fromkeys(CollectionPlanOut.model_fields) | {"bots": ()}
    plan |= {name: value for name, value in source.plan.items() if name in plan}
    plan |= {"mode": source.mode, "held_as": source.held_as}
    if source.mode == "human_bot":  # whose plan keeps its bots' names there
        plan["partners"] = None
    return CollectionPlanOut.model_validate(plan)


def pair_out(pair: PairProgress) -> PairOut:
    """Return the progress of a pair."""
    return PairOut(number=pair.number, participants=pair.participants, conversations=dict(pair.conversations))


def failure_out(failure: FailureReason, patience_seconds: float) -> FailureOut:
    """Return why conversations failed, or wait, and when they wait no longer."""
    return FailureOut(
        state=failure.state,
        reason=failure.reason,
        bot=failure.bot,
        conversations=failure.conversations,
        until=failure.since and failure.since + timedelta(seconds=patience_seconds),
    )


def partner_set_out(found: PartnerSet) -> PartnerSetOut:
    """Return one version of a partner set."""
    return PartnerSetOut(
        id=found.id,
        name=found.name,
        version=found.version,
        description=found.description,
        partners=tuple(
            PartnerOut(
                bot_id=each.bot_id,
                name=each.name,
                version=each.version,
                configuration_sha256=each.configuration_sha256,
            )
            for each in found.partners
        ),
        created_at=found.created_at,
    )
