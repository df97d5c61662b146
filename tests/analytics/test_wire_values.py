"""Results that are made from the attributes of what the statistics found: each field is stated, one by one."""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import numpy as np
import pytest

from spotthebot.analytics import stats
from spotthebot.analytics.analyses.api import _to_out
from spotthebot.analytics.analyses.domain.rating_plans import plan_ratings
from spotthebot.analytics.analyses.store import analysis_of
from spotthebot.analytics.chats.domain import RatedChats
from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.measures.domain.measure_results import measure_result, measured_pairs, mixed_model_of
from spotthebot.analytics.measures.domain.published_forms import published_form, published_wins
from spotthebot.analytics.provenance.domain import Parameters, uncertainty_of
from spotthebot.analytics.results.domain.annotation_quality import agreement, annotators, time
from spotthebot.analytics.results.domain.ranking import ranking
from spotthebot.analytics.results.domain.sensitivity import ranks_of
from spotthebot.analytics.results.domain.survival import survival
from spotthebot.analytics.results.domain.wins import fooling_rates, win_rates
from spotthebot.analytics.stats.mixed_models.cumulative_link import cumulative_link_mixed_model
from spotthebot.analytics.stats.mixed_models.linear import linear_mixed_model
from spotthebot.analytics.stats.mixed_models.results import MixedModel as FittedModel
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.ratings import rank_ratings
from spotthebot.analytics.studies.domain import task_measures
from spotthebot.analytics.tasks.domain import NamedTask, Task
from spotthebot.analytics.values.domain.measure_values import Values
from spotthebot.contracts.analytics.analyses import AnalysisJobOut, PairPlan
from spotthebot.contracts.analytics.annotation_quality import (
    Annotator,
    Annotators,
    Coefficient,
    LabelAgreement,
    SidesAlike,
    Time,
    WithoutWeak,
)
from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.contracts.analytics.costs import CostIn, CostOut
from spotthebot.contracts.analytics.measures import MeasuredBot, MeasuredPair, PublishedForm, ValueCount
from spotthebot.contracts.analytics.mixed_models import BotEffect, EffectDifference, MixedModel, VarianceComponent
from spotthebot.contracts.analytics.provenance import Uncertainty
from spotthebot.contracts.analytics.ranking import RankedBot, Skill, Strength
from spotthebot.contracts.analytics.rating_plans import EffectPlan, RatingPlanningIn
from spotthebot.contracts.analytics.standings import TeamBotOut
from spotthebot.contracts.analytics.studies import StudyMeasure, StudySource
from spotthebot.contracts.analytics.survival import CoxCoefficient, LogRank
from spotthebot.contracts.analytics.tables import CampaignSummaryOut
from spotthebot.contracts.analytics.wins import BotWinRate, FoolingRate
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.measures import Measure
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotOut, BotStatus, Limits
from spotthebot.contracts.conversations.performance import BotPerformanceOut
from spotthebot.kit.step_jobs.lifecycle import StepJob, StepJobState
from spotthebot.local.planning import plan_evaluation_cost
from tests.analytics.stats.annotation_tables import simulated_table
from tests.analytics.stats.mixed_model_data import small_study
from tests.factories.campaigns import open_campaign
from tests.factories.known import known
from tests.factories.rated_chats import rated_chat
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations
from tests.factories.wire_values import assert_is

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TABLE = simulated_table(3, names=("A", "B", "C", "HU"), per_pair=8)
ELAPSED = np.random.default_rng(1).uniform(1000, 90_000, len(TABLE.label))
NAMES = tuple(f"p-{code}" for code in range(5))
KINDS = dict.fromkeys(NAMES, AnnotatorKind.PERSON) | {NAMES[2]: AnnotatorKind.JUDGE}
SAMPLE = Sample(cast("Any", None), TABLE, ELAPSED, NAMES, KINDS, cast("Any", None), "")
REQUEST = Parameters(resamples=20)


def stated_uncertainty(found: stats.Uncertainty) -> dict[str, Any]:
    return {
        "standard_error": found.standard_error,
        "degrees_of_freedom": found.degrees_of_freedom,
        "conversations": found.conversations,
        "annotators": found.annotators,
        "clusters": found.clusters.value,
        "reason": found.reason,
        "pooled": None if found.pooled is None else asdict(found.pooled),
    }


