"""Draws a campaign's figures: as Vega-Lite specs with the data inside, or rendered."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from spotthebot.analytics import store
from spotthebot.analytics.clients.studies import CampaignRevision, Studies
from spotthebot.analytics.domain.analysis import SECTIONS, joined
from spotthebot.analytics.domain.errors import NoSuchFigure
from spotthebot.analytics.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.figures import FigureParametersIn
from spotthebot.kit.database.sessions import Database

Form = Literal["json", "svg", "pdf", "png"]


class Figures:
    """Draws figures of what the results show."""

    def __init__(self, database: Database, studies: Studies, results: ResultCache, threads: ComputeThreads) -> None:
        self._database = database
        self._studies = studies
        self._results = results
        self._threads = threads

    async def draw(self, campaign_id: UUID, figure: str, form: Form, request: FigureParametersIn) -> bytes:
        """Draw one of `FIGURES`; raises NoSuchFigure, StabilityNotComputed, and the errors of `ResultCache.get`."""
        sections = await self._require(figure)
        if request.revision is not None:
            kept = await self._results.find_kept(campaign_id, request.revision, sections, request)
            if len(kept) == len(sections):
                return await self._draw(campaign_id, figure, form, request, kept)
        return await self.draw_at(await self._studies.current_revision(campaign_id), figure, form, request)

    async def draw_at(
        self,
        revision: CampaignRevision,
        figure: str,
        form: Form,
        request: FigureParametersIn,
        *,
        as_of: datetime | None = None,
    ) -> bytes:
        """Draw a figure of one revision, with the moment that it was that one; raises as `draw` does."""
        results = {each: await self._results.get_at(revision, each, request) for each in await self._require(figure)}
        return await self._draw(revision.campaign.id, figure, form, request, results, as_of=as_of)

    async def _draw(
        self,
        campaign_id: UUID,
        figure: str,
        form: Form,
        request: FigureParametersIn,
        results: Mapping[str, bytes],
        *,
        as_of: datetime | None = None,
    ) -> bytes:
        """Draw a figure of results, by the names of their sections, as JSON."""
        analysis = joined([SECTIONS[name].out.model_validate_json(body) for name, body in results.items()])
        async with self._database.read() as reading:
            stability = await store.analyses.find_stability(reading, campaign_id)

        def draw() -> bytes:
            from spotthebot.analytics.figures import FIGURES, FigureInput, render  # noqa: PLC0415 - see `_sections`

            dated = analysis.model_copy(update={"as_of": as_of})
            spec = FIGURES[figure](FigureInput(dated, stability, request.theme, request.width, request.heading))
            return json.dumps(spec, ensure_ascii=False).encode() if form == "json" else render(spec, form)

        return await self._threads.run(draw)

    async def _require(self, figure: str) -> Sequence[str]:
        known = await asyncio.to_thread(_sections)
        if figure not in known:
            raise NoSuchFigure(figure=figure, known=", ".join(known))
        return known[figure]


def _sections() -> Mapping[str, Sequence[str]]:
    """Import altair and the renderer, 0.3 s of work, with the first figure and not with the service."""
    from spotthebot.analytics.figures import SECTIONS_OF  # noqa: PLC0415 - loaded with the first figure

    return SECTIONS_OF
