"""When annotators of a game decide that a speaker is a bot: exact times, and the same as inspections."""

from collections.abc import Hashable, Sequence
from importlib.metadata import version

import numpy as np

from spotthebot.analytics.games.domain import PlayedSide
from spotthebot.analytics.labels.domain import annotators_by_kind
from spotthebot.analytics.labels.errors import NothingAnnotated
from spotthebot.analytics.provenance.domain import Parameters, uncertainty_of
from spotthebot.analytics.results.domain.survival import cox_of, curve_of, curves_of, log_rank_of
from spotthebot.analytics.stats.annotations import HUMAN, IntArray
from spotthebot.analytics.stats.survival.curves import CurrentStatus
from spotthebot.contracts.analytics.decision_times import DecisionParametersIn, DecisionSurvival, DecisionTimesOut
from spotthebot.contracts.analytics.survival import CoxCoefficient
from spotthebot.contracts.annotation.annotations import FEATURES, AnnotatorKind, Label
from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut
from spotthebot.statistics.uncertainty import Clusters


def decision_times(
    campaign: CampaignOut, sides: Sequence[PlayedSide], request: DecisionParametersIn
) -> DecisionTimesOut:
    """Estimate how long the speakers of a game stay unspotted; raises NothingAnnotated."""
    # lifelines takes seconds to import and imports matplotlib: most services never need it.
    from spotthebot.analytics.stats.survival.decision_times import (  # noqa: PLC0415 - see above
        Decisions,
        decision_curves,
        decision_hazards,
    )

    if not sides:
        raise NothingAnnotated
    found = {each.speaker for each in sides}
    names = (*sorted(found - {HUMAN}), *(found & {HUMAN}))
    leads = dict(zip(FEATURES, np.array([each.leads for each in sides]).T, strict=True))
    played = Decisions(
        names=names,
        entity=np.array([names.index(each.speaker) for each in sides]),
        exchange=np.array([each.turn for each in sides]),
        spotted=np.array([each.label is Label.BOT for each in sides]),
        conversation=_codes([each.conversation for each in sides]),
        annotator=_codes([each.annotator for each in sides]),
        leads=leads,
        last=max(each.turns for each in sides),
    )
    level, clusters, parameters = request.confidence_level, Clusters(request.clusters), Parameters(**dict(request))
    curves = decision_curves(played, confidence_level=level, clusters=clusters)
    times = tuple(range(1, played.last + 1))
    has_features = any(column.any() for column in leads.values())
    hazards = decision_hazards(played, confidence_level=level, clusters=clusters) if has_features else {}
    exact = DecisionSurvival(
        method=curves[0].method,
        times=times,
        curves=tuple(curve_of(curve, times) for curve in curves),
        log_rank=log_rank_of(played.status(exact=True), parameters, exact=True),
        cox=tuple(
            CoxCoefficient.of(
                each,
                bot=bot,
                coefficient=each.estimate,
                clustered_standard_error=each.standard_error,
                uncertainty=uncertainty_of(each.uncertainty),
                separated=False,
            )
            for bot, coefficients in hazards.items()
            for each in coefficients
        ),
    )
    kinds = annotators_by_kind((each.annotator, each.annotator_kind) for each in sides)
    return DecisionTimesOut(
        **dict(request),
        campaign_id=campaign.id,
        campaign=campaign.name,
        sides=len(sides),
        annotators=kinds.total(),
        simulated_annotators=kinds[AnnotatorKind.SIMULATED],
        judges=kinds[AnnotatorKind.JUDGE],
        exact=exact,
        censored=_censored(played.status(exact=False), parameters, has_features=has_features),
        preliminary=campaign.state not in ENDED,
        version=version("spotthebot"),
    )


def _censored(status: CurrentStatus, request: Parameters, *, has_features: bool) -> DecisionSurvival:
    times, method, curves = curves_of(status, request)
    tests, cox = log_rank_of(status, request), cox_of(status, request) if has_features else ()
    return DecisionSurvival(method=method, times=times, curves=curves, log_rank=tests, cox=cox)


def _codes(values: Sequence[Hashable]) -> IntArray:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(each, len(known)) for each in values])