class TestUncertainty:
    @pytest.mark.parametrize("pooled", [None, stats.PooledEffect(0.5, 0.25, 0.125, 0.0625, 3)])
    def test_says_what_an_interval_stands_on(self, pooled: stats.PooledEffect | None):
        found = stats.Uncertainty(0.1, 7.0, 11, 5, stats.Clusters.BOTH, "few", pooled)
        assert_is(Uncertainty, uncertainty_of(found), stated_uncertainty(found))


def stated(found: Any, fields: str, **more: Any) -> dict[str, Any]:
    """State what each field is of what was found: `rate=estimate` is its `estimate`, `low` its `low`."""
    pairs = [each.split("=") for each in fields.split()]
    return {pair[0]: getattr(found, pair[-1]) for pair in pairs} | more


def test_costs_are_those_of_both_designs():
    design = CostIn(bots=7, hourly_wage=12)
    found = stats.evaluation_cost(**dict(design))
    fields = "annotation_hours chatting_hours annotation_cost chatting_cost ratio cheaper_up_to method"
    assert_is(CostOut, plan_evaluation_cost(design), stated(found, fields))


class TestRanking:
    def test_has_what_was_found_of_each_bot(self):
        games = stats.play_games(TABLE, unit=stats.Unit.ANNOTATION)
        ranked = stats.rank_bots(games, n_resamples=20, seed=0)
        skills = {each.bot: each for each in stats.rate_skills(games, seed=0).bots}
        strengths = {each.bot: each for each in stats.rate_davidson(games).bots}
        for answered, found in zip(ranking(SAMPLE, REQUEST).bots, ranked.bots, strict=True):
            skill, strength = skills[found.bot], strengths[found.bot]
            trueskill = stated(
                skill,
                "mu sigma low high rank_low rank_high reason",
                uncertainty=stated_uncertainty(skill.uncertainty),
            )
            assert_is(Skill, known(answered.trueskill), trueskill)
            bradley_terry = stated(
                strength,
                "estimate low high model_standard_error reason",
                standard_error=strength.uncertainty.standard_error,
                uncertainty=stated_uncertainty(strength.uncertainty),
            )
            assert_is(Strength, known(answered.bradley_terry), bradley_terry)
            win_rate = stated(found, "estimate low high", uncertainty=stated_uncertainty(found.uncertainty))
            names = "bot rank_low rank_high reason cluster win_rate_with_ties tie_rate rank_probabilities"
            ratings = {"trueskill": trueskill, "bradley_terry": bradley_terry, "fooling_rate": None}
            assert_is(RankedBot, answered, stated(found, names, win_rate=win_rate, **ratings))
        rates = win_rates(SAMPLE, REQUEST).bots
        for rate, found in zip(rates, ranked.bots, strict=True):
            more = {"uncertainty": stated_uncertainty(found.uncertainty)}
            assert_is(BotWinRate, rate, stated(found, "bot win_rate=estimate low high", **more))


class TestFoolingRates:
    def test_have_their_counts(self):
        found = stats.fooling_rates(TABLE)
        for answered, each in zip(fooling_rates(SAMPLE, REQUEST), found, strict=True):
            more = {"uncertainty": stated_uncertainty(each.uncertainty)}
            fields = "bot human unsure bot_labels n rate=estimate low high"
            assert_is(FoolingRate, answered, stated(each, fields, **more))


class TestSurvival:
    def test_has_tests_and_coefficients(self):
        status, answered = stats.current_status(TABLE), survival(SAMPLE, REQUEST)
        for test, found in zip(answered.log_rank, stats.log_rank_tests(status), strict=True):
            fields = "bot other statistic p_value p_adjusted method family family_size reason"
            significant = found.p_adjusted is not None and found.p_adjusted < 0.05
            more = {"significant": significant, "uncertainty": stated_uncertainty(found.uncertainty)}
            assert_is(LogRank, test, stated(found, fields, score=found.estimate, **more))
        fits = stats.cox_regressions(
            status,
            features=("fluency", "sensibleness", "specificity"),
            standard_errors=stats.StandardErrors.CLUSTERED,
        )
        coefficients = [(fit, each) for fit in fits for each in fit.coefficients]
        for answer, (fit, each) in zip(answered.cox, coefficients, strict=True):
            fields = "feature coefficient=estimate standard_error low high p_value model_standard_error reason"
            clustered = {"clustered_standard_error": each.standard_error}
            more = {"bot": fit.bot, "separated": fit.separated, "uncertainty": stated_uncertainty(each.uncertainty)}
            assert_is(CoxCoefficient, answer, stated(each, fields, **clustered, **more))


