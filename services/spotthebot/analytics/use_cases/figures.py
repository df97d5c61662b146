"""Draws a campaign's figures: as Vega-Lite specs with the data inside, or rendered."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from spotthebot.analytics import store
from spotthebot.analytics.domain.errors import NoSuchFigure
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.contracts.analytics import FigureParametersIn
from spotthebot.kit.database import Database

if TYPE_CHECKING:
    from spotthebot.analytics.figures import FigureInput, Spec

Form = Literal["json", "svg", "pdf", "png"]


async def draw_figure(
    database: Database, results: ResultCache, campaign_id: UUID, figure: str, form: Form, request: FigureParametersIn
) -> bytes:
    """Draw one of `FIGURES`; raises NoSuchFigure, and the errors of `ResultCache.get`."""
    figures = await asyncio.to_thread(_figures)
    if figure not in figures:
        raise NoSuchFigure(figure=figure, known=", ".join(figures))
    analysis = await results.get_analysis(campaign_id, request)
    async with database.read() as reading:
        stability = await store.analyses.find_stability(reading, campaign_id)

    def draw() -> bytes:
        from spotthebot.analytics.figures import FigureInput, render  # noqa: PLC0415 - see `_figures`

        spec = figures[figure](FigureInput(analysis, stability, request.theme, request.width, request.heading))
        return json.dumps(spec, ensure_ascii=False).encode() if form == "json" else render(spec, form)

    return await asyncio.to_thread(draw)


def _figures() -> "Mapping[str, Callable[[FigureInput], Spec]]":
    """Import altair and the renderer, 0.3 s of work, with the first figure and not with the service."""
    from spotthebot.analytics.figures import FIGURES  # noqa: PLC0415 - loaded with the first figure

    return FIGURES
