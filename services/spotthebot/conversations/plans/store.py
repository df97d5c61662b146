"""The only SQL that stores a plan: hundreds of thousands of conversations in one transaction."""

from collections.abc import Sequence

import psycopg

from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.kit.database.sessions import WriteSession

_CONVERSATIONS = """
    COPY conversations.conversations (
        id, collection_id, pair, round, state, ended_by, opening, opening_shown, personas, turns_planned,
        turns_said, seed, next_bot
    ) FROM STDIN
"""
_TURNS = "COPY conversations.turns (conversation_id, position, text) FROM STDIN"


async def add_planned(session: WriteSession, conversations: Sequence[Conversation]) -> None:
    """Store planned conversations, and the turns of human dialogues."""
    connection = await _driver_connection(session)
    async with connection.cursor() as cursor:
        async with cursor.copy(_CONVERSATIONS) as copy:
            for each in conversations:
                await copy.write_row(
                    (
                        each.id,
                        each.collection_id,
                        each.pair,
                        each.round,
                        each.state.value,
                        each.ended_by,
                        list(each.opening),
                        each.opening_shown,
                        None if each.personas is None else list(each.personas),
                        each.turns_planned,
                        len(each.turns),
                        each.seed,
                        each.next_bot,
                    )
                )
        async with cursor.copy(_TURNS) as copy:
            for each in conversations:
                for position, text in enumerate(each.turns):
                    await copy.write_row((each.id, position, text))


async def _driver_connection(session: WriteSession) -> psycopg.AsyncConnection:
    """Return psycopg's connection, which supports COPY, within the session's transaction."""
    raw = await (await session.connection()).get_raw_connection()
    connection = raw.driver_connection
    if not isinstance(connection, psycopg.AsyncConnection):
        message = f"COPY needs psycopg's connection, not {type(connection)}"
        raise TypeError(message)
    return connection
