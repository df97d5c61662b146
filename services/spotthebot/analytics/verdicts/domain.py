"""Verdicts of a campaign's labels, and the packages that show pairs without a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np

from spotthebot.analytics.labels.domain import LabelledCampaign, take_sample
from spotthebot.analytics.stats.pair_verdicts import PairVerdict, pair_verdicts
from spotthebot.analytics.stats.pair_verdicts import Verdict as Found
from spotthebot.contracts.analytics.verdicts import GivenVerdict, PairVerdictOut
from spotthebot.contracts.annotation.verdicts import ReportedVerdict, UndecidedPackage, Verdict, VerdictReportIn

Pair = tuple[str, str]


@dataclass(frozen=True)
class Given:
    """A verdict that was given: when, with how many decided games, and with which bounds."""

    bot: str
    other: str
    verdict: Verdict
    n: int
    low: float
    high: float
    given_at: datetime


def verdicts_of(labelled: LabelledCampaign, margin: float | None) -> tuple[PairVerdict, ...]:
    """Return the verdict on each two bots of a campaign, by complete packages. Bots are in the order of their names.

    All bots of the campaign's conversations count from the first look on, so that the number of pairs never grows.
    """
    table = take_sample(labelled, "complete_packages").table
    names = sorted({name for pair in labelled.speakers.values() for name in pair})
    place = np.array([names.index(name) for name in table.names], dtype=np.int64)
    entity = place[table.entity] if len(table) else table.entity
    return pair_verdicts(replace(table, names=tuple(names), entity=entity), margin=margin)


def with_given(found: Sequence[PairVerdict], given: Mapping[Pair, Given]) -> list[PairVerdictOut]:
    """Return the present verdicts; a pair that was given a verdict keeps it, whatever the labels say now."""
    return [_kept(each, given.get((each.bot, each.other))) for each in found]


def _kept(pair: PairVerdict, given: Given | None) -> PairVerdictOut:
    if given is None:
        return PairVerdictOut.of(pair, verdict=Found.OPEN.value, given=None)
    return PairVerdictOut.of(
        pair,
        verdict=given.verdict,
        given=GivenVerdict.of(given),
        more_conversations=None,
        more_annotators=None,
        reason=None,
    )


def report_of(labelled: LabelledCampaign, verdicts: Sequence[PairVerdictOut]) -> VerdictReportIn:
    """Return the report of a look: the pairs that meet in the packages, and the undecided items of each package.

    Pairs that never meet can't be decided, so they do not keep a campaign from stopping.
    """
    pair_of = {conversation: frozenset(pair) for conversation, pair in labelled.speakers.items()}
    met = {pair_of[each] for shown in labelled.packages.values() for each in shown if each in pair_of}
    reported = [each for each in verdicts if frozenset((each.bot, each.other)) in met]
    undecided = {frozenset((each.bot, each.other)) for each in reported if each.given is None}
    return VerdictReportIn(
        verdicts=tuple(ReportedVerdict.of(each) for each in reported),
        packages=tuple(
            UndecidedPackage(package_id=UUID(str(package)), items=sum(pair_of.get(each) in undecided for each in shown))
            for package, shown in labelled.packages.items()
        ),
    )
