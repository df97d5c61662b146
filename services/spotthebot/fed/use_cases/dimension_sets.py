"""Sets of dimensions: keep a user's, find those that a scorer names."""

from spotthebot.contracts.fed.dimensions import DimensionSetIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.fed import store
from spotthebot.fed.domain.dimension_sets import BUILT_IN, DimensionSetVersion, built_in
from spotthebot.fed.domain.dimensions import Dimension, user_dimension, user_dimensions
from spotthebot.fed.domain.errors import DimensionSetNameTaken, NoSuchDimensionSet
from spotthebot.fed.domain.modes import PolarityChoice
from spotthebot.fed.domain.scoring import require_followups
from spotthebot.kit.database.sessions import ReadSession, WriteSession


async def add_dimension_set(session: WriteSession, request: DimensionSetIn) -> DimensionSetVersion:
    """Store a set, or its next version; the same dimensions again change nothing.

    Raises DimensionSetNameTaken for a name of ours, DimensionUnusable and DimensionNameTaken.
    """
    if request.name in BUILT_IN:
        raise DimensionSetNameTaken(name=request.name)
    dimensions = [user_dimension(each.name, each.positive, each.negative) for each in request.dimensions]
    user_dimensions(request.name, dimensions)
    return await store.dimension_sets.add_version(session, request.name, dimensions)


async def get_dimension_set(session: ReadSession, reference: DimensionSetRef) -> DimensionSetVersion:
    """Return a version of a set, ours or a user's; raises NoSuchDimensionSet."""
    ours = built_in(reference.set, reference.version)
    found = ours or await store.dimension_sets.find_version(session, reference.set, reference.version)
    if found is None:
        raise NoSuchDimensionSet(name=reference.set, version=reference.version)
    return found


async def choose_dimensions(session: ReadSession, scorer: ScorerIn) -> tuple[Dimension, ...]:
    """Return the dimensions that a scorer names, all of the set without names.

    Raises NoSuchDimensionSet, NoSuchDimension, and FollowupsMissing where a dimension has none that count.
    """
    known = (await get_dimension_set(session, scorer.dimension_set)).dimensions
    names = known.names if scorer.dimensions is None else dict.fromkeys(scorer.dimensions)
    chosen = tuple(map(known.get, names))
    require_followups(chosen, PolarityChoice(scorer.polarity))
    return chosen
