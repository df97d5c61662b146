"""Rows of tables in CSV and Parquet, for results whose JSON has no list of such rows."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.provenance import Interval
from spotthebot.contracts.analytics.standings import ShownAs
from spotthebot.contracts.analytics.wins import PairResult, SegmentBot
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.wire import Wire


class CampaignSummaryOut(Wire):
    """A campaign that can be analysed, with its id and its name."""

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
    """The games of one pair of bots, decided by one feature."""

    feature: str


class SegmentRow(SegmentBot):
    """The results of a bot in segments of one length. `exchanges` holds the length."""

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
    """The random subsets of one size: how many show the most frequent clusters, with all bots or without one bot."""

    without: str | None = Field(description="The bot that was left out.")
    conversations: int = Field(description="Of each pair.")
    rate: float
    low: float
    high: float
    clusters: str = Field(description="The commonest clustering as JSON: a list of names for each cluster, best first.")


class StandingRow(Wire):
    """A participant of a campaign, as a team may see it, without its survival and its performance.

    A campaign without results has one row, with the reason in `reasons`.
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
    measure: str | None = Field(description="The headline measure of a campaign by another protocol.")
    value: Interval | None = Field(description="What it says of the bot.")
    annotators: int | None
    simulated_annotators: int | None = Field(description="Annotators that are programs.")
    judges: int | None = Field(description="Annotators that are programs whose labels are meant to be used.")
    reasons: str = Field(description="Why some figures of the campaign, or all, are missing.")


class ValueRow(Wire):
    """One answer of an annotator about a bot by one measure: a row of a table of ratings.

    A preference has two rows, one for either bot.
    """

    conversation: str = Field(description="The dialogue that the bot took part in.")
    turn: str | None = Field(
        description="The turn after the opening, from 0; A or B if its two speakers have one name; else null."
    )
    bot: str
    annotator: str = Field(description="A pseudonym; of a program its name; empty of values that no annotator gives.")
    annotator_kind: AnnotatorKind | None = Field(description="Null of values that no annotator gives.")
    dimension: str = Field(description="The measure.")
    value: float = Field(description="A point, 1 or 0 of a choice; of a preference 1, 0.5 or 0.")
    exchanges: int | None = Field(description="How many exchanges the annotator saw; null of ratings in chats.")
    pair: str | None = Field(
        description="Of a preference what was compared: two dialogues with + between them, or the speakers of one."
    )
    text: str | None = Field(
        description="The same for all conversations of one text; null of a conversation that repeats no other one."
    )
    seconds: float | None = Field(
        description="The annotator's time, in equal parts for the turns that were rated; null where it is unknown."
    )


class TeamBotRow(Wire):
    """A bot of the team, with the number of its conversations in each state, and its latencies."""

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
