"""The report of a campaign by ratings, comparisons or behaviours, from results worked by hand."""

import csv
import doctest
import io
import json
import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from spotthebot.analytics.measures.domain.measures import all_agreements, all_measures, one_measure
from spotthebot.analytics.measures.domain.workforces import Workforce
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.stats.mixed_models.linear import linear_mixed_model
from spotthebot.analytics.values.domain.values import MeasuredCampaign
from spotthebot.contracts.analytics.measures import MeasuredPair, MeasuresOut
from spotthebot.contracts.analytics.mixed_models import BotEffect, EffectDifference, MixedModel, VarianceComponent
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.measures import HEADLINE, ShownTurns
from spotthebot.local.report import bibliography
from spotthebot.local.report.files import as_csv, write_report
from spotthebot.local.report.findings import measure_finding
from spotthebot.local.report.latex import latex_table
from spotthebot.local.report.mixed_model_tables import mixed_model_tables
from spotthebot.local.report.pages import page
from spotthebot.local.report.study_report import MeasuresReport
from spotthebot.local.report.table import Table
from spotthebot.local.report.workforce_tables import workforce_tables
from tests.analytics.stats.mixed_model_data import small_study
from tests.factories.measured_campaigns import answered, measured_campaign

RATINGS = [("ann", 1, 5, 2), ("ben", 1, 4, 2), ("ann", 2, 1, 4), ("ben", 2, 3, 5), ("ann", 3, 5, 5), ("ben", 3, 3, 4)]
"""Annotator, conversation, and the quality of its sides A and B."""


def rated(
    names: tuple[str, str] = ("ada", "bob"), kind: AnnotatorKind = AnnotatorKind.PERSON, **more: Any
) -> MeasuredCampaign:
    """Rate the quality of two bots and of people; `engaging` is rated in the first conversation alone."""
    first, second = names
    return measured_campaign(
        "dialogue_likert",
        {1: (first, second), 2: (second, first), 3: (first, "HU")},
        [
            answered(
                at,
                annotator,
                {"quality": {"A": a, "B": b}} | ({"engaging": {"A": 1, "B": b}} if at == 1 else {}),
                kind=kind,
            )
            for annotator, at, a, b in RATINGS
        ],
        **more,
    )


def report_of(campaign: MeasuredCampaign, **parameters: Any) -> MeasuresReport:
    request = Parameters(filter="none", resamples=20, **parameters)
    return MeasuresReport(one_measure(campaign, HEADLINE, request), all_measures(campaign, request))


def preferred() -> MeasuredCampaign:
    """Compare four dialogues in two pairs: ada wins two of three decided games."""
    return measured_campaign(
        "comparative",
        {1: ("ada", "pal"), 2: ("bob", "pal"), 3: ("HU", "ada"), 4: ("HU", "bob")},
        [
            answered(1, "ann", {"quality": "A"}, right=2),
            answered(4, "ann", {"quality": "B"}, right=3),
            answered(1, "ben", {"quality": "B"}, right=2),
            answered(4, "ben", {"quality": "tie"}, right=3),
        ],
    )


def table_of(report: MeasuresReport, key: str) -> Table:
    return next(each for each in report.tables if each.key == key)


def rows_of(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(table))))


@pytest.fixture(scope="module")
def report() -> MeasuresReport:
    return report_of(rated())


class TestWorkforces:
    def test_have_a_table_only_where_there_are_several(self):
        campaign, request = rated(), Parameters(filter="none", resamples=20)
        base, names = report_of(campaign), sorted({each.annotator for each in campaign.annotations})
        for frontends, expected in ((["lab"] * len(names), 0), (["lab", *["panel"] * (len(names) - 1)], 3)):
            workforces = {name: Workforce(each, None) for name, each in zip(names, frontends, strict=True)}
            agreements = all_agreements(campaign, workforces, request)
            report = replace(base, workforces=agreements)
            tables = [each for each in report.tables if each.key == "workforces"]
            assert len(tables) == (expected > 0)
            for table in tables:
                shown = rows_of(table)
                assert len({row["frontend"] for row in shown}) == expected
                alpha = next(row["alpha"] for row in shown if (row["frontend"], row["measure"]) == ("all", "quality"))
                assert float(alpha) == base.headline.alpha.estimate

    def test_tables_of_agreement_split_periods(self):
        campaign, request = rated(), Parameters(filter="none", resamples=20)
        workforces = {each.annotator: Workforce("lab", None) for each in campaign.annotations}
        agreements = all_agreements(campaign, workforces, request, [date(2026, 11, 1)])
        (table,) = workforce_tables(agreements)
        shown = [row["period"] for row in rows_of(table)]
        assert [*dict.fromkeys(shown)] == [*dict.fromkeys(each.period for each in agreements.workforces)]
        assert shown[0] == "all"
        assert any("2026-11-01" in each for each in shown)


