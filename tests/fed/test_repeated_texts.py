"""Conversations of one text are one cluster to FED: copies make no interval narrower, and score sets name them."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from spotthebot.contracts.fed.score_jobs import ScoreJobIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.fed.correlations.domain import clusters_of
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension
from spotthebot.fed.score_jobs.domain import summarize
from spotthebot.fed.score_sets.domain import ScoredContext
from spotthebot.fed.stats.correlation import beside_length
from spotthebot.fed.stats.samples import annotator_ratings
from tests.factories.annotating import ask, work_through
from tests.factories.campaigns import open_campaign
from tests.factories.lazy_imports import needs_models
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations, until

COPIES = 4
SCORER = ScorerIn(model="gpt2", mode="followup_mean", dimension_set=DimensionSetRef(set="bipartite"))


def _asked(collection: UUID) -> ScoreJobIn:
    return ScoreJobIn(collection_id=collection, scorer=SCORER, resamples=200)


class TestSummaries:
    @pytest.fixture
    def contexts(self) -> list[ScoredContext]:
        """Two bots in eight conversations each, which have two or three turns of theirs."""
        chance = np.random.default_rng(5)
        return [
            ScoredContext(UUID(int=16 * at + number), turn, bot, 40, 0, (float(chance.normal()),), bytes([at, number]))
            for at, bot in enumerate(("ada", "bob"))
            for number in range(8)
            for turn in range(2 + number % 2)
        ]

    def test_copies_leave_bounds_and_ranks_as_they_are(self, contexts: list[ScoredContext]):
        """A cluster of c copies has c times the sum and the count, so the error of their ratio is that of one copy.

        As independent conversations, their variance shrinks: n / (n - 1) sum of squares / (counts)² with c times as
        many n, squares and counts.
        """
        copied = [
            replace(each, conversation_id=UUID(int=each.conversation_id.int + 1000 * copy))
            for copy in range(COPIES)
            for each in contexts
        ]
        unknown = [replace(each, text_hash=None) for each in copied]
        dimensions, request = (Dimension("kind", ("Kind!",), ()),), _asked(UUID(int=1))
        ((once,), (clustered,), (apart,)) = (
            summarize(rows, dimensions, request, {}) for rows in (contexts, copied, unknown)
        )
        for one, copy, bold in zip(once.bots, clustered.bots, apart.bots, strict=True):
            assert (copy.bot, copy.dialogues) == (one.bot, 8)
            assert (copy.rank_low, copy.rank_high) == (one.rank_low, one.rank_high)
            assert (copy.low, copy.high) == pytest.approx((one.low, one.high))
            assert (copy.contexts, bold.dialogues) == (COPIES * one.contexts, COPIES * 8)
        widths = [[bot.high - bot.low for bot in each.bots if bot.high and bot.low] for each in (once, apart)]
        assert sum(widths[1]) < 0.6 * sum(widths[0])  # 1 / sqrt(4), and less for more degrees of freedom


class TestCorrelations:
    def test_copies_have_the_interval_of_one(self):
        """A copy moves no mean rank and leaves with its text, so each sample of the jackknife correlates as it did."""
        chance = np.random.default_rng(8)
        scores, lengths = chance.normal(size=(2, 15))
        rows = [(item, person, round(scores[item] + chance.normal(), 1)) for item in range(15) for person in range(12)]
        found = []
        for copies in (1, COPIES):
            items = [
                (item + 15 * copy, f"p{person}", rating) for copy in range(copies) for item, person, rating in rows
            ]
            ratings = annotator_ratings(*map(list, zip(*items, strict=True)), n_items=15 * copies)
            columns = np.tile(scores, copies), ratings, np.tile(lengths, copies)
            found.append(beside_length(*columns, dialogue=np.tile(np.arange(15), copies)))
        for one, copied in ((vars(found[0])[name], vars(found[1])[name]) for name in vars(found[0])):
            assert (copied.n, copied.n_dialogues, copied.n_annotators) == (COPIES * 15, 15, 12)
            if "Kendall" not in one.method:  # tau-b counts pairs of copies as ties
                assert (copied.estimate, copied.low, copied.high) == pytest.approx((one.estimate, one.low, one.high))
                assert copied.degrees_of_freedom == pytest.approx(one.degrees_of_freedom)


class TestClusters:
    def test_conversations_share_one_by_their_text_or_by_what_annotators_see(self):
        """1 and 2 say the same; of 2 and 3 annotators see the same part; of 4 they see another, of 5 nothing."""
        hashes = {1: b"same", 2: b"same", 3: b"other", 4: b"last", 5: None}
        contexts = [ScoredContext(UUID(int=at), 2, "ada", 9, 0, (1.0,), own) for at, own in hashes.items()]
        found = clusters_of(contexts, {UUID(int=2): "begins", UUID(int=3): "begins", UUID(int=4): "apart"})
        assert found[UUID(int=1)] == found[UUID(int=2)] == found[UUID(int=3)]
        assert len({*found.values()}) == 3


@needs_models
class TestScoreSets:
    async def test_copies_have_the_intervals_of_one_and_are_named_with_their_pairs(self, suite: RunningSuite):
        fed = await suite.fed("admin")
        found = []
        for copies in (1, COPIES):
            collection = UUID(await import_conversations(suite, _conversations(copies)))
            job = await fed.create_score_job(_asked(collection))
            await until(await suite.client("fed", "admin"), f"/v1/score-jobs/{job.id}", "complete")
            found.append(await fed.get_score_set(job.id))
        once, copied = found
        assert [each.model_dump() for each in once.repeated_texts] == []
        assert [each.model_dump() for each in copied.repeated_texts] == [
            {"speakers": ("good", "partner"), "conversations": COPIES * 6, "texts": 6}
        ]
        for one, copy in zip(once.dimensions, copied.dimensions, strict=True):
            for before, bot in zip(one.bots, copy.bots, strict=True):
                assert (bot.bot, bot.dialogues) == (before.bot, 6)
                assert (bot.low, bot.high) == pytest.approx((before.low, before.high))

    async def test_correlations_leave_out_all_that_annotators_see_alike_at_once(self, suite: RunningSuite):
        """Of eight conversations two say the same, and two more only in the exchange that annotators see."""
        held = [conversation(f"c{number}", "good", "partner") for number in range(8)]
        for turn, other in zip(held[1]["turns"], held[0]["turns"], strict=True):
            turn["text"] = other["text"].upper()
        for turn, other in zip(held[3]["turns"][:2], held[2]["turns"], strict=False):
            turn["text"] = other["text"]
        collection = UUID(await import_conversations(suite, held))
        fed = await suite.fed("admin")
        job = await fed.create_score_job(_asked(collection))
        await until(await suite.client("fed", "admin"), f"/v1/score-jobs/{job.id}", "complete")
        campaign = await open_campaign(suite, str(collection), segments=[1])
        while (answer := await ask(suite, campaign, "ann")).status_code == 201:
            await work_through(suite, answer.json())
        found = await fed.get_correlation(job.id, UUID(campaign["id"]), rated="fluency")
        spearman = found.dimensions[0].spearman
        assert (spearman.n, spearman.n_dialogues) == (16, 6)  # a bot on each side


def _conversations(copies: int) -> list[dict[str, Any]]:
    """Six texts, each in so many conversations."""
    held = []
    for copy in range(copies):
        for number in range(6):
            made = conversation(f"{number}", "good", "partner")
            for turn in made["turns"]:
                turn["text"] += " and more" * (number % 4)
            held.append(made | {"external_id": f"{copy}-{number}"})
    return held
