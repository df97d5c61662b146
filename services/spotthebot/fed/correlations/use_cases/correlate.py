"""Correlates the scores of a set with people's ratings of the same conversations."""

import asyncio
import math
from collections.abc import Sequence

from spotthebot.contracts.fed.correlations import (
    CorrelationOut,
    CorrelationsOut,
    DimensionCorrelationsOut,
    SplitHalfOut,
)
from spotthebot.fed.correlations.domain import (
    RatedItem,
    clusters_of,
    rated_as_systems,
    rated_in_dialogues,
    rated_in_turns,
)
from spotthebot.fed.correlations.use_cases.ratings import FetchedRatings
from spotthebot.fed.score_sets.domain import ScoreJob
from spotthebot.fed.score_sets.use_cases import read_contexts
from spotthebot.fed.stats.correlation import beside_length
from spotthebot.fed.stats.samples import AnnotatorRatings, annotator_ratings
from spotthebot.fed.stats.split_half import split_half
from spotthebot.kit.database.sessions import Database


async def correlate(database: Database, job: ScoreJob, found: FetchedRatings) -> CorrelationsOut:
    """Correlate the scores of each dimension with ratings; compare with length, and with how much people agree."""
    contexts = await read_contexts(database, job.id)
    rated = rated_in_turns if found.level == "turn" else rated_in_dialogues
    items = rated(contexts, found.ratings, clusters_of(contexts, found.shown))
    shown = rated_as_systems(items) if found.level == "system" else items
    return await asyncio.to_thread(_correlations, job, found, shown)


def _correlations(job: ScoreJob, found: FetchedRatings, items: Sequence[RatedItem]) -> CorrelationsOut:
    ratings = ratings_of_items(items)
    level = job.request.confidence_level
    return CorrelationsOut(
        score_set_id=job.id,
        campaign_id=found.campaign_id,
        rated=found.rated,
        level=found.level,
        confidence_level=level,
        dimensions=tuple(
            dimension_correlations(each.dimension, items, number, ratings, level)
            for number, each in enumerate(job.dimensions or ())
        ),
        ceiling=ceiling(items, job.request.seed),
    )


def ratings_of_items(items: Sequence[RatedItem]) -> AnnotatorRatings:
    """Return the ratings of items by annotators, one mean for each annotator and item."""
    given = [
        (number, annotator, mean)
        for number, item in enumerate(items)
        for annotator, mean in item.annotator_means.items()
    ]
    return annotator_ratings(
        [number for number, _, _ in given],
        [annotator for _, annotator, _ in given],
        [mean for _, _, mean in given],
        n_items=len(items),
    )


def dimension_correlations(
    name: str, items: Sequence[RatedItem], number: int, ratings: AnnotatorRatings, confidence_level: float
) -> DimensionCorrelationsOut:
    """Correlate the items' scores at place `number` with their ratings, and compare with length."""
    beside = beside_length(
        [item.scores[number] for item in items],
        ratings,
        [item.length for item in items],
        dialogue=[item.cluster for item in items],
        confidence_level=confidence_level,
    )
    return DimensionCorrelationsOut(
        dimension=name,
        spearman=CorrelationOut.of(beside.spearman),
        kendall=CorrelationOut.of(beside.kendall),
        length_spearman=CorrelationOut.of(beside.length),
        given_length=CorrelationOut.of(beside.given_length),
        lead_over_length=CorrelationOut.of(beside.lead),
    )


def ceiling(items: Sequence[RatedItem], seed: int) -> SplitHalfOut:
    """Return how well two halves of each item's annotators agree."""
    means = [list(each.annotator_means.values()) for each in items]
    width = max(map(len, means), default=0)
    found = split_half([[*own, *[math.nan] * (width - len(own))] for own in means] or [[math.nan]], seed=seed)
    return SplitHalfOut.of(found, splits=found.n_splits)
