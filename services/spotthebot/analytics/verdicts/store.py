"""The verdicts that were given. The first verdict on a pair stays."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from spotthebot.analytics.stats.pair_verdicts import PairVerdict
from spotthebot.analytics.verdicts.domain import Given, Pair
from spotthebot.analytics.verdicts.tables import GivenVerdictRow
from spotthebot.kit.database.rows import from_row
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_NO_MARGIN = 0.0


async def give_verdicts(
    session: WriteSession, campaign_id: UUID, margin: float | None, decided: Iterable[PairVerdict]
) -> None:
    """Store verdicts. Pairs that have a verdict keep it, also if two looks give one at the same time."""
    rows = [
        {
            "campaign_id": campaign_id,
            "margin": margin or _NO_MARGIN,
            "bot": each.bot,
            "other": each.other,
            "verdict": each.verdict,
            "n": each.n,
            "low": each.low,
            "high": each.high,
        }
        for each in decided
    ]
    if rows:
        await session.execute(insert(GivenVerdictRow).on_conflict_do_nothing(), rows)


async def list_given(session: ReadSession, campaign_id: UUID, margin: float | None) -> dict[Pair, Given]:
    """Return the verdicts that were given under a margin, by pair."""
    row = GivenVerdictRow
    found = await session.scalars(
        select(row).where(row.campaign_id == campaign_id, row.margin == (margin or _NO_MARGIN))
    )
    return {(each.bot, each.other): from_row(Given, each) for each in found}
