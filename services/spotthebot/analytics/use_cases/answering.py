"""Answers questions about a campaign: from what is kept, or by computing once and keeping it."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from uuid import UUID

from spotthebot.analytics import store
from spotthebot.analytics.clients import CampaignRevision, Studies
from spotthebot.analytics.domain.analysis import QUESTIONS, analyse, answer
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.study import Study
from spotthebot.contracts.analytics import Analysis
from spotthebot.kit.database import Database


class Answers:
    """Keeps each answer until the campaign's annotations change, and lets equal requests wait for one computation."""

    def __init__(self, database: Database, studies: Studies) -> None:
        self._database = database
        self._studies = studies
        self._underway: dict[bytes, asyncio.Task[bytes]] = {}

    async def ask(self, campaign_id: UUID, question: str, request: Parameters) -> bytes:
        """Answer one of `QUESTIONS` as JSON; raises NoSuchCampaign, NothingToAnalyse or OneBotOnly."""
        asked = QUESTIONS[question]
        return await self._keep(
            campaign_id, question, request, lambda study: answer(asked, study, request).model_dump_json().encode()
        )

    async def analyse(self, campaign_id: UUID, request: Parameters) -> bytes:
        """Answer all questions in one document."""
        return await self._keep(
            campaign_id, "analysis", request, lambda study: analyse(study, request).model_dump_json().encode()
        )

    async def analysis(self, campaign_id: UUID, request: Parameters) -> Analysis:
        """Return what `analyse` answers as an object."""
        return Analysis.model_validate_json(await self.analyse(campaign_id, request))

    async def _keep(
        self, campaign_id: UUID, question: str, request: Parameters, compute: Callable[[Study], bytes]
    ) -> bytes:
        revision = await self._studies.current_revision(campaign_id)
        key = _key(revision, question, request)
        async with self._database.read() as reading:
            kept = await store.find_result(reading, key)
        if kept is not None:
            return kept
        if key not in self._underway:
            task = asyncio.create_task(self._compute(revision, key, compute))
            self._underway[key] = task
            task.add_done_callback(lambda _: self._underway.pop(key, None))
        # Who asked first may give up; the others, and the next to ask, still want the answer.
        return await asyncio.shield(self._underway[key])

    async def _compute(self, revision: CampaignRevision, key: bytes, compute: Callable[[Study], bytes]) -> bytes:
        study = await self._studies.read(revision)
        body = await asyncio.to_thread(compute, study)
        async with self._database.write() as session:
            return await store.put_result(session, key, revision.campaign.id, revision.revision, body)


def _key(revision: CampaignRevision, question: str, request: Parameters) -> bytes:
    depends_on = [
        str(revision.campaign.id),
        revision.campaign.name,
        revision.revision,
        question,
        asdict(request),
        version("spotthebot"),
        _sources(),
    ]
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).digest()


@cache
def _sources() -> str:
    """Fingerprint of the code that computes: a kept answer must not outlive a correction within one version."""
    digest = hashlib.sha256()

    def add(folder: Traversable) -> None:
        for entry in sorted(folder.iterdir(), key=lambda each: each.name):
            if entry.is_dir():
                add(entry)
            elif entry.name.endswith(".py"):
                digest.update(entry.read_bytes())

    for package in ("stats", "domain"):
        add(files("spotthebot.analytics").joinpath(package))
    return digest.hexdigest()
