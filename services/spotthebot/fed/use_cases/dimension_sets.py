"""Dimension sets: store a user's set, and find the set that a scorer names."""

from spotthebot.contracts.fed.dimensions import DimensionSetIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.fed.domain.dimension_sets import BUILT_IN, DimensionSetVersion, built_in
from spotthebot.fed.domain.dimensions import Dimension, user_dimension, user_dimensions
from spotthebot.fed.domain.errors import DimensionSetNameTaken, NoSuchDimensionSet
from spotthebot.fed.domain.modes import PolarityChoice
from spotthebot.fed.domain.scoring import require_followups
from spotthebot.fed.store import dimension_sets as dimension_sets_store
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def add_dimension_set(session: WriteSession, request: DimensionSetIn) -> DimensionSetVersion:
    """Store a user's dimension set, or the next version of it. Storing the same dimensions again changes nothing.

    Raises DimensionSetNameTaken for the name of a built-in set, DimensionUnusable and DimensionNameTaken.
    """
    if request.name in BUILT_IN:
        raise DimensionSetNameTaken(name=request.name)
    dimensions = [user_dimension(each.name, each.positive, each.negative) for each in request.dimensions]
    user_dimensions(request.name, dimensions)
    return await dimension_sets_store.add_version(session, request.name, dimensions)


async def get_dimension_set(session: ReadSession, reference: DimensionSetRef) -> DimensionSetVersion:
    """Return a version of a dimension set, built in or a user's; raises NoSuchDimensionSet."""
    ours = built_in(reference.set, reference.version)
    found = ours or await dimension_sets_store.find_version(session, reference.set, reference.version)
    if found is None:
        raise NoSuchDimensionSet(name=reference.set, version=reference.version)
    return found


async def choose_dimensions(session: ReadSession, scorer: ScorerIn) -> tuple[Dimension, ...]:
    """Return the dimensions that a scorer names, or all dimensions of its set if it names none.

    Raises NoSuchDimensionSet, NoSuchDimension, and FollowupsMissing if no follow-up of a dimension counts for the
    score.
    """
    known = (await get_dimension_set(session, scorer.dimension_set)).dimensions
    names = known.names if scorer.dimensions is None else dict.fromkeys(scorer.dimensions)
    chosen = tuple(map(known.get, names))
    require_followups(chosen, PolarityChoice(scorer.polarity))
    return chosen
