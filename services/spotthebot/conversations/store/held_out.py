"""The only SQL over held-out exchanges."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import text

from spotthebot.conversations.domain.held_out import held_out_exchanges
from spotthebot.kit.database import ReadSession, WriteSession


async def hold_out(session: WriteSession, conversations: Sequence[Sequence[str]]) -> None:
    """Keep the exchanges of people's conversations from every bot that learns.

    Call it last in a transaction: another one that holds out the same exchanges waits for its end.
    """
    exchanges = sorted(held_out_exchanges(conversations).items())  # in one order, so that no two wait for each other
    if not exchanges:
        return
    await session.execute(
        text("""
            INSERT INTO conversations.held_out_exchanges (hash, suffices)
            SELECT * FROM unnest(CAST(:hashes AS bigint[]), CAST(:suffices AS bool[]))
            ON CONFLICT (hash) DO UPDATE SET suffices = true
            WHERE excluded.suffices AND NOT held_out_exchanges.suffices
        """),
        {"hashes": [number for number, _ in exchanges], "suffices": [suffices for _, suffices in exchanges]},
    )


async def find_held_out(session: ReadSession, exchanges: Iterable[int]) -> Mapping[int, bool]:
    """Return those of the exchanges that are held out, and whether one alone makes a dialogue the same."""
    rows = await session.execute(
        text("SELECT hash, suffices FROM conversations.held_out_exchanges WHERE hash = ANY(:hashes)"),
        {"hashes": list(exchanges)},
    )
    return {row.hash: row.suffices for row in rows}


async def count_people(session: ReadSession) -> int:
    """Return a number that grows whenever exchanges are held out: of conversations in collections with people."""
    counted = await session.scalar(
        text("""
            SELECT coalesce(sum(CASE WHEN mode = 'human_bot' THEN complete ELSE conversations END), 0)
            FROM conversations.collections
            WHERE mode IN ('human_bot', 'import') OR jsonb_typeof(plan -> 'humans') = 'object'
        """)
    )
    return int(counted or 0)
