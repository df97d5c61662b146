import asyncio
import csv
import io
import json
import statistics
from collections import defaultdict
from uuid import UUID, uuid4

import pytest
import scipy
from sqlalchemy import text
from standardwebhooks import Webhook

from spotthebot.clients import Conflict, Forbidden, Invalid, NotFound
from spotthebot.contracts.conversations.exports import ExportedRating
from spotthebot.contracts.fed.score_jobs import ScoreJobIn
from spotthebot.contracts.fed.scorers import DimensionSetRef, ScorerIn
from spotthebot.fed.scores.domain.length_baseline import context_length
from spotthebot.kit.database.sessions import Database
from tests.factories import bot_servers
from tests.factories.annotating import ask, work_through
from tests.factories.campaigns import open_campaign
from tests.factories.exported import exported
from tests.factories.lazy_imports import needs_models
from tests.factories.studies import conversation, created, import_conversations, until
from tests.factories.subscribers import settled, subscribe

pytestmark = needs_models

SCORER = ScorerIn(model="gpt2", mode="followup_mean", dimension_set=DimensionSetRef(set="bipartite"))


def other(**changes):
    return SCORER.model_copy(update=changes)


def conversations(count=5):
    """Conversations of three exchanges, of different lengths."""
    pairs = [("good", "partner"), ("dull", "partner")]
    held = [conversation(f"{number}-{first}", first, other) for number in range(count) for first, other in pairs]
    for number, each in enumerate(held):
        for turn in each["turns"]:
            turn["text"] += " and more" * (number % 4)
    return held


def asked(collection, **more):
    return ScoreJobIn(collection_id=collection, **{"scorer": SCORER, "resamples": 200, **more})


async def finished(fed, job_id, seconds=60):
    async with asyncio.timeout(seconds):
        while (job := await fed.get_score_job(job_id)).state in {"queued", "running"}:
            await asyncio.sleep(0.1)
    return job


@pytest.fixture(scope="class")
async def suite(module_suite, shared_suites):
    """The file's services; the tests of a class read the same rows."""
    yield module_suite
    await shared_suites.empty(module_suite)


@pytest.fixture(scope="class")
async def fed(suite):
    return await suite.fed("admin")


@pytest.fixture(scope="class")
async def collection(suite):
    return UUID(await import_conversations(suite, conversations()))


@pytest.fixture(scope="class")
async def of_bots(fed, collection):
    """A complete job that scored two of the three bots."""
    return await finished(fed, (await fed.create_score_job(asked(collection, bots=("good", "dull")))).id)


@pytest.fixture(scope="class")
async def of_all(fed, collection):
    """A complete job that scored all bots."""
    return await finished(fed, (await fed.create_score_job(asked(collection))).id)


