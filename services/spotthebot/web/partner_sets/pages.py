"""`/admin/partner-sets`: the partner sets, one version with its fingerprint, diversity and references, and files."""

import asyncio
from typing import Annotated, Final, NamedTuple
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from spotthebot.clients.partner_sets import export_partner_set, import_partner_set, read_configurations, read_replies
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.partner_sets import PartnerSetOut, PartnerSetRef
from spotthebot.contracts.fed.references import MAX_REFERENCES
from spotthebot.contracts.fed.score_jobs import ScoreJobState, ScoreSetOut
from spotthebot.contracts.partner_files import PartnerSetFile, fingerprint_of
from spotthebot.contracts.wire import Name
from spotthebot.kit.text.validation import faults_of
from spotthebot.kit.web.core.bodies import large_batch
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.statistics.reply_overlap import ReplyDiversity, reply_diversity
from spotthebot.web.clients import Services
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.partner_sets.errors import CorpusNeeded, NotAPartnerSetFile

router = APIRouter(prefix="/admin/partner-sets", route_class=PageRoute, include_in_schema=False)
_SETS: Final = 25
_PLAYED: Final = 50
"""The latest collections among whose bots is one of the set, in which this page looks for the set."""
_CORPORA: Final = 100
_FILE: Final = large_batch(max_bytes=4 * 1024 * 1024 + 64 * 1024, max_values=100_000)
Version = Annotated[int, Path(ge=1, lt=2**31)]


class Played(NamedTuple):
    """A collection with a partner set, and the scores of its targets, if it was scored."""

    collection: CollectionOut
    scores: ScoreSetOut | None


@router.get("")
async def list_partner_sets(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, cursor: str | None = None
) -> Response:
    """Show all versions of partner sets, oldest first, and a form that imports a file."""
    client = await services.conversations()
    page, corpora = await asyncio.gather(
        client.list_partner_sets(cursor=cursor, page_size=_SETS).page(), client.list_corpora(page_size=_CORPORA).page()
    )
    return pages.page(
        request,
        "partner_sets/partner_sets.html.jinja",
        page=page,
        is_first=cursor is None,
        corpora=corpora.items,
    )


@router.post("", openapi_extra=_FILE)
async def import_file(request: Request, services: ServicesOfVisitor, _visitor: Admin) -> Response:
    """Store the partner set of a file, register its bots, and show its page."""
    async with request.form() as form:
        file, chosen = form.get("file"), form.get("corpus")
        content = await file.read() if isinstance(file, UploadFile) else b""
    try:
        read = PartnerSetFile.model_validate_json(content)
    except ValidationError as faulty:
        raise NotAPartnerSetFile(reason="; ".join(faults_of(faulty)[:3])) from faulty

    async def corpus() -> UUID:
        try:
            return UUID(str(chosen))
        except ValueError:
            raise CorpusNeeded from None

    made = await import_partner_set(await services.bots(), await services.conversations(), read, corpus)
    return RedirectResponse(_address(made), status_code=303)


@router.get("/{name}/{version}")
async def show_partner_set(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    name: Name,
    version: Version,
    collection: UUID | None = None,
) -> Response:
    """Show a partner set with the collections that used it, and how diverse its replies in one of them are."""
    conversations = await services.conversations()
    found = await conversations.get_partner_set(name, version)
    configurations, played = await asyncio.gather(
        read_configurations(await services.bots(), found), _list_played(services, found)
    )
    diversity: ReplyDiversity | None = None
    if collection is not None:
        diversity = await asyncio.to_thread(reply_diversity, await read_replies(conversations, found, collection))
    return pages.page(
        request,
        "partner_sets/partner_set.html.jinja",
        set=found,
        address=_address(found),
        partners=zip(found.partners, configurations, strict=True),
        fingerprint=fingerprint_of(configurations),
        played=played,
        chosen=collection,
        diversity=diversity,
        max_references=MAX_REFERENCES,
    )


@router.get("/{name}/{version}/file.json")
async def export_file(
    services: ServicesOfVisitor,
    _visitor: Admin,
    name: Name,
    version: Version,
    reference: Annotated[tuple[UUID, ...], Query(max_length=MAX_REFERENCES)] = (),
) -> Response:
    """Send a partner set as a file, with the scores of chosen score sets as references."""
    found = await (await services.conversations()).get_partner_set(name, version)
    file = await export_partner_set(await services.bots(), await services.fed(), found, reference)
    headers = {"Content-Disposition": 'attachment; filename="partner-set.json"', "Cache-Control": "no-store"}
    return Response(file.model_dump_json(), media_type="application/json", headers=headers)


async def _list_played(services: Services, partner_set: PartnerSetOut) -> list[Played]:
    conversations = await services.conversations()
    bots = [each.bot_id for each in partner_set.partners][:100]
    page = await conversations.list_collections(bot_id=bots, order="newest_first", page_size=_PLAYED).page()
    listed = [each for each in page.items if each.mode == "bipartite"]
    plans = await asyncio.gather(*(conversations.get_plan(each.id) for each in listed))
    used = PartnerSetRef(set=partner_set.name, version=partner_set.version)
    return [
        Played(collection, await _latest_scores(services, collection.id))
        for collection, plan in zip(listed, plans, strict=True)
        if plan.partners == used
    ]


async def _latest_scores(services: Services, collection_id: UUID) -> ScoreSetOut | None:
    fed = await services.fed()
    jobs = [each async for each in fed.list_score_jobs(collection_id=collection_id)]
    complete = [each.id for each in jobs if each.state is ScoreJobState.COMPLETE]
    return await fed.get_score_set(complete[-1]) if complete else None


def _address(partner_set: PartnerSetOut) -> str:
    return f"/admin/partner-sets/{quote(partner_set.name, safe='')}/{partner_set.version}"
