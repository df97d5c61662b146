"""Trainings: their list, uploads, the page of a version with its right answers, and the attempts of annotators."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Path, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import Conflict, Invalid, PeerRefused
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.protocols import Identifier
from spotthebot.contracts.annotation.trainings import (
    MAX_ATTEMPTS,
    MAX_DIALOGUES,
    FeedbackOut,
    Training,
    TrainingAnswerIn,
    TrainingIn,
    TrainingStartIn,
)
from spotthebot.contracts.wire import Wire
from spotthebot.kit.text.validation import reason_of
from spotthebot.kit.web.core.bodies import large_batch, load_json
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.conversations.domain import values_of
from spotthebot.web.deps import Admin, AnnotationService, AnnotatorOfCampaign, Pages, ServicesOfVisitor
from spotthebot.web.protocols.pages import script_texts, worded_for
from spotthebot.web.rendering import Renderer

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_TRAININGS: Final = 50
_VALUES: Final = 100_000
_FILE: Final = large_batch(max_bytes=4 * 1024 * 1024 + 64 * 1024, max_values=_VALUES)
"""The limits on a training of `annotation`, plus the size of the form around it."""
_Position = Annotated[int, Path(ge=0, lt=MAX_DIALOGUES)]


class _AnswerIn(Wire):
    """The complete answer to a dialogue."""

    attempt: int = Field(ge=1, le=MAX_ATTEMPTS)
    answer: Answer


@dataclass(frozen=True)
class FileFault:
    """A fault of the file. `place` is a JSON pointer; "" stands for the whole file."""

    place: str
    detail: str


@router.get("/admin/trainings")
async def list_trainings(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, cursor: str | None = None
) -> Response:
    """Show the stored trainings, and a form that uploads another training."""
    return await _list(request, pages, services, cursor=cursor)


@router.post("/admin/trainings", openapi_extra=_FILE)
async def upload_training(request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin) -> Response:
    """Store the training in a file and show its page. If the file has faults, show the faults with their places."""
    async with request.form() as form:
        file = form.get("file")
        content = await file.read() if isinstance(file, UploadFile) else b""
    faults = await _store(services, content)
    if isinstance(faults, str):
        return RedirectResponse(faults, status_code=303)
    return await _list(request, pages, services, faults=faults)


@router.get("/admin/trainings/{name}/{version}")
async def show_training(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    name: Identifier,
    version: Annotated[int, Path(ge=1, lt=2**31)],
) -> Response:
    """Show a training in the annotators' order, with the right answers."""
    found = await (await services.annotation()).get_training(name, version)
    dialogues = [(each, [*values_of(each.gold)]) for each in found.training.dialogues]
    return pages.page(
        request,
        "trainings/version.html.jinja",
        training=found.training,
        created_at=found.created_at,
        dialogues=dialogues,
    )


async def _store(services: Services, content: bytes) -> str | list[FileFault]:
    """Store a training. Return the address of its page, or the faults of the file."""
    try:
        read = read_training(load_json(content, max_values=_VALUES))
    except (ValueError, RequestValidationError) as error:
        return _faults_of_json(error)
    if not isinstance(read, TrainingIn):
        return read
    try:
        await (await services.annotation()).create_training(read)
    except (Invalid, Conflict) as refused:
        return _faults_of_service(refused)
    return f"/admin/trainings/{read.training.name}/{read.training.version}"


async def _list(
    request: Request,
    pages: Renderer,
    services: Services,
    *,
    cursor: str | None = None,
    faults: Sequence[FileFault] = (),
) -> Response:
    client = await services.annotation()
    shown, more = first_of(faults)
    return pages.page(
        request,
        "trainings/versions.html.jinja",
        status=422 if faults else 200,
        page=await client.list_trainings(cursor=cursor, page_size=_TRAININGS).page(),
        is_first=cursor is None,
        faults=shown,
        more_faults=more,
    )


def _faults_of_json(error: ValueError | RequestValidationError) -> list[FileFault]:
    """Return the fault of a file that is not valid JSON or is too large."""
    if isinstance(error, RequestValidationError):
        return [FileFault("", str(fault["msg"])) for fault in error.errors()]
    return [FileFault("", f"This is not JSON in UTF-8: {error}.")]


def _faults_of_service(refused: PeerRefused) -> list[FileFault]:
    """Return the faults that the service found in a training, with their places in the file."""
    named = [FileFault((each.pointer or "").removeprefix("/training"), each.detail) for each in refused.problem.errors]
    return named or [FileFault("", refused.problem.detail)]


def read_training(content: object) -> TrainingIn | list[FileFault]:
    """Return the training in a document, or the document's faults.

    The document is the training itself, or an object with the training under `training`, as in the API.
    """
    document = content["training"] if isinstance(content, dict) and set(content) == {"training"} else content
    try:
        return TrainingIn(training=Training.model_validate(document))
    except ValidationError as error:
        return [FileFault(_pointer(fault["loc"]), reason_of(fault)) for fault in error.errors()]


def first_of(faults: Iterable[FileFault], limit: int = 20) -> tuple[Sequence[FileFault], int]:
    """Return the first `limit` faults, and the number of other faults."""
    found = [*faults]
    return found[:limit], max(0, len(found) - limit)


def _pointer(place: Sequence[int | str]) -> str:
    return "".join(f"/{part}" for part in place)


@router.get("/annotate/{campaign_id}/training")
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


@router.put("/annotate/{campaign_id}/training/{position}")
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