class TestScoreJob:
    async def test_a_job_scores_every_turn_of_the_named_bots_that_answers_another(self, suite, collection, of_bots):
        fed, done = await suite.fed("admin"), of_bots
        assert done.state == "complete"
        assert done.failure is None
        assert done.done == 5
        assert done.steps == 5
        scores = [each async for each in fed.list_scores(done.id)]
        assert done.contexts == len(scores) == 10 * 2  # of three turns each, the first answers nobody
        assert {each.bot for each in scores} == {"good", "dull"}
        assert {each.turn for each in scores} == {3, 5}
        held = [each async for each in (await suite.conversations("admin")).list_conversations(collection)]
        texts = {each.id: [turn.text for turn in each.turns] for each in held}
        assert all(each.length == context_length(texts[each.conversation_id][: each.turn]) for each in scores)
        one = [each async for each in fed.list_scores(done.id, conversation_id=held[0].id)]
        assert one == [each for each in scores if each.conversation_id == held[0].id] != []

    async def test_a_set_sums_up_bots_with_intervals_ranks_and_what_length_says(self, fed, of_bots):
        found = await fed.get_score_set(of_bots.id)
        scores = [each async for each in fed.list_scores(of_bots.id)]
        assert [each.dimension for each in found.dimensions] == ["fluency", "specificity", "sensibleness", "overall"]
        assert (found.contexts, found.dialogues, found.rejected) == (20, 10, 0)
        for each in found.dimensions:
            line = scipy.stats.linregress(
                [1 / score.length for score in scores], [score.scores[each.dimension] for score in scores]
            )
            assert each.baseline.slope == pytest.approx(line.slope)
            for bot in each.bots:
                own = [score.scores[each.dimension] for score in scores if score.bot == bot.bot]
                assert bot.score == pytest.approx(sum(own) / len(own))
                assert bot.low < bot.score < bot.high
                expected = [line.intercept + line.slope / score.length for score in scores if score.bot == bot.bot]
                assert bot.beyond_length == pytest.approx(bot.score - sum(expected) / len(expected))

    async def test_an_export_has_a_row_for_each_dimension_of_each_context_in_every_format(self, fed, of_bots):
        lines = b"".join([piece async for piece in fed.export_scores(of_bots.id)]).splitlines()
        rows = [json.loads(line) for line in lines]
        assert len(rows) == 20 * 4
        table = b"".join([piece async for piece in fed.export_scores(of_bots.id, "csv")]).decode()
        assert [float(row["score"]) for row in csv.DictReader(io.StringIO(table))] == [row["score"] for row in rows]
        assert b"".join([piece async for piece in fed.export_scores(of_bots.id, "parquet")])[:4] == b"PAR1"

    async def test_the_level_of_dialogues_scores_the_last_turn_of_each_bot(self, fed, collection):
        job = await fed.create_score_job(asked(collection, level="dialogue"))
        await finished(fed, job.id)
        scores = [each async for each in fed.list_scores(job.id)]
        assert sorted({(each.bot, each.turn) for each in scores}) == [("dull", 5), ("good", 5), ("partner", 6)]

    async def test_a_conversation_that_is_too_long_is_rejected_and_the_others_are_scored(self, suite, fed):
        long = conversation("long", "good", "partner") | {}
        long["turns"] = [{"speaker": "AB"[number % 2], "text": "bread " * 200} for number in range(3)]
        collection = UUID(await import_conversations(suite, [*conversations(2), long]))
        job = await fed.create_score_job(asked(collection))
        done = await finished(fed, job.id)
        (rejected,) = [each async for each in fed.list_rejected_conversations(job.id)]
        assert (done.state, done.rejected) == ("complete", 1)
        assert "over_long" in rejected.reason
        assert (await fed.get_score_set(job.id)).dialogues == 4

    async def test_a_failed_job_says_why(self, fed, collection):
        for more, said in (
            ({"bots": ("nobody",)}, "No bot 'nobody'"),
            ({"scorer": other(model="bare")}, "can't be loaded"),
            (
                {"scorer": other(model="blenderbot", mode="whole_sequence_mean")},
                "followup_mean",
            ),
        ):
            job = await fed.create_score_job(asked(collection, **more))
            done = await finished(fed, job.id)
            assert done.state == "failed"
            assert said in done.failure
            with pytest.raises(Conflict, match="failed"):
                await fed.get_score_set(job.id)

    async def test_a_job_over_what_is_not_there_is_refused_at_once(self, suite, fed, collection):
        with pytest.raises(NotFound, match="collection"):
            await fed.create_score_job(asked(uuid4()))
        with pytest.raises(NotFound, match="kindness"):
            await fed.create_score_job(asked(collection, scorer=other(dimensions=("kindness",))))
        with pytest.raises(NotFound, match="score job"):
            await fed.get_score_job(uuid4())
        with pytest.raises(Forbidden):
            await (await suite.fed("analyst")).create_score_job(asked(collection))

    async def test_a_job_is_made_once_for_an_idempotency_key(self, suite, fed):
        collection = UUID(await import_conversations(suite, conversations(1)))
        first = await fed.create_score_job(asked(collection), idempotency_key="k")
        again = await fed.create_score_job(asked(collection), idempotency_key="k")
        assert first.id == again.id
        await finished(fed, first.id)
        with pytest.raises(Conflict, match="complete"):
            await fed.cancel_score_job(first.id)
        assert [each.id async for each in fed.list_score_jobs(collection_id=collection)] == [first.id]


class TestLikelihoods:
    async def test_no_likelihood_is_computed_twice(self, suite, fed, collection):
        await finished(fed, (await fed.create_score_job(asked(collection))).id)
        database = Database(suite.database.app["fed"], pool_size=1)
        async with database.write() as session:  # other values, which only the next job could take from here
            stored = await session.scalar(text("SELECT count(*) FROM fed.likelihoods"))
            change = "UPDATE fed.likelihoods SET nlls = array_fill({0}::float8, {1}), tokens = array_fill({0}, {1})"
            await session.execute(text(change.format(7, "ARRAY[24]")))
        second = await finished(fed, (await fed.create_score_job(asked(collection))).id)
        async with database.read() as session:
            assert await session.scalar(text("SELECT count(*) FROM fed.likelihoods")) == stored == 50
        await database.close()
        for each in (await fed.get_score_set(second.id)).dimensions:
            assert [bot.score for bot in each.bots] == pytest.approx([0.0] * 3)


