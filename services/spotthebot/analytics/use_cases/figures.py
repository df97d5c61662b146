"""Draws a campaign's figures: as Vega-Lite specs with the data inside, or rendered."""

import asyncio
import json
from typing import Literal
from uuid import UUID

from spotthebot.analytics import store
from spotthebot.analytics.domain.errors import NoSuchFigure
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.figures import FIGURES, FigureInput, render
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.kit.database import Database

Form = Literal["json", "svg", "png"]


async def draw_figure(
    database: Database, results: ResultCache, campaign_id: UUID, figure: str, form: Form, parameters: Parameters
) -> bytes:
    """Draw one of `FIGURES`; raises NoSuchFigure, and the errors of `ResultCache.get`."""
    if figure not in FIGURES:
        raise NoSuchFigure(figure=figure, known=", ".join(FIGURES))
    analysis = await results.get_analysis(campaign_id, parameters)
    async with database.read() as reading:
        stability = await store.analyses.find_stability(reading, campaign_id)
    shown = FigureInput(analysis, stability)

    def draw() -> bytes:
        spec = FIGURES[figure](shown)
        return json.dumps(spec, ensure_ascii=False).encode() if form == "json" else render(spec, form)

    return await asyncio.to_thread(draw)
