"""A score job reads openings: dialogues that have the same one vary together in intervals and ranks."""

from uuid import UUID

import pytest

from spotthebot.contracts.fed.score_jobs import ScoreJobIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.contracts.turns import Turn
from spotthebot.fed.stats.bot_scores import score_bots
from tests.factories.chat_studies import import_chats
from tests.factories.lazy_imports import needs_models
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import until

pytestmark = needs_models
SCORER = ScorerIn(model="gpt2", mode="followup_mean", dimension_set=DimensionSetRef(set="bipartite"))


async def test_dialogues_with_the_same_opening_are_one_cluster(suite: RunningSuite):
    """Of 24 dialogues with three bots three each have one opening; the same scores by the function alone."""
    chats = [
        chat.model_copy(
            update={
                "opening": (Turn(speaker="A", text="Hi."), Turn(speaker="B", text=f"Hello {at % 8}.")),
                "turns": tuple(turn.model_copy(update={"text": f"{turn.text} {chat.id}"}) for turn in chat.turns),
            }
        )
        for at, chat in enumerate(exported_chats(12))
    ]
    collection = UUID(await import_chats(suite, chats))
    fed = await suite.fed("admin")
    request = ScoreJobIn(collection_id=collection, scorer=SCORER, resamples=20_000)
    job = await fed.create_score_job(request)
    await until(await suite.client("fed", "admin"), f"/v1/score-jobs/{job.id}", "complete")
    held = [each async for each in (await suite.conversations("admin")).list_conversations(collection)]
    openings = {each.id: each.opening[1].text for each in held}
    scores = [each async for each in fed.list_scores(job.id)]
    for each in (await fed.get_score_set(job.id)).dimensions:
        columns = [score.scores[each.dimension] for score in scores], [score.bot for score in scores]
        dialogues = [str(score.conversation_id) for score in scores]
        opening = [openings[score.conversation_id] for score in scores]
        known = score_bots(*columns, dialogues, opening, n_resamples=20_000)
        apart = score_bots(*columns, dialogues, n_resamples=20_000)
        assert each.method == known.method != apart.method
        for bot, same, bold in zip(each.bots, known.bots, apart.bots, strict=True):
            assert (bot.bot, bot.dialogues) == (same.bot, same.n_dialogues)
            assert bot.score == pytest.approx(same.estimate)
            assert bot.low is not None
            assert bot.high is not None
            assert same.low is not None
            assert same.high is not None
            assert bold.low is not None
            assert bold.high is not None
            assert bot.high - bot.low == pytest.approx(same.high - same.low, rel=0.05)
            assert same.high - same.low != pytest.approx(bold.high - bold.low, rel=1e-6)