class TestEvents:
    async def test_the_end_of_each_job_is_sent_signed_to_who_subscribed_once(self, suite, fed, collection):
        async with bot_servers.bot(lambda _: {}) as (subscriber, url):
            kinds = ("score_job.completed", "score_job.failed", "score_job.cancelled")
            made = await subscribe(suite, url, *kinds, service="fed")
            cancelled = await fed.create_score_job(asked(collection))
            for _ in range(2):
                assert (await fed.cancel_score_job(cancelled.id)).state == "cancelled"
            complete = await fed.create_score_job(asked(collection))
            failed = await fed.create_score_job(asked(collection, bots=("nobody",)))
            ended = [await finished(fed, each.id) for each in (complete, failed)]
            await settled(suite, made, 3, service="fed")
        messages = [
            Webhook(made["secret"]).verify(body, headers)
            for body, headers in zip(subscriber.bodies, subscriber.headers, strict=True)
        ]
        assert len(messages) == 3
        assert {each["type"]: each["data"]["score_job"] for each in messages} == {
            kind: {"id": str(job.id), "collection_id": str(collection)}
            for kind, job in zip(kinds, (complete, failed, cancelled), strict=True)
        }
        said = {each["type"]: each["data"] for each in messages}
        assert said[kinds[0]]["contexts"] == 50
        assert said[kinds[0]]["rejected"] == 0
        assert said[kinds[0]]["model"] == "gpt2"
        assert said[kinds[1]]["reason"] == ended[1].failure

    async def test_subscriptions_are_the_operators_alone(self, suite):
        for role in ("analyst", "team"):
            client = await suite.client("fed", role, team="t" if role == "team" else None)
            answer = await client.post("/v1/subscriptions", json={"url": "http://127.0.0.1:9/", "events": ["x"]})
            assert answer.status_code == 403


class TestCorrelation:
    async def test_a_correlation_stands_beside_that_of_length(self, suite, fed, collection, of_all):
        campaign = await annotated(suite, collection)
        found = await fed.get_correlation(of_all.id, campaign, rated="fluency")
        scores = [each async for each in fed.list_scores(of_all.id)]
        overall = next(each for each in found.dimensions if each.dimension == "overall")
        by_item = defaultdict(list)
        for each in scores:
            by_item[each.conversation_id, each.bot].append(each)
        expected = {  # the annotator prefers A, who is never called partner
            (key, 0.0 if key[1] == "partner" else 1.0, sum(each.scores["overall"] for each in own) / len(own))
            for key, own in by_item.items()
        }
        rho = scipy.stats.spearmanr([each[1] for each in expected], [each[2] for each in expected]).statistic
        assert overall.spearman.estimate == pytest.approx(rho)
        assert overall.spearman.n == len(expected)
        assert overall.length_spearman.n == len(expected)
        systems = await fed.get_correlation(of_all.id, campaign, rated="fluency", level="system")
        assert systems.dimensions[0].spearman.n == 3

    async def test_ratings_of_turns_go_with_the_contexts_that_end_with_them(self, suite, fed):
        """Contexts hold the two utterances of the opening; annotators see them in every third conversation."""
        held = [exported(number) for number in range(6)]
        collection = await uploaded(suite, held)
        job = await fed.create_score_job(asked(collection))
        await finished(fed, job.id)
        points = {
            (each.id, annotator): {
                str(turn): 1 + (3 * turn + 2 * number + len(annotator)) % 5
                for turn in range(6 if each.opening_shown else 4)
            }
            for number, each in enumerate(held)
            for annotator in ("ann", "bertram")
        }
        campaign = await rated_by_turn(suite, collection, points)
        ids = {
            each.external_id: each.id
            async for each in (await suite.conversations("admin")).list_conversations(collection)
        }
        scores = {(each.conversation_id, each.turn): each async for each in fed.list_scores(job.id)}
        rated = defaultdict(list)
        for (name, _), own in points.items():
            for turn, given in own.items():
                rated[ids[name], int(turn) + (1 if len(own) == 6 else 3)].append(given)
        pairs = [(scores[key], sum(own) / 2) for key, own in rated.items() if key in scores]
        for level, clusters, values in (
            ("turn", 6, [(each.scores["overall"], rating) for each, rating in pairs]),
            ("dialogue", 6, means_of_bots(pairs)),
        ):
            found = await fed.get_correlation(job.id, campaign, rated="engaging", level=level)
            overall = next(each for each in found.dimensions if each.dimension == "overall").spearman
            assert overall.estimate == pytest.approx(scipy.stats.spearmanr(values).statistic)
            assert (overall.n, overall.n_dialogues, overall.n_annotators) == (len(values), clusters, 2)
            assert "needs at least 10 annotators, not 2" in overall.reason
        with pytest.raises(
            Invalid, match=r"There is no rating 'charming' in campaigns by the protocol 'turn_likert'.*quality"
        ):
            await fed.get_correlation(job.id, campaign, rated="charming")

    async def test_people_who_chat_with_bots_rate_them(self, suite, fed):
        held = [exported(number, mode="human_bot", rating=chat_rating(number)) for number in range(12)]
        collection = await uploaded(suite, held)
        job = await fed.create_score_job(asked(collection))
        await finished(fed, job.id)
        found = await fed.get_correlation(job.id, rated="quality")
        spearman = found.dimensions[0].spearman
        assert (found.campaign_id, spearman.n, spearman.n_annotators) == (None, 12, 12)
        assert spearman.low < spearman.estimate < spearman.high
        assert 1 <= spearman.degrees_of_freedom <= 22
        assert "dialogues and annotators left out" in spearman.method
        with pytest.raises(
            Invalid, match="There is no rating 'label' in the chats of this collection: there are quality"
        ):
            await fed.get_correlation(job.id)
        with pytest.raises(Invalid, match=r"'quality' rates no single turns .*: people rate whole chats"):
            await fed.get_correlation(job.id, rated="quality", level="turn")

    async def test_what_cannot_be_compared_is_refused_with_what_can(self, suite, fed, collection, of_all):
        elsewhere = await open_campaign(suite, await import_conversations(suite, conversations(1)))
        with pytest.raises(Conflict, match="does not show the collection"):
            await fed.get_correlation(of_all.id, UUID(elsewhere["id"]))
        with pytest.raises(NotFound):
            await fed.get_correlation(of_all.id, uuid4())
        segments = await open_campaign(suite, str(collection))
        with pytest.raises(
            Invalid, match=r"'fluency' rates no single turns .*: its questions are about whole dialogues"
        ):
            await fed.get_correlation(of_all.id, UUID(segments["id"]), rated="fluency", level="turn")
        pairs = await open_campaign(suite, str(collection), protocol="comparative", segments=[1])
        with pytest.raises(Invalid, match="'quality' in campaigns by the protocol 'comparative': there are none"):
            await fed.get_correlation(of_all.id, UUID(pairs["id"]), rated="quality")


