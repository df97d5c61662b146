"""Finds the ratings of people that an evaluation is compared with: campaigns, studies, chats, and tables of ratings."""

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from spotthebot.cli.errors import NoSuchName
from spotthebot.cli.evaluations.run import Evaluation
from spotthebot.cli.resources.directories import CampaignsAndStudies, Collections
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.contracts.fed.system_correlations import BotRatingIn, SystemCorrelationsIn, SystemCorrelationsOut
from spotthebot.importers.tables.comparisons import Comparisons
from spotthebot.local.runtime.session import Clients


async def compare_with_people(
    clients: Clients,
    evaluations: Sequence[Evaluation],
    names: Sequence[str],
    tables: Sequence[Comparisons],
    rated: str | None,
) -> SystemCorrelationsOut:
    """Correlate bots' scores by each mode of play with people's ratings.

    `names` are campaigns, studies or collections of chats, by name or id; `tables` have ratings of the same bots.
    Raises NoSuchName and the errors of the service.
    """
    found: dict[str, list[UUID]] = {"campaigns": [], "studies": [], "chats": []}
    for name in names:
        kind, resource_id = await _find(clients, name)
        found[kind].append(resource_id)
    ratings = tuple(
        BotRatingIn(
            bot=each.bot, annotator=each.annotator or f"row {number}", question=each.dimension, value=each.value
        )
        for table in tables
        for own in table.ratings.values()
        for number, each in enumerate(own)
    )
    scores = evaluations[0].scores
    return await clients.fed.correlate_systems(
        SystemCorrelationsIn(
            score_sets=tuple(each.scores.id for each in evaluations),
            campaigns=tuple(found["campaigns"]),
            studies=tuple(found["studies"]),
            chats=tuple(found["chats"]),
            ratings=ratings,
            rated=rated,
            confidence_level=scores.request.confidence_level,
            seed=scores.request.seed,
        )
    )


def table_of(name: str) -> Path | None:
    """Return the file of this name; None if there is none, so that the name is that of a campaign, study or chats."""
    path = Path(name)
    return path if path.is_file() else None


async def _find(clients: Clients, name: str) -> tuple[str, UUID]:
    try:
        rated = await find(CampaignsAndStudies(clients), name)
    except NoSuchName:
        return "chats", (await find(Collections(clients), name)).id
    return "studies" if isinstance(rated, StudyOut) else "campaigns", rated.id
