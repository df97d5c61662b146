"""The report of a study: its tables and sentences, from answers given by hand."""

import csv
import doctest
import json
from pathlib import Path

import pytest

from spotthebot.local.report import study_tables
from spotthebot.local.report.files import as_csv, write_report
from spotthebot.local.report.latex import latex_table
from spotthebot.local.report.pages import page
from spotthebot.local.report.study_report import StudyReport
from spotthebot.local.report.study_tables import task_sections
from tests.factories.study_reports import ENGAGING, QUALITY, study_report


@pytest.fixture(scope="module")
def report() -> StudyReport:
    return study_report()


def _rows(report: StudyReport, key: str) -> list[dict[str, str]]:
    (table,) = [each for each in report.tables if each.key == key]
    return list(csv.DictReader(as_csv(table).splitlines()))


class TestTables:
    def test_rank_the_bots_by_the_outcome(self, report: StudyReport):
        """Both annotators rate all six conversations; the simulated one changes one point of each bot."""
        ada = (2 * sum(QUALITY["first"]) - 1) / 12
        bob = (2 * sum(QUALITY["second"]) + 1) / 12
        found = {row["bot"]: float(row["estimate"]) for row in _rows(report, "ranking")}
        assert found == pytest.approx({"ada": ada, "bob": bob})
        (pair,) = _rows(report, "pairs")
        assert float(pair["estimate"]) == pytest.approx(ada - bob)

    def test_say_of_each_measure_what_the_assessment_says(self, report: StudyReport):
        assert report.assessment is not None
        of = {each.name: each for each in report.assessment.measures}
        rows = {row["measure"]: row for row in _rows(report, "assessment")}
        assert list(rows) == list(of)
        engaging = rows["likert.engaging"]
        assert float(engaging["r2"]) == of["likert.engaging"].r2
        assert engaging["kept"] == ("true" if "likert.engaging" in report.assessment.keep else "false")
        assert rows["pairs.quality"]["level"] == "pair"
        apart = {row["measure"]: row for row in _rows(report, "sensitivity")}["likert.engaging"]
        expected = of["likert.engaging"].pairs_told_apart
        assert [apart[f"own_{level}"] for level in ("0.1", "0.05", "0.01")] == [
            str(expected[each]) for each in expected
        ]

    def test_have_the_tasks_with_their_annotators_and_how_many_are_simulated(self, report: StudyReport):
        likert, pairs = _rows(report, "tasks")
        assert (likert["task"], likert["protocol"], likert["annotations"]) == ("likert", "dialogue_likert", "24")
        assert (likert["annotators"], likert["simulated"]) == ("2", "1")
        assert (pairs["task"], pairs["annotations"], pairs["simulated"]) == ("pairs", "6", "0")

    def test_have_the_means_of_each_task_and_the_bots_of_each_measure(self, report: StudyReport):
        means = {row["measure"]: row for row in _rows(report, "task_likert")}
        assert float(means["likert.engaging"]["estimate_ada"]) == pytest.approx((2 * sum(ENGAGING["first"]) - 1) / 12)
        keys = {each.key for each in report.tables}
        assert {"task_pairs", "measure_likert-engaging", "measure_likert-quality", "measure_pairs-quality"} <= keys

    def test_have_file_names_that_stay_in_the_folder(self):
        sections = task_sections(study_report(task="../../a b", outcome=None).measures)
        keys = [key for each in sections for key in (each.key, *(key for _, key in each.measures))]
        assert not [key for key in keys if "/" in key or "." in key or " " in key]
        assert len({key.lower() for key in keys}) == len(keys)

    def test_keys_differ(self):
        assert doctest.testmod(study_tables).failed == 0

    def test_are_written_for_papers(self, report: StudyReport):
        assert all(latex_table(each).startswith("\\begin{") or "tabular" in latex_table(each) for each in report.tables)


class TestSentences:
    def test_begin_with_the_ranks_and_go_on_with_what_to_keep(self, report: StudyReport):
        assert report.assessment is not None
        assert report.findings[0].startswith("By mean likert.quality, ")
        assert report.findings[1:] == report.assessment.sentences[:1]

    def test_methods_name_the_tasks_and_the_paper(self, report: StudyReport):
        text = " ".join(report.methods.sentences)
        assert (
            "likert: 24 annotations by 2 annotators, among them 1 simulated (programs, not people), by the protocol"
            in text
        )
        assert "pairs: 6 annotations by 1 annotator, by the protocol comparative" in text
        assert "Measures are assessed against likert.quality as ABC-Eval assesses them" in text
        assert any("Don't Forget Your ABC's" in work.text for work in report.methods.references)


class TestPage:
    def test_has_the_figures_and_a_section_for_each_task(self, report: StudyReport):
        html = page(report, report.draw())
        assert html.count("<figure>") == 4
        assert "<h3>likert</h3>" in html
        assert "<li>likert: 1 of 2</li>" in html
        assert "likert.<wbr>quality" in html

    def test_without_an_outcome_says_so_and_assesses_nothing(self):
        report = study_report(outcome=None)
        html = page(report, report.draw())
        assert "The study names no outcome." in html
        assert "<figure>" not in html
        assert report.draw() == {}
        assert [each.key for each in report.tables][:2] == ["tasks", "task_likert"]

    def test_shows_names_as_they_are_written(self):
        report = study_report(("<b>ada</b>", "bob"), task="<i>likert</i>", outcome="<i>likert</i>.quality")
        html = page(report, report.draw())
        assert "<i>likert" not in html
        assert "<b>ada" not in html

    def test_is_written_with_its_tables_and_all_results(self, report: StudyReport, tmp_path: Path):
        write_report(report, tmp_path)
        assert {each.stem for each in (tmp_path / "csv").iterdir()} == {each.key for each in report.tables}
        document = json.loads((tmp_path / "report.json").read_text())
        assert document["study"]["study"] == "small"
        assert document["assessment"]["outcome"] == "likert.quality"
        assert (tmp_path / "figures" / "importance.svg").exists()
