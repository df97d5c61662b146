"""The keys of pseudonyms. Each campaign has one key."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.analytics.standings.tables import PseudonymKeyRow
from spotthebot.kit.database.sessions import WriteSession


async def get_pseudonym_key(session: WriteSession, campaign_id: UUID) -> bytes:
    """Return the key of a campaign. At the first call, PostgreSQL makes a random key."""
    row = PseudonymKeyRow
    await session.execute(insert(row).values(campaign_id=campaign_id).on_conflict_do_nothing())
    return (await session.scalars(select(row.key).where(row.campaign_id == campaign_id))).one()
