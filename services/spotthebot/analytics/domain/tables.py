"""Results as tables of rows, for files that other programs read."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Protocol

from pydantic import BaseModel

from spotthebot.analytics.domain.analyses import AnalysisJob
from spotthebot.analytics.domain.errors import NoTableYet
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


class Rows(Protocol):
    """Rows that may be made while they are written."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[BaseModel]: ...


@dataclass(frozen=True)
class Table:
    """Rows without nesting, and their schema."""

    schema: type[BaseModel]
    rows: Rows


def table_of(schema: type[BaseModel], rows: Sequence[BaseModel]) -> Table:
    """Return rows of a schema as a table. Each field of a nested field is a column of its own."""
    return Table(flat_schema(schema), [flat_row(row) for row in rows])


def section_table(section: str, result: BaseModel) -> Table:
    """Return the table of a section's result."""
    schema, rows = _ROWS[section]
    return table_of(schema, [*rows(result)])


def analysis_table(job: AnalysisJob) -> Table:
    """Return the table of an analysis: a row for each size of each stability curve, or each pair or effect of a plan.

    Raises NoTableYet.
    """
    if job.stability is not None:
        return table_of(StabilityRow, [*_stability_rows(job.stability)])
    if job.plan is not None:
        return table_of(PairPlan, job.plan.pairs)
    if job.rating_plan is not None:
        return table_of(EffectPlan, job.rating_plan.effects)
    raise NoTableYet(state=job.state)


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


def _feature_pairs(features: Features) -> Iterator[FeaturePair]:
    for name in Features.model_fields:
        for pair in getattr(features, name).pairs:
            yield FeaturePair(feature=name, **dict(pair))


def _segment_rows(segments: Sequence[Segment]) -> Iterator[SegmentRow]:
    for segment in segments:
        for bot in segment.bots:
            yield SegmentRow(exchanges=segment.exchanges, **dict(bot))


def _survival_rows(survival: Survival) -> Iterator[SurvivalRow]:
    for curve in survival.curves:
        places = zip(survival.times, curve.survival, curve.low, curve.high, curve.inspected, curve.spotted, strict=True)
        for time, share, low, high, inspected, spotted in places:
            yield SurvivalRow(
                bot=curve.bot,
                exchanges=time,
                survival=share,
                low=low,
                high=high,
                inspected=inspected,
                spotted=spotted,
            )


def _stability_rows(stability: Stability) -> Iterator[StabilityRow]:
    for curve in stability.curves:
        for point in curve.points:
            yield StabilityRow(
                without=curve.without, **dict(point) | {"clusters": json.dumps(point.clusters, ensure_ascii=False)}
            )


_ROWS: Final[Mapping[str, tuple[type[BaseModel], Callable[[Any], Any]]]] = MappingProxyType(
    {
        "win-rates": (PairResult, lambda out: out.win_rates.pairs),
        "ranking": (RankedBot, lambda out: out.ranking.bots),
        "features": (FeaturePair, lambda out: _feature_pairs(out.features)),
        "segments": (SegmentRow, lambda out: _segment_rows(out.segments)),
        "fooling-rates": (FoolingRate, lambda out: out.fooling_rates),
        "survival": (SurvivalRow, lambda out: _survival_rows(out.survival)),
        "agreement": (LabelAgreement, lambda out: out.agreement.labels),
        "annotators": (Annotator, lambda out: out.annotators.annotators),
        "time": (TimeOfSegment, lambda out: out.time.segments),
        "sensitivity": (Alternative, lambda out: out.sensitivity.alternatives),
    }
)
