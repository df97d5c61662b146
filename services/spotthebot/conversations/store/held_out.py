"""The only SQL over held-out exchanges."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import text

from spotthebot.conversations.domain.held_out import HeldOutExchange, PeoplesConversation, held_out_exchanges
from spotthebot.kit.database import ReadSession, WriteSession


async def hold_out(session: WriteSession, conversations: Sequence[PeoplesConversation]) -> None:
    """Keep the exchanges of people's conversations from every bot that learns.

    Call it last in a transaction: another one that holds out the same exchanges waits for its end.
    """
    exchanges = held_out_exchanges(conversations)  # in one order, so that no two wait for each other
    if not exchanges:
        return
    await session.execute(
        text("""
            INSERT INTO conversations.held_out_exchanges AS h (hash, in_chat, since, suffices)
            SELECT * FROM unnest(
                CAST(:hashes AS bigint[]), CAST(:in_chat AS bool[]), CAST(:since AS uuid[]), CAST(:suffices AS bool[])
            )
            ON CONFLICT (hash, in_chat) DO UPDATE
            SET suffices = h.suffices OR excluded.suffices, since = LEAST(h.since, excluded.since)
            WHERE excluded.suffices AND NOT h.suffices OR excluded.since < h.since
        """),
        {
            "hashes": [each.number for each in exchanges],
            "in_chat": [each.in_chat for each in exchanges],
            "since": [each.since for each in exchanges],
            "suffices": [each.suffices for each in exchanges],
        },
    )


async def find_held_out(session: ReadSession, exchanges: Iterable[int]) -> Mapping[int, Sequence[HeldOutExchange]]:
    """Return those of the exchanges that are held out, by their number."""
    rows = await session.execute(
        text("SELECT hash, since, suffices FROM conversations.held_out_exchanges WHERE hash = ANY(:hashes)"),
        {"hashes": list(exchanges)},
    )
    found: dict[int, list[HeldOutExchange]] = defaultdict(list)
    for row in rows:
        found[row.hash].append(HeldOutExchange(row.hash, row.since, row.suffices))
    return found


async def count_people(session: ReadSession) -> int:
    """Return a number that grows whenever stored dialogues are held out: of conversations in collections with people.

    Chats do not count: they hold out only dialogues that are stored after them.
    """
    counted = await session.scalar(
        text("""
            SELECT coalesce(sum(conversations), 0) FROM conversations.collections
            WHERE mode = 'import' OR jsonb_typeof(plan -> 'humans') = 'object'
        """)
    )
    return int(counted or 0)
