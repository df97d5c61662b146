"""The results of a campaign: from the cache, or computed once and kept there."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from uuid import UUID

from pydantic import TypeAdapter

from spotthebot.analytics import store
from spotthebot.analytics.clients.studies import ENDED, GAME, CampaignRevision, Studies
from spotthebot.analytics.domain.analysis import SECTIONS, analyse, compute_section
from spotthebot.analytics.domain.leaderboard import PlayedSide, final_ranks, leaderboard, ranks_so_far
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.domain.study import Study
from spotthebot.analytics.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.use_cases.shared_tasks import SharedTasks
from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut, LeaderboardEntry
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.kit.database.sessions import Database

_ENTRIES = TypeAdapter(tuple[LeaderboardEntry, ...])
_RANKS = TypeAdapter(tuple[AnnotatorRankOut, ...])
_BOTS_BY_NAME = TypeAdapter(dict[str, frozenset[UUID | None]])


class ResultCache:
    """Keeps each result until the campaign's annotations change; equal requests wait for one computation.

    A computation that nobody waits for any more is not begun.
    """

    def __init__(self, database: Database, studies: Studies, threads: ComputeThreads) -> None:
        self._database = database
        self._studies = studies
        self._threads = threads
        self._underway = SharedTasks[bytes, bytes](threads)
        sources_sha256()  # now, while the files are those that run: an update may replace them below a running service

    async def get(self, campaign_id: UUID, section: str, request: ParametersIn) -> bytes:
        """Return one of `SECTIONS` as JSON; raises NoSuchCampaign, NothingToAnalyse or OneBotOnly."""
        return await self.get_at(await self._studies.current_revision(campaign_id), section, request)

    async def get_at(self, revision: CampaignRevision, section: str, request: ParametersIn) -> bytes:
        """Return one of `SECTIONS` as JSON for one revision; raises NothingToAnalyse or OneBotOnly."""
        kept = await self.find_kept(revision.campaign.id, revision.revision, [section], request)
        return kept[section] if kept else await self.compute_at(revision, section, request)

    async def compute_at(self, revision: CampaignRevision, section: str, request: ParametersIn) -> bytes:
        """Compute one of `SECTIONS` that `find_kept` does not return; raises NothingToAnalyse or OneBotOnly."""
        compute = self._of_study(
            revision,
            request,
            lambda study, parameters: compute_section(SECTIONS[section], study, parameters).model_dump_json().encode(),
        )
        key = _key(revision.campaign.id, revision.revision, section, _parameters(request))
        return await self._underway.get(key, lambda: self._compute(revision, key, compute))

    async def find_kept(
        self, campaign_id: UUID, revision: str, sections: Collection[str], request: ParametersIn
    ) -> dict[str, bytes]:
        """Return the kept results of some `SECTIONS` for a revision, as JSON; asks no other service."""
        keys = {section: _key(campaign_id, revision, section, _parameters(request)) for section in sections}
        async with self._database.read() as reading:
            kept = await store.results.find_results(reading, keys.values())
        return {section: kept[key] for section, key in keys.items() if key in kept}

    async def get_bots_by_name(self, revision: CampaignRevision) -> Mapping[str, frozenset[UUID | None]]:
        """Return which bots have each name of a campaign's results: None stands for people and imported bots."""

        async def compute() -> bytes:
            return _BOTS_BY_NAME.dump_json(await self._studies.read_bots_by_name(revision))

        return _BOTS_BY_NAME.validate_json(await self._kept_or_computed(revision, "bots-by-name", {}, compute))

    async def get_document(self, campaign_id: UUID, request: ParametersIn) -> bytes:
        """Return all sections as one JSON document."""
        revision = await self._studies.current_revision(campaign_id)
        compute = self._of_study(
            revision, request, lambda study, parameters: analyse(study, parameters).model_dump_json().encode()
        )
        return await self._kept_or_computed(revision, "analysis", _parameters(request), compute)

    async def get_leaderboard(self, campaign_id: UUID, *, penalty: float) -> tuple[LeaderboardEntry, ...]:
        """Return the annotators of a game, best first; raises NoSuchCampaign, OtherProtocol and OneKindOnly."""
        revision = await self._studies.current_revision(campaign_id, protocol=GAME)

        async def compute() -> bytes:
            sides = await self._studies.read_game(revision)
            found = await self._threads.run(leaderboard, sides, penalty=penalty)
            return _ENTRIES.dump_json(found)

        body = await self._kept_or_computed(revision, "leaderboard", {"penalty": penalty}, compute)
        return _ENTRIES.validate_json(body)

    async def get_annotator_ranks(self, campaign_id: UUID) -> tuple[AnnotatorRankOut, ...]:
        """Return what annotators may see of a game; raises NoSuchCampaign, OtherProtocol, at its end OneKindOnly."""
        revision = await self._studies.current_revision(campaign_id, protocol=GAME)
        campaign = revision.campaign

        def compute(sides: Sequence[PlayedSide]) -> bytes:
            if campaign.state in ENDED:
                return _RANKS.dump_json(final_ranks(sides))
            return _RANKS.dump_json(ranks_so_far(sides, annotations_needed=campaign.annotations_per_segment))

        async def of_game() -> bytes:
            return await self._threads.run(compute, await self._studies.read_game(revision))

        needed = {"annotations_needed": campaign.annotations_per_segment}  # which may grow while the game goes on
        return _RANKS.validate_json(await self._kept_or_computed(revision, "annotator-ranks", needed, of_game))

    def _of_study(
        self, revision: CampaignRevision, request: ParametersIn, compute: Callable[[Study, Parameters], bytes]
    ) -> Callable[[], Awaitable[bytes]]:
        async def of_study() -> bytes:
            parameters = Parameters.of_campaign(request, revision.campaign.seed)
            return await self._threads.run(compute, await self._studies.read(revision), parameters)

        return of_study

    async def _kept_or_computed(
        self,
        revision: CampaignRevision,
        name: str,
        parameters: Mapping[str, object],
        compute: Callable[[], Awaitable[bytes]],
    ) -> bytes:
        key = _key(revision.campaign.id, revision.revision, name, parameters)
        async with self._database.read() as reading:
            kept = await store.results.find_results(reading, [key])
        if kept:
            return kept[key]
        return await self._underway.get(key, lambda: self._compute(revision, key, compute))

    async def _compute(self, revision: CampaignRevision, key: bytes, compute: Callable[[], Awaitable[bytes]]) -> bytes:
        body = await compute()
        async with self._database.write() as session:
            return await store.results.put_result(session, key, revision.campaign.id, revision.revision, body)


def _parameters(request: ParametersIn) -> dict[str, object]:
    return request.model_dump(include=set(ParametersIn.model_fields))


def _key(campaign_id: UUID, revision: str, name: str, parameters: Mapping[str, object]) -> bytes:
    depends_on = [str(campaign_id), revision, name, parameters, version("spotthebot"), sources_sha256()]
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).digest()


@cache
def sources_sha256() -> str:
    """Return a hash of the code that computes: a kept result must not outlive a correction within one version."""
    digest = hashlib.sha256()

    def add(folder: Traversable) -> None:
        for entry in sorted(folder.iterdir(), key=lambda each: each.name):
            if entry.is_dir():
                add(entry)
            elif entry.name.endswith(".py"):
                digest.update(entry.read_bytes())

    analytics = files("spotthebot.analytics")
    for package in ("clients", "domain", "stats"):
        add(analytics.joinpath(package))
    add(files("spotthebot.statistics"))
    return digest.hexdigest()
