"""Ranks the bots of a table of votes or of ratings, by the statistics of the service `analytics`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spotthebot.analytics.stats.davidson import DavidsonFit, rate_davidson
from spotthebot.analytics.stats.ranking import Ranking, rank_bots
from spotthebot.analytics.stats.ratings import RatingRanking, rank_ratings
from spotthebot.contracts.analytics.choices import Clusters as ClustersName
from spotthebot.contracts.analytics.choices import Correction
from spotthebot.importers.errors import NothingToImport
from spotthebot.importers.tables.comparisons import Comparisons, games_of, ratings_of
from spotthebot.importers.tables.errors import AnnotatorsUnknown, OneBotInTable
from spotthebot.local.report.findings import confidence_words, difference_finding, rank_findings
from spotthebot.readers.files.cells import shown
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.uncertainty import Clusters


@dataclass(frozen=True)
class RankingSettings:
    """The settings of a ranking; `clusters` says which annotations may vary together."""

    confidence_level: float
    significance_level: float
    clusters: Clusters
    adjustment: Adjustment

    @classmethod
    def of(
        cls,
        found: Comparisons,
        path: Path,
        *,
        confidence_level: float,
        significance_level: float,
        clusters: ClustersName,
        correction: Correction,
    ) -> "RankingSettings":
        """Return settings for a table; clusters `both` include annotators only if the table names several.

        Raises AnnotatorsUnknown if the clusters are only `annotator`, and the table names none.
        """
        return cls(confidence_level, significance_level, _clusters(clusters, found, path), Adjustment(correction))

    @property
    def confidence(self) -> str:
        """A phrase on how sure the differences between ranks are."""
        return confidence_words(self.significance_level, is_corrected=self.adjustment is not Adjustment.NONE)

    @property
    def arguments(self) -> dict[str, Any]:
        """The settings as keyword arguments for the functions of the statistics."""
        return asdict(self)


@dataclass(frozen=True)
class RankedVotes:
    """The ranking of bots by votes, their strengths, and sentences about the ranking.

    `won` has the number of votes that each bot won against each other bot.
    """

    ranking: Ranking
    strengths: DavidsonFit
    won: Mapping[tuple[str, str], int]
    sentences: tuple[str, ...]

    @property
    def document(self) -> dict[str, Any]:
        """The ranking and its figures, as values for JSON."""
        return {"ranking": asdict(self.ranking), "strengths": asdict(self.strengths)}


@dataclass(frozen=True)
class RankedDimension:
    """The ranking of bots by their ratings in one dimension, and a sentence about the ranking."""

    name: str
    ranking: RatingRanking
    sentence: str

    @property
    def document(self) -> dict[str, Any]:
        """The ranking and its figures, as values for JSON."""
        return asdict(self.ranking)


def require_bots(found: Comparisons, path: Path) -> None:
    """Raise NothingToImport if the table has no comparisons, and OneBotInTable if it has a single bot."""
    bots = {bot for vote in found.votes for bot in vote.bots}
    bots |= {rating.bot for ratings in found.ratings.values() for rating in ratings}
    if not bots:
        rejected = found.tally.rejected
        reason = rejected[0].reason if rejected else "it has no rows"
        raise NothingToImport(file=path.name, reason=reason)
    if len(bots) == 1:
        raise OneBotInTable(file=path.name, bot=shown(min(bots)))


def rank_votes(found: Comparisons, settings: RankingSettings, *, seed: int) -> RankedVotes:
    """Rank bots by votes; `seed` is for the simulation that estimates the probabilities of ranks."""
    games = games_of(found)
    ranking = rank_bots(games, seed=seed, **settings.arguments)
    strengths = rate_davidson(games, confidence_level=settings.confidence_level, clusters=settings.clusters)
    won: dict[tuple[str, str], int] = {}
    for vote in found.votes:
        if vote.outcome:
            winner, loser = vote.bots if vote.outcome > 0 else vote.bots[::-1]
            won[winner, loser] = won.get((winner, loser), 0) + 1
    best_ranks = {bot.bot: bot.rank_low for bot in ranking.bots}
    sentences = rank_findings(ranking.reason, ranking.ranked_by, best_ranks, settings.confidence)
    return RankedVotes(ranking, strengths, won, sentences)


def rank_dimensions(found: Comparisons, settings: RankingSettings) -> tuple[RankedDimension, ...]:
    """Rank bots by ratings, once for each dimension, in the order of the dimensions' names."""
    return tuple(_rank_dimension(found, name, settings) for name in sorted(found.ratings))


def _rank_dimension(found: Comparisons, name: str, settings: RankingSettings) -> RankedDimension:
    ranking = rank_ratings(ratings_of(found, name), **settings.arguments)
    best_ranks = {bot.bot: bot.rank_low for bot in ranking.bots}
    return RankedDimension(name, ranking, difference_finding(f"mean {shown(name)}", best_ranks, settings.confidence))


def _clusters(name: ClustersName, found: Comparisons, path: Path) -> Clusters:
    annotators = found.annotators
    if not annotators and name == "annotator":
        raise AnnotatorsUnknown(file=path.name)
    if name == "both" and len(annotators) <= 1:
        return Clusters.FIXED_PANEL if annotators else Clusters.CONVERSATION
    return Clusters(name)