async def uploaded(suite, held):
    """Import exported conversations, with their openings and ratings."""
    admin = await suite.client("conversations", "admin")
    body = {"mode": "import", "name": "people", "domain": "everyday"}
    collection = (await created(admin, "/v1/collections", body))["id"]
    lines = "\n".join(each.model_dump_json() for each in held)
    answer = await admin.post(f"/v1/collections/{collection}/uploads", content=lines.encode())
    assert (answer.status_code, answer.json()["stored"]) == (200, len(held)), answer.text
    return UUID(collection)


def chat_rating(number):
    return ExportedRating(
        chat_id=UUID(int=number),
        interactor=f"p{number}",
        interactor_kind="person",
        number=1,
        scores=({"question": "quality", "score": 1 + 7 * number % 5},),
        preferred=None,
        rated_at="2026-01-02T00:00:00Z",
    )


async def rated_by_turn(suite, collection, points):
    """Import annotations by `turn_likert`: the same points in all questions, by conversation and annotator."""
    admin = await suite.client("annotation", "admin")
    body = {"mode": "import", "name": "i", "domain": "everyday", "collection_id": str(collection)} | {
        "annotators_published": True,
        "protocol": "turn_likert",
    }
    campaign = (await created(admin, "/v1/campaigns", body))["id"]
    path = f"/v1/campaigns/{campaign}"
    await until(admin, path, "open")
    questions = [
        each.id
        for each in (await (await suite.annotation("admin")).get_protocol("turn_likert", 1)).protocol.steps[0].questions
    ]
    shown = [{"conversation": name, "exchanges": 2} for (name, annotator), own in points.items() if annotator == "ann"]
    await created(admin, f"{path}/packages", {"packages": [{"external_id": "p", "segments": shown}]})
    annotations = [
        {
            "external_id": f"{name} {annotator}",
            "package": "p",
            "conversation": name,
            "exchanges": 2,
            "annotator": annotator,
            "answer": dict.fromkeys(questions, own),
            "started_at": None,
            "ended_at": None,
            "completion_code": None,
            "elapsed_ms": None,
        }
        for (name, annotator), own in points.items()
    ]
    await created(admin, f"{path}/annotations", {"annotations": annotations})
    return UUID(campaign)


def means_of_bots(pairs):
    by_bot = defaultdict(list)
    for each, rating in pairs:
        by_bot[each.conversation_id, each.bot].append((each.scores["overall"], rating))
    return [tuple(map(statistics.fmean, zip(*own, strict=True))) for own in by_bot.values()]


async def annotated(suite, collection):
    """Let two annotators say the same of every conversation: that A is more fluent."""
    campaign = await open_campaign(suite, str(collection))
    for annotator in ("ann", "ben"):
        while (answer := await ask(suite, campaign, annotator)).status_code == 201:
            await work_through(suite, answer.json())
    return UUID(campaign["id"])
