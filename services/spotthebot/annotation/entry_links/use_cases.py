"""Annotators who make requests, named by the frontend or entered by a link, and their completions.

A completion is an annotator's proof for the panel that a package is done.
"""

from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.domain import require_kind
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.entry_links import store
from spotthebot.annotation.entry_links.domain.panels import Completion, completion
from spotthebot.annotation.entry_links.errors import NotEntered
from spotthebot.annotation.judges import store as judges_store
from spotthebot.annotation.judges.errors import UnknownJudge
from spotthebot.annotation.leases.domain import Lease
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.entries import AnnotatorIn
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def lock_annotator(
    session: WriteSession, campaign_id: UUID, frontend: str, request: AnnotatorIn
) -> tuple[UUID, bool]:
    """Return an annotator's id, and whether this call added them; serialise their requests.

    With a link no annotator is added. Raises NotEntered if no annotator entered by this link with this id, or if the
    annotator was erased since. Raises OtherAnnotatorKind, also for a program with a link, ProgramNameUnusable,
    UnknownJudge and OtherJudgeVersion.
    """
    name = request.annotator
    if request.link is None:
        judge_id = await _judge_id(session, request)
        return await annotators_store.lock_annotator(session, campaign_id, frontend, name, request.kind, judge_id)
    found = await store.lock_entered(session, campaign_id, frontend, name, request.link)
    if found is None:
        raise NotEntered
    require_kind(name, request.kind, known=AnnotatorKind.PERSON)
    return found, False


async def _judge_id(session: ReadSession, request: AnnotatorIn) -> UUID | None:
    """Return the id of a judge's version; None for annotators of other kinds. Raises UnknownJudge."""
    if request.judge is None:
        return None
    found = await judges_store.find_judge(session, request.judge.name, request.judge.version)
    if found is None:
        raise UnknownJudge(name=request.judge.name, version=request.judge.version)
    return found.id


async def require_link(session: ReadSession, link_id: UUID | None) -> None:
    """Raise EntryLinkRevoked if the link was revoked."""
    if link_id is not None:
        (await store.get_link(session, link_id)).require_unrevoked()


async def completion_of(session: ReadSession, campaign: Campaign, annotator: str, lease: Lease) -> Completion | None:
    """Return the proof for the panel that a submitted package is done; None without a panel or a submission.

    It uses the parameters of the annotator's last entry before the submission.
    """
    if campaign.panel is None or lease.submitted_at is None or lease.completion_code is None:
        return None
    entered_with = await store.latest_parameters(session, lease.annotator_id, until=lease.submitted_at)
    return completion(campaign.panel, annotator, entered_with, lease.completion_code)
