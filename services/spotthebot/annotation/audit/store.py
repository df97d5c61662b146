"""The audit log: decisions that affect a person, a label or a campaign.

PostgreSQL refuses to change or delete a row.
"""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.annotation.audit.domain import AuditEntry
from spotthebot.annotation.audit.tables import AuditRow
from spotthebot.contracts.annotation.audit import AuditedAction
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id


async def add(
    session: WriteSession,
    campaign_id: UUID,
    *,
    key_id: UUID,
    action: AuditedAction,
    annotator_id: UUID | None = None,
    **details: str,
) -> None:
    """Record a decision: the API key that made it, the action, and the annotator concerned."""
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
    """Return the decisions of a campaign, optionally only one action or one annotator."""
    order = AuditRow.id.desc() if newest_first else AuditRow.id
    statement = select(AuditRow).where(AuditRow.campaign_id == campaign_id).order_by(order).limit(limit)
    if action is not None:
        statement = statement.where(AuditRow.action == action)
    if annotator_id is not None:
        statement = statement.where(AuditRow.annotator_id == annotator_id)
    if after is not None:
        statement = statement.where(AuditRow.id < after if newest_first else AuditRow.id > after)
    return [from_row(AuditEntry, row) for row in await session.scalars(statement)]
