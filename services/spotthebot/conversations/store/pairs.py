"""Who takes part in the conversations of a pair, as SQL asks for it."""

from uuid import UUID

from sqlalchemy import ColumnElement

from spotthebot.conversations.tables import PairRow


def takes_part(bot_id: UUID) -> ColumnElement[bool]:
    """Return the condition that a bot is a side of a pair, which an index answers."""
    return PairRow.participants.contains([{"bot_id": str(bot_id)}])


def is_called(name: str) -> ColumnElement[bool]:
    """Return the condition that results call a side of a pair so; people are all called HU."""
    return PairRow.participants.contains([{"name": name}])
