"""Opens the labeller of a version of a judge: with its key from the environment, its scores, or its rule."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from spotthebot.bots.outbound import BotHttp
from spotthebot.clients import AsyncAnnotation, AsyncFed
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.judges import (
    EndpointJudge,
    FedJudge,
    JudgeVersionOut,
    SimulatedJudge,
    TrainedJudge,
)
from spotthebot.judges.endpoint.cache import AnswerCache
from spotthebot.judges.endpoint.labeller import EndpointLabeller
from spotthebot.judges.errors import FolderMissing, JudgeKeyMissing, KeyUnencrypted, OtherFiles
from spotthebot.judges.fed import read_scores
from spotthebot.judges.opinions import Labeller
from spotthebot.judges.sides import SideLabeller
from spotthebot.judges.simulated import SimulatedLabeller
from spotthebot.judges.trained.judge import TrainedJudge as TrainedJudgeFolder
from spotthebot.kit.outbound.addresses import Network
from spotthebot.kit.outbound.resolver import CheckingResolver
from spotthebot.simulation.annotator import SimulatedAnnotator


@dataclass(frozen=True)
class Surroundings:
    """What judges use on the machine that runs them.

    `environment` holds keys; `networks` are allowed in addition to public addresses; `cache` is the folder of answers;
    `simulated` makes the simulated annotator of a seed; `fed` opens the client of FED. `folder` has the files of a
    trained judge, which runs on `device`.
    """

    annotation: AsyncAnnotation
    fed: Callable[[], AsyncFed]
    environment: Mapping[str, str]
    networks: Sequence[Network]
    cache: Path
    simulated: Callable[[int], SimulatedAnnotator]
    folder: Path | None = None
    device: str = "cpu"


@asynccontextmanager
async def open_labeller(
    judge: JudgeVersionOut, campaign: CampaignOut, here: Surroundings, *, repeat: int = 1
) -> AsyncIterator[Labeller]:
    """Yield the labeller of a version of a judge for a campaign.

    Raises JudgeKeyMissing, KeyUnencrypted, ScoresUnsuited, FolderMissing, OtherFiles, and the errors of trained
    judges.
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
        case TrainedJudge() as settings:
            yield SideLabeller(_trained(judge, settings, here), "No model of the judge may judge this side.")


def _trained(judge: JudgeVersionOut, settings: TrainedJudge, here: Surroundings) -> TrainedJudgeFolder:
    """Read a trained judge; raises FolderMissing and OtherFiles, and the errors of reading it."""
    if here.folder is None:
        raise FolderMissing(name=judge.name)
    found = TrainedJudgeFolder(here.folder, device=here.device)
    if found.sha256 != settings.files_sha256:
        raise OtherFiles(folder=here.folder, name=judge.name, version=judge.version)
    return found


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
