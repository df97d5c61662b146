"""The table of an analysis."""

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


def _stability_rows(stability: Stability) -> Iterator[StabilityRow]:
    for curve in stability.curves:
        for point in curve.points:
            yield StabilityRow(
                without=curve.without, **dict(point) | {"clusters": json.dumps(point.clusters, ensure_ascii=False)}
            )
