"""Reads what a report says of a campaign beside its results: the campaign's design, and conversations to show."""

import asyncio
from collections.abc import Hashable
from decimal import Decimal
from itertools import chain
from uuid import UUID

from spotthebot.analytics.clients.campaign_data import load_campaign_async
from spotthebot.clients import Forbidden
from spotthebot.contracts.analytics.choices import Filter
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.conversations.conversations import ConversationOut, ConversationState
from spotthebot.local.report.design import Collection, Conversations, Design, Paid, Screened
from spotthebot.local.report.samples import Samples, select_samples
from spotthebot.local.runtime.session import Clients

_NO_TEXTS = "The labels of this campaign were imported without the texts of conversations, so there are none to show."


async def read_design(clients: Clients, campaign: CampaignOut) -> Design:
    """Read a campaign's design; what a key may not see, payments and who was blocked, is left out."""
    collections = [await _read_collection(clients, each) for each in campaign.collections]
    starts, ends = [], []
    async for each in clients.annotation.stream_annotations(campaign.id):
        starts.append(each.started_at or each.ended_at)
        ends.append(each.ended_at or each.started_at)
    known = [each for each in chain(starts, ends) if each is not None]
    protocol = await clients.annotation.get_protocol(campaign.protocol, campaign.protocol_version)
    return Design(
        campaign=campaign,
        protocol=protocol.protocol,
        collections=collections,
        paid=await _read_payments(clients, campaign),
        screened=await _read_screening(clients, campaign),
        annotated=(min(known), max(known)) if known else None,
    )


async def read_samples(clients: Clients, design: Design, filter_: Filter, count: int) -> Samples:
    """Read up to `count` conversations for each group of samples, with their texts; none where there are no texts."""
    if not any(each.conversations.with_words for each in design.collections):
        return Samples((), {}, reason=_NO_TEXTS)
    labelled = await load_campaign_async(clients.annotation, clients.conversations, design.campaign.id)
    groups = await asyncio.to_thread(select_samples, labelled, filter_, count)
    ids = dict.fromkeys(each.conversation for group in groups for each in group.selected)
    transcripts: dict[Hashable, ConversationOut] = {}
    for each in ids:
        transcripts[each] = await clients.conversations.get_conversation(UUID(str(each)))
    return Samples(groups, transcripts)


async def _read_collection(clients: Clients, collection_id: UUID) -> Collection:
    counted = Conversations()
    async for texts in clients.conversations.stream_texts(collection_id):
        if texts.state is ConversationState.COMPLETE:
            counted.exchanges[len(texts.turns) // 2] += 1
            counted.opened += bool(texts.opening)
            counted.with_words += any(turn.text.strip() for turn in texts.turns)
    async for spoke in clients.conversations.stream_speakers(collection_id):
        if spoke.state is ConversationState.COMPLETE:
            counted.speakers[frozenset(each.name for each in spoke.participants)] += 1
    plan = await clients.conversations.get_plan(collection_id)
    pools = (pool.corpus_id for pool in (plan.opening, plan.humans) if pool and pool.corpus_id)
    corpora = {str(each): (await clients.conversations.get_corpus(each)).name for each in dict.fromkeys(pools)}
    times = await clients.analytics.get_chat_times(collection_id) if plan.mode == "human_bot" else None
    return Collection(await clients.conversations.get_collection(collection_id), plan, corpora, counted, times)


async def _read_payments(clients: Clients, campaign: CampaignOut) -> Paid | None:
    if campaign.pay_per_package is None:
        return None
    try:
        payments = [each async for each in clients.annotation.list_payments(campaign.id)]
    except Forbidden:
        return None
    pay = sum((each.pay for each in payments), Decimal())
    return Paid(len(payments), pay, sum((each.bonuses for each in payments), Decimal()))


async def _read_screening(clients: Clients, campaign: CampaignOut) -> Screened | None:
    try:
        annotators = [each async for each in clients.annotation.list_annotators(campaign.id)]
    except Forbidden:
        return None
    return Screened(
        blocked=sum(each.blocked_at is not None for each in annotators),
        gold_right=sum(each.gold_right for each in annotators),
        gold_wrong=sum(each.gold_wrong for each in annotators),
    )
