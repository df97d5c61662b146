"""Campaigns: start, open, pause and close."""

from uuid import UUID

from spotthebot.annotation.assignments.domain.gold import check_gold, check_not_trained
from spotthebot.annotation.assignments.use_cases.gold import require_alike
from spotthebot.annotation.campaign_setup.use_cases.packages import queue_building
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign, require_headline, require_pairs, unit_of
from spotthebot.annotation.events.use_cases import publish_closed
from spotthebot.annotation.protocols.use_cases import require_protocol
from spotthebot.annotation.trainings.use_cases import require_training
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignState
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.jobs.queue import Jobs


async def start_campaign(session: WriteSession, jobs: Jobs, request: CampaignIn) -> Campaign:
    """Create a campaign over complete collections and queue the job that makes its packages."""
    request, protocol = await settled(session, request)
    campaign = await campaigns_store.add_campaign(session, request, protocol)
    await queue_building(session, jobs, campaign.id)
    return campaign


async def settled(session: ReadSession, request: CampaignIn) -> tuple[CampaignIn, AnnotationProtocol]:
    """Return a request with the versions of its protocol, training and gold filled in, and its protocol.

    Raises an error if protocol, headline, pairs, training and gold do not fit each other.
    """
    protocol = await require_protocol(session, request.protocol, request.protocol_version)
    require_headline(protocol, request.headline)
    require_pairs(protocol, request.pairs)
    training = None
    if request.training is not None:
        training = await require_training(session, request.training.name, request.training.version, protocol)
        required = request.training.model_copy(update={"version": training.version})
        request = request.model_copy(update={"training": required})
    if request.gold is not None:
        gold = await require_training(session, request.gold.training, request.gold.version, protocol)
        lengths = unit_of(protocol, request.segments).lengths if request.mode == "live" else ()
        check_gold(
            gold,
            per_package=request.gold.per_package,
            packages_per_annotator=request.packages_per_annotator or 0,
            longest=max(lengths, default=0),
        )
        if training is not None:
            check_not_trained(gold, training)
        request = request.model_copy(update={"gold": request.gold.model_copy(update={"version": gold.version})})
    return request.model_copy(update={"protocol_version": protocol.version}), protocol


async def move_campaign(session: WriteSession, campaign_id: UUID, state: CampaignState) -> Campaign:
    """Open or pause a campaign; a campaign that is in `state` already stays as it is.

    Raises CampaignCannotMove, CampaignNotBuilt, and GoldStandsOut if gold dialogues stand out in a draft's packages.
    """
    await campaigns_store.lock_campaign(session, campaign_id)
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    campaign.require_move(state)
    if campaign.state is CampaignState.DRAFT:
        await require_alike(session, campaign)
    await campaigns_store.move_campaign(session, campaign_id, state)
    return await campaigns_store.get_campaign(session, campaign_id)


async def close_campaign(session: WriteSession, campaign_id: UUID) -> Campaign:
    """End a campaign: no package can be claimed any more. Packages that annotators hold can still be submitted."""
    await campaigns_store.get_campaign(session, campaign_id)
    ended = await campaigns_store.close_campaign(session, campaign_id)
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    if ended:
        await publish_closed(session, campaign)
    return campaign
