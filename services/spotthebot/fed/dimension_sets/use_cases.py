"""Dimension sets: store a user's set, and find a version of a set."""

from spotthebot.contracts.fed.dimensions import DimensionSetIn
from spotthebot.contracts.fed.scorers import DimensionSetRef
from spotthebot.fed.dimension_sets import store as dimension_sets_store
from spotthebot.fed.dimension_sets.domain.dimension_sets import BUILT_IN, DimensionSetVersion, built_in
from spotthebot.fed.dimension_sets.domain.dimensions import user_dimension, user_dimensions
from spotthebot.fed.dimension_sets.errors import DimensionSetNameTaken, NoSuchDimensionSet
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
