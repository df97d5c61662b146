"""Rows of the tables that results are served as, in CSV and Parquet, where no list of a result is such a row."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.provenance import Interval
from spotthebot.contracts.analytics.standings import ShownAs
from spotthebot.contracts.analytics.wins import PairResult, SegmentBot
from spotthebot.contracts.wire import Wire


class CampaignSummaryOut(Wire):
    """A campaign that can be analysed, by its id or its name."""

    id: UUID
    name: str
    domain: str
    state: str
    protocol: str = Field(description="Results are for `spot_the_bot`, the leaderboard for `spot_the_bot_gamified`.")
    annotations: int
    annotations_needed: int
    released_at: datetime | None = Field(
        description="When its results were released to teams; null where they are not."
    )
    created_at: datetime


class FeaturePair(PairResult):
    """The games of one pair by one feature."""

    feature: str


class SegmentRow(SegmentBot):
    """A bot at one length, which is in `exchanges`."""

    exchanges: int


class SurvivalRow(Wire):
    """One bot's survival after a number of exchanges."""

    bot: str
    exchanges: int
    survival: float | None
    low: float | None
    high: float | None
    inspected: int
    spotted: int


class StabilityRow(Wire):
    """How many of the random subsets of one size rank alike, of all bots or without one."""

    without: str | None = Field(description="The bot that was left out.")
    conversations: int = Field(description="Of each pair.")
    rate: float
    low: float
    high: float
    clusters: str = Field(description="The commonest clustering as JSON: a list of names for each cluster, best first.")


class StandingRow(Wire):
    """One who took part in a campaign, as a team may see it; without its survival and its performance.

    A campaign without figures has one row, of which `reasons` says why.
    """

    campaign_id: UUID
    campaign: str
    protocol: str
    bot: str | None
    shown_as: ShownAs | None
    rank_low: int | None
    rank_high: int | None
    win_rate: Interval | None
    fooling_rate: Interval | None
    labels: int | None
    annotators: int | None
    simulated_annotators: int | None = Field(description="Annotators that are programs.")
    reasons: str = Field(description="Why some figures of the campaign, or all, are missing.")


class TeamBotRow(Wire):
    """A bot of the team, with its conversations by state, and its latencies."""

    id: UUID
    name: str
    status: str
    version: int
    public: bool
    complete: int
    running: int
    failed: int
    failed_at_its_turn: int
    cancelled: int
    replies: int
    median_ms: float | None
    p95_ms: float | None
    longest_ms: float | None
