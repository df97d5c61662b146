"""A report says what its options were: clusters, correction, judges and unit, in captions, methods and settings."""

from dataclasses import replace

import pytest

from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.local.report.analysis_report import AnalysisReport
from spotthebot.local.report.drawings import draw_figure
from spotthebot.local.report.files import write_report
from spotthebot.local.report.findings import findings
from spotthebot.local.report.markdown import escape, markdown_report
from spotthebot.local.report.methods import methods
from spotthebot.local.report.pages import page
from spotthebot.local.report.table import interval
from spotthebot.local.report.tables import tables
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.analyses import analysis, study

TEXTS = (RepeatedTexts(speakers=("HU", "HU"), conversations=4, texts=3),)


@pytest.fixture(scope="module")
def results():
    return analysis()


def _tables(found):
    return {each.key: each for each in tables(found)}


def _cells(table, name):
    at = [column.name for column in table.columns].index(name)
    return [row[at] for row in table.rows]


class TestClusters:
    @pytest.mark.parametrize("clusters", Clusters)
    def test_are_said_of_agreement(self, results, clusters):
        found = results.model_copy(update={"clusters": clusters})
        prose = methods(found, None)
        (agreement,) = (each for each in prose.sentences if each.startswith("Agreement is given"))
        assert clusters.words in agreement
        assert clusters.words in _tables(found)["coefficients"].caption
        # Dyadic clusters [Aronow et al. 2015] are those of units that share an annotator.
        assert ("aronow2015" in {each.key for each in prose.references}) == (clusters in {"both", "annotator"})

    @pytest.mark.parametrize("clusters", Clusters)
    def test_decide_whether_texts_are_one_conversation_and_annotators_a_sample(self, results, clusters):
        found = results.model_copy(update={"clusters": clusters, "repeated_texts": TEXTS})
        prose = " ".join(methods(found, None).sentences)
        assert ("were one conversation" in prose) == (clusters not in {"none", "annotator"})
        assert ("conversations and annotators are a sample" in prose) == (clusters != "fixed_panel")


class TestCorrection:
    @pytest.mark.parametrize(("correction", "hold"), [("holm", True), ("none", False)])
    def test_decides_whether_ranks_hold_at_once(self, results, correction, hold):
        found = results.model_copy(update={"correction": correction})
        caption = draw_figure("ranking", found, None).caption
        assert ("All ranks hold at once" in _tables(found)["ranking"].caption) == hold
        assert ("hold for all bots at once" in caption) == hold
        assert "hold for all bots at once" not in " ".join(findings(found)) or hold


class TestWarnings:
    def test_stand_in_every_form_of_the_report(self, tmp_path):
        changed = {"preliminary": True, "repeated_texts": TEXTS}
        report = AnalysisReport(analysis(kind=AnnotatorKind.SIMULATED).model_copy(update=changed), None)
        write_report(report, tmp_path)
        files = ("report.html", "report.md", "tables.tex", "tables/ranking.tex")
        for text in [(tmp_path / name).read_text() for name in files]:
            for words in (
                "64 annotations of 32 segments of 16 conversations by 5 simulated annotators; domain everyday",
                "All annotators are programs: these results say nothing about how people would annotate.",
                "Repeated texts.",
                "Annotations are still missing.",
            ):
                assert words in text
            assert "1 of 4 conversations between people repeats another one's text" in text.replace("&#39;", "'")
        commented = (tmp_path / "tables" / "ranking.tex").read_text().splitlines()
        assert all(line.startswith("%") for line in commented[:4])


class TestJudges:
    def test_are_named_and_their_corrected_rates_have_an_address(self):
        found = analysis(kind=AnnotatorKind.JUDGE)
        assert dict(AnalysisReport(found, None).settings)["Judges"] == "ann0, ann1, ann2, ann3, ann4"
        assert any("./stb campaigns judges" in each for each in methods(found, None).sentences)

    def test_a_sentence_takes_the_place_of_agreement_where_no_segment_has_two_annotations(self, results):
        whole = study()
        thirds = [each._replace(annotator=f"{each.annotator}-judge") for each in whole.annotations[::2]]
        more = replace(whole, annotations=[*whole.annotations, *thirds])
        found = _tables(analyse(more, Parameters(filter="none", resamples=20)))
        assert "agreement" not in found
        assert "There is no table of agreement on each label" in found["coefficients"].caption
        assert "There is no table" not in _tables(results)["coefficients"].caption


