"""Results of a score set by partner, by number of dialogues, and in unfair pools."""

from collections import defaultdict
from itertools import permutations
from statistics import fmean
from uuid import UUID

import pytest

from spotthebot.clients import Conflict, Invalid
from spotthebot.contracts.fed.score_jobs import ScoreJobIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from tests.factories.lazy_imports import needs_models
from tests.factories.studies import conversation, import_conversations, until

pytestmark = needs_models

SCORER = ScorerIn(model="gpt2", mode="followup_mean", dimension_set=DimensionSetRef(set="bipartite"))


async def scored(suite, scorer=SCORER, bots=None, collection=None):
    """Score six conversations of each pair of ada, bob and cy; a third of them are an exchange shorter."""
    held = [
        conversation(f"{first} {second} {number}", first, second, 3 - (number % 3 == 0))
        for first, second in permutations(("ada", "bob", "cy"), 2)
        for number in range(3)
    ]
    fed = await suite.fed("admin")
    collection = collection or UUID(await import_conversations(suite, held))
    request = ScoreJobIn(collection_id=collection, scorer=scorer, bots=bots, resamples=200)
    job = await fed.create_score_job(request)
    await until(await suite.client("fed", "admin"), f"/v1/score-jobs/{job.id}", "complete")
    spoken = (await suite.conversations("admin")).stream_speakers(collection)
    names = {each.id: [participant.name for participant in each.participants] async for each in spoken}
    turns = defaultdict(list)
    async for each in fed.list_scores(job.id):
        (partner,) = {*names[each.conversation_id]} - {each.bot}
        turns[each.bot, partner, each.conversation_id].append(each.scores["specificity"])
    return job.id, {key: fmean(own) for key, own in turns.items()}


@pytest.fixture(scope="module")
def suite(module_suite):
    """The file's services, which keep all rows: all tests read one score set."""
    return module_suite


@pytest.fixture(scope="module")
async def found_scores(suite):
    """A score set of all bots, and the mean score of each bot with each partner in each conversation."""
    return await scored(suite)


class TestDialogueScores:
    async def test_are_summed_up_by_dialogue_first_and_then_by_bot_and_partner(self, suite, found_scores):
        set_id, means = found_scores
        fed = await suite.fed("analyst")
        summary = await fed.get_score_set(set_id)
        for bot in next(each for each in summary.dimensions if each.dimension == "specificity").bots:
            assert bot.score == pytest.approx(fmean(mean for (own, *_), mean in means.items() if own == bot.bot))
            assert bot.dialogues == 12
        found = await fed.get_partner_scores(set_id, "ada", dimension="specificity")
        assert {each.partner for each in found.partners} == {"bob", "cy"}
        for each in found.partners:
            own = {
                talk: mean for (bot, partner, talk), mean in means.items() if (bot, partner) == ("ada", each.partner)
            }
            assert (each.score, each.dialogues) == (pytest.approx(fmean(own.values())), 6)
            assert each.low < each.score < each.high
            distances = {talk: abs(mean - each.score) for talk, mean in own.items()}
            assert distances[each.example] == min(distances.values())
        assert found.partners[0].score >= found.partners[1].score

    async def test_order_bots_the_surer_the_more_dialogues_there_are(self, suite, found_scores):
        set_id, means = found_scores
        fed = await suite.fed("analyst")
        found = await fed.get_order_stability(set_id, dimension="specificity", sizes=[2, 5000], samples=200)
        small, large = found.points
        assert (small.conversations, large.conversations) == (2, 5000)
        ranked = sorted(("ada", "bob", "cy"), key=lambda bot: -fmean(m for (own, *_), m in means.items() if own == bot))
        assert [bot for (bot,) in large.clusters] == ranked
        assert small.rate <= large.rate

    async def test_show_who_wins_in_an_unfair_pool(self, suite, found_scores):
        set_id, means = found_scores
        fed = await suite.fed("analyst")
        found = await fed.get_unfair_pool(set_id, "ada", ["cy"], dimension="specificity", resamples=500)

        def mean(bot, *partners):
            return fmean(value for (own, with_, _), value in means.items() if own == bot and with_ in partners)

        (bob,) = found.favoured
        assert bob.fair_lead == pytest.approx(mean("bob", "ada") - mean("ada", "bob"))
        assert bob.unfair_lead == pytest.approx(mean("bob", "ada", "cy") - mean("ada", "bob", "cy"))
        cells = [found.wins_both, found.wins_fair_only, found.wins_unfair_only, found.wins_neither]
        assert cells[2 * (bob.fair_lead <= 0) + (bob.unfair_lead <= 0)] == sum(cells) == 1

    async def test_refuse_bots_and_dimensions_that_were_not_scored(self, suite, found_scores):
        set_id, _ = found_scores
        fed = await suite.fed("analyst")
        with pytest.raises(Invalid, match="scores no bot 'eve': it scores ada, bob, cy"):
            await fed.get_partner_scores(set_id, "eve")
        with pytest.raises(Invalid, match="scores no bot 'eve'"):
            await fed.get_unfair_pool(set_id, "ada", ["eve"])
        with pytest.raises(Invalid, match="no dimension 'charm': it has fluency, specificity"):
            await fed.get_order_stability(set_id, dimension="charm")


class TestDifferences:
    async def test_need_one_bot_each_in_the_same_plan_by_the_same_scorer(self, suite, found_scores):
        """`tests/cli/test_gates.py` has the difference of two versions, against their scores."""
        fed = await suite.fed("analyst")
        all_bots, _ = found_scores
        collection = (await fed.get_score_set(all_bots)).collection_id
        ada, _ = await scored(suite, bots=("ada",), collection=collection)
        bob, _ = await scored(suite, bots=("bob",), collection=collection)
        other, _ = await scored(
            suite, SCORER.model_copy(update={"mode": "followup_sum"}), bots=("ada",), collection=collection
        )
        for baseline, refusal, said in (
            (all_bots, Invalid, "this set scores ada, bob, cy"),
            (bob, Conflict, "both collections need the same partners"),
            (other, Conflict, "scored by another model, rule or dimensions"),
        ):
            with pytest.raises(refusal, match=said):
                await fed.get_score_difference(ada, baseline)
        same = await fed.get_score_difference(ada, ada, dimension="specificity")
        assert (same.estimate, same.pairs, same.left_out) == (0, 12, 6)  # bob and cy met six times without ada
