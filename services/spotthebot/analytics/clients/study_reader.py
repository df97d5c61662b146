"""Studies of `annotation`, with their campaigns and the ratings of their chats."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias
from uuid import UUID

from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.clients.chat_ratings import ChatRatings
from spotthebot.analytics.clients.errors import NoSuchStudy
from spotthebot.analytics.clients.read_collections import ReadCollections
from spotthebot.analytics.measures.domain.workforces import Workforce
from spotthebot.analytics.tasks.domain import Task, named_tasks
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.clients import AsyncAnnotation, AsyncConversations, NotFound
from spotthebot.contracts.annotation.campaigns import ENDED
from spotthebot.contracts.annotation.studies import StudyOut

ReadTask: TypeAlias = MeasuredCampaign | RatedChats


@dataclass(frozen=True)
class StudyRevision:
    """A study in its current state. `revision` is a fingerprint of everything that its results depend on."""

    study: StudyOut
    campaigns: tuple[CampaignRevision, ...]
    chats: RatedChats | None
    revision: str


class StudyReader:
    """Reads studies, and the data of their tasks one after the other: only one of them is in memory."""

    def __init__(self, annotation: AsyncAnnotation, conversations: AsyncConversations, campaigns: CampaignData) -> None:
        self._annotation = annotation
        self._conversations = conversations
        self._campaigns = campaigns
        self._chats = ChatRatings(conversations)

    async def current(self, study_id: UUID) -> StudyRevision:
        """Return a study with its revision; raises NoSuchStudy, NoSuchCampaign and NoSuchChats.

        It takes one request for each collection, two for each campaign, and one for each thousand rated chats.
        """
        try:
            study = await self._annotation.get_study(study_id)
        except NotFound as refused:
            raise NoSuchStudy(study_id=study_id) from refused
        found = await asyncio.gather(*(self._campaigns.get_campaign(each, protocol=None) for each in study.campaigns))
        shown = dict.fromkeys(collection for campaign in found for collection in campaign.collections)
        chats, *listed = await asyncio.gather(
            self._chats.read(study), *(self._conversations.get_collection(each) for each in shown)
        )
        collections = {each.id: each for each in listed}
        campaigns = await asyncio.gather(*(self._campaigns.revision_of(each, collections) for each in found))
        rated = None if chats is None else (chats.domain, chats.complete, dict(chats.asked), chats.sha256)
        depends_on = (study.model_dump_json(), [each.revision for each in campaigns], rated)
        revision = blake2b(json.dumps(depends_on).encode(), digest_size=16).hexdigest()
        return StudyRevision(study, tuple(campaigns), chats, revision)

    async def tasks(self, revision: StudyRevision) -> tuple[Task, ...]:
        """Return the tasks of a study in its order, then its chats."""
        campaigns = [each.campaign for each in revision.campaigns]
        measures = await asyncio.gather(*map(self._campaigns.read_questions, campaigns))
        of_chats = None if revision.chats is None else [*revision.chats.measures]
        named = named_tasks(
            revision.study.name,
            [(campaign.name, [*own]) for campaign, own in zip(campaigns, measures, strict=True)],
            of_chats,
        )
        tasks = [
            Task(names, campaign.id, campaign.protocol, complete=campaign.state in ENDED)
            for names, campaign in zip(named, campaigns, strict=False)
        ]
        if revision.chats is not None:
            tasks.append(Task(named[-1], None, None, complete=revision.chats.complete))
        return tuple(tasks)

    async def workforces(self, tasks: tuple[Task, ...]) -> dict[UUID, dict[str, Workforce]]:
        """Return the workforces of the annotators of each campaign of a study, by campaign and pseudonym."""
        campaigns = [each.campaign_id for each in tasks if each.campaign_id is not None]
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

    async def _read(self, revision: StudyRevision, task: Task, collections: ReadCollections) -> ReadTask:
        if task.campaign_id is None and revision.chats is not None:
            return await self._chats.with_texts(revision.chats, revision.study.chats)
        campaign = next(each for each in revision.campaigns if each.campaign.id == task.campaign_id)
        return await self._campaigns.read_measured(campaign, collections)
