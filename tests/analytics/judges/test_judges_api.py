"""`GET /v1/campaigns/{id}/judges`: what judges of a campaign are worth."""

from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from spotthebot.analytics.stats import AnnotationTable
from spotthebot.analytics.stats.judge_quality.agreement import judge_agreement
from spotthebot.analytics.stats.judge_quality.calibration import calibration
from spotthebot.analytics.stats.judge_quality.columns import ScoredLabels
from spotthebot.analytics.stats.judged.games import judged_win_rates
from spotthebot.analytics.stats.judged.sides import JudgedSides
from spotthebot.analytics.stats.judged.survival import judged_survival, points_of
from spotthebot.contracts.analytics.judges import CorrectedRanking, CorrectedSurvival
from tests.factories.campaigns import campaign_of
from tests.factories.judge_campaigns import import_units
from tests.factories.judge_units import SPEAKERS, units
from tests.factories.judges import label_campaign, store_judge
from tests.factories.running_suite import RunningSuite


def _says(unit):
    return "bot" if "beep" in " ".join(turn.text for turn in unit.turns if turn.speaker == unit.side) else "human"


async def _judges(suite: RunningSuite, path: str):
    analyst = await suite.client("analytics", "admin")
    # A package of these campaigns is the whole campaign, which no annotator completes.
    return await analyst.get(f"{path}/judges", params={"filter": "none"})


def _rows(some):
    """The labels as columns: unit, conversation, annotator, whether it is "human"; people label both sides."""
    rows = []
    by_conversation: dict[Any, list[Any]] = {}
    for unit in some:
        by_conversation.setdefault(unit.conversation, []).append(unit)
    for at, sides in enumerate(by_conversation.values()):
        who = sorted({label.annotator for unit in sides for label in unit.labels})
        for side, unit in enumerate(sides):
            given = {label.annotator: label.human for label in unit.labels}
            rows += [(2 * at + side, at, each, float(given.get(each, False)), unit) for each in who]
    return rows


def _table(some) -> tuple[AnnotationTable, JudgedSides]:
    """The same labels as a table, and what the judge says of every segment."""
    both = [list(sides) for _, sides in groupby(some, key=lambda unit: unit.conversation)]
    rows = []
    for at, (first, second) in enumerate(both):
        given = [{each.annotator: "human" if each.human else "bot" for each in unit.labels} for unit in (first, second)]
        rows += [
            (at, first.speaker, second.speaker, 2, *(labels.get(who, "unsure") for labels in given), int(who[3:]))
            for who in sorted(given[0] | given[1])
        ]
    table = AnnotationTable.from_rows(rows)
    entity = [[table.names.index(unit.speaker) for unit in sides] for sides in both]
    said = [[float(_says(unit) == "human") for unit in sides] for sides in both]
    return table, JudgedSides(np.arange(len(both)), np.array(entity), np.full(len(both), 2), np.array(said))


def _numbers(found: Any, name: str = "") -> dict[str, Any]:
    """The numbers and texts of a document by the path to each."""
    if not isinstance(found, dict | list):
        return {name: found}
    every = found.items() if isinstance(found, dict) else enumerate(found)
    return {path: value for key, each in every for path, value in _numbers(each, f"{name}.{key}").items()}


