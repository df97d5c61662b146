"""`/v1/scores`: scores of a few dialogues, at once."""

from fastapi import APIRouter

from spotthebot.contracts.fed.scores import ScoresIn, ScoresOut
from spotthebot.fed.deps import Admin, ServiceResources
from spotthebot.fed.scores.use_cases import choose_dimensions, score_dialogues
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import Pool

router = APIRouter(prefix="/v1/scores", tags=["scores"], route_class=CheckedRoute)


@router.post("", operation_id="score_dialogues")
async def create_scores(
    database: Pool,
    _caller: Admin,
    resources: ServiceResources,
    request: ScoresIn,
) -> ScoresOut:
    """Score up to 32 dialogues now; nothing is stored. Dialogues that can't be scored are listed with the reason."""
    async with database.read() as session:
        dimensions = await choose_dimensions(session, request.scorer)
    return await score_dialogues(resources.scorers, request, dimensions, seconds=resources.settings.scores_seconds)
