"""Scores of bots beside people's ratings of these bots, of other conversations."""

from collections import defaultdict
from itertools import combinations
from statistics import fmean
from uuid import UUID, uuid4

import pytest
import scipy

from spotthebot.clients import Conflict, Invalid, NotFound
from spotthebot.contracts.fed.score_jobs import ScoreJobIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.contracts.fed.system_correlations import BotRatingIn, SystemCorrelationsIn
from tests.factories.lazy_imports import needs_models
from tests.factories.studies import conversation, created, import_conversations, until

pytestmark = needs_models

SCORER = ScorerIn(model="gpt2", mode="followup_mean", dimension_set=DimensionSetRef(set="bipartite"))
BOTS = ("ada", "bob", "cy", "dee")
QUESTIONS = ("fluency", "specificity", "sensibleness", "overall")


async def score_set(suite, pairs):
    held = [conversation(f"{first} {second}", first, second) for first, second in pairs]
    for number, each in enumerate(held):
        for turn in each["turns"]:
            turn["text"] += f" and {turn['speaker']}" * (number % 3)
    fed = await suite.fed("admin")
    collection = UUID(await import_conversations(suite, held))
    job = await fed.create_score_job(ScoreJobIn(collection_id=collection, scorer=SCORER, resamples=200))
    await until(await suite.client("fed", "admin"), f"/v1/score-jobs/{job.id}", "complete")
    return job.id


async def rated_campaign(suite, points, name="people"):
    """Import annotations by `bipartite_likert` of a chat of each pair of bots: an annotator's points of each bot."""
    pairs = [*combinations(BOTS, 2)]
    held = [conversation(f"rated {first} {second}", first, second, 2) for first, second in pairs]
    admin = await suite.client("annotation", "admin")
    body = {"mode": "import", "name": name, "domain": "everyday", "annotators_published": True}
    body |= {"collection_id": await import_conversations(suite, held), "protocol": "bipartite_likert"}
    campaign = (await created(admin, "/v1/campaigns", body))["id"]
    path = f"/v1/campaigns/{campaign}"
    await until(admin, path, "open")
    shown = [{"conversation": each["external_id"], "exchanges": 2} for each in held]
    await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": shown}]})
    nothing = dict.fromkeys(("started_at", "ended_at", "completion_code", "elapsed_ms"))
    annotations = [
        {
            "external_id": f"{each['external_id']} {annotator}",
            "package": "p",
            "conversation": each["external_id"],
            "exchanges": 2,
            "annotator": annotator,
            "answer": {question: {"A": own[first], "B": own[second]} for question in QUESTIONS},
        }
        | nothing
        for each, (first, second) in zip(held, pairs, strict=True)
        for annotator, own in points.items()
    ]
    await created(admin, f"{path}/annotations", {"annotations": annotations})
    return UUID(campaign)


@pytest.fixture(scope="module")
def suite(module_suite):
    """The file's services, which keep all rows: all tests read one score set."""
    return module_suite


@pytest.fixture(scope="module")
async def whole(suite):
    """The scores of a dialogue of each pair of bots."""
    return await score_set(suite, [*combinations(BOTS, 2)])


