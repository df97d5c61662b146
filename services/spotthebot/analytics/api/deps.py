"""Dependencies of the endpoints of `analytics`: the caller, the parameters, the results and the data."""

from typing import Annotated

from fastapi import Depends, Query, Request

from spotthebot.analytics.clients import Studies
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.use_cases.analyses import require_campaign
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.contracts.access import Role
from spotthebot.contracts.analytics import AnalysisIn, Correction, Filter, Unit
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.fetched import Fetched, fetched
from spotthebot.kit.web.database.idempotency import idempotent

_analysts = allow(Role.ADMIN, Role.ANALYST)

Analyst = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
Creator = Annotated[Principal, Depends(idempotent(_analysts))]
"""Who may start an analysis; honours `Idempotency-Key`."""
Canceller = Annotated[Principal, Depends(_analysts)]
Creating = Annotated[Principal, Depends(_analysts)]
"""Who may start an analysis, before the `Idempotency-Key` is claimed."""


async def _results(request: Request) -> ResultCache:
    results: ResultCache = request.app.state.results
    return results


async def _studies(request: Request) -> Studies:
    studies: Studies = request.app.state.studies
    return studies


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


async def _parameters(
    filter: Annotated[  # noqa: A002 - the query parameter's name
        Filter, Query(description="`complete_packages`: leave out packages that an annotator did not finish.")
    ] = "complete_packages",
    unit: Annotated[Unit, Query(description="What one game is.")] = "annotation",
    confidence_level: Annotated[float, Query(gt=0, lt=1, description="Of intervals and tests.")] = 0.95,
    resamples: Annotated[int, Query(ge=1, le=100_000, description="Bootstrap replicates.")] = 1000,
    seed: Annotated[int, Query(ge=0, lt=2**63, description="Same seed, same data: same result.")] = 0,
    correction: Annotated[Correction, Query(description="Of the p-values of all pairs.")] = "holm",
) -> Parameters:
    return Parameters(filter, unit, confidence_level, resamples, seed, correction)


Results = Annotated[ResultCache, Depends(_results)]
StudiesClient = Annotated[Studies, Depends(_studies)]


async def _known_campaign(_caller: Creating, studies: StudiesClient, request: AnalysisIn) -> Fetched[None]:
    return await fetched(require_campaign(studies, request))


KnownCampaign = Annotated[Fetched[None], Depends(_known_campaign)]
"""That the campaign is there, asked before the transaction begins (`kit/web/database/fetched.py`)."""
JobQueue = Annotated[Jobs, Depends(_jobs)]
RequestParameters = Annotated[Parameters, Depends(_parameters)]
