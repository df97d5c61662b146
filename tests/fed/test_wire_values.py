"""Answers that are made from attributes: what each field is, stated from rows and from what the statistics found."""

from typing import Any
from uuid import UUID

from spotthebot.contracts.fed.correlations import CorrelationOut, SplitHalfOut
from spotthebot.contracts.fed.dialogue_scores import FavouredBotOut, PartnerScoreOut, ScoreDifferenceOut
from spotthebot.contracts.fed.score_jobs import BotScoreOut, ScoreJobOut, ScoreSetOut
from spotthebot.fed.stats.bot_scores import BotScore
from spotthebot.fed.stats.correlation import correlation
from spotthebot.fed.stats.paired_difference import paired_difference
from spotthebot.fed.stats.split_half import split_half
from spotthebot.fed.stats.unfair_pools import FavouredBot
from tests.factories.lazy_imports import needs_models
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations, until
from tests.factories.wire_values import assert_is, select

pytestmark = needs_models


class TestScoreJob:
    async def test_has_its_progress_and_then_its_scores(self, suite: RunningSuite):
        held = [conversation(f"c{number}", "good", "partner") for number in range(3)]
        collection = await import_conversations(suite, held)
        scorer = {"model": "gpt2", "mode": "followup_mean", "dimension_set": {"set": "bipartite", "version": 1}}
        asked = {"collection_id": collection, "scorer": scorer, "bots": ["good"], "resamples": 200, "seed": 5}
        admin = await suite.client("fed", "admin")
        made = await admin.post("/v1/score-jobs", json=asked)
        job = await until(admin, f"/v1/score-jobs/{made.json()['id']}", "complete")
        (row,) = select(suite.database.owner["fed"], "SELECT * FROM fed.step_jobs")
        (stored,) = select(
            suite.database.owner["fed"],
            "SELECT count(*) AS contexts, count(DISTINCT conversation_id) AS dialogues FROM fed.context_scores",
        )
        both: dict[str, Any] = {
            "id": row["id"],
            "collection_id": UUID(collection),
            "request": asked,
            "created_at": row["created_at"],
            "version": row["version"],
            "model_sha256": row["inputs"]["model_sha256"],
            "contexts": stored["contexts"],
            "rejected": 0,
        }
        progress = {name: row[name] for name in ("state", "failure", "steps", "finished_at")}
        assert_is(ScoreJobOut, job, both | progress | {"done": row["steps"], "rate_contexts_per_second": None})
        found = (await admin.get(f"/v1/score-sets/{row['id']}")).json()
        more = {"data_sha256": row["inputs"]["data_sha256"], "template_date": None}
        assert_is(ScoreSetOut, found, both | more | row["result"] | {"dialogues": stored["dialogues"]})
        assert (stored, len(row["result"]["dimensions"])) == ({"contexts": 6, "dialogues": 3}, 4)


class TestCorrelation:
    def test_has_its_estimate_and_interval(self):
        found = correlation([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5])
        stated = {
            "estimate": found.estimate,
            "low": found.low,
            "high": found.high,
            "p_value": found.p_value,
            "n": 6,
            "n_dialogues": 6,
            "n_annotators": None,
            "degrees_of_freedom": found.degrees_of_freedom,
            "method": found.method,
            "reason": found.reason,
        }
        assert_is(CorrelationOut, CorrelationOut.of(found), stated)

    def test_has_a_ceiling(self):
        found = split_half([[1, 2, 1], [3, 3, 4], [5, 4, 5], [2, 2, 1]], seed=1)
        stated = {
            "estimate": found.estimate,
            "all_raters": found.all_raters,
            "n": 4,
            "splits": found.n_splits,
            "method": found.method,
            "reason": found.reason,
        }
        assert_is(SplitHalfOut, SplitHalfOut.of(found, splits=found.n_splits), stated)


class TestUnfairPool:
    def test_a_favoured_bot_has_its_leads_and_p_values(self):
        stated: dict[str, Any] = {
            "bot": "ada",
            "fair_lead": -0.5,
            "unfair_lead": 0.25,
            "p_value": 0.01,
            "p_adjusted": 0.02,
        }
        assert_is(FavouredBotOut, FavouredBotOut.of(FavouredBot(**stated)), stated)


class TestBotScore:
    INTERVAL = {"low": 1.0, "high": 2.0, "rank_low": 3, "rank_high": 4, "reason": "none"}  # noqa: RUF012 - not changed
    FOUND = BotScore("a", estimate=1.5, low=1.0, high=2.0, n=6, n_dialogues=5, rank_low=3, rank_high=4, reason="none")

    def test_has_its_interval_and_its_ranks(self):
        more = {"score": 1.5, "contexts": 6, "dialogues": 5, "length_baseline": 0.5, "beyond_length": 1.0}
        assert_is(BotScoreOut, BotScoreOut.of(self.FOUND, **more), {"bot": "a"} | self.INTERVAL | more)

    def test_has_the_same_beside_a_partner(self):
        more = {"partner": "a", "score": 1.5, "dialogues": 5, "example": UUID(int=1)}
        assert_is(PartnerScoreOut, PartnerScoreOut.of(self.FOUND, **more), self.INTERVAL | more)


class TestScoreDifference:
    def test_has_its_bounds_and_its_score_sets(self):
        found = paired_difference(
            [1, 2, 3, 4, 6], [2, 2, 4, 5, 8], range(5), confidence_level=0.9, n_resamples=300, seed=4
        )
        sets = {"score_set_id": UUID(int=1), "baseline_id": UUID(int=2), "dimension": "fluency"}
        counts = {"pairs": 5, "openings": 0, "left_out": 1, "resamples": 300, "score": 3.2, "baseline": 4.2}
        stated = {
            "estimate": -1.0,
            "low": found.low,
            "high": found.high,
            "detectable": found.detectable,
            "reason": None,
            "confidence_level": 0.9,
            "seed": 4,
            "method": found.method,
        }
        assert_is(ScoreDifferenceOut, ScoreDifferenceOut.of(found, **sets, **counts), stated | sets | counts)
