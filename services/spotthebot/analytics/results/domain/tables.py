"""Results as tables of rows, for files that other programs read."""

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
from spotthebot.contracts.analytics.partners import PartnerDifference
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


def section_table(section: str, result: BaseModel) -> Table:
    """Return the table of a section's result."""
    schema, rows = _ROWS[section]
    return table_of(schema, [*rows(result)])


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


_ROWS: Final[Mapping[str, tuple[type[BaseModel], Callable[[Any], Any]]]] = MappingProxyType(
    {
        "win-rates": (PairResult, lambda out: out.win_rates.pairs),
        "ranking": (RankedBot, lambda out: out.ranking.bots),
        "features": (FeaturePair, lambda out: _feature_pairs(out.features)),
        "segments": (SegmentRow, lambda out: _segment_rows(out.segments)),
        "fooling-rates": (FoolingRate, lambda out: out.fooling_rates),
        "survival": (SurvivalRow, lambda out: _survival_rows(out.survival)),
        "partners": (PartnerDifference, lambda out: out.partners.differences),
        "agreement": (LabelAgreement, lambda out: out.agreement.labels),
        "annotators": (Annotator, lambda out: out.annotators.annotators),
        "time": (TimeOfSegment, lambda out: out.time.segments),
        "sensitivity": (Alternative, lambda out: out.sensitivity.alternatives),
    }
)
