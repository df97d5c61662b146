"""Pools one result over campaigns: the mean of each estimate over the campaigns that have it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any, Final, NamedTuple

import numpy as np

from spotthebot.analytics.provenance.domain import uncertainty_of
from spotthebot.analytics.stats.strata import METHOD, SHARED_METHOD, Stratum, mean_over_strata
from spotthebot.contracts.analytics.choices import PooledResult
from spotthebot.contracts.analytics.measures import MeasuresOut
from spotthebot.contracts.analytics.pooled import PooledCampaign, PooledEstimate, PooledOut
from spotthebot.contracts.analytics.provenance import Provenance, Settings, Uncertainty
from spotthebot.contracts.analytics.results import AgreementOut, FoolingRatesOut, WinRatesOut
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.uncertainty import Clusters

_Scale = tuple[float, float] | None
_SHARE: Final = (0.0, 1.0)


class _Key(NamedTuple):
    bot: str
    other: str | None = None
    subject: str | None = None
    exchanges: int | None = None


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
    settings = Settings(**{name: getattr(documents[0], name) for name in Settings.model_fields})
    means = {
        key: mean_over_strata(
            [stratum for _, stratum in found],
            scale=scales[key],
            confidence_level=settings.confidence_level,
            clusters=Clusters(settings.clusters),
            shared=shared,
        )
        for key, found in strata.items()
    }
    pairs = [key for key in means if key.other is not None]
    p_values = np.array([means[key].p_value for key in pairs], dtype=np.float64)
    adjusted = dict(zip(pairs, adjust(p_values, Adjustment(settings.correction)).tolist(), strict=True))
    return PooledOut(
        **dict(settings),
        result=result,
        protocol=protocol,
        campaigns=tuple(_campaign(each) for each in documents),
        estimates=tuple(
            PooledEstimate(
                **key._asdict(),
                estimate=mean.estimate,
                low=mean.low,
                high=mean.high,
                p_value=mean.p_value if key in adjusted else None,
                p_adjusted=defined(adjusted.get(key, np.nan)),
                n=mean.n,
                uncertainty=uncertainty_of(mean.uncertainty),
                by_campaign=_by_campaign(strata[key], len(documents)),
            )
            for key, mean in means.items()
        ),
        method=SHARED_METHOD if shared else METHOD,
        preliminary=any(each.preliminary for each in documents),
        version=version("spotthebot"),
    )


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
        one, other = sorted((pair.bot, pair.other))
        rate = pair.win_rate if pair.win_rate is None or one == pair.bot else 1 - pair.win_rate
        yield _Found(_Key(one, other), rate, pair.wins + pair.losses, pair.uncertainty)


def _measures(document: MeasuresOut) -> Iterator[_Found]:
    for measure in document.measures:
        low, high = measure.lowest, measure.highest
        scale = None if low is None or high is None else (low, high)
        for each in measure.bots:
            yield _Found(_Key(each.bot, subject=measure.measure), each.estimate, each.n, each.uncertainty, scale)


class _Pooled(NamedTuple):
    document: type[Provenance]
    rows: Callable[[Any], Iterator[_Found]]


_POOLED: Final[dict[PooledResult, _Pooled]] = {
    "agreement": _Pooled(AgreementOut, _agreement),
    "fooling-rates": _Pooled(FoolingRatesOut, _fooling_rates),
    "win-rates": _Pooled(WinRatesOut, _win_rates),
    "measures": _Pooled(MeasuresOut, _measures),
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
