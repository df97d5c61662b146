"""A campaign with measures that no annotator gives: score sets and latencies over its collections."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.clients.computed_values import FED, LATENCY, ComputedValueReader, score_measures
from spotthebot.analytics.clients.plugin_measures import PluginMeasure
from spotthebot.analytics.clients.read_collections import ReadCollections
from spotthebot.analytics.tasks.domain import NamedTask, named_tasks
from spotthebot.analytics.values.domain.computed_values import ComputedValues
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.clients import AsyncConversations, AsyncFed
from spotthebot.contracts.analytics.measures import ComputedMeasuresIn
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.fed.score_jobs import ScoreSetOut


@dataclass(frozen=True)
class MeasuredRevision:
    """A campaign in its current state, with score sets, perhaps latencies, and plug-ins' measures of its `collections`.

    `added` says which ones. It changes with the collections if there are latencies or plug-ins.
    """

    campaign: CampaignRevision
    scores: tuple[ScoreSetOut, ...]
    latency: bool
    plugins: tuple[PluginMeasure, ...]
    collections: Mapping[UUID, CollectionOut]
    added: str

    def named(self, questions: Iterable[str]) -> tuple[NamedTask, ...]:
        """Return the score sets, the latencies, then the plug-ins, with the names of their measures.

        The measures that annotators were asked for, `questions`, keep their names.
        """
        sources = [*((FED, [*score_measures(each)]) for each in self.scores)]
        sources += [(LATENCY, [LATENCY])] if self.latency else []
        sources += [(each.name, [each.name]) for each in self.plugins]
        # Like the measures of a study's chats, which are last.
        return named_tasks(self.campaign.campaign.name, sources, [*questions])[:-1]


class CampaignMeasureReader:
    """Reads campaigns with the score sets and latencies that a request names."""

    def __init__(self, conversations: AsyncConversations, fed: AsyncFed, campaigns: CampaignData) -> None:
        self._conversations = conversations
        self._campaigns = campaigns
        self._computed = ComputedValueReader(conversations, fed)

    async def current(
        self, campaign_id: UUID, request: ComputedMeasuresIn, *, judges: Sequence[str]
    ) -> MeasuredRevision:
        """Return a campaign with its revision, with the labels of `judges` next to people's.

        Raises NoSuchCampaign, NoSuchScores, ScoresUnfinished, ScoresApart, NoSuchPlugin and PluginFails.
        """
        campaign = await self._campaigns.get_campaign(campaign_id, protocol=None)
        shown = campaign.collections
        scores, *listed = await asyncio.gather(
            self._computed.score_sets(f"The request for '{campaign.name}'", request.scores, shown),
            *(self._conversations.get_collection(each) for each in shown),
        )
        collections = {each.id: each for each in listed}
        revision = await self._campaigns.revision_of(campaign, collections, judges=judges)
        plugins = tuple([await asyncio.to_thread(PluginMeasure, each) for each in request.plugins])
        timed = [(each.state, each.complete) for each in listed] if request.latency or plugins else None
        brought = [(each.name, each.distribution) for each in plugins]
        added = json.dumps([[str(each.id) for each in scores], timed, request.latency, brought])
        return MeasuredRevision(revision, tuple(scores), request.latency, plugins, collections, added)

    async def read(self, revision: MeasuredRevision) -> tuple[MeasuredCampaign, list[ComputedValues]]:
        """Read the campaign, and the values of its score sets and latencies in the order of `named`."""
        shared = ReadCollections(self._conversations)
        campaign = await self._campaigns.read_measured(revision.campaign, shared)
        found = [await self._computed.read_scores(each, revision.collections, shared) for each in revision.scores]
        if revision.latency:
            found.append(await self._computed.read_latencies(revision.collections, shared))
        found += [await self._computed.read_plugin(each, revision.collections, shared) for each in revision.plugins]
        return campaign, found
