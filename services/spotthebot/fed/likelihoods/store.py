"""A store of computed likelihoods. As long as a likelihood is kept here, the model need not compute it again.

A loss of the store costs only time: scores have rows of their own, and the same model computes the likelihoods again.

Likelihoods are stored as sums for each context. The 792,000 contexts of the published study take less than a gigabyte.
Another mode uses the same sums without a model.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from spotthebot.fed.likelihoods.domain import ContextLikelihood, FollowupLikelihood, FoundContext
from spotthebot.fed.likelihoods.tables import LikelihoodRow
from spotthebot.kit.database.retention import KeptRows
from spotthebot.kit.database.sessions import ReadSession, WriteSession

_DAY = timedelta(days=1)


async def find(
    session: ReadSession, turns_by_key: Mapping[bytes, int], followups: Sequence[str]
) -> dict[bytes, FoundContext]:
    """Return the stored likelihoods of contexts, by key. `turns_by_key` has the number of turns of each context."""
    rows = await session.scalars(select(LikelihoodRow).where(LikelihoodRow.key.in_(turns_by_key)))
    return {row.key: _context(row, turns_by_key[row.key], followups) for row in rows}


async def put(session: WriteSession, contexts: Mapping[bytes, FoundContext], followups: Sequence[str]) -> None:
    """Store likelihoods; a known key stays unchanged."""
    if not contexts:
        return
    values = [
        {
            "key": key,
            "turns_left_out": found.turns_left_out,
            "context_nll": found.likelihood.nll,
            "predicted_tokens": found.likelihood.predicted_tokens,
            "nlls": [found.likelihood.followups[text].nll for text in followups],
            "tokens": [found.likelihood.followups[text].tokens for text in followups],
        }
        for key, found in sorted(contexts.items())  # in one order, so that two workers never wait for each other
    ]
    await session.execute(insert(LikelihoodRow).on_conflict_do_nothing(), values)


async def note_use(session: WriteSession, keys: Collection[bytes]) -> None:
    """Set the last use of likelihoods to now if it is at least a day ago. Likelihoods in use are kept longer.

    Skips rows that another process is updating.
    """
    if not keys:
        return
    row = LikelihoodRow
    stale = select(row.key).where(row.key.in_(keys), row.last_used_at < func.now() - _DAY)
    noted = update(row).where(row.key.in_(stale.with_for_update(skip_locked=True))).values(last_used_at=func.now())
    await session.execute(noted)


def old_likelihoods(days: int) -> KeptRows:
    """Return the retention rule of likelihoods: a likelihood that was not used for `days` days is deleted."""
    return KeptRows("likelihoods", "last_used_at < :before", timedelta(days=days))


def _context(row: LikelihoodRow, turns: int, followups: Sequence[str]) -> FoundContext:
    values = zip(followups, row.nlls, row.tokens, strict=True)
    return FoundContext(
        turns=turns,
        turns_left_out=row.turns_left_out,
        likelihood=ContextLikelihood(
            followups={text: FollowupLikelihood(nll, tokens) for text, nll, tokens in values},
            nll=row.context_nll,
            predicted_tokens=row.predicted_tokens,
        ),
    )
