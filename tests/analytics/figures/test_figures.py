"""Figures: specs are valid, hold the analysis' figures, and render. Charts are made of valid ones alone (altair)."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import altair as alt
import pytest

from spotthebot.analytics import figures
from spotthebot.analytics.figures.appearance import COLOURS, OF_DARK_PAGES
from spotthebot.analytics.figures.catalogue import FIGURES
from spotthebot.analytics.figures.charts import TINT, FigureInput
from spotthebot.analytics.figures.errors import StabilityNotComputed
from spotthebot.analytics.figures.renderer import render
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.analytics.speakers.domain import OKABE_ITO, ON_DARK
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from tests.factories.analyses import analysis, stability, study

AWKWARD = ("<b>&amp;_%$#{}~^\\", "quo\"te's", "a name that goes on and on and on and on and on and on and on")


@pytest.fixture(scope="module")
def shown():
    return FigureInput(analysis(), stability())


@pytest.fixture(scope="module")
def drawn(shown):
    """All figures of one analysis, light and wide."""
    return {name: draw(shown) for name, draw in FIGURES.items()}


@pytest.fixture(scope="module")
def light(drawn):
    """The same as SVG."""
    return {name: render(spec, "svg") for name, spec in drawn.items()}


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


def _scales(spec, channel):
    """The scale of each encoding of speakers by a channel, as (name, mark) pairs."""
    found = []

    def walk(node):
        if isinstance(node, dict):
            encoding = node.get("encoding", {}).get(channel, {}) if isinstance(node.get("encoding"), dict) else {}
            if encoding.get("field") in {"bot", "winner"} and "scale" in encoding:
                found.append(list(zip(encoding["scale"]["domain"], encoding["scale"]["range"], strict=True)))
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(spec)
    return found


def _luminance(colour):
    """Relative luminance as WCAG 2.2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(first, second):
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _over(colour, surface, opacity):
    channels = ((int(colour[at : at + 2], 16), int(surface[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(opacity * above + (1 - opacity) * below):02x}" for above, below in channels)


class TestSpecs:
    @pytest.mark.parametrize("name", FIGURES)
    def test_the_same_results_give_the_same_spec_and_bytes(self, shown, drawn, light, name):
        again = FIGURES[name](shown)
        assert json.dumps(drawn[name]) == json.dumps(again)
        assert light[name] == render(again, "svg")

    @pytest.mark.parametrize("name", FIGURES)
    def test_say_what_they_stand_on_and_fetch_nothing(self, shown, drawn, name):
        counts = shown.analysis.counts
        subtitle = " ".join(drawn[name]["title"]["subtitle"])
        assert f"{counts.annotations} annotations of {counts.annotated_conversations} conversations" in subtitle
        assert '"url"' not in json.dumps(drawn[name])

    @pytest.mark.parametrize("name", FIGURES)
    def test_are_charts_in_a_notebook_as_they_are_asked_for(self, shown, drawn, name):
        stable = [shown.stability] if name == "stability" else []
        plot = getattr(figures, f"plot_{name.replace('-', '_')}")
        chart = plot(shown.analysis, *stable, theme="dark", width="narrow")
        assert " ".join(chart.to_dict()["title"]["text"]) == " ".join(drawn[name]["title"]["text"])
        assert (chart.usermeta["theme"], chart.usermeta["width"]) == ("dark", "narrow")

    def test_hold_the_figures_of_the_analysis(self, shown, drawn):
        ranked = {row["bot"]: row for row in _values(drawn["ranking"]) if "win_rate" in row}
        for bot in shown.analysis.ranking.bots:
            row = ranked[bot.bot]
            assert row["win_rate"] == bot.win_rate.estimate
            assert row["low"] == bot.win_rate.low
            assert row["high"] == bot.win_rate.high
        cells = {(row["bot"], row["other"]): row for row in _values(drawn["win-matrix"]) if "other" in row}
        for pair in shown.analysis.win_rates.pairs:
            assert cells[pair.bot, pair.other]["win_rate"] == pytest.approx(pair.win_rate)
            assert cells[pair.other, pair.bot]["wins"] == pair.losses
        points = {(row["bot"], row["exchanges"]): row for row in _values(drawn["survival"])}
        for curve in shown.analysis.survival.curves:
            bounds = zip(shown.analysis.survival.times, curve.survival, curve.low, curve.high, strict=True)
            for time, *found in bounds:
                assert [points[curve.bot, time][key] for key in ("share", "low", "high")] == found

    def test_rates_by_feature_and_by_length_stand_with_their_intervals(self, shown, drawn):
        rates = {(row["feature"], row["bot"]): row for row in _values(drawn["features"]) if "win_rate" in row}
        for feature in ("fluency", "sensibleness", "specificity"):
            for bot in getattr(shown.analysis.features, feature).bots:
                row = rates[feature, bot.bot]
                assert (row["win_rate"], row["low"], row["high"]) == (bot.win_rate, bot.low, bot.high)
        shares = {(row["measure"], row["bot"], row["exchanges"]): row for row in _values(drawn["segments"])}
        for segment in shown.analysis.segments:
            for bot in segment.bots:
                for measure, found in (
                    ("win rate", bot.win_rate_interval),
                    ("fooling rate", bot.human_share_interval),
                ):
                    row = shares[measure, bot.bot, segment.exchanges]
                    assert (row["share"], row["low"], row["high"]) == (found.estimate, found.low, found.high)
                    assert found.low < found.high

    def test_points_of_one_length_stand_apart_and_nearer_to_it_than_to_any_other(self, drawn):
        rows = [row for row in _values(drawn["survival"]) if "at" in row and row["exchanges"]]
        for length in (2, 3):
            places = {row["bot"]: row["at"] for row in rows if row["exchanges"] == length}
            assert len(set(places.values())) == len(places) == 4
            assert all(abs(place - length) < 0.5 for place in places.values())

    def test_a_pair_without_a_significant_difference_has_no_colour(self, shown):
        pairs = shown.analysis.win_rates.pairs
        changed = tuple(pair.model_copy(update={"significant": at == 0}) for at, pair in enumerate(pairs))
        rates = shown.analysis.win_rates.model_copy(update={"pairs": changed})
        results = shown.analysis.model_copy(update={"win_rates": rates})
        svg = render(FIGURES["win-matrix"](FigureInput(results, None)), "svg").decode()
        cells = r'other: (\w); bot: (\w);[^>]*aria-roledescription="rect mark"[^>]* fill="([^"]+)"'
        fills = {(bot, other): fill for other, bot, fill in re.findall(cells, svg)}
        assert len(fills) == 6
        first = changed[0]
        winner = first.bot if first.win_rate > 0.5 else first.other
        (colour,) = (each.colour for each in results.speakers if each.name == winner)
        for (bot, other), fill in fills.items():
            assert fill == (colour if {bot, other} == {first.bot, first.other} else COLOURS["light"].neutral)

    def test_survival_of_one_annotator_has_no_intervals_and_says_why(self):
        whole = study()
        alone = replace(whole, annotations=[each for each in whole.annotations if each.annotator == "ann0"])
        spec = FIGURES["survival"](FigureInput(analyse(alone, Parameters(filter="none", resamples=20)), None))
        assert "no intervals: all observations are of one annotator" in " ".join(spec["title"]["subtitle"])
        assert all(row.get("low") is None for row in _values(spec))
        assert render(spec, "svg")

    def test_stability_says_how_to_make_it_where_it_is_missing(self, shown):
        with pytest.raises(StabilityNotComputed, match="POST /v1/analyses with kind 'stability'"):
            FIGURES["stability"](FigureInput(shown.analysis, None))

    def test_simulated_and_preliminary_results_are_called_so(self):
        results = analysis(kind=AnnotatorKind.SIMULATED).model_copy(update={"preliminary": True})
        text = json.dumps(FIGURES["ranking"](FigureInput(results, None)))
        assert "5 simulated annotators" in text
        assert "preliminary" in text

    def test_without_a_heading_they_say_neither_title_nor_counts_and_keep_the_notes_on_tests(self, shown, drawn):
        headed, bare = drawn["win-matrix"], FIGURES["win-matrix"](replace(shown, heading=False))
        assert (headed["title"]["text"], bare["title"]["text"]) == (
            ["Who wins against whom"],
            headed["title"]["subtitle"][1:],
        )
        assert alt.Chart.from_dict(bare)
        assert "title" not in FIGURES["ranking"](replace(shown, heading=False))
        assert {key: value for key, value in bare.items() if key != "title"} == {
            key: value for key, value in headed.items() if key != "title"
        }


class TestSpeakers:
    def test_have_one_order_and_one_colour_in_every_figure(self, shown, drawn):
        ranked = [each.bot for each in shown.analysis.ranking.bots]
        colours = {each.name: each.colour for each in shown.analysis.speakers}
        places = [*colours]
        assert places == [*ranked, "HU"]
        for name, spec in drawn.items():
            scales = _scales(spec, "color")
            assert scales or name == "win-matrix"  # none of its pairs differs significantly
            for scale in scales:
                assert dict(scale).items() <= colours.items()
                assert [bot for bot, _ in scale] == sorted(dict(scale), key=places.index)
            assert [each["name"] for each in spec["usermeta"]["speakers"]] == places

    def test_bots_of_one_colour_differ_in_dash_and_shape(self, thirty):
        looks = {(each.colour, each.dash, each.shape) for each in thirty.analysis.speakers}
        assert len(looks) == len(thirty.analysis.speakers) == 31
        spec = FIGURES["survival"](thirty)
        shapes, dashes = (dict(_scales(spec, channel)[0]) for channel in ("shape", "strokeDash"))
        first, seventh = (thirty.analysis.speakers[at].name for at in (0, 6))
        assert shapes[first] != shapes[seventh]
        assert dashes[first] != dashes[seventh]


class TestAppearance:
    @pytest.mark.parametrize("name", FIGURES)
    def test_a_dark_figure_is_the_light_one_in_other_colours(self, shown, light, name):
        dark = render(FIGURES[name](replace(shown, theme="dark")), "svg").decode()
        recoloured = re.sub(
            r'((?:fill|stroke)=")(#\w+)', lambda found: found[1] + OF_DARK_PAGES[found[2]], light[name].decode()
        )
        own_ids = re.compile(r"f[0-9a-f]{8}-")
        assert own_ids.sub("", recoloured) == own_ids.sub("", dark)
        assert OF_DARK_PAGES[COLOURS["light"].surface] in dark

    def test_text_is_read_on_every_page_and_tint(self):
        # WCAG 2.2: 4.5 for text (1.4.3), 3 for what has to be seen (1.4.11). Of Okabe and Ito's colours orange and
        # sky blue have 2.2 on white: shapes, dashes and names stand beside them.
        for colours, palette in zip(COLOURS.values(), (OKABE_ITO, ON_DARK), strict=True):
            for text in (colours.ink, colours.soft):
                assert _contrast(text, colours.surface) >= 4.5
                assert _contrast(text, colours.neutral) >= 4.5
            for colour in palette:
                assert _contrast(colours.ink, _over(colour, colours.surface, TINT)) >= 4.5
                assert _contrast(colour, colours.surface) >= (2.2 if palette is OKABE_ITO else 3)
            assert _contrast(colours.guide, colours.surface) >= 3

    @pytest.mark.parametrize("name", [name for name in FIGURES if name != "stability"])
    def test_thirty_bots_fit_on_a_phone_with_labels_of_12_px(self, thirty, name):
        svg = render(FIGURES[name](replace(thirty, width="narrow")), "svg").decode()
        (width,) = re.findall(r'<svg[^>]* width="([\d.]+)"', svg)
        assert float(width) <= 358  # 390 px without a page's margins

    def test_leaves_names_the_room_that_a_wide_font_needs(self):
        """DejaVu Sans, the font of many Linux browsers, needs .62 of the size for a letter; the renderer's needs .5."""
        shown = FigureInput(analysis(("retrieval", "ngram", "dull")), None)
        svg = render(FIGURES["ranking"](shown), "svg").decode()
        (left,) = re.findall(r'<g fill="none" stroke-miterlimit="10" transform="translate\(([\d.]+),', svg)
        assert float(left) >= int(len("retrieval") * 12 * 0.62)
        assert FIGURES["ranking"](shown)["hconcat"][1]["layer"][0]["encoding"]["x"]["axis"]["titleAnchor"] == "end"
        assert min(float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)) >= 12

    def test_names_too_long_for_their_room_keep_both_ends(self, awkward):
        svg = render(FIGURES["ranking"](replace(awkward, width="narrow")), "svg").decode()
        assert re.search(r">a name[^<]*…[^<]*on<", svg)


class TestRendering:
    @pytest.mark.parametrize("name", FIGURES)
    def test_names_of_any_kind_come_out_escaped(self, awkward, name):
        svg = render(FIGURES[name](awkward), "svg")
        root = ET.fromstring(svg)  # noqa: S314 - our own
        texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
        assert name == "stability" or AWKWARD[1] in texts
        assert not list(root.iter("{http://www.w3.org/2000/svg}b"))

    def test_png_is_a_picture(self, shown):
        assert render(FIGURES["ranking"](shown), "png").startswith(b"\x89PNG")

    def test_pdf_is_a_page_of_vectors_with_fonts_inside(self, shown):
        pdf = render(FIGURES["ranking"](shown), "pdf")
        assert pdf.startswith(b"%PDF-")
        assert pdf.count(b"/Type /Page\n") == 1
        assert b"/FontFile" in pdf
        assert b"/Subtype /Image" not in pdf
