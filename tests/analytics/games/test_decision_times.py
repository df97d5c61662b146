"""When bots of a game are spotted: exact times by lifelines, with errors of our own, and the same as inspections."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import lifelines
import numpy as np
import pandas as pd
import pytest
from lifelines.statistics import pairwise_logrank_test

from spotthebot.analytics.games.domain import PlayedSide
from spotthebot.analytics.results.domain.decision_times import decision_times
from spotthebot.analytics.stats.survival.cox import FEATURES
from spotthebot.analytics.stats.survival.decision_times import (
    Decisions,
    decision_curves,
    decision_hazards,
    score_influence,
)
from spotthebot.analytics.stats.survival.log_rank import LogRankVariance, log_rank_tests
from spotthebot.contracts.analytics.decision_times import DecisionParametersIn, DecisionTimesOut
from spotthebot.contracts.annotation.annotations import Label
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.annotating import WHOLE, claim, save, submit
from tests.factories.campaigns import campaign_of, open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

BOT, HUMAN, UNSURE = Label.BOT, Label.HUMAN, Label.UNSURE


def _played(n: int = 300) -> Decisions:
    """Draw decisions about one bot: leads in fluency and sensibleness lower its hazard, those in specificity do not."""
    rng = np.random.default_rng(0)
    leads = rng.integers(-1, 2, (n, 3))
    exchange = rng.geometric(1 - np.exp(-0.3 * np.exp(leads @ [-0.7, -0.4, 0.0])))
    return Decisions(
        names=("A",),
        entity=np.zeros(n, dtype=np.int64),
        exchange=np.minimum(exchange, 5),
        spotted=exchange <= 5,
        conversation=np.arange(n) // 2,
        annotator=rng.integers(0, 25, n),
        leads=dict(zip(("fluency", "sensibleness", "specificity"), leads.T, strict=True)),
        last=5,
    )


def _frame(played: Decisions) -> pd.DataFrame:
    return pd.DataFrame({**played.leads, "time": played.duration, "spotted": played.spotted})


class TestCurves:
    def test_are_kaplan_meier_s_and_the_shares_that_were_not_called_a_bot(self):
        played = _played()
        (curve,) = decision_curves(played)
        fitted = lifelines.KaplanMeierFitter().fit(played.duration, played.spotted)
        assert curve.estimate == pytest.approx(fitted.survival_function_at_times([1, 2, 3, 4, 5]).to_numpy())
        spotted = [int(np.sum(played.spotted & (played.exchange <= time))) for time in range(1, 6)]
        assert curve.spotted == tuple(spotted)
        assert curve.estimate == pytest.approx([1 - each / 300 for each in spotted])
        bounds = zip(curve.low, curve.estimate, curve.high, strict=True)
        assert all((low or 1) < share < (high or 0) for low, share, high in bounds)

    def test_keep_a_side_that_was_called_human_unspotted_to_the_end(self):
        column = np.zeros(4, dtype=np.int64)
        called_bot = np.array([False, False, True, True])
        played = Decisions(("A",), column, np.array([1, 1, 3, 3]), called_bot, np.arange(4), np.arange(4), {}, last=3)
        # Censored at the exchange of their decisions, the first two would not count after it: 0 of 2.
        assert decision_curves(played)[0].estimate == (1.0, 1.0, 0.5)


class TestHazards:
    def test_are_lifelines_with_the_name_of_each_feature(self):
        played = _played()
        fitted = lifelines.CoxPHFitter().fit(_frame(played), "time", "spotted")
        found = {each.feature: each for each in decision_hazards(played)["A"]}
        for feature in FEATURES:
            assert found[feature].estimate == pytest.approx(fitted.params_[feature], abs=1e-6)
            assert found[feature].model_standard_error == pytest.approx(fitted.standard_errors_[feature], abs=1e-6)
        assert (found["fluency"].high or 1) < 0 < (found["specificity"].high or -1)

    def test_have_the_influence_of_each_row_that_leaving_it_out_shows(self):
        played, frame = _played(), _frame(_played())
        fitted = lifelines.CoxPHFitter().fit(frame, "time", "spotted")
        x = np.column_stack([*played.leads.values()])
        influence = score_influence(played.duration, played.spotted, x, fitted.params_.to_numpy())
        for row in range(8):
            without = lifelines.CoxPHFitter().fit(frame.drop(row), "time", "spotted")
            change = (fitted.params_ - without.params_).to_numpy()
            assert influence.value.reshape(-1, 3)[row] == pytest.approx(change, rel=0.08, abs=5e-5)

    def test_have_the_errors_of_decisions_that_repeat_one_another(self):
        once, rows = _played(), np.repeat(np.arange(300), 4)
        columns = {name: value[rows] for name, value in vars(once).items() if isinstance(value, np.ndarray)}
        leads = {name: column[rows] for name, column in once.leads.items()}
        repeated = Decisions(**{**vars(once), **columns, "leads": leads, "conversation": rows})
        (found, *_), (alone, *_) = (
            decision_hazards(repeated, clusters=clusters)["A"] for clusters in (Clusters.CONVERSATION, Clusters.NONE)
        )
        assert found.standard_error == pytest.approx(2 * (alone.standard_error or 0), rel=0.02)  # the root of 4

    def test_say_why_there_are_none(self):
        played = _played(20)
        never = Decisions(**{**vars(played), "spotted": np.zeros(20, dtype=bool)})
        assert {each.reason for each in decision_hazards(never)["A"]} == {"nothing was decided"}


class TestLogRank:
    def test_is_lifelines_where_decisions_are_independent(self):
        played = _played()
        played = replace(played, names=("A", "B", "C"), entity=np.arange(300) % 7 % 3)
        plain = pairwise_logrank_test(played.duration, played.entity, played.spotted)
        tests = log_rank_tests(played.status(exact=True), variance=LogRankVariance.SCORE, exact=True)
        assert [each.statistic for each in tests] == pytest.approx(plain.test_statistic)
        assert [each.p_value for each in tests] == pytest.approx(plain.p_value)

    def test_finds_less_if_annotators_repeat_themselves(self):
        once, rows = _played(), np.repeat(np.arange(300), 4)
        repeated = replace(
            once,
            names=("A", "B"),
            entity=rows % 2,
            exchange=once.exchange[rows],
            spotted=once.spotted[rows],
            conversation=rows,
            annotator=rows // 6,
        )
        status = repeated.status(exact=True)
        (found,), (plain,) = (
            log_rank_tests(status, clusters=Clusters.CONVERSATION, variance=variance, exact=True)
            for variance in (LogRankVariance.CLUSTERED, LogRankVariance.SCORE)
        )
        ratio = (found.uncertainty.standard_error or 0) / (plain.uncertainty.standard_error or 1)
        assert ratio == pytest.approx(2, rel=0.05)  # the root of 4

    def test_says_why_there_is_none(self):
        played = replace(_played(20), names=("A", "B"), entity=np.arange(20) % 2)
        never = replace(played, spotted=np.zeros(20, dtype=bool))
        at_once = replace(played, spotted=np.ones(20, dtype=bool), exchange=np.ones(20, dtype=np.int64))
        reasons = [log_rank_tests(each.status(exact=True), exact=True)[0].reason for each in (never, at_once)]
        assert reasons == ["neither was ever spotted", "both were spotted at the same exchange, at every inspection"]


class TestDecisionTimes:
    def test_are_of_people_too_and_name_the_feature_that_was_preferred(self):
        """Bots without a lead in specificity, the third question, are spotted at once; nothing else matters."""
        rng = np.random.default_rng(1)
        sides = [
            PlayedSide(at, f"a{at % 9}", 0, BOT if spotted else HUMAN, is_human=False, turn=1 + at % 3, turns=3)
            for at, spotted in enumerate(rng.random(240) < 0.5)
        ]
        leads = [
            (int(one), int(two), -1 if side.label is BOT and rng.random() < 0.8 else 1)
            for side, (one, two) in zip(sides, rng.integers(-1, 2, (240, 2)), strict=True)
        ]
        bots = [replace(side, speaker="A", leads=lead) for side, lead in zip(sides, leads, strict=True)]
        people = [PlayedSide(at, f"a{at % 9}", 0, UNSURE, True, 3, 3, "HU") for at in range(60)]
        stated: dict[str, Any] = {"id": UUID(int=1), "name": "game", "state": CampaignState.COMPLETE}
        campaign = CampaignOut.model_construct(**stated)
        found = decision_times(campaign, [*bots, *people], DecisionParametersIn())
        assert [curve.bot for curve in found.exact.curves] == ["A", "HU"]
        assert found.exact.curves[1].survival == (1.0, 1.0, 1.0)
        for survival in (found.exact, found.censored):
            (test,) = survival.log_rank
            assert (test.bot, test.other, test.significant) == ("A", "HU", True)
            high = {each.feature: each.high or 0 for each in survival.cox if each.bot == "A"}
            assert high["specificity"] < 0
            assert min(high["fluency"], high["sensibleness"]) > 0
            assert {each.reason for each in survival.cox if each.bot == "HU"} != {None}


async def _play(suite: RunningSuite, campaign: dict[str, object], annotator: str, **features: str) -> None:
    frontend = await suite.client("annotation", "annotation")
    assignment = await claim(suite, campaign, annotator)
    for number, entity in ((1, {"A": "bot"}), (2, {"A": "bot", "B": "human"})):
        path = f"/v1/assignments/{assignment['id']}/items/0/exchanges"
        assert (await frontend.post(path, json={"open": number})).status_code == 200
        assert (await save(suite, assignment, 0, {"entity": entity})).status_code == 200
    assert (await submit(suite, assignment)).status_code == 409  # the features are still missing
    entity = {"A": "bot", "B": "human"}
    assert (await save(suite, assignment, 0, {"entity": entity}, show_step=2)).status_code == 200
    whole = WHOLE | {"entity": entity} | features
    assert (await save(suite, assignment, 0, whole)).status_code == 200
    assert (await submit(suite, assignment)).status_code == 200


class TestEndpoint:
    async def test_has_the_exchanges_of_a_game_with_its_features(self, suite: RunningSuite):
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        game = {"protocol": "spot_the_bot_gamified", "segments": [3], "annotations_per_segment": 3}
        campaign = await open_campaign(suite, collection, **game)
        assert campaign["protocol_version"] == 2
        for annotator in ("ann", "bob"):
            await _play(suite, campaign, annotator, fluency="B")
        analyst = await suite.client("analytics", "analyst")
        path = f"/v1/campaigns/{campaign['id']}/decision-times"
        found = DecisionTimesOut.model_validate((await analyst.get(path)).json())
        assert (found.sides, found.annotators, found.preliminary) == (4, 2, True)
        curves = {curve.bot: curve.survival for curve in found.exact.curves}
        assert curves == {"X": (0.0, 0.0, 0.0), "Y": (1.0, 1.0, 1.0)}
        # X was looked at after 1 exchange, Y after 2.
        inspected = {curve.bot: curve.inspected for curve in found.censored.curves}
        assert (found.censored.times, inspected) == ((1, 2), {"X": (2, 0), "Y": (0, 2)})
        assert {each.reason is None for each in found.exact.cox} == {False}

    async def test_is_refused_for_what_is_no_game(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        analyst = await suite.client("analytics", "analyst")
        answer = await analyst.get(f"/v1/campaigns/{campaign['id']}/decision-times")
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:other-protocol")
