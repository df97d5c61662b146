"""The only SQL over places at bots and bots that are away: what keeps all processes together within a bot's limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, bindparam, delete, select, text
from sqlalchemy.dialects.postgresql import insert

from spotthebot.conversations.tables import AwayBotRow, PlaceRow
from spotthebot.kit.database import ReadSession, WriteSession
from spotthebot.kit.ids import new_ids


@dataclass(frozen=True)
class Wanted:
    """Places wanted at a bot that bears `limit` questions at once; they come free after `seconds` at the latest."""

    places: int
    limit: int
    seconds: float


@dataclass(frozen=True)
class Taken:
    """Places taken at a bot."""

    id: UUID
    places: int


async def take(session: WriteSession, job_id: int, request: Mapping[UUID, Wanted]) -> dict[UUID, Taken]:
    """Take as many places at each bot as are free, up to what is wanted; bots without a free one are left out."""
    bots = sorted(request)
    await session.execute(
        text("""
            SELECT pg_advisory_xact_lock(hashtextextended('places/' || bot, 0))
            FROM (SELECT bot FROM unnest(CAST(:bots AS text[])) AS bot ORDER BY bot) AS ordered
        """),
        {"bots": [str(each) for each in bots]},
    )
    rows = await session.execute(
        text("""
            WITH expired AS (
                DELETE FROM conversations.places WHERE bot_id = ANY(:bots) AND until <= clock_timestamp()
            )
            INSERT INTO conversations.places (id, bot_id, job_id, taken, until)
            SELECT w.id, w.bot, :job_id, LEAST(w.wanted, w.most - COALESCE(p.taken, 0)),
                clock_timestamp() + make_interval(secs => w.seconds)
            FROM unnest(
                CAST(:ids AS uuid[]), CAST(:bots AS uuid[]), CAST(:wanted AS int[]), CAST(:most AS int[]),
                CAST(:seconds AS float8[])
            ) AS w (id, bot, wanted, most, seconds)
            LEFT JOIN LATERAL (
                SELECT sum(taken) AS taken FROM conversations.places
                WHERE bot_id = w.bot AND until > clock_timestamp()
            ) AS p ON true
            WHERE LEAST(w.wanted, w.most - COALESCE(p.taken, 0)) > 0
            RETURNING id, bot_id, taken
        """),
        {
            "job_id": job_id,
            "ids": new_ids(len(bots)),
            "bots": bots,
            "wanted": [request[each].places for each in bots],
            "most": [request[each].limit for each in bots],
            "seconds": [request[each].seconds for each in bots],
        },
    )
    return {row.bot_id: Taken(row.id, row.taken) for row in rows}


async def free(session: WriteSession, job_id: int) -> None:
    """Give back all that a job took: it died, or begins again. What it had asked is soon asked under the same keys."""
    await session.execute(delete(PlaceRow).where(PlaceRow.job_id == bindparam("job_id", job_id, BigInteger)))


async def free_orphans(session: WriteSession, *, runners: str) -> None:
    """Give back what jobs took that are gone; `runners` names the task of those that keep none while they wait."""
    await session.execute(
        text("""
            DELETE FROM conversations.places AS p WHERE NOT EXISTS (
                SELECT FROM conversations.procrastinate_jobs
                WHERE id = p.job_id AND (status = 'doing' OR (status = 'todo' AND task_name <> :runners))
            )
        """),
        {"runners": runners},
    )


async def give_back(session: WriteSession, places: Mapping[UUID, int]) -> None:
    """Give back places, by the id under which they were taken."""
    if not places:
        return
    await session.execute(
        text("""
            WITH back AS (
                SELECT * FROM unnest(CAST(:ids AS uuid[]), CAST(:places AS int[])) AS b (id, places)
            ), gone AS (
                DELETE FROM conversations.places AS p USING back WHERE p.id = back.id AND p.taken <= back.places
            )
            UPDATE conversations.places AS p SET taken = p.taken - back.places
            FROM back WHERE p.id = back.id AND p.taken > back.places
        """),
        {"ids": list(places), "places": list(places.values())},
    )


async def take_next(session: WriteSession, place_id: UUID, bot_id: UUID, request: Wanted, *, job_id: int) -> bool:
    """Take one place, or queue for it ahead of whoever takes places: those that come free are kept for it.

    Returns whether it is taken; where it is not, ask again with the same id.
    """
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('places/' || :bot, 0))"), {"bot": str(bot_id)}
    )
    await session.execute(
        text("""
            INSERT INTO conversations.places (id, bot_id, job_id, taken, until, waits)
            VALUES (:id, :bot, :job_id, 1, clock_timestamp() + make_interval(secs => :seconds), true)
            ON CONFLICT (id) DO UPDATE SET until = excluded.until
        """),
        {"id": place_id, "bot": bot_id, "job_id": job_id, "seconds": request.seconds},
    )
    taken = await session.execute(
        text("""
            UPDATE conversations.places SET waits = false
            WHERE id = :id AND (
                SELECT COALESCE(sum(taken), 0) FROM conversations.places
                WHERE bot_id = :bot AND NOT waits AND until > clock_timestamp()
            ) < :limit
            RETURNING id
        """),
        {"id": place_id, "bot": bot_id, "limit": request.limit},
    )
    return taken.first() is not None


@dataclass(frozen=True)
class AwayBot:
    """A bot that is not asked until it answers again."""

    bot_id: UUID
    name: str
    reason: str
    since: datetime


async def mark_away(session: WriteSession, bot_id: UUID, *, name: str, reason: str) -> bool:
    """Ask a bot nothing more until it answers again; returns whether it was thought to answer until now."""
    statement = insert(AwayBotRow).values(bot_id=bot_id, name=name, reason=reason).on_conflict_do_nothing()
    return (await session.scalar(statement.returning(AwayBotRow.bot_id))) is not None


async def mark_back(session: WriteSession, bot_id: UUID) -> bool:
    """Ask a bot again; returns whether it was away."""
    statement = delete(AwayBotRow).where(AwayBotRow.bot_id == bot_id).returning(AwayBotRow.bot_id)
    return (await session.scalar(statement)) is not None


async def list_away(session: ReadSession) -> list[AwayBot]:
    rows = await session.scalars(select(AwayBotRow).order_by(AwayBotRow.since))
    return [AwayBot(row.bot_id, row.name, row.reason, row.since) for row in rows]
