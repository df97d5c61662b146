"""A team's standing in a campaign with released results: its own bots by name, and other bots under pseudonyms."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_LENGTHS, MAX_PAIRS
from spotthebot.contracts.analytics.provenance import Counts, Interval, Settings
from spotthebot.contracts.analytics.ranking import RankedBy
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.annotation.measures import Measure
from spotthebot.contracts.annotation.verdicts import Verdict
from spotthebot.contracts.conversations.performance import BotPerformanceOut
from spotthebot.contracts.wire import Wire


class ShownAs(StrEnum):
    """How a standing names a participant."""

    OWN = "own"
    """A bot of the team, by its name."""
    PUBLIC = "public"
    """Another team's bot, whose owner lets everybody see its name."""
    PSEUDONYM = "pseudonym"
    """Another team's bot, under a name that is the same throughout the campaign and differs in every other campaign."""
    PEOPLE = "people"
    """All people together, HU."""


class StandingSurvival(Wire):
    """The share of inspections at which a participant was not yet spotted after a number of exchanges."""

    exchanges: int = Field(description="Exchanges seen.")
    survival: Interval = Field(description="A share from 0 to 1.")


class StandingBot(Wire):
    """A participant of a campaign, as a team may see it."""

    bot: str = Field(description="Its name where it is the team's or public, else its pseudonym in this campaign.")
    shown_as: ShownAs
    rank_low: int | None = Field(
        description="Best rank of a set of ranks that hold for all bots together; null for people, and where no bots"
        " were ranked."
    )
    rank_high: int | None = Field(description="Worst rank of that set.")
    win_rate: Interval | None = Field(description="Mean over its opponents; null for people, and where none met.")
    fooling_rate: Interval = Field(description="Share of its labels that are human.")
    labels: int = Field(description="Labels by annotators: what the fooling rate is of.")
    survival: tuple[StandingSurvival, ...] = Field(
        max_length=MAX_LENGTHS, description="One entry for each number of exchanges that annotators saw."
    )
    performance: BotPerformanceOut | None = Field(
        description="Failures and latencies in the conversations that the campaign is about; null for others' bots."
    )


class StandingMeasuredBot(Wire):
    """A participant's result by the headline measure of a campaign, as a team may see it."""

    bot: str = Field(description="Its name where it is the team's or public, else its pseudonym in this campaign.")
    shown_as: ShownAs
    rank_low: int | None = Field(
        description="Best rank of a set of ranks that hold for all bots together; null for people."
    )
    rank_high: int | None = Field(description="Worst rank of that set.")
    value: Interval = Field(description="The mean of its values; of preferences the mean win rate.")
    n: int = Field(description="Values; of preferences decided ones.")


class StandingMeasure(Measure):
    """The results of all participants by the headline measure of a campaign with ratings, comparisons or behaviours."""

    bots: tuple[StandingMeasuredBot, ...] = Field(
        max_length=MAX_BOTS, description="The highest first, and people last."
    )
    method: str = Field(description="Of the values and their intervals.")
    rank_method: str = Field(description="Of the sets of ranks.")


class StandingPair(Wire):
    """The games of one of the team's bots against another bot. Wins and losses are counted for the team's bot."""

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    win_rate: Interval = Field(description="Share of wins among the decided games.")
    p_adjusted: float | None = Field(description="Of even odds, corrected over all pairs of the campaign.")
    significant: bool = Field(description="Whether `p_adjusted` is below the significance level.")
    verdict: Verdict = Field(
        description="What was decided of the pair while annotations arrived, seen from `bot`; such a verdict never"
        " changes."
    )


class _Released(Wire):
    """What a team and everybody see of a released campaign, as the operator's results with standard parameters say."""

    campaign_id: UUID
    campaign: str
    domain: str
    preliminary: bool = Field(description="Whether annotations are missing: work was rejected after the release.")
    reasons: tuple[str, ...] = Field(
        max_length=10, description="Why some figures, or all, are missing or tell no bots apart."
    )
    settings: Settings | None = Field(description="How the annotations were analysed; null where they can't be.")
    counts: Counts | None = Field(
        description="What the figures stand on; annotators that are programs are counted as simulated."
    )
    bots: tuple[StandingBot, ...] = Field(
        max_length=MAX_BOTS, description="All who took part, the best win rate first, and people last."
    )
    speakers: tuple[Speaker, ...] = Field(
        max_length=MAX_BOTS,
        description="What marks them in figures, tables and pages; bots that are equal and not all named have no mark.",
    )
    ranked_by: RankedBy | None = Field(description="What decides the ranks; null where there are none.")
    measure: StandingMeasure | None = Field(
        description="The headline measure of a campaign by another protocol than Spot The Bot; null of that one."
    )
    version: str = Field(description="Of the software.")


class StandingOut(_Released):
    """A team's standing in one campaign. Its numbers equal the operator's results with standard parameters."""

    protocol: str = Field(description="What annotators were asked by.")
    released_at: datetime
    pairs: tuple[StandingPair, ...] = Field(max_length=MAX_PAIRS, description="Those with a bot of the team.")

    @property
    def placed_bots(self) -> tuple[StandingBot | StandingMeasuredBot, ...]:
        """Return all who took part, by the headline measure if the campaign is by another protocol."""
        return self.measure.bots if self.measure else self.bots


class PublicRankingOut(_Released):
    """The public results of a campaign. Its numbers equal the operator's results with standard parameters."""

    created_at: datetime = Field(description="Of the campaign.")
    published_at: datetime
    method: str | None = Field(description="Of win rates and their intervals; null where there are none.")
    rank_method: str | None = Field(description="Of the sets of ranks.")
    data_sha256: str | None = Field(description="Fingerprint of the annotations that were used.")


class TeamBotOut(Wire):
    """A bot of the team, and its performance in all its conversations."""

    id: UUID
    name: str
    status: str = Field(description="As `bots` says it: active, failing and so on.")
    status_reason: str | None = Field(description="Why the bot is failing; null if it is not.")
    version: int
    public: bool = Field(description="Whether other teams see its name in their standings.")
    performance: BotPerformanceOut
