"""`PUT /v1/campaigns/{id}/verdicts`: `analytics` reports which pairs of bots are decided."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.annotation.campaigns.use_cases import campaign_out
from spotthebot.annotation.deps import Reporter
from spotthebot.annotation.verdicts.use_cases import take_report
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.verdicts import VerdictReportIn
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Writing

router = APIRouter(prefix="/v1/campaigns", tags=["campaigns"], route_class=CheckedRoute)
_REPORT = large_batch(max_bytes=8 * 1024 * 1024, max_values=400_000)


@router.put("/{campaign_id}/verdicts", operation_id="report_verdicts", openapi_extra=_REPORT)
async def report_verdicts(
    session: Writing, _caller: Reporter, campaign_id: UUID, report: VerdictReportIn
) -> CampaignOut:
    """Take the verdicts on the pairs of a campaign. A repeated report changes nothing.

    Packages with more items of undecided pairs are given out first. A campaign that is open pauses once the verdicts
    fulfil its `stop_when`. New verdicts are the event `campaign.verdicts_changed`.
    """
    return campaign_out(await take_report(session, campaign_id, report))
