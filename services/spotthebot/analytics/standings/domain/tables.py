"""Standings and the bots of a team as tables of rows."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Protocol

from pydantic import BaseModel

from spotthebot.analytics.analyses.domain.analyses import AnalysisJob
from spotthebot.analytics.analyses.errors import NoTableYet
from spotthebot.analytics.table_files.domain import Table, table_of
from spotthebot.contracts.analytics.analyses import PairPlan, Stability
from spotthebot.contracts.analytics.annotation_quality import Annotator, LabelAgreement, TimeOfSegment
from spotthebot.contracts.analytics.ranking import RankedBot
from spotthebot.contracts.analytics.rating_plans import EffectPlan
from spotthebot.contracts.analytics.sensitivity import Alternative
from spotthebot.contracts.analytics.standings import StandingBot, StandingMeasuredBot, StandingOut, TeamBotOut
from spotthebot.contracts.analytics.survival import Survival
from spotthebot.contracts.analytics.tables import (
    FeaturePair,
    SegmentRow,
    StabilityRow,
    StandingRow,
    SurvivalRow,
    TeamBotRow,
)
from spotthebot.contracts.analytics.wins import Features, FoolingRate, PairResult, Segment
from spotthebot.kit.exports.flat import flat_row, flat_schema


def standings_table(standings: Sequence[StandingOut]) -> Table:
    """Return a row for each participant of each campaign, and one row for a campaign without results."""
    return table_of(
        StandingRow, [_standing_row(standing, bot) for standing in standings for bot in standing.placed_bots or (None,)]
    )


def _standing_row(standing: StandingOut, bot: StandingBot | StandingMeasuredBot | None) -> StandingRow:
    of_bot = set(StandingRow.model_fields) & (set(StandingBot.model_fields) | set(StandingMeasuredBot.model_fields))
    return StandingRow(
        campaign_id=standing.campaign_id,
        campaign=standing.campaign,
        protocol=standing.protocol,
        measure=standing.measure.measure if standing.measure else None,
        annotators=standing.counts.annotators if standing.counts else None,
        simulated_annotators=standing.counts.simulated_annotators if standing.counts else None,
        judges=standing.counts.judges if standing.counts else None,
        reasons=" ".join(standing.reasons),
        **{name: getattr(bot, name, None) for name in of_bot},
    )


def team_bots_table(bots: Sequence[TeamBotOut]) -> Table:
    """Return a row for each bot."""
    return table_of(TeamBotRow, [_team_bot_row(bot) for bot in bots])


def _team_bot_row(bot: TeamBotOut) -> TeamBotRow:
    did, latency = bot.performance, bot.performance.latency
    return TeamBotRow(
        id=bot.id,
        name=bot.name,
        status=bot.status,
        version=bot.version,
        public=bot.public,
        complete=did.conversations.get("complete", 0),
        running=did.conversations.get("running", 0),
        failed=did.conversations.get("failed", 0),
        failed_at_its_turn=did.failed,
        cancelled=did.conversations.get("cancelled", 0),
        replies=did.replies,
        median_ms=latency.median_ms if latency else None,
        p95_ms=latency.p95_ms if latency else None,
        longest_ms=latency.longest_ms if latency else None,
    )
