"""A report in a browser: on a phone, on a desk, in light and dark."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from spotthebot.analytics.figures.appearance import COLOURS
from spotthebot.analytics.measures.domain.measures import all_measures, one_measure
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.contracts.annotation.measures import HEADLINE
from spotthebot.local.report.analysis_report import AnalysisReport
from spotthebot.local.report.files import write_report
from spotthebot.local.report.study_report import MeasuresReport
from tests.factories.analyses import analysis, stability
from tests.factories.browsing import DESKTOP, PHONE, SMALLEST, barriers, overflow
from tests.factories.measured_campaigns import answered, measured_campaign
from tests.factories.study_reports import study_report

LABELS = """[...document.querySelectorAll("figure svg")].filter(svg => svg.checkVisibility()).map(svg => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const sizes = [...svg.querySelectorAll("text")].map(text => parseFloat(getComputedStyle(text).fontSize));
  return scale * Math.min(...sizes);
})"""
"""The smallest text of each figure that is seen, in pixels of the screen."""
CUT = """[...document.querySelectorAll("figure")].flatMap(figure => {
  const { left, right } = figure.getBoundingClientRect();
  const texts = [...figure.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
  return texts.filter(([, at]) => at.width > 0 && (at.left < left || at.right > right)).map(([text]) => text);
})"""
"""The texts that stand out of their figure."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the report of three bots, one of them with a long name; returns its address."""
    folder: Path = tmp_path_factory.mktemp("report")
    names = ("A", "B", "blender-400M-distill-finetuned-on-dailydialog")
    write_report(AnalysisReport(analysis(names), stability()), folder)
    return (folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def measures_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the report of two bots by ratings; returns its address."""
    folder: Path = tmp_path_factory.mktemp("measures")
    campaign = measured_campaign(
        "dialogue_likert",
        {1: ("ada", "blender-400M-distill-finetuned-on-dailydialog")},
        [answered(1, annotator, {"quality": {"A": 5, "B": 2}, "engaging": {"A": 4, "B": 2}}) for annotator in "ab"],
    )
    request = Parameters(filter="none")
    write_report(MeasuresReport(one_measure(campaign, HEADLINE, request), all_measures(campaign, request)), folder)
    return (folder / "report.html").as_uri()


@pytest.fixture
async def page(chromium: Browser) -> Page:
    return await chromium.new_page()


class TestReportPage:
    async def test_has_no_barrier_and_no_sideways_scrolling(self, page: Page, report: str):
        await page.goto(report)
        for width, height in (DESKTOP, PHONE, SMALLEST):
            await page.set_viewport_size({"width": width, "height": height})
            assert await overflow(page) == 0
            labels = await page.evaluate(LABELS)
            assert await page.evaluate(CUT) == []
            assert len(labels) == 6
            assert min(labels) >= 12
        assert await barriers(page) == []

    async def test_recolours_its_figures_where_the_reader_prefers_dark(self, page: Page, report: str):
        await page.goto(report)
        for scheme, colours in COLOURS.items():
            await page.emulate_media(color_scheme=scheme)
            paper = "getComputedStyle(document.querySelector('figure svg > rect')).fill"
            red, green, blue = (int(colours.surface[at : at + 2], 16) for at in (1, 3, 5))
            assert await page.evaluate(paper) == f"rgb({red}, {green}, {blue})"


class TestMeasuresReportPage:
    async def test_has_no_barrier_and_no_sideways_scrolling(self, page: Page, measures_report: str):
        await page.goto(measures_report)
        await page.get_by_text("engaging", exact=True).last.click()
        for width, height in (DESKTOP, PHONE, SMALLEST):
            await page.set_viewport_size({"width": width, "height": height})
            assert await overflow(page) == 0
        assert await barriers(page) == []


class TestStudyReportPage:
    async def test_has_no_barrier_and_no_sideways_scrolling(self, page: Page, tmp_path: Path):
        write_report(study_report(("ada", "blender-400M-distill-finetuned-on-dailydialog")), tmp_path)
        await page.goto((tmp_path / "report.html").as_uri())
        for summary in await page.locator("summary").all():
            await summary.click()
        for width, height in (DESKTOP, PHONE, SMALLEST):
            await page.set_viewport_size({"width": width, "height": height})
            assert await overflow(page) == 0
            labels = await page.evaluate(LABELS)
            assert await page.evaluate(CUT) == []
            assert len(labels) == 4
            assert min(labels) >= 12
        assert await barriers(page) == []
