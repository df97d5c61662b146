"""Results pooled over campaigns, from the campaigns' own results, which are kept."""

import asyncio

from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.analytics.pooled.domain import pool
from spotthebot.analytics.pooled.errors import CampaignHasNone, ProtocolsDiffer
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.pooled import PooledOut, PooledParametersIn
from spotthebot.kit.errors import Conflict


class PooledResults:
    """Pools a result whenever it is requested; the campaigns' results come from the cache."""

    def __init__(self, campaign_data: CampaignData, results: ResultCache) -> None:
        self._campaign_data = campaign_data
        self._results = results

    async def get(self, request: PooledParametersIn) -> PooledOut:
        """Return one result, pooled; raises ProtocolsDiffer, and CampaignHasNone if a campaign lacks the result."""
        found = [await self._campaign_data.get_campaign(each, protocol=None) for each in request.campaigns]
        first = found[0]
        for other in found:
            if (other.protocol, other.protocol_version) != (first.protocol, first.protocol_version):
                raise ProtocolsDiffer(
                    campaign=first.name,
                    protocol=f"{first.protocol} {first.protocol_version}",
                    other=other.name,
                    another=f"{other.protocol} {other.protocol_version}",
                )
        own = {"measures": self._results.get_measures, "ranking": self._results.get_differences}
        read = own.get(request.result, lambda each, asked: self._results.get(each, asked.result, asked))
        bodies = []
        for each, campaign in zip(request.campaigns, found, strict=True):
            try:
                bodies.append(await read(each, request))
            except Conflict as refused:
                raise CampaignHasNone(campaign=campaign.name, reason=refused.detail) from refused
        clusters = [await self._results.get_clusters(each, request) for each in request.campaigns]
        shared = len(frozenset().union(*clusters)) < sum(map(len, clusters))
        shared = shared or await self._campaign_data.share_people(request.campaigns)
        protocol = f"{first.protocol} {first.protocol_version}"
        return await asyncio.to_thread(pool, request.result, protocol, bodies, shared=shared)
