"""The results of a campaign. They come from the cache, or are computed once and cached."""

from collections.abc import Callable, Collection, Mapping, Sequence
from uuid import UUID

from pydantic import TypeAdapter

from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.clients.chat_ratings import ChatRatings
from spotthebot.analytics.clients.read_collections import ReadCollections
from spotthebot.analytics.games.domain import PlayedSide, final_ranks, leaderboard, ranks_so_far
from spotthebot.analytics.judges.domain.worth import judges_of
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.kept_results.use_cases.kept_results import Compute, KeptResults, parameters_of
from spotthebot.analytics.labels.domain import LabelledCampaign
from spotthebot.analytics.measures.domain.measures import all_agreements, all_measures, all_values, one_measure
from spotthebot.analytics.measures.domain.workforces import fingerprint
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import SECTIONS, Section, analyse, compute_section
from spotthebot.analytics.results.domain.chat_times import chat_times
from spotthebot.analytics.results.domain.decision_times import decision_times
from spotthebot.analytics.results.domain.interactor_ratings import interactor_ratings
from spotthebot.analytics.results.domain.rank_differences import DIFFERENCES
from spotthebot.analytics.results.errors import NoChats, NoSuchCollection
from spotthebot.analytics.values.domain.value_table import ValueTable
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.clients import AsyncConversations, Conflict, NotFound
from spotthebot.contracts.analytics.costs import ChatTimesOut
from spotthebot.contracts.analytics.decision_times import DecisionParametersIn
from spotthebot.contracts.analytics.leaderboard import AnnotatorRankOut, LeaderboardEntry
from spotthebot.contracts.analytics.measures import MeasureParametersIn
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.analytics.workforces import AgreementParametersIn
from spotthebot.contracts.annotation.campaigns import ENDED
from spotthebot.contracts.annotation.protocols import GAME, LABELS_OF_SPEAKERS
from spotthebot.contracts.wire import Wire

_CHATS_AT_ONCE = 1000
_ENTRIES = TypeAdapter(tuple[LeaderboardEntry, ...])
_RANKS = TypeAdapter(tuple[AnnotatorRankOut, ...])
_BOTS_BY_NAME = TypeAdapter(dict[str, frozenset[UUID | None]])
_CLUSTERS = TypeAdapter(frozenset[str])


