"""`/v1/protocols`: documents that say what annotators see and which questions they answer."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from spotthebot.annotation.deps import Admin, CampaignReader
from spotthebot.annotation.protocols import use_cases
from spotthebot.annotation.protocols.domain.versions import ProtocolSummary, ProtocolVersion
from spotthebot.contracts.annotation.protocols import (
    Identifier,
    ProtocolIn,
    ProtocolOut,
    ProtocolSummaryOut,
    protocol_schema_text,
)
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1/protocols", tags=["protocols"], route_class=IdempotentRoute)
_SCHEMA = "application/schema+json"
_OBJECT = {"type": "object", "maxProperties": 20}


@router.post("", status_code=201, operation_id="create_protocol")
async def create_protocol(session: Writing, _caller: Admin, request: ProtocolIn) -> ProtocolOut:
    """Store a version of a protocol, which never changes. Repeating the same document returns the same version."""
    return _to_out(await use_cases.create_protocol(session, request.protocol))


@router.get("", operation_id="list_protocols")
async def list_protocols(
    session: Reading, _caller: CampaignReader, paging: Paging, name: Annotated[Identifier | None, Query()] = None
) -> Page[ProtocolSummaryOut]:
    """List versions of protocols: first built-in versions, then stored versions, oldest first."""
    rows = await use_cases.list_protocols(session, name=name, after=paging.after, limit=paging.limit + 1)
    return page_of(rows, paging, key=lambda each: each.id, to_out=_summary_out)


@router.get(
    "/schema",
    operation_id="get_protocol_schema",
    response_class=Response,
    responses={200: {"description": "The JSON Schema, draft 7.", "content": {_SCHEMA: {"schema": _OBJECT}}}},
)
async def get_protocol_schema(_caller: CampaignReader) -> Response:
    """Return the JSON Schema of protocols, for editors and validators."""
    return Response(protocol_schema_text(), media_type=_SCHEMA)


@router.get("/{name}/versions/{version}", operation_id="get_protocol")
async def get_protocol(
    session: Reading, _caller: CampaignReader, name: Identifier, version: Annotated[int, Path(ge=1, lt=2**31)]
) -> ProtocolOut:
    """Return one version of a protocol; it never changes."""
    return _to_out(await use_cases.get_protocol(session, name, version))


def _to_out(found: ProtocolVersion) -> ProtocolOut:
    return ProtocolOut(protocol=found.protocol, built_in=found.is_built_in, created_at=found.created_at)


def _summary_out(summary: ProtocolSummary) -> ProtocolSummaryOut:
    return ProtocolSummaryOut.of(summary, built_in=summary.created_at is None)
