"""How the scores of a set agree with what the annotators of a campaign say of the same conversations."""

import asyncio
import math
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from spotthebot.contracts.annotation import AnnotationOut, CampaignOut
from spotthebot.contracts.fed import CorrelationOut, CorrelationsOut, DimensionCorrelationsOut, SplitHalfOut
from spotthebot.contracts.fed.correlations import CorrelationLevel, RatingSource
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.domain.errors import OtherCampaign
from spotthebot.fed.domain.ratings import RatedBot, rated_as_systems, rated_in_dialogues
from spotthebot.fed.domain.score_sets import ScoreJob
from spotthebot.fed.stats.correlation import (
    Correlation,
    CorrelationKind,
    correlation,
    lead_over_length,
    partial_rank_correlation,
)
from spotthebot.fed.stats.split_half import split_half
from spotthebot.fed.use_cases.stored_contexts import read_contexts
from spotthebot.kit.database import Database

SPOT_THE_BOT: Final = "spot_the_bot"


async def fetch_annotations(
    campaigns: Campaigns, collections: Collections, job: ScoreJob, campaign_id: UUID
) -> tuple[CampaignOut, list[AnnotationOut], dict[UUID, tuple[str, str]]]:
    """Return a campaign over the collection of a job, its annotations, and who speaks in the conversations.

    Raises NoSuchCampaign, OtherCampaign.
    """
    campaign = await campaigns.get(campaign_id)
    if reason := _unfit(campaign, job):
        raise OtherCampaign(campaign=campaign.name, reason=reason)
    annotations = [each async for each in campaigns.annotations(campaign_id)]
    speakers = {
        each.id: (each.participants[0].name, each.participants[1].name)
        async for each in collections.speakers(job.request.collection_id)
    }
    return campaign, annotations, speakers


async def correlate(
    database: Database,
    job: ScoreJob,
    campaign_id: UUID,
    annotations: Sequence[AnnotationOut],
    speakers: dict[UUID, tuple[str, str]],
    *,
    rated: RatingSource,
    level: CorrelationLevel,
) -> CorrelationsOut:
    """Correlate the scores with ratings, dimension by dimension, beside length and beside what people reach."""
    contexts = await read_contexts(database, job.id)
    items = rated_in_dialogues(contexts, annotations, speakers, rated)
    return await asyncio.to_thread(_correlations, job, campaign_id, items, rated, level)


def _correlations(
    job: ScoreJob, campaign_id: UUID, items: Sequence[RatedBot], rated: RatingSource, level: CorrelationLevel
) -> CorrelationsOut:
    shown = rated_as_systems(items) if level == "system" else list(items)
    confidence_level = job.request.confidence_level
    ratings = [each.rating for each in shown]
    lengths = [each.length for each in shown]
    dialogue = [each.conversation for each in shown]
    dimensions = []
    for number, each in enumerate(job.dimensions or ()):
        scores = [item.scores[number] for item in shown]
        spearman, kendall, length = (
            correlation(column, ratings, dialogue=dialogue, kind=kind, confidence_level=confidence_level)
            for column, kind in (
                (scores, CorrelationKind.SPEARMAN),
                (scores, CorrelationKind.KENDALL),
                (lengths, CorrelationKind.SPEARMAN),
            )
        )
        given = partial_rank_correlation(scores, ratings, lengths, dialogue=dialogue, confidence_level=confidence_level)
        lead = lead_over_length(scores, ratings, lengths, dialogue=dialogue, confidence_level=confidence_level)
        dimensions.append(
            DimensionCorrelationsOut(
                dimension=each.dimension,
                spearman=_to_out(spearman),
                kendall=_to_out(kendall),
                length_spearman=_to_out(length),
                given_length=_to_out(given),
                lead_over_length=_to_out(lead),
            )
        )
    return CorrelationsOut(
        score_set_id=job.id,
        campaign_id=campaign_id,
        rated=rated,
        level=level,
        confidence_level=confidence_level,
        dimensions=tuple(dimensions),
        ceiling=_ceiling(shown, job.request.seed),
    )


def _ceiling(items: Sequence[RatedBot], seed: int) -> SplitHalfOut:
    means = [list(each.annotator_means.values()) for each in items]
    width = max(map(len, means), default=0)
    found = split_half([[*own, *[math.nan] * (width - len(own))] for own in means] or [[math.nan]], seed=seed)
    return SplitHalfOut(
        estimate=found.estimate,
        all_raters=found.all_raters,
        n=found.n,
        splits=found.n_splits,
        method=found.method,
        reason=found.reason,
    )


def _to_out(found: Correlation) -> CorrelationOut:
    return CorrelationOut(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        n=found.n,
        method=found.method,
        reason=found.reason,
    )


def _unfit(campaign: CampaignOut, job: ScoreJob) -> str | None:
    if campaign.protocol != SPOT_THE_BOT:
        return f"it asks by the protocol '{campaign.protocol}', not by '{SPOT_THE_BOT}'"
    if job.request.collection_id not in campaign.collections:
        return "it shows another collection"
    return None