class ResultCache:
    """Caches each result until the campaign's annotations change."""

    def __init__(
        self, kept: KeptResults, campaign_data: CampaignData, conversations: AsyncConversations, threads: ComputeThreads
    ) -> None:
        self._kept = kept
        self._campaign_data = campaign_data
        self._conversations = conversations
        self._threads = threads

    async def get(self, campaign_id: UUID, section: str, request: ParametersIn) -> bytes:
        """Return one of `SECTIONS` as JSON; raises NoSuchCampaign, NothingToAnalyse or OneBotOnly."""
        revision = await self._campaign_data.current_revision(campaign_id, judges=request.judges)
        return await self.get_at(revision, section, request)

    async def get_differences(self, campaign_id: UUID, request: ParametersIn) -> bytes:
        """Return what pooled ranks are made of as JSON; raises NoSuchCampaign, NothingToAnalyse or OneBotOnly."""
        revision = await self._campaign_data.current_revision(campaign_id, judges=request.judges)
        compute = self._section(DIFFERENCES, revision, request)
        return await self._kept_or_computed(revision, "rank-differences", parameters_of(request), compute)

    async def get_at(self, revision: CampaignRevision, section: str, request: ParametersIn) -> bytes:
        """Return one of `SECTIONS` as JSON for one revision; raises NothingToAnalyse or OneBotOnly."""
        kept = await self.find_kept(revision.campaign.id, revision.revision, [section], request)
        return kept[section] if kept else await self.compute_at(revision, section, request)

    async def compute_at(self, revision: CampaignRevision, section: str, request: ParametersIn) -> bytes:
        """Compute one of `SECTIONS`, after `find_kept` did not find it; raises NothingToAnalyse or OneBotOnly."""
        compute, parameters = self._section(SECTIONS[section], revision, request), parameters_of(request)
        return await self._kept.compute(revision.campaign.id, revision.revision, section, parameters, compute)

    async def find_kept(
        self, campaign_id: UUID, revision: str, sections: Collection[str], request: ParametersIn
    ) -> dict[str, bytes]:
        """Return the cached results of these `sections` for a revision, as JSON. Other services get no request.

        A section without a cached result is left out.
        """
        return await self._kept.find(campaign_id, revision, sections, parameters_of(request))

    async def get_bots_by_name(self, revision: CampaignRevision) -> Mapping[str, frozenset[UUID | None]]:
        """Return for each name in a campaign's results the bots with this name.

        In place of a bot, None stands for people and for imported bots.
        """

        async def compute() -> bytes:
            return _BOTS_BY_NAME.dump_json(await self._campaign_data.read_bots_by_name(revision))

        return _BOTS_BY_NAME.validate_json(await self._kept_or_computed(revision, "bots-by-name", {}, compute))

    async def get_document(self, campaign_id: UUID, request: ParametersIn) -> bytes:
        """Return all results of a campaign's analysis as one JSON document."""
        revision = await self._campaign_data.current_revision(campaign_id, judges=request.judges)
        compute = self._of_labels(
            revision, request, lambda labelled, parameters: analyse(labelled, parameters).model_dump_json().encode()
        )
        return await self._kept_or_computed(revision, "analysis", parameters_of(request), compute)

    async def get_interactor_ratings(self, campaign_id: UUID, request: ParametersIn) -> bytes:
        """Return what people said of their chats next to fooling rates, as JSON; raises ChatsNotRated and others."""
        revision = await self._campaign_data.current_revision(campaign_id, judges=request.judges)
        chats = await ChatRatings.of_collections(self._conversations, revision.campaign.collections)

        async def compute() -> bytes:
            parameters = Parameters.of_campaign(request, revision.campaign.seed)
            held = {each: await self._conversations.get_collection(each) for each in chats.revisions}
            rated, labelled = await chats.read(held), await self._campaign_data.read(revision)
            return (await self._threads.run(interactor_ratings, labelled, rated, parameters)).model_dump_json().encode()

        settings = parameters_of(request) | {"ratings": [*chats.revisions.values()]}
        return await self._kept_or_computed(revision, "interactor-ratings", settings, compute)

    async def get_chat_times(self, collection_id: UUID) -> ChatTimesOut:
        """Return how long people chat in a collection. The chats are read each time.

        Raises NoSuchCollection and NoChats.
        """
        try:
            collection = await self._conversations.get_collection(collection_id)
        except NotFound as refused:
            raise NoSuchCollection(collection_id=collection_id) from refused
        try:
            chats = [each async for each in self._conversations.list_chats(collection_id, page_size=_CHATS_AT_ONCE)]
        except (NotFound, Conflict) as refused:
            raise NoChats(collection=collection.name) from refused
        return await self._threads.run(chat_times, collection, chats)

    async def get_leaderboard(self, campaign_id: UUID, *, penalty: float) -> tuple[LeaderboardEntry, ...]:
        """Return the annotators of a game, best first; raises NoSuchCampaign, OtherProtocol and OneKindOnly."""
        revision = await self._campaign_data.current_revision(campaign_id, protocol=GAME)

        async def compute() -> bytes:
            sides = await self._campaign_data.read_game(revision)
            found = await self._threads.run(leaderboard, sides, penalty=penalty)
            return _ENTRIES.dump_json(found)

        body = await self._kept_or_computed(revision, "leaderboard", {"penalty": penalty}, compute)
        return _ENTRIES.validate_json(body)

    async def get_decision_times(self, campaign_id: UUID, request: DecisionParametersIn) -> bytes:
        """Return how long the speakers of a game stay unspotted, as JSON.

        Raises NoSuchCampaign, OtherProtocol and NothingToAnalyse.
        """
        revision = await self._campaign_data.current_revision(campaign_id, protocol=GAME)

        async def compute() -> bytes:
            sides = await self._campaign_data.read_game(revision)
            return (
                (await self._threads.run(decision_times, revision.campaign, sides, request)).model_dump_json().encode()
            )

        return await self._kept_or_computed(revision, "decision-times", request.model_dump(), compute)

    async def get_annotator_ranks(self, campaign_id: UUID) -> tuple[AnnotatorRankOut, ...]:
        """Return the ranks that annotators may see.

        Raises NoSuchCampaign and OtherProtocol; for a campaign that has ended also OneKindOnly.
        """
        revision = await self._campaign_data.current_revision(campaign_id, protocol=GAME)
        campaign = revision.campaign
        # May grow while the game runs. Any conversation may be one that extra annotators get.
        extra = campaign.assignments_needed - campaign.packages * campaign.annotations_per_segment
        more = extra if campaign.units_twice is None else 1
        needed = {"annotations_needed": campaign.annotations_per_segment + more}

        def compute(sides: Sequence[PlayedSide]) -> bytes:
            if campaign.state in ENDED:
                return _RANKS.dump_json(final_ranks(sides))
            return _RANKS.dump_json(ranks_so_far(sides, **needed))

        async def of_game() -> bytes:
            return await self._threads.run(compute, await self._campaign_data.read_game(revision))

        return _RANKS.validate_json(await self._kept_or_computed(revision, "annotator-ranks", needed, of_game))

    async def get_measures(self, campaign_id: UUID, request: ParametersIn) -> bytes:
        """Return the results of every measure of a campaign, with any protocol, as JSON.

        Raises NoSuchCampaign, NothingToMeasure and NothingToAnalyse.
        """
        revision = await self._campaign_data.current_revision(campaign_id, protocol=None, judges=request.judges)
        compute = self._of_measures(revision, request, all_measures)
        return await self._kept_or_computed(revision, "measures", parameters_of(request), compute)

    async def get_judges(self, campaign_id: UUID, request: ParametersIn) -> bytes:
        """Return what each judge of a campaign is worth, as JSON.

        Raises NoSuchCampaign, NothingToMeasure and NothingToAnalyse.
        """
        revision = await self._campaign_data.current_revision(campaign_id, protocol=None)
        of_judges = await self._campaign_data.judges_revision(campaign_id)

        async def compute() -> bytes:
            judges = await self._campaign_data.read_judges(campaign_id)
            read = ReadCollections(self._conversations)
            measured = await self._campaign_data.read_measured(revision, read)
            collections = await self._campaign_data.read_collection_names(revision.campaign, read)
            asks_for_labels = revision.campaign.protocol in LABELS_OF_SPEAKERS
            labelled = await self._campaign_data.read(revision) if asks_for_labels else None
            parameters = Parameters.of_campaign(request, revision.campaign.seed)
            found = await self._threads.run(judges_of, measured, labelled, judges, parameters, collections)
            return found.model_dump_json().encode()

        depends_on = parameters_of(request) | {"labels_of_judges": of_judges}
        return await self._kept_or_computed(revision, "judges", depends_on, compute)

    async def get_agreements(self, campaign_id: UUID, request: AgreementParametersIn) -> bytes:
        """Return how much the annotators of each workforce agree, as JSON; raises the errors of `get_measures`."""
        revision = await self._campaign_data.current_revision(campaign_id, protocol=None, judges=request.judges)
        workforces = await self._campaign_data.read_workforces(campaign_id)
        compute = self._of_measures(
            revision,
            request,
            lambda campaign, parameters: all_agreements(campaign, workforces, parameters, request.dates),
        )
        depends_on = {"workforces": fingerprint([workforces]), "dates": [*map(str, request.dates)]}
        return await self._kept_or_computed(revision, "workforces", parameters_of(request) | depends_on, compute)

    async def get_measure(self, campaign_id: UUID, measure: str, request: MeasureParametersIn) -> bytes:
        """Return the results of one measure as JSON. Raises NoSuchMeasure, and the errors of `get_measures`."""
        revision = await self._campaign_data.current_revision(campaign_id, protocol=None, judges=request.judges)
        return await self.get_measure_at(revision, measure, request)

    async def get_measure_at(self, revision: CampaignRevision, measure: str, request: MeasureParametersIn) -> bytes:
        """Return the results of one measure for one revision, as JSON."""
        compute = self._of_measures(
            revision,
            request,
            lambda campaign, parameters: one_measure(campaign, measure, parameters, request.mixed_model),
        )
        depends_on = parameters_of(request) | {"mixed_model": request.mixed_model}
        return await self._kept_or_computed(revision, f"measure/{measure}", depends_on, compute)

    async def get_clusters(self, campaign_id: UUID, request: ParametersIn) -> frozenset[str]:
        """Return hashes of a campaign's annotators and of the texts that they saw, to find what campaigns share."""
        revision = await self._campaign_data.current_revision(campaign_id, protocol=None, judges=request.judges)

        async def compute() -> bytes:
            return _CLUSTERS.dump_json((await self._campaign_data.read_measured(revision)).clusters)

        body = await self._kept_or_computed(revision, "clusters", {"judges": [*request.judges]}, compute)
        return _CLUSTERS.validate_json(body)

    async def get_values(self, campaign_id: UUID, request: ParametersIn) -> ValueTable:
        """Return every value of every measure. They are read each time: nothing is computed of them.

        Raises NoSuchCampaign, NothingToMeasure and NothingToAnalyse.
        """
        revision = await self._campaign_data.current_revision(campaign_id, protocol=None, judges=request.judges)
        parameters = Parameters.of_campaign(request, revision.campaign.seed)
        return await self._threads.run(all_values, await self._campaign_data.read_measured(revision), parameters)

    def _of_measures(
        self,
        revision: CampaignRevision,
        request: ParametersIn,
        compute: Callable[[MeasuredCampaign, Parameters], Wire],
    ) -> Compute:
        async def of_measures() -> bytes:
            parameters = Parameters.of_campaign(request, revision.campaign.seed)
            campaign = await self._campaign_data.read_measured(revision)
            return (await self._threads.run(compute, campaign, parameters)).model_dump_json().encode()

        return of_measures

    def _section(self, section: Section, revision: CampaignRevision, request: ParametersIn) -> Compute:
        return self._of_labels(
            revision,
            request,
            lambda labelled, parameters: compute_section(section, labelled, parameters).model_dump_json().encode(),
        )

    def _of_labels(
        self,
        revision: CampaignRevision,
        request: ParametersIn,
        compute: Callable[[LabelledCampaign, Parameters], bytes],
    ) -> Compute:
        async def of_labels() -> bytes:
            parameters = Parameters.of_campaign(request, revision.campaign.seed)
            return await self._threads.run(compute, await self._campaign_data.read(revision), parameters)

        return of_labels

    async def _kept_or_computed(
        self,
        revision: CampaignRevision,
        name: str,
        parameters: Mapping[str, object],
        compute: Compute,
    ) -> bytes:
        return await self._kept.get(revision.campaign.id, revision.revision, name, parameters, compute)
