"""Opens the labeller of a version of a judge: with its key from the environment, its scores, or its rule.

The judge `fed` gives the place of a side's score among all scores of its set, as P(human). It is a baseline. The score
of a side is that of its last turn that annotators see, less the part that its length alone predicts. No label is used,
so the probabilities order sides and are not calibrated. Sides without a score, such as people, are missing.
"""

from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pydantic import SecretStr

from spotthebot.bots.outbound import BotHttp
from spotthebot.clients import AsyncAnnotation, AsyncFed, NotFound
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.judges import (
    EndpointJudge,
    FedJudge,
    JudgeVersionOut,
    PluginJudge,
    SimulatedJudge,
    TrainedJudge,
)
from spotthebot.contracts.turns import Turn
from spotthebot.judges.endpoint.cache import AnswerCache
from spotthebot.judges.endpoint.labeller import EndpointLabeller
from spotthebot.judges.errors import FolderMissing, JudgeKeyMissing, KeyUnencrypted, OtherFiles, ScoresUnsuited
from spotthebot.judges.opinions import Labeller
from spotthebot.judges.plugins import PluginSides
from spotthebot.judges.sides import SideLabeller
from spotthebot.judges.simulated import SimulatedLabeller
from spotthebot.judges.trained.judge import TrainedJudge as TrainedJudgeFolder
from spotthebot.kit.outbound.addresses import Network
from spotthebot.kit.outbound.resolver import CheckingResolver
from spotthebot.kit.text.words import known_text_hash
from spotthebot.simulation.annotator import SimulatedAnnotator


class FedScores:
    """Scores by conversation and number of turns, and the conversations by the text that annotators see."""

    def __init__(self, scores: Mapping[tuple[UUID, int], float], conversations: Mapping[str, UUID]) -> None:
        self._scores = scores
        self._conversations = conversations
        self._sorted = sorted(scores.values())

    def of_side(self, turns: Sequence[Turn], side: str) -> float | None:
        """Return the share of the set's scores below the side's, of equal scores half; None without a score."""
        text = known_text_hash([turn.text for turn in turns])
        conversation = None if text is None else self._conversations.get(text.hex())
        last = max((at for at, turn in enumerate(turns, 1) if turn.speaker == side), default=None)
        if conversation is None or last is None:
            return None
        score = self._scores.get((conversation, last))
        if score is None:
            return None
        below, until = bisect_left(self._sorted, score), bisect_right(self._sorted, score)
        return (below + until) / 2 / len(self._sorted)


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

    Raises JudgeKeyMissing, KeyUnencrypted, ScoresUnsuited, FolderMissing, OtherFiles, NoSuchPlugin, PluginFails, and
    the errors of trained judges.
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
        case PluginJudge() as settings:
            yield SideLabeller(PluginSides(settings), "The plug-in says nothing about this side.")
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


async def read_scores(fed: AsyncFed, annotation: AsyncAnnotation, campaign_id: UUID, settings: FedJudge) -> FedScores:
    """Read a score set, and which conversations a campaign shows.

    Raises ScoresUnsuited if the set is not there, lacks the dimension, or has no score of these conversations.
    """
    conversations = {
        segment.text_hash: segment.conversation_id
        async for package in annotation.list_packages(campaign_id)
        for segment in package.segments
        if segment.text_hash is not None
    }
    scores: dict[tuple[UUID, int], float] = {}
    try:
        async for each in fed.list_scores(settings.score_set, page_size=1000):
            if settings.dimension not in each.scores:
                raise ScoresUnsuited(
                    score_set=settings.score_set, reason=f"it has no dimension '{settings.dimension}'."
                )
            baseline = each.length_baselines.get(settings.dimension) if settings.controls_length else None
            scores[each.conversation_id, each.turn] = each.scores[settings.dimension] - (baseline or 0.0)
    except NotFound as missing:
        raise ScoresUnsuited(score_set=settings.score_set, reason="the service `fed` does not know it.") from missing
    if not {conversation for conversation, _ in scores} & set(conversations.values()):
        raise ScoresUnsuited(score_set=settings.score_set, reason="it scores no conversation that the campaign shows.")
    return FedScores(scores, conversations)