class TestAnnotators:
    def test_have_their_pseudonyms_and_shares(self):
        crowd, answered = stats.annotator_quality(TABLE), annotators(SAMPLE, REQUEST)
        people = [
            stated(each, "n correctness human_correctness majority_agreement")
            | {"annotator": f"p-{each.annotator}", "kind": "judge" if each.annotator == 2 else "person"}
            for each in crowd.annotators
        ]
        for person, one in zip(answered.annotators, people, strict=True):
            assert_is(Annotator, person, one)
        weak = [
            stated(each, "threshold annotators annotations kendall_tau moved method") | ranks_of(each.ranking)
            for each in stats.without_weak_annotators(TABLE, unit=stats.Unit.ANNOTATION, n_resamples=20, seed=0)
        ]
        for ranked, without in zip(answered.without_weak, weak, strict=True):
            assert_is(WithoutWeak, ranked, without)
        alike = stats.sides_alike(TABLE, n_resamples=20, seed=0)
        sides = stated(alike, "observed=estimate expected p_value n method reason")
        assert_is(SidesAlike, answered.sides_alike, sides)
        fields = "n correctness correctness_low correctness_high method human_correctness share_below_half"
        more = {"uncertainty": stated_uncertainty(crowd.uncertainty)}
        lists = {"annotators": people, "without_weak": weak, "sides_alike": sides}
        assert_is(Annotators, answered, stated(crowd, fields, **more, **lists))

    def test_agree_by_coefficients_and_labels(self):
        answered, alpha = agreement(SAMPLE, REQUEST), stats.label_alpha(TABLE, level=stats.Measurement.ORDINAL)
        more = {"uncertainty": stated_uncertainty(alpha.uncertainty)}
        assert_is(Coefficient, answered.alpha_interval, stated(alpha, "estimate low high n method reason", **more))
        for label, found in zip(answered.labels, stats.label_agreement(TABLE), strict=True):
            name = found.label.name.lower()
            more = {"uncertainty": stated_uncertainty(found.uncertainty)}
            assert_is(
                LabelAgreement, label, stated(found, "bot agree total=n rate=estimate low high", label=name, **more)
            )

    def test_take_their_time_of_people_where_there_are_any(self):
        """Annotator 2 is a judge."""
        people = TABLE.annotator != 2
        columns = (each[people] for each in (ELAPSED, TABLE.exchanges, TABLE.text, TABLE.annotator))
        found = stats.annotation_times(*columns)
        segments = [stated(each, "exchanges n median_seconds") for each in found.segments]
        more = {"uncertainty": stated_uncertainty(found.uncertainty), "segments": segments}
        fields = "median_seconds low high mean_seconds n excluded total_hours"
        rule = f"annotations by people; {found.method}"
        assert_is(Time, time(SAMPLE, REQUEST), stated(found, fields, rule=rule, **more))
        programs = replace(SAMPLE, kinds=dict.fromkeys(NAMES, AnnotatorKind.SIMULATED))
        of_programs = time(programs, REQUEST)
        assert (of_programs.n, of_programs.rule[:24]) == (len(ELAPSED), "annotations by programs;")