class TestOtherRankings:
    def test_have_ranks_or_the_reason_why_there_are_none(self):
        whole = study(per_pair=8, annotators=10)
        found = _tables(analyse(whole, Parameters(filter="none", resamples=20)))
        rows = dict(zip(_cells(found["sensitivity"], "value"), _cells(found["sensitivity"], "ranks"), strict=True))
        # Games of segments join annotators, of whom there must be 20.
        assert rows["segment"].startswith("none: 10 annotators are too few")
        assert rows["annotations with an unsure label are left out, as labels in correctness"].count(",") == 2
        left = dict(
            zip(_cells(found["without_weak"], "threshold"), _cells(found["without_weak"], "ranks"), strict=True)
        )
        assert (left[0.5], left[0.6]) == ("1 to 3, 1 to 3, 1 to 3",) * 2
        assert left[0.7].startswith("none: all observations are of one annotator")


class TestSettings:
    def test_list_every_option(self, results):
        report = AnalysisReport(results, None)
        shown = {name: str(value) for name, value in report.settings}
        assert shown == {
            "Filter": "none",
            "Judges": "none",
            "Clusters": "both",
            "Correction": "holm",
            "Confidence level": "0.95",
            "Significance level": "0.05",
            "Seed": str(results.seed),
            "Test": "clustered",
            "Unit of a game": "annotation",
            "Weak annotators": "right in less than 0.5, 0.6, 0.7",
            "Replicates": "60 (draws of ranks, permutations)",
        }
        text = page(report, {})
        assert all(f'<th scope="row">{name}</th><td><code>{value}</code>' in text for name, value in shown.items())

    def test_have_no_replicates_without_games(self, results):
        ranking = results.ranking.model_copy(update={"ranked_by": "fooling_rates"})
        assert "Replicates" not in dict(AnalysisReport(results.model_copy(update={"ranking": ranking}), None).settings)


class TestSurvival:
    def test_pairs_stand_in_the_order_of_speakers_and_say_who_passes_longer(self, results):
        table = _tables(results)["log_rank"]
        places = [each.name for each in results.speakers]
        curves = {each.bot: sum(each.survival) for each in results.survival.curves}
        for bot, other, longer in zip(*(_cells(table, name) for name in ("bot", "other", "longer")), strict=True):
            assert places.index(bot) < places.index(other)
            assert longer == max(bot, other, key=lambda name: curves[name])

    def test_statistics_have_names_and_shares_a_note_where_they_are_pooled(self, results):
        found = _tables(results)
        assert "F" in [column.heading for column in found["log_rank"].columns]
        assert "F has 1 and df degrees of freedom." in found["log_rank"].caption
        independent = analyse(study(), Parameters(filter="none", resamples=20, test="score"))
        caption = _tables(independent)["log_rank"].caption
        assert "Chi-squared has 1 degree of freedom." in caption
        assert "pooled over lengths" in found["survival"].caption
        assert "Student's t with df degrees of freedom" in found["cox"].caption


class TestNumbers:
    def test_a_bound_is_a_number_and_no_p_value(self):
        low, high = interval()
        assert [low.shown(0.0002), high.shown(-0.0002), high.shown(None)] == ["0.000", "0.000", "-"]

    def test_a_p_value_in_markdown_has_no_backslash(self, results):
        assert escape("< .001 <b>") == r"< .001 \<b\>"
        assert r"\<" not in markdown_report(AnalysisReport(results, None))

    def test_the_median_time_has_the_interval_that_its_caption_names(self, results):
        table = _tables(results)["time"]
        assert (_cells(table, "low")[-1], _cells(table, "high")[-1]) == (results.time.low, results.time.high)


class TestFigures:
    def test_a_caption_speaks_of_a_band_where_there_is_one(self, results):
        apart = [each.model_copy(update={"cluster": at}) for at, each in enumerate(results.ranking.bots)]
        ranking = results.ranking.model_copy(update={"bots": tuple(apart)})
        shown = (results, results.model_copy(update={"ranking": ranking}))
        assert ["grey band" in draw_figure("ranking", each, None).caption for each in shown] == [True, False]

    def test_bars_end_at_their_bounds(self, results):
        for name in ("ranking", "survival", "features"):
            assert "strokeCap" not in str(draw_figure(name, results, None).spec)
