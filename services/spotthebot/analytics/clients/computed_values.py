"""What is measured without people: the scores of `fed`, and the latencies of bots in `conversations`."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from spotthebot.analytics.clients.errors import NoSuchScores, ScoresApart, ScoresUnfinished
from spotthebot.analytics.clients.plugin_measures import PluginMeasure
from spotthebot.analytics.clients.read_collections import ReadCollections
from spotthebot.analytics.stats.annotations import HUMAN
from spotthebot.analytics.values.domain.computed_values import ComputedUnit, ComputedValues
from spotthebot.clients import AsyncConversations, AsyncFed, Conflict, NotFound
from spotthebot.contracts.annotation.measures import Measure
from spotthebot.contracts.conversations.collections import ENDED, CollectionOut
from spotthebot.contracts.fed.score_jobs import ScoreSetOut

FED: Final = "fed"
"""What results call a score set."""
LATENCY: Final = "latency"
"""What results call the latencies, and their measure."""
_PAGE: Final = 1000
_LATENCY_MEASURE: Final = Measure(
    measure=LATENCY,
    question="How many seconds did the bot take for its reply?",
    level="turn",
    kind="scale",
    lowest=None,
    highest=None,
    better="lower",
)


def score_measures(scores: ScoreSetOut) -> dict[str, Measure]:
    """Return a measure for each dimension of a score set, by its name: `fed_` and the dimension."""
    scorer = scores.request.scorer
    names = {f"{FED}_{each.dimension}": each.dimension for each in scores.dimensions}
    return {
        name: Measure(
            measure=name,
            question=f"FED's score of '{dimension}' by {scorer.model} ({scorer.mode})",
            level=scores.request.level,
            kind="scale",
            lowest=None,
            highest=None,
            better="higher",
        )
        for name, dimension in names.items()
    }


class ComputedValueReader:
    """Reads score sets and latencies. Values of people, and of conversations that are not complete, are left out."""

    def __init__(self, conversations: AsyncConversations, fed: AsyncFed) -> None:
        self._conversations = conversations
        self._fed = fed

    async def score_sets(self, subject: str, scores: Iterable[UUID], collections: Iterable[UUID]) -> list[ScoreSetOut]:
        """Return the score sets that a study or a request has, each over one of these collections.

        `subject` says which one, for the errors. Raises NoSuchScores, ScoresUnfinished and ScoresApart.
        """
        known = {*collections}
        return await asyncio.gather(*(self._score_set(subject, each, known) for each in scores))

    async def read_scores(
        self, scores: ScoreSetOut, collections: Mapping[UUID, CollectionOut], shared: ReadCollections
    ) -> ComputedValues:
        """Read the scores of a set."""
        of = [scores.collection_id]
        speakers, turns = await shared.speakers(of), await shared.turns(of)
        units = [
            ComputedUnit(
                each.conversation_id,
                each.bot,
                str(each.turn - turns[each.conversation_id].opening - 1) if scores.request.level == "turn" else "",
                {f"{FED}_{dimension}": score for dimension, score in each.scores.items()},
            )
            async for each in self._fed.list_scores(scores.id, page_size=_PAGE)
            if each.conversation_id in speakers and each.bot != HUMAN
        ]
        return ComputedValues(
            campaign=FED,
            domain=collections[scores.collection_id].domain,
            complete=True,
            measures=score_measures(scores),
            units=units,
            speakers=speakers,
            texts=await shared.text_hashes(of),
        )

    async def read_latencies(
        self, collections: Mapping[UUID, CollectionOut], shared: ReadCollections
    ) -> ComputedValues:
        """Read how long bots took for their replies, as far as these times were taken."""
        speakers = await shared.speakers(collections)
        units = [
            ComputedUnit(each.id, bot, str(turn), {LATENCY: latency / 1000})
            for collection_id in collections
            async for each in self._conversations.stream_latencies(collection_id)
            if each.id in speakers
            for turn, latency in enumerate(each.latencies_ms)
            if latency is not None and (bot := speakers[each.id][turn % 2]) != HUMAN
        ]
        return ComputedValues(
            campaign=LATENCY,
            domain=", ".join(sorted({each.domain for each in collections.values()})),
            complete=all(each.state in ENDED for each in collections.values()),
            measures={LATENCY: _LATENCY_MEASURE},
            units=units,
            speakers=speakers,
            texts=await shared.text_hashes(collections),
        )

    async def read_plugin(
        self, measure: PluginMeasure, collections: Mapping[UUID, CollectionOut], shared: ReadCollections
    ) -> ComputedValues:
        """Compute a plug-in's measure of each reply of bots; raises PluginFails."""
        speakers = await shared.speakers(collections)
        units = []
        for collection_id in collections:
            async for each in self._conversations.stream_texts(collection_id):
                if each.id in speakers:
                    units += await asyncio.to_thread(measure.units_of, each, speakers[each.id])
        return ComputedValues(
            campaign=measure.name,
            domain=", ".join(sorted({each.domain for each in collections.values()})),
            complete=all(each.state in ENDED for each in collections.values()),
            measures={measure.name: measure.measure},
            units=units,
            speakers=speakers,
            texts=await shared.text_hashes(collections),
        )

    async def _score_set(self, subject: str, score_set_id: UUID, collections: set[UUID]) -> ScoreSetOut:
        try:
            found = await self._fed.get_score_set(score_set_id)
        except NotFound as refused:
            raise NoSuchScores(subject=subject, score_set_id=score_set_id) from refused
        except Conflict as refused:
            raise ScoresUnfinished(subject=subject, score_set_id=score_set_id) from refused
        if found.collection_id not in collections:
            raise ScoresApart(subject=subject, score_set_id=score_set_id)
        return found
