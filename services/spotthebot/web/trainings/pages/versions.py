"""The list of trainings, the upload of a new version, and the page of one version with its right answers."""

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Path, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import Conflict, Invalid, PeerRefused
from spotthebot.contracts.annotation.protocols import Identifier
from spotthebot.contracts.annotation.trainings import TrainingIn
from spotthebot.kit.web.core.bodies import large_batch, load_json
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.conversations.domain import values_of
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.rendering import Renderer
from spotthebot.web.trainings.forms import FileFault, first_of, read_training

router = APIRouter(prefix="/admin/trainings", route_class=PageRoute, include_in_schema=False)
_TRAININGS: Final = 50
_VALUES: Final = 100_000
_FILE: Final = large_batch(max_bytes=4 * 1024 * 1024 + 64 * 1024, max_values=_VALUES)
"""The limits on a training of `annotation`, plus the size of the form around it."""


@router.get("")
async def list_trainings(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, cursor: str | None = None
) -> Response:
    """Show the stored trainings, and a form that uploads another training."""
    return await _list(request, pages, services, cursor=cursor)


@router.post("", openapi_extra=_FILE)
async def upload_training(request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin) -> Response:
    """Store the training in a file and show its page. If the file has faults, show the faults with their places."""
    async with request.form() as form:
        file = form.get("file")
        content = await file.read() if isinstance(file, UploadFile) else b""
    faults = await _store(services, content)
    if isinstance(faults, str):
        return RedirectResponse(faults, status_code=303)
    return await _list(request, pages, services, faults=faults)


@router.get("/{name}/{version}")
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
