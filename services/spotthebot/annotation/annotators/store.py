"""Annotators of campaigns, and the conversations that each annotator was shown."""

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Text, Uuid, and_, bindparam, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.annotators.domain import (
    Annotator,
    WorkCheck,
    annotating_judge,
    require_judge,
    require_kind,
    require_name,
)
from spotthebot.annotation.annotators.errors import NoSuchAnnotator
from spotthebot.annotation.annotators.tables import AnnotatorRow, SeenConversationRow
from spotthebot.annotation.campaigns.errors import NoSuchCampaign
from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.conversations.tables import ShownConversationRow
from spotthebot.annotation.judges.tables import JudgeRow
from spotthebot.annotation.leases.domain import COUNTED
from spotthebot.annotation.leases.tables import AssignmentRow
from spotthebot.annotation.packages.tables import ItemRow
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.database.statements import Statement, constant
from spotthebot.kit.ids import new_id

_COUNTED = (
    select(func.count())
    .where(AssignmentRow.annotator_id == AnnotatorRow.id, AssignmentRow.state.in_(map(constant, COUNTED)))
    .correlate(AnnotatorRow)
    .scalar_subquery()
)

_KNOWN = Statement(
    select(AnnotatorRow.id, AnnotatorRow.kind, AnnotatorRow.judge_id)
    .where(
        AnnotatorRow.campaign_id == bindparam("campaign_id"),
        AnnotatorRow.external_id == bindparam("external_id"),
        AnnotatorRow.frontend == bindparam("frontend"),
    )
    .with_for_update(key_share=True)
)
_ADDED = (
    insert(AnnotatorRow)
    .from_select(
        ["id", "campaign_id", "frontend", "external_id", "kind", "judge_id"],
        # Locks the campaign: if it is being deleted, this waits and adds no annotator.
        select(
            bindparam("id", type_=Uuid),
            CampaignRow.id,
            *(bindparam(name, type_=Text) for name in ("frontend", "external_id", "kind")),
            bindparam("judge_id", type_=Uuid),
        )
        .where(CampaignRow.id == bindparam("campaign_id"))
        .with_for_update(read=True, key_share=True),
    )
    .on_conflict_do_nothing()
    .returning(AnnotatorRow.id)
    .cte("added")
)
_SALTED = CampaignRow.interactor_salt.concat(
    func.convert_to(bindparam("external_id", type_=Text), literal_column("'UTF8'"))
)
_OWN_CHATS = (
    select(_ADDED.c.id, ShownConversationRow.conversation_id)
    .select_from(_ADDED)
    .join(CampaignRow, CampaignRow.id == bindparam("campaign_id"))
    .join(
        ShownConversationRow,
        and_(
            ShownConversationRow.campaign_id == CampaignRow.id,
            ShownConversationRow.interactor_sha256 == func.sha256(_SALTED),
        ),
    )
)
_ADD = Statement(
    select(_ADDED.c.id).add_cte(
        insert(SeenConversationRow).from_select(["annotator_id", "conversation_id"], _OWN_CHATS).cte("own_chats")
    )
)


def _with_judge(*columns: Any) -> Select[*tuple[Any, ...]]:  # noqa: ANN401 - SQLAlchemy's columns
    """Return a query of annotators: the given columns, and the name and version of an annotator's judge."""
    judge = JudgeRow.name.label("judge_name"), JudgeRow.version.label("judge_version")
    return select(*columns, *judge).outerjoin(JudgeRow, JudgeRow.id == AnnotatorRow.judge_id)


_BY_ID = Statement(
    _with_judge(AnnotatorRow, _COUNTED.label("packages")).where(
        AnnotatorRow.campaign_id == bindparam("campaign_id"), AnnotatorRow.id == bindparam("annotator_id")
    )
)


