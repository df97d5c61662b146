"""Studies of `annotation`, with their campaigns, score sets, latencies, and the ratings of their chats."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TypeAlias
from uuid import UUID

from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.clients.chat_ratings import ChatRatings
from spotthebot.analytics.clients.computed_values import FED, LATENCY, ComputedValueReader, score_measures
from spotthebot.analytics.clients.errors import NoSuchStudy
from spotthebot.analytics.clients.read_collections import ReadCollections
from spotthebot.analytics.measures.domain.workforces import Workforce
from spotthebot.analytics.tasks.domain import Task, named_tasks
from spotthebot.analytics.values.domain.computed_values import ComputedValues
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.clients import AsyncAnnotation, AsyncConversations, AsyncFed, NotFound
from spotthebot.contracts.annotation.campaigns import ENDED as CAMPAIGN_ENDED
from spotthebot.contracts.annotation.studies import StudyOut
from spotthebot.contracts.conversations.collections import ENDED, CollectionOut
from spotthebot.contracts.fed.score_jobs import ScoreSetOut

ReadTask: TypeAlias = MeasuredCampaign | RatedChats | ComputedValues


@dataclass(frozen=True)
class StudyRevision:
    """A study in its current state. `revision` is a fingerprint of everything that its results depend on.

    `collections` are those that its campaigns show, then those of its chats.
    """

    study: StudyOut
    campaigns: tuple[CampaignRevision, ...]
    scores: tuple[ScoreSetOut, ...]
    chats: ChatRatings | None
    collections: Mapping[UUID, CollectionOut]
    revision: str


class StudyReader:
    """Reads studies, and the data of their tasks one after the other: only one of them is in memory."""

    def __init__(
        self, annotation: AsyncAnnotation, conversations: AsyncConversations, fed: AsyncFed, campaigns: CampaignData
    ) -> None:
        self._annotation = annotation
        self._conversations = conversations
        self._campaigns = campaigns
        self._computed = ComputedValueReader(conversations, fed)

    async def current(self, study_id: UUID, *, judges: Sequence[str] = ()) -> StudyRevision:
        """Return a study with its revision, with the labels of `judges` next to people's.

        Raises NoSuchStudy, NoSuchCampaign, NoSuchChats, NoSuchScores, ScoresUnfinished and ScoresApart.

        It takes one request for each collection and score set, and two for each campaign and collection of chats.
        """
        try:
            study = await self._annotation.get_study(study_id)
        except NotFound as refused:
            raise NoSuchStudy(study_id=study_id) from refused
        found = await asyncio.gather(*(self._campaigns.get_campaign(each, protocol=None) for each in study.campaigns))
        chats = await ChatRatings.current(self._conversations, study)
        shown = dict.fromkeys(collection for campaign in found for collection in campaign.collections)
        shown |= dict.fromkeys(study.chats)
        scores, *listed = await asyncio.gather(
            self._computed.score_sets(f"The study '{study.name}'", study.scores, shown),
            *(self._conversations.get_collection(each) for each in shown),
        )
        collections = {each.id: each for each in listed}
        campaigns = await asyncio.gather(
            *(self._campaigns.revision_of(each, collections, judges=judges) for each in found)
        )
        rated = None if chats is None else [(collections[at].state, own) for at, own in chats.revisions.items()]
        timed = [(each.state, each.complete) for each in listed] if study.latency else None
        depends_on = (study.model_dump_json(), [each.revision for each in campaigns], rated, timed)
        revision = blake2b(json.dumps(depends_on).encode(), digest_size=16).hexdigest()
        return StudyRevision(study, tuple(campaigns), tuple(scores), chats, collections, revision)

    async def tasks(self, revision: StudyRevision) -> tuple[Task, ...]:
        """Return the tasks of a study in its order, its score sets, its latencies, then its chats."""
        campaigns = [each.campaign for each in revision.campaigns]
        measures = await asyncio.gather(*map(self._campaigns.read_questions, campaigns))
        sources: list[tuple[str, list[str]]] = [
            *((campaign.name, [*own]) for campaign, own in zip(campaigns, measures, strict=True)),
            *((FED, [*score_measures(each)]) for each in revision.scores),
            *([(LATENCY, [LATENCY])] if revision.study.latency else ()),
        ]
        chats = None if revision.chats is None else await revision.chats.read(revision.collections)
        named = iter(named_tasks(revision.study.name, sources, None if chats is None else [*chats.measures]))
        tasks = [
            Task(
                next(named),
                "campaign",
                complete=each.state in CAMPAIGN_ENDED,
                campaign_id=each.id,
                protocol=each.protocol,
            )
            for each in campaigns
        ]
        tasks += [Task(next(named), "scores", complete=True, score_set_id=each.id) for each in revision.scores]
        if revision.study.latency:
            ended = all(each.state in ENDED for each in revision.collections.values())
            tasks.append(Task(next(named), "latency", complete=ended))
        if chats is not None:
            tasks.append(Task(next(named), "chats", complete=chats.complete))
        return tuple(tasks)

    async def workforces(self, revision: StudyRevision) -> dict[UUID, dict[str, Workforce]]:
        """Return the workforces of the annotators of each campaign of a study, by campaign and pseudonym."""
        campaigns = [each.campaign.id for each in revision.campaigns]
        found = await asyncio.gather(*map(self._campaigns.read_workforces, campaigns))
        return dict(zip(campaigns, found, strict=True))

    async def read(self, revision: StudyRevision, task: Task) -> ReadTask:
        """Read the data of one task of a study."""
        return await self._read(revision, task, ReadCollections(self._conversations))

    async def read_all(self, revision: StudyRevision, tasks: tuple[Task, ...]) -> AsyncIterator[tuple[Task, ReadTask]]:
        """Yield each task with its data. Conversations that several tasks show are read once."""
        collections = ReadCollections(self._conversations)
        for task in tasks:
            yield task, await self._read(revision, task, collections)

    async def _read(self, revision: StudyRevision, task: Task, shared: ReadCollections) -> ReadTask:
        match task.kind:
            case "chats" if revision.chats is not None:
                rated = await revision.chats.read(revision.collections)
                return replace(rated, texts=await shared.text_hashes(revision.study.chats))
            case "scores":
                scores = next(each for each in revision.scores if each.id == task.score_set_id)
                return await self._computed.read_scores(scores, revision.collections, shared)
            case "latency":
                return await self._computed.read_latencies(revision.collections, shared)
        campaign = next(each for each in revision.campaigns if each.campaign.id == task.campaign_id)
        return await self._campaigns.read_measured(campaign, shared)
