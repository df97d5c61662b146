"""Pools one result over campaigns: the mean of each estimate over the campaigns that have it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any, Final, NamedTuple

import numpy as np

from spotthebot.analytics.provenance.domain import uncertainty_of
from spotthebot.analytics.results.domain.rank_differences import RankDifferences
from spotthebot.analytics.stats.annotations import HUMAN
from spotthebot.analytics.stats.strata import (
    METHOD,
    SHARED_METHOD,
    StratifiedMean,
    Stratum,
    mean_over_strata,
    strata_differ,
)
from spotthebot.contracts.analytics.choices import PooledResult
from spotthebot.contracts.analytics.measures import MeasuresOut
from spotthebot.contracts.analytics.pooled import PooledCampaign, PooledEstimate, PooledOut
from spotthebot.contracts.analytics.provenance import Provenance, Settings, Uncertainty
from spotthebot.contracts.analytics.results import AgreementOut, FoolingRatesOut, SurvivalOut, WinRatesOut
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.uncertainty import Clusters

_Scale = tuple[float, float] | None
_SHARE: Final = (0.0, 1.0)
_DIFFERENCE: Final = (-1.0, 1.0)
_RATES: Final = frozenset({"fooling-rates", "win-rates"})
"""The results whose rates of speakers are compared between campaigns."""
_UNRANKED: Final = (None, None)
_NOBODY: Final = "no two bots are in every campaign"
_NEVER_MET: Final = "two bots of a campaign have no decided game: their mean win rates are over different opponents"


class _Key(NamedTuple):
    bot: str
    other: str | None = None
    subject: str | None = None
    exchanges: int | None = None

    @property
    def has_people(self) -> bool:
        return HUMAN in {self.bot, self.other}


class _Found(NamedTuple):
    key: _Key
    estimate: float | None
    n: int
    uncertainty: Uncertainty
    scale: _Scale = _SHARE


def pool(result: PooledResult, protocol: str, bodies: Sequence[bytes], *, shared: bool) -> PooledOut:
    """Pool one result over campaigns with one protocol, from the JSON of each campaign's own result.

    `shared` says that campaigns share annotators or conversations. Estimates are in the order of the first campaign.
    """
    kind, rows = _POOLED[result]
    documents = [kind.model_validate_json(each) for each in bodies]
    strata: dict[_Key, list[tuple[int, Stratum]]] = {}
    scales: dict[_Key, _Scale] = {}
    for at, document in enumerate(documents):
        for each in rows(document):
            if each.estimate is not None:
                strata.setdefault(each.key, []).append((at, _stratum(each)))
                scales.setdefault(each.key, each.scale)
    if result == "survival":
        strata = _whole_curves(strata)
    elif result == "ranking":
        strata = _of_every_campaign(strata, len(documents))
    settings = Settings(**{name: getattr(documents[0], name) for name in Settings.model_fields})
    clusters, adjustment = Clusters(settings.clusters), Adjustment(settings.correction)
    means = {
        key: mean_over_strata(
            [stratum for _, stratum in found],
            scale=scales[key],
            confidence_level=settings.confidence_level,
            clusters=clusters,
            shared=shared,
        )
        for key, found in strata.items()
    }
    adjusted: dict[_Key, float | None] = {}
    for people in (False, True):
        family = {key: means[key].p_value for key in means if key.other is not None and key.has_people is people}
        adjusted |= _adjusted(family, adjustment)
    differ = {
        key: strata_differ([each for _, each in found], clusters=clusters, shared=shared)
        for key, found in strata.items()
        if result in _RATES and key.other is None
    }
    differ_adjusted = _adjusted(differ, adjustment)
    ranks = _ranks(means, adjusted, settings.significance_level) if result == "ranking" else {}
    estimates = tuple(
        PooledEstimate(
            **key._asdict(),
            estimate=mean.estimate,
            low=mean.low,
            high=mean.high,
            p_value=mean.p_value if key in adjusted or (result == "survival" and key.subject) else None,
            p_adjusted=adjusted.get(key),
            rank_low=ranks.get(key, _UNRANKED)[0],
            rank_high=ranks.get(key, _UNRANKED)[1],
            p_differ=differ.get(key),
            p_differ_adjusted=differ_adjusted.get(key),
            n=mean.n,
            uncertainty=uncertainty_of(mean.uncertainty),
            by_campaign=_by_campaign(strata[key], len(documents)),
        )
        for key, mean in means.items()
    )
    never_met = any(isinstance(each, RankDifferences) and not each.differences for each in documents)
    return PooledOut(
        **dict(settings),
        result=result,
        protocol=protocol,
        campaigns=tuple(_campaign(each) for each in documents),
        estimates=tuple(sorted(estimates, key=_best_first)) if result == "ranking" else estimates,
        method=SHARED_METHOD if shared else METHOD,
        p_differ=min((each for each in differ_adjusted.values() if each is not None), default=None),
        reason=(_NEVER_MET if never_met else _NOBODY) if result == "ranking" and not ranks else None,
        preliminary=any(each.preliminary for each in documents),
        version=version("spotthebot"),
    )


_Strata = dict[_Key, list[tuple[int, Stratum]]]


def _whole_curves(strata: _Strata) -> _Strata:
    """Leave out the times of a curve that some of its campaigns lack: a mean over others would make a step."""
    most: Counter[str] = Counter()
    for key, found in strata.items():
        if key.exchanges is not None:
            most[key.bot] = max(most[key.bot], len(found))
    return {key: found for key, found in strata.items() if key.exchanges is None or len(found) == most[key.bot]}


def _of_every_campaign(strata: _Strata, campaigns: int) -> _Strata:
    """Return the values of the bots that every campaign has, and of their pairs; nothing for fewer than two bots."""
    kept = {key: found for key, found in strata.items() if len(found) == campaigns}
    return kept if any(key.other is not None for key in kept) else {}


def _adjusted(p_values: dict[_Key, float | None], adjustment: Adjustment) -> dict[_Key, float | None]:
    column = np.array([*p_values.values()], dtype=np.float64)
    return dict(zip(p_values, map(defined, adjust(column, adjustment).tolist()), strict=True))


def _ranks(
    means: dict[_Key, StratifiedMean], adjusted: dict[_Key, float | None], significance_level: float
) -> dict[_Key, tuple[int, int]]:
    """Return the sets of ranks of bots: each ranks behind the bots that are better, and before those that are worse."""
    ahead = Counter[str]()
    behind = Counter[str]()
    for key, p_value in adjusted.items():
        if key.other is not None and p_value is not None and p_value < significance_level:
            better, worse = (key.bot, key.other) if means[key].estimate > 0 else (key.other, key.bot)
            ahead[worse] += 1
            behind[better] += 1
    bots = [key for key in means if key.other is None]
    return {key: (1 + ahead[key.bot], len(bots) - behind[key.bot]) for key in bots}


def _best_first(each: PooledEstimate) -> tuple[bool, float]:
    return each.other is not None, -each.estimate if each.other is None else 0.0


def _agreement(document: AgreementOut) -> Iterator[_Found]:
    found = document.agreement
    for each in found.labels:
        yield _Found(_Key(each.bot, subject=each.label), each.rate, each.total, each.uncertainty)
    for each in found.by_length:
        key = _Key(each.bot, subject=each.label, exchanges=each.exchanges)
        yield _Found(key, each.rate, each.total, each.uncertainty)


def _fooling_rates(document: FoolingRatesOut) -> Iterator[_Found]:
    for each in document.fooling_rates:
        yield _Found(_Key(each.bot), each.rate, each.n, each.uncertainty)


def _win_rates(document: WinRatesOut) -> Iterator[_Found]:
    wins, decided = document.win_rates, Counter[str]()
    for pair in wins.pairs:
        n = pair.wins + pair.losses
        decided.update({pair.bot: n, pair.other: n})
    for bot in wins.bots:
        yield _Found(_Key(bot.bot), bot.win_rate, decided[bot.bot], bot.uncertainty)
    for pair in wins.pairs:
        if pair.win_rate is not None:
            n = pair.wins + pair.losses
            yield _pair(pair.bot, pair.other, pair.win_rate, 1 - pair.win_rate, n, pair.uncertainty)


def _pair(
    bot: str, other: str | None, estimate: float, turned: float, n: int, known: Uncertainty, scale: _Scale = _SHARE
) -> _Found:
    """Return an estimate of a pair from the side of the bot whose name comes first; from the other it is `turned`."""
    if other is not None and other < bot:
        return _Found(_Key(other, bot), turned, n, known, scale)
    return _Found(_Key(bot, other), estimate, n, known, scale)


def _measures(document: MeasuresOut) -> Iterator[_Found]:
    for measure in document.measures:
        low, high = measure.lowest, measure.highest
        scale = None if low is None or high is None else (low, high)
        for each in measure.bots:
            yield _Found(_Key(each.bot, subject=measure.measure), each.estimate, each.n, each.uncertainty, scale)


def _ranking(document: RankDifferences) -> Iterator[_Found]:
    for each in document.differences:
        scale = _SHARE if each.other is None else _DIFFERENCE
        yield _pair(each.bot, each.other, each.estimate, -each.estimate, each.n, each.uncertainty, scale)


def _survival(document: SurvivalOut) -> Iterator[_Found]:
    found = document.survival
    for curve in found.curves:
        for time, share, n, of_point in zip(
            found.times, curve.survival, curve.inspected, curve.uncertainty, strict=True
        ):
            if of_point is not None:
                yield _Found(_Key(curve.bot, exchanges=time), share, n, of_point)
    for test in found.log_rank:
        yield _pair(test.bot, test.other, test.score, -test.score, 0, test.uncertainty, None)
    for each in found.cox:
        yield _Found(_Key(each.bot, subject=each.feature), each.coefficient, 0, each.uncertainty, None)


class _Pooled(NamedTuple):
    document: type[Provenance]
    rows: Callable[[Any], Iterator[_Found]]


_POOLED: Final[dict[PooledResult, _Pooled]] = {
    "agreement": _Pooled(AgreementOut, _agreement),
    "fooling-rates": _Pooled(FoolingRatesOut, _fooling_rates),
    "win-rates": _Pooled(WinRatesOut, _win_rates),
    "measures": _Pooled(MeasuresOut, _measures),
    "ranking": _Pooled(RankDifferences, _ranking),
    "survival": _Pooled(SurvivalOut, _survival),
}


def _stratum(found: _Found) -> Stratum:
    known = found.uncertainty
    return Stratum(
        estimate=found.estimate or 0.0,
        standard_error=known.standard_error,
        degrees_of_freedom=known.degrees_of_freedom,
        n=found.n,
        conversations=known.conversations,
        annotators=known.annotators,
        reason=known.reason,
    )


def _campaign(document: Provenance) -> PooledCampaign:
    counts = document.counts
    return PooledCampaign(
        campaign_id=document.campaign_id,
        campaign=document.campaign,
        domain=document.domain,
        data_sha256=document.data_sha256,
        annotations=counts.annotations,
        annotators=counts.annotators,
        simulated_annotators=counts.simulated_annotators,
        judges=counts.judges,
    )


def _by_campaign(strata: Sequence[tuple[int, Stratum]], campaigns: int) -> tuple[float | None, ...]:
    estimates = {at: stratum.estimate for at, stratum in strata}
    return tuple(estimates.get(at) for at in range(campaigns))
