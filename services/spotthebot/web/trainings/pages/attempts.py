"""An annotator's attempt at a training: a dialogue, the annotator's answer, and feedback with reasons."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import Conflict
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.trainings import (
    MAX_ATTEMPTS,
    MAX_DIALOGUES,
    FeedbackOut,
    TrainingAnswerIn,
    TrainingStartIn,
)
from spotthebot.contracts.wire import Wire
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import AnnotationService, AnnotatorOfCampaign, Pages
from spotthebot.web.protocols.pages import script_texts, worded_for

router = APIRouter(prefix="/annotate/{campaign_id}/training", route_class=PageRoute, include_in_schema=False)
_Position = Annotated[int, Path(ge=0, lt=MAX_DIALOGUES)]


class _AnswerIn(Wire):
    """The complete answer to a dialogue."""

    attempt: int = Field(ge=1, le=MAX_ATTEMPTS)
    answer: Answer


@router.get("")
async def show(
    request: Request, pages: Pages, service: AnnotationService, annotator: AnnotatorOfCampaign, campaign_id: UUID
) -> Response:
    """Show the next dialogue of the training; the first one begins an attempt."""
    try:
        task = await service.start_training(
            campaign_id, TrainingStartIn(annotator=annotator.annotator, link=annotator.link_id)
        )
    except Conflict:
        return RedirectResponse(f"/annotate/{campaign_id}", status_code=303)  # which says why
    if task.position is None:
        return RedirectResponse(f"/annotate/{campaign_id}", status_code=303)
    campaign = await service.get_campaign(campaign_id)
    task = task.model_copy(update={"protocol": worded_for(request, pages, task.protocol)})
    data = {
        "base": f"/annotate/{campaign_id}",
        "task": task.model_dump(mode="json", exclude={"instructions"}),
        "texts": script_texts(request, pages),
    }
    return pages.page(request, "trainings/training.html.jinja", campaign=campaign, task=task, data=data, is_game=False)


@router.put("/{position}")
async def answer(
    service: AnnotationService,
    annotator: AnnotatorOfCampaign,
    campaign_id: UUID,
    position: _Position,
    given: _AnswerIn,
) -> FeedbackOut:
    """Save the final answer to a dialogue, and return feedback on each part of the answer."""
    request = TrainingAnswerIn(
        annotator=annotator.annotator, attempt=given.attempt, answer=given.answer, link=annotator.link_id
    )
    return await service.answer_training(campaign_id, position, request)
