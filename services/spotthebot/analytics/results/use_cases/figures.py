"""Draws a campaign's figures, as Vega-Lite specs with the data inside, or as SVG, PDF or PNG."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from spotthebot.analytics.analyses import store as analyses_store
from spotthebot.analytics.clients.campaign_data import CampaignData, CampaignRevision
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.results.domain.analysis import SECTIONS, joined
from spotthebot.analytics.results.errors import NoSuchFigure
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics.figures import FigureParametersIn
from spotthebot.kit.database.sessions import Database

Form = Literal["json", "svg", "pdf", "png"]


class Figures:
    """Draws figures from results."""

    def __init__(
        self, database: Database, campaign_data: CampaignData, results: ResultCache, threads: ComputeThreads
    ) -> None:
        self._database = database
        self._campaign_data = campaign_data
        self._results = results
        self._threads = threads

    async def draw(self, campaign_id: UUID, figure: str, form: Form, request: FigureParametersIn) -> bytes:
        """Draw one of `FIGURES`; raises NoSuchFigure, StabilityNotComputed, and the errors of `ResultCache.get`."""
        sections = await self._require(figure)
        if request.revision is not None:
            kept = await self._results.find_kept(campaign_id, request.revision, sections, request)
            if len(kept) == len(sections):
                return await self._draw(campaign_id, figure, form, request, kept)
        return await self.draw_at(
            await self._campaign_data.current_revision(campaign_id, judges=request.judges), figure, form, request
        )

    async def draw_at(
        self,
        revision: CampaignRevision,
        figure: str,
        form: Form,
        request: FigureParametersIn,
        *,
        as_of: datetime | None = None,
    ) -> bytes:
        """Draw a figure of one revision of a campaign; `as_of` is the time of the revision.

        Raises the errors of `draw`.
        """
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
        """Draw a figure. `results` has the JSON result of each of its sections, by the name of the section."""
        analysis = joined([SECTIONS[name].out.model_validate_json(body) for name, body in results.items()])
        async with self._database.read() as reading:
            stability = await analyses_store.find_stability(reading, campaign_id)

        def draw() -> bytes:
            from spotthebot.analytics.figures.catalogue import FIGURES  # noqa: PLC0415 - see `_sections`
            from spotthebot.analytics.figures.charts import FigureInput  # noqa: PLC0415 - see `_sections`
            from spotthebot.analytics.figures.renderer import render  # noqa: PLC0415 - see `_sections`

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
    """Return the sections of each figure. The first call imports altair and the renderer, which takes 0.3 s."""
    from spotthebot.analytics.figures.catalogue import SECTIONS_OF  # noqa: PLC0415 - loaded with the first figure

    return SECTIONS_OF
