"""Opens the labeller of a version of a judge: with its key from the environment, its scores, or its rule."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from spotthebot.bots.outbound import BotHttp
from spotthebot.clients import AsyncAnnotation, AsyncFed
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.judges import EndpointJudge, FedJudge, JudgeVersionOut, SimulatedJudge
from spotthebot.judges.endpoint.cache import AnswerCache
from spotthebot.judges.endpoint.labeller import EndpointLabeller
from spotthebot.judges.errors import JudgeKeyMissing, JudgeNotRunnable, KeyUnencrypted
from spotthebot.judges.fed import read_scores
from spotthebot.judges.opinions import Labeller
from spotthebot.judges.sides import SideLabeller
from spotthebot.judges.simulated import SimulatedLabeller
from spotthebot.kit.outbound.addresses import Network
from spotthebot.kit.outbound.resolver import CheckingResolver
from spotthebot.simulation.annotator import SimulatedAnnotator


@dataclass(frozen=True)
class Surroundings:
    """What judges use on the machine that runs them.

    `environment` holds keys; `networks` are allowed in addition to public addresses; `cache` is the folder of answers;
    `simulated` makes the simulated annotator of a seed; `fed` opens the client of FED.
    """

    annotation: AsyncAnnotation
    fed: Callable[[], AsyncFed]
    environment: Mapping[str, str]
    networks: Sequence[Network]
    cache: Path
    simulated: Callable[[int], SimulatedAnnotator]


@asynccontextmanager
async def open_labeller(
    judge: JudgeVersionOut, campaign: CampaignOut, here: Surroundings, *, repeat: int = 1
) -> AsyncIterator[Labeller]:
    """Yield the labeller of a version of a judge for a campaign.

    Raises JudgeKeyMissing, KeyUnencrypted, ScoresUnsuited, and JudgeNotRunnable for a kind that this can't run.
    """
    match judge.settings:
        case EndpointJudge() as settings:
            key = _key(judge.name, settings, here)
            async with BotHttp(CheckingResolver(here.networks), names_causes=True) as http:
                yield EndpointLabeller(settings, key, http, AnswerCache(here.cache), repeat=repeat)
        case SimulatedJudge() as settings:
            yield SimulatedLabeller(settings, here.simulated(settings.seed))
        case FedJudge() as settings:
            scores = await read_scores(here.fed(), here.annotation, campaign.id, settings)
            yield SideLabeller(scores, "The score set has no score of this side at this length.")
        case _:
            instead = "a trained judge runs from the folder of its training."
            raise JudgeNotRunnable(name=judge.name, kind=judge.settings.kind, instead=instead)


def _key(name: str, settings: EndpointJudge, here: Surroundings) -> SecretStr | None:
    """Return the endpoint's key; None if it needs none."""
    if settings.key_variable is None:
        return None
    key = here.environment.get(settings.key_variable)
    if not key:
        raise JudgeKeyMissing(name=name, variable=settings.key_variable)
    if settings.base_url.startswith("http://") and not here.networks:
        raise KeyUnencrypted(url=settings.base_url)
    return SecretStr(key)
