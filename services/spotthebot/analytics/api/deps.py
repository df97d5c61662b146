"""What the endpoints of `analytics` are given: who asks, how to analyse, where the data are."""

from typing import Annotated

from fastapi import Depends, Query, Request

from spotthebot.analytics.clients import Studies
from spotthebot.analytics.use_cases import Parameters
from spotthebot.contracts.access import Role
from spotthebot.contracts.analytics import Filter, Unit
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.authentication import allow

Analyst = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]


def _studies(request: Request) -> Studies:
    studies: Studies = request.app.state.studies
    return studies


def _parameters(
    filter: Annotated[  # noqa: A002 - the query parameter's name
        Filter, Query(description="`complete_packages`: leave out packages that a worker did not finish.")
    ] = "complete_packages",
    unit: Annotated[Unit, Query(description="What one game is.")] = "annotation",
    confidence_level: Annotated[float, Query(gt=0, lt=1, description="Of intervals and tests.")] = 0.95,
    resamples: Annotated[int, Query(ge=1, le=100_000, description="Bootstrap replicates.")] = 1000,
    seed: Annotated[int, Query(ge=0, lt=2**63, description="Same seed, same data: same result.")] = 0,
) -> Parameters:
    return Parameters(filter, unit, confidence_level, resamples, seed)


StudiesClient = Annotated[Studies, Depends(_studies)]
Wanted = Annotated[Parameters, Depends(_parameters)]
