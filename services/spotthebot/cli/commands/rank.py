"""`stb rank`: the ranking of a campaign, by its headline or by one measure, or of a study, by its outcome."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from spotthebot.cli.commands.analysis_options import Ranked, options_of_labels, require_no_options, takes_parameters
from spotthebot.cli.commands.computed_measures import (
    LatencyOption,
    PluginsOption,
    ScoresOption,
    computed_measures,
)
from spotthebot.cli.commands.judges_in_results import JudgesOption, say_judges, with_judges
from spotthebot.cli.commands.options import JsonFile, check_output, write_json
from spotthebot.cli.commands.service_options import reads_services
from spotthebot.cli.errors import MeasureNotNamed, NoSuchMeasure
from spotthebot.cli.resources.directories import CampaignsAndStudies
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.results import measures, ranking
from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.local.runtime.session import Clients, Services, connect, open_session

if TYPE_CHECKING:
    from spotthebot.clients.analytics_parameters import ComputedMeasures
    from spotthebot.contracts.analytics.interactor_ratings import InteractorRatingsOut
    from spotthebot.contracts.analytics.measures import MeasureOut, MeasureResult
    from spotthebot.contracts.analytics.results import Analysis
    from spotthebot.contracts.analytics.studies import StudyMeasuresOut
    from spotthebot.contracts.annotation.campaigns import CampaignOut
    from spotthebot.contracts.annotation.studies import StudyOut


@dataclass(frozen=True)
class _Found:
    """What a command prints: a ranking, and the measures by which the bots can be ranked in addition.

    `ranked` is None of a study without an outcome, `study` is None of a campaign, and `ratings` is None without rated
    chats. `document` is written as JSON.
    """

    ranked: "Analysis | MeasureOut | None"
    document: dict[str, Any]
    bots: tuple[str, ...] = ()
    measures: "dict[str, MeasureResult]" = field(default_factory=dict)
    study: "StudyMeasuresOut | None" = None
    ratings: "InteractorRatingsOut | None" = None


@reads_services
@takes_parameters
def rank(
    services: Services,
    name: Ranked,
    parameters: dict[str, Any],
    measure: Annotated[
        str | None, typer.Option(help="Rank by this measure alone: a question of a protocol, or of a chat.")
    ] = None,
    mixed_model: Annotated[
        MixedModelKind | None,
        typer.Option(help="With --measure: fit a mixed model, too, as papers do; bots fixed, the rest random."),
    ] = None,
    judges: JudgesOption = None,
    scores: ScoresOption = None,
    latency: LatencyOption = False,
    plugin: PluginsOption = None,
    json_file: JsonFile = None,
) -> None:
    """Rank the bots of a campaign or of a study."""
    check_output(json_file)
    parameters = with_judges(parameters, judges)
    if mixed_model is not None and measure is None:
        message = "A mixed model is of one measure: name it with --measure."
        raise typer.BadParameter(message, param_hint="--mixed-model")
    added = computed_measures(scores, plugin, latency=latency)
    with open_session(services) as session:

        async def run() -> _Found:
            from spotthebot.contracts.annotation.studies import StudyOut  # noqa: PLC0415 - models take time to build

            async with connect(session) as clients:
                found = await find(CampaignsAndStudies(clients), name)
                if isinstance(found, StudyOut):
                    require_no_options(f"the study '{found.name}'", [f"--{each}" for each in added])
                    return await _rank_study(clients, found, measure, mixed_model, parameters)
                return await _rank_campaign(clients, found, measure, mixed_model, parameters, added)

        found = asyncio.run(run())
    write_json(json_file, found.document)
    if str(json_file) != "-":
        _print(found)
        result = found.ranked or found.study
        if result is not None:
            say_judges(judges, result)


async def _rank_campaign(
    clients: Clients,
    campaign: "CampaignOut",
    measure: str | None,
    mixed_model: MixedModelKind | None,
    parameters: dict[str, Any],
    added: "ComputedMeasures",
) -> _Found:
    from spotthebot.contracts.annotation.measures import HEADLINE  # noqa: PLC0415 - models take time to build
    from spotthebot.contracts.annotation.protocols import LABELS_OF_SPEAKERS  # noqa: PLC0415 - as above

    by_labels = measure is None and campaign.protocol in LABELS_OF_SPEAKERS
    if not by_labels:
        require_no_options(f"the protocol '{campaign.protocol}'", options_of_labels(parameters))
    if by_labels:
        if added:
            raise MeasureNotNamed(options=" and ".join(f"--{each}" for each in added))
        analysis = await ranking.rank(clients, campaign.id, parameters)
        ratings = await ranking.find_interactor_ratings(clients, analysis, campaign.id, parameters)
        document = analysis.model_dump(mode="json")
        if ratings is not None:
            document["interactor_ratings"] = ratings.model_dump(mode="json")
        return _Found(analysis, document, ratings=ratings)
    if measure is not None:
        asked = clients.analytics.get_measure(campaign.id, measure, mixed_model=mixed_model, **added, **parameters)
        result = await _get_measure(asked)
        return _Found(result, result.model_dump(mode="json"))
    every = await clients.analytics.list_measures(campaign.id, **added, **parameters)
    result = await clients.analytics.get_measure(campaign.id, HEADLINE, **parameters)
    bots = tuple(each.name for each in every.speakers)
    return _Found(result, result.model_dump(mode="json"), bots, {each.measure: each for each in every.measures})


async def _rank_study(
    clients: Clients,
    study: "StudyOut",
    measure: str | None,
    mixed_model: MixedModelKind | None,
    parameters: dict[str, Any],
) -> _Found:
    """Rank by the named measure, or by the study's outcome; without both, only list the measures."""
    require_no_options(f"the study '{study.name}'", options_of_labels(parameters))
    by = measure or study.outcome
    result = None
    if by is not None:
        asked = clients.analytics.get_study_measure(study.id, by, mixed_model=mixed_model, **parameters)
        result = await _get_measure(asked)
        if measure is not None:
            return _Found(result, result.model_dump(mode="json"))
    every = await clients.analytics.list_study_measures(study.id, **parameters)
    bots = dict.fromkeys(bot.bot for each in every.measures for bot in each.bots)
    document = (every if result is None else result).model_dump(mode="json")
    return _Found(result, document, tuple(bots), {each.name: each for each in every.measures}, every)


async def _get_measure(asked: "Awaitable[MeasureOut]") -> "MeasureOut":
    """Return a measure; raises NoSuchMeasure with the names of those that there are."""
    from spotthebot.clients import NotFound  # noqa: PLC0415 - it imports httpx

    try:
        return await asked
    except NotFound as refused:
        if not refused.problem.type.endswith(":no-such-measure"):
            raise
        raise NoSuchMeasure(sentence=refused.problem.detail) from refused


def _print(found: _Found) -> None:
    from spotthebot.contracts.analytics.results import Analysis  # noqa: PLC0415 - models take time to build

    console = Console()
    if isinstance(found.ranked, Analysis):
        ranking.print_ranking(console, found.ranked)
        if found.ratings is not None:
            ranking.print_interactor_ratings(console, found.ratings)
    elif found.ranked is not None:
        measures.print_measure(console, found.ranked)
    if found.study is not None:
        measures.print_sources(console, found.study)
    if found.measures:
        measures.print_measures(console, found.bots, found.measures)