class TestJudges:
    async def test_are_measured_by_the_statistics_over_the_same_labels(self, suite: RunningSuite):
        some = units(per_pair=5)
        path = await import_units(suite, some, judges={"oracle": _says})
        answer = await _judges(suite, path)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        (judge,) = found["judges"]
        assert (judge["name"], judge["version"], judge["kind"], judge["repeats"]) == ("oracle", None, None, 1)
        assert (judge["segments"], judge["missing"]) == (30, 0)
        rows = _rows(some)
        unit, conversation, annotator, human = (np.array(column) for column in list(zip(*rows, strict=True))[:4])
        said = np.array([float(_says(each) == "human") for *_, each in rows])
        scores = calibration(ScoredLabels(unit, conversation, annotator, human, said))
        assert judge["calibration"]["brier"]["estimate"] == pytest.approx(scores.brier.estimate)
        assert judge["calibration"]["brier"]["low"] == pytest.approx(scores.brier.low)
        assert judge["calibration"]["n"] == len(rows)
        labels = [
            2 if side else 1 if each.labels and who not in {label.annotator for label in each.labels} else 0
            for (_, _, who, side, each) in rows
        ]
        agreement = judge_agreement(unit, conversation, annotator, labels, 2 * said)
        assert judge["agreement"]["judge"]["share"]["estimate"] == pytest.approx(agreement.judge.share.estimate)
        assert judge["agreement"]["people"]["share"]["estimate"] == pytest.approx(agreement.people.share.estimate)
        assert {each["bot"] for each in judge["bots"]} == set(SPEAKERS)
        for each in judge["bots"]:
            mine = [side for (_, _, _, side, unit) in rows if unit.speaker == each["bot"]]
            assert each["people"]["estimate"] == pytest.approx(np.mean(mine))
            assert each["n_people"] == len(mine)
        assert found["counts"]["judges"] == 0

    async def test_correct_win_rates_ranks_and_survival_by_the_statistics(self, suite: RunningSuite):
        some = [replace(each, labels=()) if int(each.conversation[-1]) % 2 else each for each in units(per_pair=8)]
        path = await import_units(suite, some, judges={"oracle": _says})
        (judge,) = (await _judges(suite, path)).json()["judges"]
        table, sides = _table(some)
        ranking = CorrectedRanking.of(judged_win_rates(table, sides)).model_dump(mode="json")
        assert _numbers(judge["ranking"]) == pytest.approx(_numbers(ranking))
        curves = [
            CorrectedSurvival.of(each, people=points_of(each.people)).model_dump(mode="json")
            for each in judged_survival(table, sides)
        ]
        assert _numbers(judge["survival"]) == pytest.approx(_numbers(curves))
        assert any(each["people"]["estimate"] != each["corrected"]["estimate"] for each in judge["ranking"]["bots"])
        assert any(each["people"][0]["estimate"] != each["corrected"][0]["estimate"] for each in judge["survival"])

    async def test_leave_the_results_of_people_as_they_were(self, suite: RunningSuite):
        some = units(per_pair=3)
        path = await import_units(suite, some, judges={"oracle": _says})
        analyst = await suite.client("analytics", "admin")
        with_judge = (await analyst.get(f"{path}/fooling-rates", params={"filter": "none"})).json()
        (judge,) = (await _judges(suite, path)).json()["judges"]
        rates = {each["bot"]: each for each in with_judge["fooling_rates"]}
        for each in judge["bots"]:
            assert (each["people"]["low"], each["people"]["high"]) == pytest.approx(
                (rates[each["bot"]]["low"], rates[each["bot"]]["high"])
            )

    async def test_show_a_bot_that_no_person_labelled_with_a_reason(self, suite: RunningSuite):
        some = [replace(unit, labels=()) if "dan" in unit.speakers else unit for unit in units(per_pair=3)]
        path = await import_units(suite, some, judges={"oracle": _says})
        (judge,) = (await _judges(suite, path)).json()["judges"]
        (dan,) = [each for each in judge["bots"] if each["bot"] == "dan"]
        assert (dan["n_people"], dan["n_judged"], dan["corrected"]["estimate"]) == (0, 9, None)
        assert "people labelled none of its units" in dan["reason"]
        assert judge["ranking"]["reason"] == "no game of ada and dan was decided"
        (curve,) = [each for each in judge["survival"] if each["bot"] == "dan"]
        assert (curve["times"], "people labelled none of its units" in curve["reason"]) == ([], True)
        (group,) = [each for each in judge["by_bot"] if each["name"] == "dan"]
        assert group["reason"] == "no person labelled this group"

    async def test_need_labels_of_people(self, suite: RunningSuite):
        campaign = await campaign_of(suite, judge_annotations_per_segment=2, annotations_per_segment=1)
        first, second = await store_judge(suite), await store_judge(suite, seed=8)
        for judge in (first, second):
            assert await label_campaign(suite, campaign, judge) > 0
        await label_campaign(suite, campaign, first, "gpt-again")
        path = f"/v1/campaigns/{campaign['id']}"
        refused = await _judges(suite, path)
        assert (refused.status_code, refused.json()["title"]) == (409, "Conflict")

    async def test_are_none_where_the_campaign_has_none_but_it_shows_the_ceiling_alone(self, suite: RunningSuite):
        path = await import_units(suite, units(per_pair=5))
        found = (await _judges(suite, path)).json()
        assert (found["judges"], found["refused"]) == ([], [])
        assert found["ceiling"]["low"] < found["ceiling"]["estimate"] < found["ceiling"]["high"]

    async def test_are_computed_again_once_a_judge_labels(self, suite: RunningSuite):
        path = await import_units(suite, units(per_pair=3))
        assert (await _judges(suite, path)).json()["judges"] == []
        judge = await store_judge(suite, "late")
        assert judge["version"] == 1
        other = await import_units(suite, units(per_pair=3, seed=2), judges={"oracle": _says}, name="winter")
        assert [each["name"] for each in (await _judges(suite, other)).json()["judges"]] == ["oracle"]