class TestMixedModels:
    def test_are_in_the_report_where_they_were_requested(self, report: MeasuresReport):
        assert not any(each.key.startswith("mixed_model") for each in report.tables)
        assert "mixed_models" not in report.document
        fit = linear_mixed_model(small_study())
        model = MixedModel.of(
            fit,
            bots=tuple(map(BotEffect.of, fit.bots)),
            pairs=tuple(map(EffectDifference.of, fit.pairs)),
            components=tuple(map(VarianceComponent.of, fit.components)),
        )
        tables = {each.key: each for each in mixed_model_tables({"quality": model}, ["B", "A"], 0.95)}
        found = rows_of(tables["mixed_models"])
        assert [row["bot"] for row in found] == ["B", "A"]  # in the given order
        assert {row["bot"]: float(row["estimate"]) for row in found} == {each.bot: each.estimate for each in fit.bots}
        (pair,) = rows_of(tables["mixed_model_pairs"])
        assert (float(pair["estimate"]), float(pair["p_value"])) == (fit.pairs[0].estimate, fit.pairs[0].p_value)
        assert len(rows_of(tables["mixed_model_deviations"])) == 3
        assert "it is not the suite's inference" in tables["mixed_models"].caption

    def test_stand_on_the_page_and_say_why_there_is_no_fit(self, report: MeasuresReport):
        """Three dialogues of two bots and people: nothing tells dialogues from bots."""
        model = one_measure(rated(), "quality", Parameters(filter="none", resamples=20), "linear").mixed_model
        assert model is not None
        found = replace(report, mixed_models={"quality": model})
        assert {row["reason"] for row in rows_of(table_of(found, "mixed_models"))} == {bot.reason for bot in model.bots}
        assert all(bot.reason for bot in model.bots)
        assert "Mixed models, a published form" in page(found, {})
        assert "it is not the suite&#39;s inference" in page(found, {})
        assert found.document["mixed_models"] == {"quality": model.model_dump(mode="json")}