class TestMeasures:
    def test_have_what_ratings_say_of_bots_and_pairs(self):
        """Ratings by three annotators of four dialogues of two bots, on a scale from 1 to 5."""
        value = np.array([5.0, 4, 4, 2, 1, 3, 5, 3, 4, 2, 2, 1])
        bot, text, annotator = np.repeat([0, 1, 0, 1], 3), np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
        measure = Measure(
            measure="quality", question="?", level="dialogue", kind="scale", lowest=1, highest=5, better="higher"
        )
        none = np.full(12, -1)
        values = Values(measure, ("ada", "bob"), text, text, annotator, bot, none, value, 0 * text, left_out=0)
        ratings = Ratings(("ada", "bob"), bot, text, annotator, value, (1.0, 5.0))
        result = measure_result(values, REQUEST)
        for wire, found in zip(result.bots, rank_ratings(ratings).bots, strict=True):
            code = ("ada", "bob").index(found.bot)
            given = value[bot == code].tolist()
            of_dialogues = [value[text == code].mean(), value[text == code + 2].mean()]
            stated = asdict(found) | {
                "uncertainty": stated_uncertainty(found.uncertainty),
                "values": [{"value": each, "n": given.count(each)} for each in sorted(set(given))],
                "published": published_form("scale", wire.values, np.mean(of_dialogues), 0.95),
            }
            assert_is(MeasuredBot, wire, stated)
        ((pair,), (difference,)) = measured_pairs(values, REQUEST), rating_differences(ratings)
        stated = asdict(difference) | {
            "uncertainty": stated_uncertainty(difference.uncertainty),
            "significant": difference.p_adjusted is not None and difference.p_adjusted < 0.05,
            "published": None,
        }
        assert_is(MeasuredPair, pair, stated)

    @pytest.mark.parametrize(
        ("kind", "fitted"), [("linear", linear_mixed_model), ("cumulative_link", cumulative_link_mixed_model)]
    )
    def test_have_a_mixed_model_of_the_values_of_bots(self, kind: MixedModelKind, fitted: Callable[..., FittedModel]):
        ratings, none = small_study(), np.full(48, -1)
        measure = Measure(
            measure="quality", question="?", level="dialogue", kind="scale", lowest=1, highest=5, better="higher"
        )
        columns = (ratings.item, ratings.item, ratings.annotator, ratings.bot, none, ratings.value, 0 * ratings.item)
        values = Values(measure, ratings.bots, *columns, left_out=0)
        found, wire = fitted(ratings), mixed_model_of(values, REQUEST, kind)
        assert found.reason is None
        named = ["bots", "pairs", "components", "categories", "thresholds", "log_likelihood", "n", "method", "reason"]
        assert_is(MixedModel, wire, {name: asdict(found)[name] for name in named})
        assert_is(BotEffect, wire.bots[0], asdict(found.bots[0]))
        assert_is(EffectDifference, wire.pairs[0], asdict(found.pairs[0]))
        assert_is(VarianceComponent, wire.components[0], asdict(found.components[0]))
        preferences = replace(values, measure=measure.model_copy(update={"kind": "preference"}))
        assert "preferences compare two bots" in str(mixed_model_of(preferences, REQUEST, kind).reason)

    def test_have_published_forms_that_state_each_of_their_fields(self):
        """Three comparisons won, one tied and six lost; then a share of 2 in 5, and the mean of 1, 1 and 4."""
        fields = "estimate low high"
        won, tied, lost = (stats.wilson_interval(count, 10) for count in (3, 1, 6))
        form = published_wins(3, 1, 6, 0.95)
        ends: dict[str, Any] = {"tie": stated(tied, fields), "loss": stated(lost, fields), "mean_of_means": None}
        assert_is(PublishedForm, form, stated(won, f"{fields} n", **ends, method=form.method, reason=None))
        ends = {"tie": None, "loss": None, "mean_of_means": 0.5}
        share, mean = stats.wilson_interval(2, 5), stats.student_interval([1, 1, 4])
        form = published_form("share", (ValueCount(value=0, n=3), ValueCount(value=1, n=2)), 0.5, 0.95)
        assert_is(PublishedForm, form, stated(share, f"{fields} n", **ends, method=form.method, reason=None))
        form = published_form("scale", (ValueCount(value=1, n=2), ValueCount(value=4, n=1)), 0.5, 0.95)
        assert_is(PublishedForm, form, stated(mean, f"{fields} n reason", **ends, method=form.method))


