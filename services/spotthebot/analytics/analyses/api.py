"""`/v1/analyses`: analyses that take minutes and run as jobs: the stability of a ranking, and sample sizes."""

from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from spotthebot.analytics.analyses import store
from spotthebot.analytics.analyses.domain.analyses import AnalysisJob
from spotthebot.analytics.analyses.domain.tables import analysis_table
from spotthebot.analytics.analyses.use_cases import cancel_analysis, seeded, start_analysis
from spotthebot.analytics.campaigns.api import FilteredCampaign
from spotthebot.analytics.deps import Analyst, Canceller, Start
from spotthebot.analytics.resources import ServiceResources
from spotthebot.analytics.table_files.api import TABLES, TableForm, answer
from spotthebot.contracts.analytics.analyses import AnalysisIn, AnalysisJobOut
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Pool, Reading, Writing

router = APIRouter(prefix="/v1/analyses", tags=["analyses"], route_class=IdempotentRoute)


@router.post("", status_code=202, operation_id="create_analysis")
async def create_analysis(claim: Start, resources: ServiceResources, request: AnalysisIn) -> AnalysisJobOut:
    """Start an analysis. Read the analysis again for its progress and its result."""
    analysis = await seeded(resources.campaign_data, request)
    return _to_out(await start_analysis(await claim.begin(), resources.jobs, analysis))


@router.get("", operation_id="list_analyses")
async def list_analyses(
    campaign_id: FilteredCampaign, database: Pool, _caller: Analyst, paging: Paging
) -> Page[AnalysisJobOut]:
    """List analyses, oldest first."""
    async with database.read() as session:
        rows = await store.list_analyses(session, campaign_id=campaign_id, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda analysis: analysis.id, to_out=_to_out)


@router.get("/{analysis_id}", operation_id="get_analysis", response_model=AnalysisJobOut, responses=TABLES)
async def get_analysis(form: TableForm, session: Reading, _caller: Analyst, analysis_id: UUID) -> Response:
    """Return an analysis: its progress, and its result once it is complete. Only a complete analysis has a table.

    The table of a stability analysis has a row for each size of its subsets. The table of a rating plan has a row for
    each effect. The table of another analysis has a row for each pair of bots.
    """
    job = await store.get_analysis(session, analysis_id)
    return await answer(form, job.request.kind, _to_out(job).model_dump_json().encode(), lambda: analysis_table(job))


@router.post("/{analysis_id}/cancel", operation_id="cancel_analysis")
async def cancel(session: Writing, _caller: Canceller, analysis_id: UUID) -> AnalysisJobOut:
    """Cancel an analysis: it ends before its next step."""
    return _to_out(await cancel_analysis(session, analysis_id))


def _to_out(analysis: AnalysisJob) -> AnalysisJobOut:
    return AnalysisJobOut.of(analysis, kind=analysis.request.kind)