async def lock_annotator(
    session: WriteSession,
    campaign_id: UUID,
    frontend: str,
    external_id: str,
    kind: AnnotatorKind,
    judge_id: UUID | None = None,
) -> tuple[UUID, bool]:
    """Find or add an annotator, and serialise their claims. Return their id, and whether this call added them.

    A new annotator counts as having seen the conversations in which they chatted. Chats record no frontend, so only the
    external id is compared. `judge_id` is the version of the judge that annotates.

    Raises ProgramNameUnusable, OtherAnnotatorKind, OtherJudgeVersion, and NoSuchCampaign if the campaign was deleted
    meanwhile.
    """
    require_name(external_id, kind)
    values = {"campaign_id": campaign_id, "frontend": frontend, "external_id": external_id}
    found = await session.fetch(_KNOWN, values)
    if not found:
        annotator_id = new_id()
        if await session.fetch(_ADD, {"id": annotator_id, **values, "kind": kind.value, "judge_id": judge_id}):
            return annotator_id, True
        found = await session.fetch(_KNOWN, values)
    if not found:
        raise NoSuchCampaign(campaign_id=campaign_id)
    (known,) = found
    require_kind(external_id, kind, known=known.kind)
    require_judge(external_id, judge_id, known=known.judge_id)
    return known.id, False


async def get_annotator(session: ReadSession, campaign_id: UUID, annotator_id: UUID) -> Annotator:
    rows = await session.fetch(_BY_ID, {"campaign_id": campaign_id, "annotator_id": annotator_id})
    if not rows:
        raise NoSuchAnnotator(annotator_id=annotator_id)
    (row,) = rows
    return _annotator(row, row.packages, row.judge_name, row.judge_version)


async def lock_known_annotator(session: WriteSession, campaign_id: UUID, frontend: str, external_id: str) -> Annotator:
    """Return a frontend's annotator, and serialise their claims as `lock_annotator` does; raises NoSuchAnnotator."""
    statement = select(AnnotatorRow.id).where(
        AnnotatorRow.campaign_id == campaign_id,
        AnnotatorRow.external_id == external_id,
        AnnotatorRow.frontend == frontend,
    )
    found = await session.scalar(statement.with_for_update(key_share=True))
    if found is None:
        raise NoSuchAnnotator(annotator_id=external_id)
    return await get_annotator(session, campaign_id, found)


async def lock_annotator_by_id(session: WriteSession, campaign_id: UUID, annotator_id: UUID) -> Annotator:
    """Return an annotator, locked against erasure until this transaction has stored a decision about them.

    Raises NoSuchAnnotator.
    """
    found = select(AnnotatorRow.id).where(AnnotatorRow.campaign_id == campaign_id, AnnotatorRow.id == annotator_id)
    await session.execute(found.with_for_update(key_share=True))
    return await get_annotator(session, campaign_id, annotator_id)


async def list_annotators(
    session: ReadSession,
    campaign_id: UUID,
    *,
    external_id: str | None = None,
    blocked: bool | None = None,
    appealed: bool | None = None,
    after: UUID | None,
    limit: int,
) -> list[Annotator]:
    """Return a campaign's annotators, oldest first. The filter `external_id` is the id at the frontend."""
    statement = _annotators(campaign_id).order_by(AnnotatorRow.id).limit(limit)
    if external_id is not None:
        statement = statement.where(AnnotatorRow.external_id == external_id)
    if blocked is not None:
        statement = statement.where(AnnotatorRow.blocked_at.is_not(None) == blocked)
    if appealed is not None:
        statement = statement.where(AnnotatorRow.appeal.is_not(None) == appealed)
    if after is not None:
        statement = statement.where(AnnotatorRow.id > after)
    return [_annotator(*row) for row in await session.execute(statement)]


async def has_seen(session: ReadSession, annotator_id: UUID, package_id: UUID) -> bool:
    """Return whether an annotator was shown a conversation of a package."""
    on_the_left = select(ItemRow.conversation_id).where(ItemRow.package_id == package_id)
    on_the_right = select(ItemRow.right_conversation_id).where(
        ItemRow.package_id == package_id, ItemRow.right_conversation_id.is_not(None)
    )
    shown = on_the_left.union(on_the_right)
    statement = select(SeenConversationRow.conversation_id).where(
        SeenConversationRow.annotator_id == annotator_id, SeenConversationRow.conversation_id.in_(shown)
    )
    return await session.scalar(statement.limit(1)) is not None


