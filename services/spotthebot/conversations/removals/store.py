"""The only SQL over the collections that use a corpus."""

from uuid import UUID

from sqlalchemy import or_, select

from spotthebot.conversations.collections.tables import CollectionRow
from spotthebot.conversations.quality.tables import QualityCheckRow
from spotthebot.kit.database.sessions import ReadSession


async def list_users(session: ReadSession, corpus_id: UUID) -> list[str]:
    """Return the names of collections that took texts of a corpus, or were compared with a corpus, oldest first."""
    parts = ("opening", "humans", "personas")
    named = or_(*(CollectionRow.plan[(part, "corpus_id")].astext == str(corpus_id) for part in parts))
    compared = select(QualityCheckRow.collection_id).where(QualityCheckRow.training_corpus_id == corpus_id)
    statement = select(CollectionRow.name).where(or_(named, CollectionRow.id.in_(compared)))
    return list(await session.scalars(statement.order_by(CollectionRow.id)))
