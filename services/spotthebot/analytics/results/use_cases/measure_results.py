"""The results of a campaign by its measures, also by those that a request adds: score sets and latencies."""

from uuid import UUID

from spotthebot.analytics.clients.campaign_measures import CampaignMeasureReader, MeasuredRevision
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.kept_results.use_cases.kept_results import Compute, KeptResults, parameters_of
from spotthebot.analytics.measures.domain.measures import one_measure
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.computed_measures import (
    NamedValues,
    computed_measure,
    measures_with,
    values_with,
)
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.analytics.values.domain.value_table import ValueTable
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.contracts.analytics.measures import (
    CampaignMeasureIn,
    CampaignMeasuresIn,
    ComputedMeasuresIn,
    MeasureOut,
)
from spotthebot.contracts.analytics.provenance import ParametersIn


class MeasureResults:
    """Returns results by measure. Without score sets and latencies they are those of `ResultCache`."""

    def __init__(
        self, cache: ResultCache, kept: KeptResults, reader: CampaignMeasureReader, threads: ComputeThreads
    ) -> None:
        self._cache = cache
        self._kept = kept
        self._reader = reader
        self._threads = threads

    async def get_measures(self, campaign_id: UUID, request: CampaignMeasuresIn) -> bytes:
        """Return the results of every measure of a campaign as JSON.

        Raises NoSuchCampaign, NothingToMeasure, NothingToAnalyse, NoSuchScores, ScoresUnfinished and ScoresApart.
        """
        if not _adds(request):
            return await self._cache.get_measures(campaign_id, request)
        revision = await self._reader.current(campaign_id, request, judges=request.judges)

        async def compute() -> bytes:
            campaign, computed = await self._read(revision)
            parameters = _parameters(revision, request)
            found = await self._threads.run(measures_with, campaign, computed, parameters)
            return found.model_dump_json().encode()

        return await self._kept_or_computed(revision, "measures", parameters_of(request), compute)

    async def get_measure(self, campaign_id: UUID, measure: str, request: CampaignMeasureIn) -> bytes:
        """Return the results of one measure as JSON; raises NoSuchMeasure and the errors of `get_measures`."""
        if not _adds(request):
            return await self._cache.get_measure(campaign_id, measure, request)
        revision = await self._reader.current(campaign_id, request, judges=request.judges)

        async def compute() -> bytes:
            campaign, computed = await self._read(revision)
            parameters = _parameters(revision, request)

            def summarise() -> MeasureOut:
                places = {called: (each, own) for each in computed for own, called in each.names.measures.items()}
                if measure in places:
                    return computed_measure(campaign, *places[measure], parameters, request.mixed_model)
                return one_measure(campaign, measure, parameters, request.mixed_model, others=places)

            return (await self._threads.run(summarise)).model_dump_json().encode()

        depends_on = parameters_of(request) | {"mixed_model": request.mixed_model}
        return await self._kept_or_computed(revision, f"measure/{measure}", depends_on, compute)

    async def get_values(self, campaign_id: UUID, request: CampaignMeasuresIn) -> ValueTable:
        """Return every value of every measure, read now; raises the errors of `get_measures`."""
        if not _adds(request):
            return await self._cache.get_values(campaign_id, request)
        revision = await self._reader.current(campaign_id, request, judges=request.judges)
        campaign, computed = await self._read(revision)
        return await self._threads.run(values_with, campaign, computed, _parameters(revision, request))

    async def _kept_or_computed(
        self, revision: MeasuredRevision, name: str, parameters: dict[str, object], compute: Compute
    ) -> bytes:
        # The campaign's own revision: a result of another one would remove its results without additions.
        own = revision.campaign
        depends_on = parameters | {"added": revision.added}
        return await self._kept.get(own.campaign.id, own.revision, name, depends_on, compute)

    async def _read(self, revision: MeasuredRevision) -> tuple[MeasuredCampaign, list[NamedValues]]:
        campaign, found = await self._reader.read(revision)
        named = revision.named(campaign.questions)
        return campaign, [NamedValues(names, values) for names, values in zip(named, found, strict=True)]


def _adds(request: ComputedMeasuresIn) -> bool:
    return bool(request.scores or request.plugins) or request.latency


def _parameters(revision: MeasuredRevision, request: ParametersIn) -> Parameters:
    return Parameters.of_campaign(request, revision.campaign.campaign.seed)
