"""The figures of an assessment of measures."""

from typing import Any

import altair as alt
import pytest

from spotthebot.analytics.figures.assessments import ASSESSMENT_FIGURES, AssessmentInput
from spotthebot.analytics.figures.charts import Spec
from spotthebot.analytics.figures.renderer import render
from spotthebot.contracts.analytics.studies import StudyAssessmentOut
from tests.factories.study_reports import study_report


@pytest.fixture(scope="module")
def assessment() -> StudyAssessmentOut:
    found = study_report().assessment
    assert found is not None
    return found


def _rows(spec: Spec, key: str) -> list[dict[str, Any]]:
    """Return the rows of a figure's data that have a key, each once."""
    rows = [row for dataset in spec["datasets"].values() for row in dataset if key in row]
    return [row for at, row in enumerate(rows) if row not in rows[:at]]


def _draw(name: str, assessment: StudyAssessmentOut, **how: Any) -> Spec:
    return ASSESSMENT_FIGURES[name](AssessmentInput(assessment, **how))


class TestFigures:
    @pytest.mark.parametrize("name", ASSESSMENT_FIGURES)
    @pytest.mark.parametrize("width", ["wide", "narrow"])
    def test_say_what_they_show_and_of_which_study(self, name: str, width: str, assessment: StudyAssessmentOut):
        spec = _draw(name, assessment, width=width)
        assert spec["description"]
        assert alt.Chart.from_dict(spec)  # a valid one
        assert "small: 2 measures of 12 dialogues by annotators, programs among them" in " ".join(
            spec["title"]["subtitle"]
        )
        assert render(spec, "svg").startswith(b"<svg")

    def test_agreement_shows_alpha_with_its_interval(self, assessment: StudyAssessmentOut):
        rows = {row["measure"]: row for row in _rows(_draw("agreement", assessment), "alpha")}
        known = {each.name: each.alpha for each in assessment.measures if each.alpha.estimate is not None}
        drawn = {name: (row["alpha"], row["low"], row["high"]) for name, row in rows.items()}
        assert drawn == {name: (each.estimate, each.low, each.high) for name, each in known.items()}

    def test_importance_marks_p_values(self, assessment: StudyAssessmentOut):
        rows = {row["measure"]: row for row in _rows(_draw("importance", assessment), "r2")}
        assert {name: row["r2"] for name, row in rows.items()} == {
            each.name: each.r2 for each in assessment.measures if each.r2 is not None
        }
        for row in rows.values():
            stars = row["label"].count("*")
            assert stars == sum(row["p"] is not None and row["p"] < level for level in (0.05, 0.01, 0.001))

    def test_sensitivity_counts_pairs_at_three_levels(self, assessment: StudyAssessmentOut):
        found = {
            (row["measure"], row["level"]): row["pairs"] for row in _rows(_draw("sensitivity", assessment), "pairs")
        }
        assert found == {
            (each.name, f"p < {level}"): count
            for each in assessment.measures
            for level, count in each.pairs_told_apart.items()
            if count is not None
        }

    def test_steps_show_the_best_set_of_each_size(self, assessment: StudyAssessmentOut):
        rows = [row for row in _rows(_draw("steps", assessment), "curve") if row["curve"] == "R²"]
        assert {row["measures"]: row["r2"] for row in rows} == {len(step.left): step.r2 for step in assessment.stepwise}

    def test_without_numbers_say_why(self, assessment: StudyAssessmentOut):
        unknown = assessment.measures[0].alpha.model_copy(update={"estimate": None, "low": None, "high": None})
        none = {"0.1": None, "0.05": None, "0.01": None}
        empty = {"alpha": unknown, "r2": None, "p_value": None, "pairs_told_apart": none}
        nothing = assessment.model_copy(
            update={
                "measures": tuple(each.model_copy(update=empty) for each in assessment.measures),
                "stepwise": (),
                "stepwise_reason": "too few dialogues have all measures",
            }
        )
        said = {name: _draw(name, nothing)["description"] for name in ASSESSMENT_FIGURES}
        assert said == {
            "agreement": "No unit has two annotators, so nobody knows how far they agree.",
            "importance": "No measure has an R²: the table says why.",
            "sensitivity": "No measure has values of two bots.",
            "steps": "too few dialogues have all measures",
        }
