"""`/v1/hosted-models`: models that the suite runs itself. For administrators."""

from fastapi import APIRouter, Request

from spotthebot.bots import store_hosting
from spotthebot.bots.api.deps import Administrator, HostAdministrator, Tools
from spotthebot.bots.use_cases import hosting
from spotthebot.contracts.bots import HostedModelIn, HostedModelOut, TritonOut, UploadedFileOut
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/hosted-models", tags=["hosted models"], route_class=IdempotentRoute)


@router.post("", status_code=201, operation_id="host_model")
async def host_model(
    session: Writing, _caller: HostAdministrator, tools: Tools, wanted: HostedModelIn
) -> HostedModelOut:
    """Take up a model directory by name, or a model whose files are uploaded next. Nothing is loaded yet."""
    return await hosting.host_model(session, tools, wanted)


@router.get("", operation_id="list_hosted_models")
async def list_hosted_models(
    session: Reading, _caller: Administrator, tools: Tools, paging: Paging
) -> Page[HostedModelOut]:
    """List hosted models with their state, which a real inference tells, and their queue and batch statistics."""
    rows = await store_hosting.list_models(session, after=paging.after, limit=paging.limit + 1)
    outs = {out.id: out for out in await hosting.describe_all(tools, rows)}
    return page_of(rows, paging, key=lambda model: model.id, to_out=lambda model: outs[model.id])


@router.get("/triton/repository", operation_id="get_triton_repository")
async def get_repository(_caller: Administrator, tools: Tools) -> TritonOut:
    """Return what the suite's own Triton finds in its model repository, and in which state."""
    return await hosting.describe_triton(tools)


@router.get("/{name}", operation_id="get_hosted_model")
async def get_hosted_model(session: Reading, _caller: Administrator, tools: Tools, name: str) -> HostedModelOut:
    """Return one hosted model."""
    return await hosting.describe(tools, await store_hosting.get_model(session, name))


@router.put(
    "/{name}/files/{file}",
    operation_id="upload_model_file",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload_file(
    session: Writing, _caller: Administrator, tools: Tools, name: str, file: str, request: Request
) -> UploadedFileOut:
    """Upload one file of a model directory as the request's body; sending it again replaces it."""
    return await hosting.upload_file(session, tools, name, file, request.stream())


@router.post("/{name}/load", operation_id="load_hosted_model")
async def load_model(session: Writing, _caller: Administrator, tools: Tools, name: str) -> HostedModelOut:
    """Load a model and see it answer; one that is loaded already is loaded anew."""
    return await hosting.load_model(session, tools, name)


@router.post("/{name}/unload", operation_id="unload_hosted_model")
async def unload_model(session: Writing, _caller: Administrator, tools: Tools, name: str) -> HostedModelOut:
    """Unload a model; its files stay."""
    return await hosting.unload_model(session, tools, name)


@router.delete("/{name}", status_code=204, operation_id="remove_hosted_model")
async def remove_model(session: Writing, _caller: Administrator, tools: Tools, name: str) -> None:
    """Unload a model and delete what was uploaded for it; a directory that was named stays as it is."""
    await hosting.remove_hosted_model(session, tools, name)