class TestTables:
    def test_rank_bots_by_the_headline_and_show_people_without_a_rank(self, report: MeasuresReport):
        """ada (5 + 4 + 4 + 5 + 5 + 3) / 6, bob (2 + 2 + 1 + 3) / 4, people (5 + 4) / 2."""
        ada, bob, people = rows_of(table_of(report, "ranking"))
        assert [(row["bot"], round(float(row["estimate"]), 3), row["n"]) for row in (ada, bob, people)] == [
            ("ada", 4.333, "6"),
            ("bob", 2.0, "4"),
            ("HU", 4.5, "2"),
        ]
        assert (ada["rank_low"], people["rank_low"], people["rank_high"], people["cluster"]) == ("1", "", "", "")
        assert [column.heading for column in table_of(report, "ranking").columns][:3] == ["Speaker", "Cluster", "Mean"]

    def test_show_the_difference_of_each_pair_with_its_test(self, report: MeasuresReport):
        (pair,) = rows_of(table_of(report, "pairs"))
        assert (pair["bot"], pair["other"], round(float(pair["estimate"]), 3)) == ("ada", "bob", 2.333)
        assert pair["p_value"] == pair["p_adjusted"] == str(report.headline.pairs[0].p_value or "")
        assert report.headline.pairs_method[1:] in table_of(report, "pairs").caption

    def test_show_the_mean_of_each_speaker_by_every_measure(self, report: MeasuresReport):
        found = {row["measure"]: row for row in rows_of(table_of(report, "measures"))}
        assert list(found) == [each.measure for each in report.measures.measures]
        engaging = found["engaging"]
        assert [engaging[f"estimate_{name}"] for name in ("ada", "bob", "HU")] == ["1.0", "2.0", ""]
        assert round(float(found["quality"]["estimate_HU"]), 1) == 4.5
        assert float(found["quality"]["alpha"]) == report.headline.alpha.estimate

    def test_have_the_bots_of_each_further_measure_that_was_answered(self, report: MeasuresReport):
        keys = [each.key for each in report.tables]
        assert keys == ["ranking", "pairs", "measures", "published", "measure_engaging"]
        assert [row["bot"] for row in rows_of(table_of(report, "measure_engaging"))] == ["ada", "bob"]

    def test_say_why_numbers_are_missing_where_they_are(self, report: MeasuresReport):
        (ada, _) = rows_of(table_of(report, "measure_engaging"))
        assert (ada["low"], ada["reason"]) == ("", report.measures.measures[4].bots[1].reason)
        assert "so nothing shows how" in ada["reason"]
        assert "reason" not in rows_of(table_of(report, "pairs"))[0]

    def test_preferences_have_win_rates(self):
        report = report_of(preferred())
        columns = [column.heading for column in table_of(report, "ranking").columns]
        assert "Win rate" in columns
        assert "Win rate" in [column.heading for column in table_of(report, "pairs").columns]
        assert report.findings[0] == "By preference in quality, ada and bob cannot be told apart."
        assert [round(float(row["estimate"]), 3) for row in rows_of(table_of(report, "ranking"))] == [0.667, 0.333]

    def test_show_the_published_form_of_every_measure(self, report: MeasuresReport):
        """Means over dialogues: ada 4.5, 4.5 and 4; nobody said anything of the other six measures."""
        table = table_of(report, "published")
        rows = rows_of(table)
        assert [(row["measure"], row["bot"]) for row in rows] == [
            *(("engaging", name) for name in ("ada", "bob")),
            *(("quality", name) for name in ("ada", "bob", "HU")),
        ]
        ada = rows[2]
        published = report.headline.bots[0].published
        assert (ada["low"], ada["high"], ada["n"]) == (str(published.low), str(published.high), "6")
        assert round(float(ada["mean_of_means"]), 3) == 4.333
        assert "tie" not in ada
        assert rows[0]["reason"] == "all values are alike, so nothing tells how others would differ"
        assert "Mean with Student's t interval, all values taken as independent" in table.caption

    def test_show_wins_ties_and_losses_of_preferences_for_bots_and_pairs(self):
        """ada wins two of four comparisons with bob, ties one and loses one."""
        report = report_of(preferred())
        ada, bob = rows_of(table_of(report, "published"))
        assert [ada[name] for name in ("estimate", "tie", "loss", "n")] == ["0.5", "0.25", "0.25", "4"]
        assert [bob[name] for name in ("estimate", "tie", "loss", "n")] == ["0.25", "0.25", "0.5", "4"]
        assert "mean_of_means" not in ada
        (pair,) = rows_of(table_of(report, "published_pairs"))
        assert {name: pair[name] for name in ada if name in pair and name != "bot"} == {
            name: ada[name] for name in ada if name in pair and name != "bot"
        }
        assert (pair["bot"], pair["other"]) == ("ada", "bob")

    @pytest.mark.parametrize("name", ["=1+1", "bot", "other", r"_%&#$^~\{}", "\u05d0\u05d1"])
    def test_hold_whatever_a_bot_is_called(self, name: str):
        report = report_of(rated((name, "bob")))
        for table in report.tables:
            assert not re.search(r"^[=+\-@]", as_csv(table), re.MULTILINE)
            assert rows_of(table)
            assert latex_table(table).count(r"\begin{table}") == 1
        assert page(report, {}).count("<tbody>") == len(report.tables) + 1


