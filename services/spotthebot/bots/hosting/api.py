"""`/v1/hosted-models`: models that the suite runs itself. For administrators.

Only administrators may use it, because models take memory of this machine. Files are uploaded one by one: the upload of
each file can be repeated, and no archive has to be unpacked.
"""

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import StringConstraints

from spotthebot.bots.deps import Administrator, Context, Hosting
from spotthebot.bots.hosting.use_cases import hosted_models as hosted_models_use_cases
from spotthebot.bots.hosting.use_cases.hosted_models import describe_triton, remove_hosted_model
from spotthebot.contracts.bots.hosted_models import (
    HostedModelIn,
    HostedModelName,
    HostedModelOut,
    TritonOut,
    UploadedFileOut,
)
from spotthebot.contracts.wire import Text
from spotthebot.kit.web.core.bodies import file_upload
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute

_FileName = Annotated[Text, StringConstraints(max_length=500)]

router = APIRouter(prefix="/v1/hosted-models", tags=["hosted models"], route_class=IdempotentRoute)


@router.post("", status_code=201, operation_id="host_model")
async def host_model(
    _caller: Administrator, claim: Hosting, context: Context, request: HostedModelIn
) -> HostedModelOut:
    """Host a model directory by name, or a model whose files are uploaded next. Loads nothing yet."""
    return await hosted_models_use_cases.host_model(context, claim, request)


@router.get("", operation_id="list_hosted_models")
async def list_hosted_models(_caller: Administrator, context: Context, paging: Paging) -> Page[HostedModelOut]:
    """List hosted models with their state, found by a real inference, and their queue and batch statistics."""
    rows = await hosted_models_use_cases.list_hosted_models(context, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda each: each.id, to_out=lambda each: each)


@router.get("/triton/repository", operation_id="get_triton_repository")
async def get_repository(_caller: Administrator, context: Context) -> TritonOut:
    """Return the models in the repository of the suite's own Triton, with their states."""
    return await describe_triton(context)


@router.get("/{name}", operation_id="get_hosted_model")
async def get_hosted_model(_caller: Administrator, context: Context, name: HostedModelName) -> HostedModelOut:
    """Return one hosted model."""
    return await hosted_models_use_cases.get_hosted_model(context, name)


@router.put(
    "/{name}/files/{file}",
    operation_id="upload_model_file",
    openapi_extra=file_upload(setting="largest_model_bytes"),
)
async def upload_file(
    _caller: Administrator, context: Context, name: HostedModelName, file: _FileName, request: Request
) -> UploadedFileOut:
    """Upload one file of a model directory as the request's body; a repeat replaces the file."""
    return UploadedFileOut.of(await hosted_models_use_cases.upload_file(context, name, file, request.stream()))


@router.post("/{name}/load", operation_id="load_hosted_model")
async def load_model(_caller: Administrator, context: Context, name: HostedModelName) -> HostedModelOut:
    """Load a model and check that it answers; a loaded model is loaded again."""
    return await hosted_models_use_cases.load_model(context, name)


@router.post("/{name}/unload", operation_id="unload_hosted_model")
async def unload_model(_caller: Administrator, context: Context, name: HostedModelName) -> HostedModelOut:
    """Unload a model; its files stay."""
    return await hosted_models_use_cases.unload_model(context, name)


@router.delete("/{name}", status_code=204, operation_id="remove_hosted_model")
async def remove_model(_caller: Administrator, context: Context, name: HostedModelName) -> None:
    """Unload a model and delete its uploaded files; a directory given by name stays as it is."""
    await remove_hosted_model(context, name)