class TestStudies:
    def test_say_where_their_measures_come_from_and_what_they_call_them(self):
        """A person and a judge rated their only chat, with ada and with bob."""
        chatted = (("ada", AnnotatorKind.PERSON), ("bob", AnnotatorKind.JUDGE))
        ratings = [
            rated_chat(at, f"p{at}", {at: (bot, {"quality": 4})}, kind=kind) for at, (bot, kind) in enumerate(chatted)
        ]
        chats = RatedChats("everyday", complete=True, asked={}, ratings=ratings, texts={})
        task = Task(NamedTask("chats", {"quality": "quality"}), "chats", complete=True)
        origin, (measure,) = task_measures(task, chats, REQUEST)
        stated = {"campaign_id": None, "protocol": None, "annotations": 2, "annotators": 2}
        programs = {"simulated_annotators": 0, "judges": 1}
        own = {"task": "chats", "kind": "chats", "score_set_id": None}
        assert_is(StudySource, origin.source, stated | programs | own)
        own = measure_result(chats.values("quality"), REQUEST).model_dump()
        assert_is(StudyMeasure, measure, own | {"name": "quality", "task": "chats"})


class TestPlans:
    def test_have_what_each_pair_needs(self):
        plan = stats.plan_more(stats.play_games(TABLE, unit=stats.Unit.ANNOTATION))
        fields = "bot other win_rate conversations annotators low high more design_effect reason"
        for each in plan.pairs:
            assert_is(PairPlan, PairPlan.of(each), stated(each, fields))

    def test_have_what_an_effect_needs(self):
        effects = [{"kind": "behaviour", "share": 0.5, "other_share": 0.3}]
        request = RatingPlanningIn.model_validate({"effects": effects, "dialogues": 70, "annotators": 30})
        found = stats.plan_power(stats.effect_of_shares(0.5, 0.3), 70, stats.RatingDesign(annotators=30))
        (effect,) = plan_ratings(request).effects
        fields = stated(found, "dialogues annotators power design_effect reason")
        assert_is(EffectPlan, effect, fields | effects[0] | {"d": found.effect})


class TestAnalyses:
    def test_have_the_progress_of_their_job_and_its_result(self):
        request = {"kind": "planning", "win_rates": [0.6]}
        job = StepJob(
            id=UUID(int=1),
            kind="planning",
            subject_id=UUID(int=2),
            request=request,
            state=StepJobState.FAILED,
            failure="It broke.",
            done=3,
            steps=7,
            inputs=None,
            fingerprint="f0",
            version="1.2",
            result=None,
            created_at=NOON,
            finished_at=NOON + timedelta(hours=1),
        )
        stated = {
            "id": UUID(int=1),
            "kind": "planning",
            "campaign_id": UUID(int=2),
            "request": request,
            "state": "failed",
            "failure": "It broke.",
            "done": 3,
            "steps": 7,
            "created_at": NOON,
            "finished_at": NOON + timedelta(hours=1),
            "counts": None,
            "data_sha256": "f0",
            "version": "1.2",
            "stability": None,
            "plan": None,
            "rating_plan": None,
        }
        assert_is(AnalysisJobOut, _to_out(analysis_of(job)), stated)


class TestLists:
    async def test_have_campaigns_as_annotation_has_them(self, suite: RunningSuite):
        campaign = await open_campaign(suite, await import_conversations(suite, [conversation("c", "X", "Y")]))
        analyst = await suite.client("analytics", "analyst")
        (found,) = (await analyst.get("/v1/campaigns")).json()["items"]
        names = ("id", "name", "domain", "protocol", "annotations_needed", "released_at", "created_at")
        more = {"state": "open", "annotations": 0}
        assert_is(CampaignSummaryOut, found, {name: campaign[name] for name in names} | more)

    def test_have_bots_with_how_they_did(self):
        bot = BotOut(
            id=UUID(int=3),
            name="eliza",
            team="ours",
            description="",
            domains=("everyday",),
            limits=Limits(),
            public=True,
            status=BotStatus.FAILING,
            status_reason="It broke.",
            paused_until=None,
            version=4,
            protocol=BuiltinProtocol(kind="builtin", model="eliza"),
            has_secret=False,
            configuration_sha256="c0",
            created_at=NOON,
            probe=None,
        )
        did = BotPerformanceOut(collections=1, conversations={}, failed=2, failures=(), replies=0, latency=None)
        fields = {"id": UUID(int=3), "name": "eliza", "status": "failing", "status_reason": "It broke."}
        more = {"version": 4, "public": True, "performance": did}
        assert_is(TeamBotOut, TeamBotOut.of(bot, performance=did), fields | more)