class TestSystemCorrelations:
    async def test_stand_side_by_side_for_several_ways_to_collect(self, suite, whole):
        """Ann and ben rate the bots of a campaign, cat in a table; dee stands in only one score set."""
        alone = await score_set(suite, [(bot, bot) for bot in BOTS[:3]])
        points = {"ann": {"ada": 1, "bob": 3, "cy": 2, "dee": 5}, "ben": {"ada": 2, "bob": 4, "cy": 5, "dee": 1}}
        campaign = await rated_campaign(suite, points)
        table = [BotRatingIn(bot="ada", annotator="cat", question="overall", value=5)]
        fed = await suite.fed("analyst")
        request = SystemCorrelationsIn(score_sets=(whole, alone), campaigns=(campaign,), ratings=table)
        found = await fed.correlate_systems(request)
        assert [(each.mode, each.dialogues) for each in found.score_sets] == [("import", 9), ("import", 3)]
        assert found.left_out == ("dee",)
        assert [(each.dimension, each.rated) for each in found.dimensions] == [(each, each) for each in QUESTIONS]
        overall = found.dimensions[-1]
        rated = {"bob": 3.5, "cy": 3.5, "ada": fmean([1, 2, 5])}
        assert {each.bot: (each.rating, each.annotators) for each in overall.systems} == {
            "bob": (3.5, 2),
            "cy": (3.5, 2),
            "ada": (pytest.approx(rated["ada"]), 3),
        }
        for number, set_id in enumerate((whole, alone)):
            scores: dict[str, dict[UUID, list[float]]] = defaultdict(lambda: defaultdict(list))
            async for each in fed.list_scores(set_id):
                scores[each.bot][each.conversation_id].append(each.scores["overall"])
            means = {bot: fmean(fmean(own) for own in of.values()) for bot, of in scores.items()}
            assert {each.bot: each.scores[number] for each in overall.systems} == pytest.approx(
                {bot: means[bot] for bot in rated}
            )
            columns = [means[bot] for bot in rated], [*rated.values()]
            result = overall.score_sets[number]
            assert result.spearman.estimate == pytest.approx(scipy.stats.spearmanr(*columns).statistic)
            assert result.kendall.estimate == pytest.approx(scipy.stats.kendalltau(*columns).statistic)
            assert result.spearman.n == result.length_spearman.n == 3
        assert overall.ceiling.n == 3

    async def test_count_an_annotator_of_two_campaigns_once(self, suite, whole):
        points = [{name: dict.fromkeys(BOTS, 1 + at) for at, name in enumerate(names)} for names in ("ab", "bc")]
        campaigns = tuple([await rated_campaign(suite, each, f"people {at}") for at, each in enumerate(points)])
        fed = await suite.fed("analyst")
        found = await fed.correlate_systems(SystemCorrelationsIn(score_sets=(whole,), campaigns=campaigns))
        for each in found.dimensions[-1].systems:
            assert (each.annotators, each.rating) == (3, pytest.approx(fmean([1, fmean([2, 1]), 2])))

    async def test_compare_all_dimensions_with_one_question_of_a_study(self, suite, whole):
        points = {f"p{number}": {bot: 1 + (number + at) % 5 for at, bot in enumerate(BOTS)} for number in range(3)}
        campaign = await rated_campaign(suite, points, "people of a study")
        admin = await suite.client("annotation", "admin")
        study = await created(admin, "/v1/studies", {"name": "s", "campaigns": [str(campaign)]})
        request = SystemCorrelationsIn(score_sets=(whole,), studies=(study["id"],), rated="sensibleness")
        found = await (await suite.fed("analyst")).correlate_systems(request)
        assert [each.rated for each in found.dimensions] == ["sensibleness"] * 4
        assert {each.spearman.n for dimension in found.dimensions for each in dimension.score_sets} == {4}
        p_value = found.dimensions[0].score_sets[0].kendall.p_value
        assert p_value * 24 == pytest.approx(round(p_value * 24))  # shares of the orders of four

    async def test_refuse_sources_that_do_not_fit_with_what_they_have(self, suite, whole):
        fed = await suite.fed("analyst")
        table = (BotRatingIn(bot="ada", annotator="cat", question="charm", value=5),)
        with pytest.raises(Invalid, match=r"no rating 'fluency, .*' in these sources: there are charm"):
            await fed.correlate_systems(SystemCorrelationsIn(score_sets=(whole,), ratings=table))
        collection = (await fed.get_score_set(whole)).collection_id
        with pytest.raises(Conflict, match="People did not chat with bots in the collection"):
            await fed.correlate_systems(SystemCorrelationsIn(score_sets=(whole,), chats=(collection,)))
        with pytest.raises(Conflict, match="People did not chat with bots in the collection"):
            await fed.get_correlation(whole, rated="quality")
        for missing in ({"studies": (uuid4(),)}, {"campaigns": (uuid4(),)}, {"chats": (uuid4(),)}):
            with pytest.raises(NotFound):
                await fed.correlate_systems(SystemCorrelationsIn(score_sets=(whole,), **missing))