class TestPage:
    def test_begins_with_the_sentence_that_the_command_line_prints(self, report: MeasuresReport):
        text = page(report, {})
        sentence = measure_finding(report.headline, report.headline)
        assert f"<b>{sentence}</b>" in text
        assert "mean quality" in sentence
        assert "6 annotations of 3 conversations by 2 annotators" in text

    @pytest.mark.parametrize(
        ("kind", "better", "sentence"),
        [
            ("scale", "higher", "By mean quality, ada is ahead of bob"),
            ("share", "lower", "By share of quality, ada is ahead of bob"),
            ("share", None, "By share of quality, ada is above bob"),
        ],
    )
    def test_calls_more_of_a_choice_no_lead_unless_its_protocol_says_so(
        self, report: MeasuresReport, kind: str, better: str | None, sentence: str
    ):
        bots = [
            each.model_copy(update={"rank_low": rank})
            for each, rank in zip(report.headline.bots, (1, 2, None), strict=True)
        ]
        found = report.headline.model_copy(update={"kind": kind, "better": better, "bots": bots})
        assert measure_finding(found, found) == f"{sentence}, with 95 % confidence."

    def test_says_which_behaviours_are_better_where_they_are_rare(self):
        campaign = measured_campaign(
            "abc_consistency",
            {1: ("ada", "bob")},
            [answered(1, "ann", {"consistency": {"0": [], "1": ["redundant"]}})],
            turns={1: ShownTurns("AB", opening=0, opening_shown=0)},
        )
        report = report_of(campaign)
        caption = next(each.caption for each in report.tables if each.key == "ranking")
        assert "Lower is better: rank 1 has the lowest." in caption

    def test_needs_nothing_else(self, report: MeasuresReport):
        text = page(report, {})
        assert not re.search(r"<script|<link|<img|src=|@import|<svg", text)
        ids = re.findall(r' id="([^"]+)"', text)
        assert len(ids) == len(set(ids))
        assert {*re.findall(r'href="#([^"]+)"', text)} <= {*ids}
        assert text.count("<table") == text.count("<caption")

    def test_says_that_annotators_are_programs_and_that_texts_repeat(self):
        texts = {1: "same", 2: "same", 3: "other"}
        text = page(report_of(rated(kind=AnnotatorKind.SIMULATED, texts=texts)), {})
        assert "Simulated annotators." in text
        assert "programs, not people" in text
        assert "Repeated texts." in text
        assert "Simulated annotators." not in page(report_of(rated()), {})

    def test_names_cannot_break_out(self):
        text = page(report_of(rated(("<script>alert(1)</script>", "bob"))), {})
        assert "<script" not in text

    def test_a_measure_that_nobody_answered_has_no_ranking(self):
        campaign = measured_campaign(
            "dialogue_likert", {1: ("ada", "bob")}, [answered(1, "ann", {"engaging": {"A": 3, "B": 2}})]
        )
        text = page(report_of(campaign), {})
        assert "<b>No ranking by mean quality: nobody answered.</b>" in text
        assert "There is no pair of bots with values." in text

    def test_tells_the_methods_with_every_setting(self, report: MeasuresReport):
        written = " ".join(report.methods.sentences)
        headline = report.headline
        for method in (headline.method, headline.rank_method, headline.pairs_method, headline.data_sha256):
            assert method in written
        assert f"with seed {headline.seed} and filter none" in written
        assert f"spotthebot {headline.version}" in written
        assert "corrected by Holm's procedure" in written
        assert "the level is 0.05" in written
        assert "Published forms take all values as independent" in written
        assert "finch2023" in {each.key for each in report.methods.references}
        assert "variances add up both kinds of clusters" in written
        panel = report_of(rated(), clusters="fixed_panel", correction="none")
        assert "this panel of annotators" in " ".join(panel.methods.sentences)
        assert {"holm1979", "mackinnon2023"} & {each.key for each in panel.methods.references} == set()


class TestFiles:
    def test_are_the_page_the_tables_and_the_results(self, report: MeasuresReport, tmp_path):
        write_report(report, tmp_path)
        names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
        keys = [table.key for table in report.tables]
        assert names == {
            *("report.html", "report.md", "report.json", "tables.tex", "references.bib"),
            *(f"csv/{key}.csv" for key in keys),
            *(f"tables/{key}.tex" for key in keys),
        }
        assert doctest.testmod(bibliography).failed == 0
        cited = re.findall(r"(?m)^@misc{(\w+),$", (tmp_path / "references.bib").read_text())
        assert cited == [each.key for each in report.methods.references]
        document = json.loads((tmp_path / "report.json").read_text())
        pairs, method = document.pop("pairs"), document.pop("pairs_method")
        assert MeasuresOut.model_validate(document) == report.measures
        assert tuple(map(MeasuredPair.model_validate, pairs)) == report.headline.pairs
        assert method == report.headline.pairs_method
