"""Figures: specs are valid (altair checks them against Vega-Lite's schema), hold the analysis' figures, and render."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from spotthebot.analytics import figures
from spotthebot.analytics.domain.analysis import analyse
from spotthebot.analytics.domain.parameters import Parameters
from spotthebot.analytics.figures import FIGURES, FigureInput, StabilityNotComputed, render
from tests.factories.analyses import analysis, stability, study

AWKWARD = ("<b>&amp;_%$#{}~^\\", "quo\"te's", "a name that goes on and on and on and on and on and on and on")


@pytest.fixture(scope="module")
def shown():
    return FigureInput(analysis(), stability())


@pytest.fixture(scope="module")
def awkward():
    return FigureInput(analysis(AWKWARD), stability())


@pytest.fixture(scope="module")
def thirty():
    return FigureInput(analysis(tuple(f"bot-{at:02}" for at in range(30)), per_pair=1), None)


def _values(spec):
    """All rows of data in a spec, wherever altair put them."""
    rows = [row for dataset in spec.get("datasets", {}).values() for row in dataset]

    def walk(node):
        if isinstance(node, dict):
            rows.extend(node.get("values", []) if isinstance(node.get("values"), list) and "mark" not in node else [])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(spec)
    return [row for row in rows if isinstance(row, dict)]


class TestSpecs:
    @pytest.mark.parametrize("name", FIGURES)
    def test_the_same_results_give_the_same_spec_and_bytes(self, shown, name):
        first, again = (FIGURES[name](shown) for _ in range(2))
        assert json.dumps(first) == json.dumps(again)
        assert render(first, "svg") == render(again, "svg")

    @pytest.mark.parametrize("name", FIGURES)
    def test_say_what_they_stand_on_and_fetch_nothing(self, shown, name):
        spec = FIGURES[name](shown)
        counts = shown.analysis.counts
        assert f"{counts.annotations} annotations of {counts.annotated_conversations} conversations" in json.dumps(spec)
        assert '"url"' not in json.dumps(spec)

    @pytest.mark.parametrize("name", FIGURES)
    def test_are_charts_in_a_notebook(self, shown, name):
        stable = [shown.stability] if name == "stability" else []
        chart = getattr(figures, f"plot_{name.replace('-', '_')}")(shown.analysis, *stable)
        assert chart.to_dict() == FIGURES[name](shown)

    def test_hold_the_figures_of_the_analysis(self, shown):
        ranked = {row["bot"]: row for row in _values(FIGURES["ranking"](shown)) if "win_rate" in row}
        for bot in shown.analysis.ranking.bots:
            row = ranked[bot.bot]
            assert (row["win_rate"], row["low"], row["high"]) == (
                bot.win_rate.estimate,
                bot.win_rate.low,
                bot.win_rate.high,
            )
        cells = {(row["bot"], row["other"]): row for row in _values(FIGURES["win-matrix"](shown)) if "other" in row}
        for pair in shown.analysis.win_rates.pairs:
            assert cells[pair.bot, pair.other]["win_rate"] == pytest.approx(pair.win_rate)
            assert cells[pair.other, pair.bot]["wins"] == pair.losses
        points = {(row["bot"], row["exchanges"]): row["survival"] for row in _values(FIGURES["survival"](shown))}
        for curve in shown.analysis.survival.curves:
            for time, value in zip(shown.analysis.survival.times, curve.survival, strict=True):
                assert points[curve.bot, time] == value

    def test_survival_of_one_annotator_has_no_bands_and_says_why(self):
        whole = study()
        alone = replace(whole, annotations=[each for each in whole.annotations if each.annotator == "ann0"])
        spec = FIGURES["survival"](FigureInput(analyse(alone, Parameters(filter="none", resamples=20)), None))
        assert "no bands: all is of one annotator" in json.dumps(spec)
        assert '"area"' not in json.dumps(spec)
        assert render(spec, "svg")

    def test_stability_says_how_to_make_it_where_it_is_missing(self, shown):
        with pytest.raises(StabilityNotComputed, match="POST /v1/analyses with kind 'stability'"):
            FIGURES["stability"](FigureInput(shown.analysis, None))

    def test_simulated_and_preliminary_results_are_called_so(self):
        results = analysis(prefix="simulated-").model_copy(update={"preliminary": True})
        text = json.dumps(FIGURES["ranking"](FigureInput(results, None)))
        assert "5 simulated annotators" in text
        assert "preliminary" in text


class TestRendering:
    @pytest.mark.parametrize("name", FIGURES)
    def test_names_of_any_kind_come_out_escaped(self, awkward, name):
        svg = render(FIGURES[name](awkward), "svg")
        root = ET.fromstring(svg)  # noqa: S314 - our own
        texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
        assert name == "stability" or AWKWARD[1] in texts
        assert not list(root.iter("{http://www.w3.org/2000/svg}b"))

    @pytest.mark.parametrize("name", [name for name in FIGURES if name != "stability"])
    def test_thirty_bots_fit(self, thirty, name):
        assert render(FIGURES[name](thirty), "svg").startswith(b"<svg")

    def test_png_is_a_picture(self, shown):
        assert render(FIGURES["ranking"](shown), "png").startswith(b"\x89PNG")

    def test_pdf_is_a_page_of_vectors_with_fonts_inside(self, shown):
        pdf = render(FIGURES["ranking"](shown), "pdf")
        assert pdf.startswith(b"%PDF-")
        assert pdf.count(b"/Type /Page\n") == 1
        assert b"/FontFile" in pdf
        assert b"/Subtype /Image" not in pdf
