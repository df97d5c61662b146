"""The audit log: decisions that touch a person, a label or a campaign. PostgreSQL refuses to change or delete a row."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.audit.domain import AuditEntry
from spotthebot.annotation.audit.tables import AuditRow
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def add(
    session: WriteSession,
    campaign_id: UUID,
    *,
    key_id: UUID,
    action: str,
    annotator_id: UUID | None = None,
    **details: str,
) -> None:
    """Note what was decided, by the owner of which key, about whom."""
    await session.execute(
        insert(AuditRow).values(
            id=new_id(),
            campaign_id=campaign_id,
            key_id=key_id,
            action=action,
            annotator_id=annotator_id,
            details=details,
        )
    )


async def list_entries(
    session: ReadSession,
    campaign_id: UUID,
    *,
    action: str | None = None,
    annotator_id: UUID | None = None,
    newest_first: bool = False,
    after: UUID | None,
    limit: int,
) -> list[AuditEntry]:
    """Return the decisions of a campaign: of one kind, and about one annotator, where given."""
    order = AuditRow.id.desc() if newest_first else AuditRow.id
    statement = select(AuditRow).where(AuditRow.campaign_id == campaign_id).order_by(order).limit(limit)
    if action is not None:
        statement = statement.where(AuditRow.action == action)
    if annotator_id is not None:
        statement = statement.where(AuditRow.annotator_id == annotator_id)
    if after is not None:
        statement = statement.where(AuditRow.id < after if newest_first else AuditRow.id > after)
    return [
        AuditEntry(row.id, row.at, row.key_id, row.action, row.annotator_id, row.details)
        for row in await session.scalars(statement)
    ]
