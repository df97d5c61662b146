"""The places that pages keep for figures are as high as the figures that `analytics` draws."""

import re

import pytest

from spotthebot.analytics.figures.catalogue import FIGURES
from spotthebot.analytics.figures.charts import FigureInput
from spotthebot.analytics.figures.renderer import render
from spotthebot.contracts.analytics.figures import Width
from spotthebot.web.layout.domain import figure_heights
from tests.factories.analyses import analysis


def test_the_ranking_fits_the_place_that_a_page_keeps_for_it():
    ranked = analysis(("first", "second", "third"))
    widths: tuple[Width, Width] = ("wide", "narrow")
    drawn = [
        render(FIGURES["ranking"](FigureInput(ranked, None, "light", width, heading=False)), "svg").decode()
        for width in widths
    ]
    heights = [float(re.findall(r'<svg[^>]* height="([\d.]+)"', svg)[0]) for svg in drawn]
    assert figure_heights("ranking", 3) == pytest.approx(heights, rel=0.02)