async def block(session: WriteSession, annotator_id: UUID, at: datetime, reason: str) -> bool:
    """Block an annotator; return False if they were blocked already."""
    blocked = await session.scalar(
        update(AnnotatorRow)
        .where(AnnotatorRow.id == annotator_id, AnnotatorRow.blocked_at.is_(None))
        .values(blocked_at=at, blocked_reason=reason, appeal=None, appealed_at=None)
        .returning(AnnotatorRow.id)
    )
    return blocked is not None


async def unblock(session: WriteSession, annotator_id: UUID) -> bool:
    """Unblock an annotator; return False if they were not blocked."""
    unblocked = await session.scalar(
        update(AnnotatorRow)
        .where(AnnotatorRow.id == annotator_id, AnnotatorRow.blocked_at.is_not(None))
        .values(blocked_at=None, blocked_reason=None)
        .returning(AnnotatorRow.id)
    )
    return unblocked is not None


async def set_appeal(session: WriteSession, annotator_id: UUID, note: str, at: datetime) -> None:
    """Store an annotator's appeal against their block or failed training.

    The next block or the next failure clears the appeal.
    """
    await session.execute(
        update(AnnotatorRow).where(AnnotatorRow.id == annotator_id).values(appeal=note, appealed_at=at)
    )


async def clear_appeal(session: WriteSession, annotator_id: UUID) -> None:
    await session.execute(
        update(AnnotatorRow).where(AnnotatorRow.id == annotator_id).values(appeal=None, appealed_at=None)
    )


async def set_granted_attempts(session: WriteSession, annotator_id: UUID, granted: int) -> None:
    """Store how many attempts at the training an annotator has in addition to the campaign's own limit."""
    await session.execute(update(AnnotatorRow).where(AnnotatorRow.id == annotator_id).values(granted_attempts=granted))


async def set_consent(session: WriteSession, annotator_id: UUID, sha256: str, at: datetime) -> None:
    """Store the hash of the text that an annotator consented to."""
    await session.execute(
        update(AnnotatorRow)
        .where(AnnotatorRow.id == annotator_id)
        .values(consent_sha256=sha256, consented_at=at, consent_withdrawn_at=None)
    )


async def withdraw_consent(session: WriteSession, annotator_id: UUID, at: datetime) -> None:
    """Store that an annotator withdrew their consent; the time of the consent stays."""
    await session.execute(
        update(AnnotatorRow).where(AnnotatorRow.id == annotator_id).values(consent_sha256=None, consent_withdrawn_at=at)
    )


async def add_work_check(session: WriteSession, annotator_id: UUID, found: WorkCheck) -> WorkCheck:
    """Add the counts of a package to the sums of its annotator, and return the new sums."""
    sums = {name: getattr(AnnotatorRow, name) + count for name, count in asdict(found).items()}
    statement = update(AnnotatorRow).where(AnnotatorRow.id == annotator_id).values(sums)
    counted = await session.execute(statement.returning(*(getattr(AnnotatorRow, name) for name in sums)))
    return from_row(WorkCheck, counted.one())


def _annotators(campaign_id: UUID) -> Select[*tuple[Any, ...]]:
    return _with_judge(AnnotatorRow, _COUNTED).where(AnnotatorRow.campaign_id == campaign_id)


def _annotator(
    row: Any,  # noqa: ANN401 - SQLAlchemy's row, or psycopg's
    packages: int,
    judge_name: str | None,
    judge_version: int | None,
) -> Annotator:
    kind = AnnotatorKind(row.kind)
    judge = annotating_judge(kind, row.external_id, judge_name, judge_version)
    return from_row(Annotator, row, kind=kind, judge=judge, packages=packages, work=from_row(WorkCheck, row))
