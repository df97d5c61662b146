"""`/v1/pooled`: a result of several campaigns of one protocol, and its mean over them."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from spotthebot.analytics.deps import Analyst
from spotthebot.analytics.pooled.use_cases import PooledResults
from spotthebot.analytics.table_files.api import TABLES, TableForm, answer
from spotthebot.analytics.table_files.domain import table_of
from spotthebot.contracts.analytics.pooled import PooledEstimate, PooledOut, PooledParametersIn
from spotthebot.kit.web.core.resources import resources_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/pooled", tags=["results"], route_class=CheckedRoute)


@dataclass(frozen=True)
class PooledResources:
    """The results that are pooled over campaigns."""

    pooled_results: PooledResults


ServiceResources = Annotated[PooledResources, Depends(resources_of)]
"""The resources that the lifespan of the application opened, as far as pooled results need them."""


@router.get("", operation_id="pool_campaigns", response_model=PooledOut, responses=TABLES)
async def pool_campaigns(
    _caller: Analyst,
    form: TableForm,
    resources: ServiceResources,
    parameters: Annotated[PooledParametersIn, Query()],
) -> Response:
    """Return a result of several campaigns, such as one for each domain, and its mean over them.

    Each campaign counts the same (Table 3 of Spot The Bot), and is a stratum: conversations and annotators vary within
    campaigns, and the campaigns are fixed. Agreement is also by the number of exchanges seen.
    """
    found = await resources.pooled_results.get(parameters)
    body = found.model_dump_json().encode()
    return await answer(form, "pooled", body, lambda: table_of(PooledEstimate, found.estimates))
