"""Results of a study over HTTP: measures of its tasks and chats, values, and which measures deserve trust."""

import asyncio
import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import numpy as np
import psycopg
import pytest

from spotthebot.analytics.studies.domain import study_assessment
from spotthebot.clients import AsyncAnalytics
from spotthebot.contracts.conversations.exports import ExportedConversation
from tests.factories.campaigns import DIMENSIONS
from tests.factories.chat_studies import answers_to, chat_study, create_study, import_chats, import_task
from tests.factories.command_line import run_stb
from tests.factories.frontends import open_chats, two_bots
from tests.factories.rated_chats import BOTS, exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

FACTS = tuple(f"facts:{each}" for each in ("no", "yes"))
PATHS = ("measures", "measures/quality", "values", "assessment")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """With the bots that people chat with."""
    return "bots", "conversations", "annotation", "analytics"


async def _get(suite: RunningSuite, study: str, what: str, **params: Any) -> httpx.Response:
    analyst = await suite.client("analytics", "analyst")
    return await analyst.get(f"/v1/studies/{study}/{what}", params=params)


async def _refused(suite: RunningSuite, study: str, what: str = "assessment") -> tuple[int, str, str]:
    answer = await _get(suite, study, what)
    problem = answer.json()
    return answer.status_code, problem["type"].rsplit(":", 1)[-1], problem["detail"]


async def _replace(suite: RunningSuite, study: str, **changes: Any) -> None:
    admin = await suite.client("annotation", "admin")
    there = (await admin.get(f"/v1/studies/{study}")).json()
    body = {name: there[name] for name in ("name", "campaigns", "chats", "outcome", "seed")} | changes
    assert (await admin.put(f"/v1/studies/{study}", json=body)).status_code == 200


def _measure(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in found["measures"] if each["name"] == name)


def _kept(suite: RunningSuite, study: str) -> int:
    with psycopg.connect(suite.database.owner["analytics"]) as connection:
        rows = connection.execute("SELECT count(*) FROM analytics.results WHERE subject_id = %s", [study]).fetchall()
    return rows[0][0]


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests read one study."""
    return module_suite


@pytest.fixture(scope="module")
async def study(suite: RunningSuite) -> str:
    """A study over chats of twelve people. Its results are kept: to compute them takes longer than to ask for them."""
    return await chat_study(suite)


async def _other(suite: RunningSuite, study: str, name: str, **changes: Any) -> str:
    """Create a study that differs from another one in its name and in these fields."""
    admin = await suite.client("annotation", "admin")
    there = (await admin.get(f"/v1/studies/{study}")).json()
    body = {each: there[each] for each in ("campaigns", "chats", "outcome", "seed")} | changes
    return await create_study(suite, **body, name=name)


class TestStudyOfAllTasks:
    async def test_has_measures_of_all_tasks_and_of_the_chats(self, suite: RunningSuite, study: str):
        found = (await _get(suite, study, "measures")).json()
        names = {each["name"]: each["task"] for each in found["measures"]}
        assert names["facts:yes"] == "factual_behaviour"
        assert {name for name, task in names.items() if task == "dialogue_likert"} == {
            "dialogue_likert.engaging",
            "dialogue_likert.quality",
            *(f"dialogue_likert.{each}" for each in DIMENSIONS),
        }
        assert {name for name, task in names.items() if task == "chats"} == {"engaging", "quality", "preferred"}
        assert [
            (each["task"], each["protocol"], each["annotations"], each["annotators"]) for each in found["sources"]
        ] == [
            ("factual_behaviour", "factual_behaviour", 48, 2),
            ("dialogue_likert", "dialogue_likert", 48, 2),
            ("comparative", "comparative", 24, 2),
            ("chats", None, 12, 12),
        ]
        assert (found["study"], found["outcome"], found["seed"], found["preliminary"]) == (
            "small",
            "quality",
            11,
            False,
        )

    async def test_has_each_campaign_s_own_measures_to_the_bit(self, suite: RunningSuite, study: str):
        analyst = await suite.client("analytics", "analyst")
        found = (await _get(suite, study, "measures")).json()
        for source in found["sources"][:3]:
            path = f"/v1/campaigns/{source['campaign_id']}/measures"
            for own in (await analyst.get(path, params={"seed": 11})).json()["measures"]:
                (here,) = (
                    each
                    for each in found["measures"]
                    if (each["task"], each["measure"]) == (source["task"], own["measure"])
                )
                assert {name: here[name] for name in own} == own

    async def test_gives_measures_one_by_one_with_pairs_under_its_name(self, suite: RunningSuite, study: str):
        analyst = await suite.client("analytics", "analyst")
        sources = (await _get(suite, study, "measures")).json()["sources"]
        found = (await _get(suite, study, "measures/comparative.quality")).json()
        path = f"/v1/campaigns/{sources[2]['campaign_id']}/measures/quality"
        own = (await analyst.get(path, params={"seed": 11})).json()
        assert found == own | {"measure": "comparative.quality"}
        of_chats = (await _get(suite, study, "measures/preferred")).json()
        assert (of_chats["kind"], of_chats["campaign_id"], len(of_chats["pairs"])) == ("preference", None, 3)
        table = await analyst.get(f"/v1/studies/{study}/measures/quality", headers={"Accept": "text/csv"})
        assert [row["bot"] for row in csv.DictReader(io.StringIO(table.text))] == [
            each["bot"] for each in (await _get(suite, study, "measures/quality")).json()["bots"]
        ]

    @pytest.mark.parametrize("outcome", ["quality", "preferred", "small.dialogue_likert.quality"])
    async def test_is_assessed_as_its_exported_table_is(
        self, suite: RunningSuite, study: str, tmp_path: Path, outcome: str
    ):
        study = study if outcome == "quality" else await _other(suite, study, f"by {outcome}", outcome=outcome)
        found = (await _get(suite, study, "assessment")).json()
        table = tmp_path / "values.csv"
        table.write_bytes((await _get(suite, study, "values")).content)
        options = ("--assess", outcome, "--yes", "--seed", "11", "--json", "-")
        printed = await asyncio.to_thread(run_stb, "analyse", "table", table, *options)
        assert printed.returncode == 0, printed.stderr
        kept = json.loads(printed.stdout)
        assert kept["rejected"] == []
        for name in ("outcome", "measures", "stepwise", "stepwise_n", "stepwise_method", "keep", "sentences"):
            assert found[name] == kept[name]
        assert (found["dialogues"], found["bots"]) == (24, [*BOTS])

    async def test_has_its_dialogues_of_all_tasks_compared_with_the_outcome(self, suite: RunningSuite, study: str):
        found = (await _get(suite, study, "assessment")).json()
        levels = {each["name"]: (each["level"], each["n"]) for each in found["measures"]}
        assert levels["facts:yes"] == ("turn", 24)
        assert levels["dialogue_likert.quality"] == ("dialogue", 24)
        assert levels["comparative.quality"] == levels["preferred"] == ("pair", 24)

    async def test_has_the_minutes_of_each_task(self, suite: RunningSuite, study: str):
        """Annotation k took 60 + 1.234 k seconds; each dialogue of a pair the whole time of the comparison."""
        found = (await _get(suite, study, "assessment")).json()
        minutes = {each["name"]: each["minutes"] for each in found["measures"]}
        for name, n in (("facts:yes", 48), ("dialogue_likert.quality", 48), ("comparative.quality", 24)):
            assert minutes[name] == pytest.approx((60 + 1.234 * np.median(np.arange(n))) / 60)
        assert minutes["preferred"] is None


class TestMeasures:
    async def test_rate_bots_of_chats_by_the_people_s_mean_scores(self, suite: RunningSuite, study: str):
        given: dict[str, list[int]] = {bot: [] for bot in BOTS}
        for chat in exported_chats(12):
            assert chat.rating
            given[chat.bots[1]] += [each.score for each in chat.rating.scores if each.question == "quality"]
        quality = _measure((await _get(suite, study, "measures")).json(), "quality")
        assert {each["bot"]: each["estimate"] for each in quality["bots"]} == {
            bot: pytest.approx(np.mean(scores)) for bot, scores in given.items()
        }
        assert {each["uncertainty"]["annotators"] for each in quality["bots"]} == {8}

    async def test_have_no_values_where_nobody_answered(self, suite: RunningSuite):
        chats = exported_chats(2)
        collection = await import_chats(suite, chats)
        tasks = [
            await import_task(suite, collection, "likert", "dialogue_likert", answers_to("dialogue_likert", chats)),
            await _unanswered(suite, collection),
        ]
        study = await create_study(suite, tasks, name="unanswered")
        found = _measure((await _get(suite, study, "measures")).json(), "facts:yes")
        assert (found["n"], found["reason"]) == (0, "nobody answered")

    async def test_are_what_the_typed_client_returns(self, suite: RunningSuite, study: str):
        async with AsyncAnalytics(suite.urls["analytics"], await suite.keys.make("analyst")) as client:
            every, one = (
                await client.list_study_measures(UUID(study)),
                await client.get_study_measure(UUID(study), "quality"),
            )
            assessed = await client.assess_study(UUID(study))
            table = b"".join([piece async for piece in client.export_study_values(UUID(study))])
        assert one.measure == assessed.outcome == every.outcome == "quality"
        assert table.startswith(b"conversation,turn,bot,annotator,annotator_kind,dimension,value")

    async def test_are_unknown_by_other_names(self, suite: RunningSuite, study: str):
        status, problem, detail = await _refused(suite, study, "measures/grammar")
        assert (status, problem) == (404, "no-such-measure")
        assert "dialogue_likert.grammatical" in detail
        assert "comparative.grammatical" in detail

    async def test_are_of_the_first_task_where_several_have_the_name(self, suite: RunningSuite, study: str):
        async with AsyncAnalytics(suite.urls["analytics"], await suite.keys.make("analyst")) as client:
            short = await client.get_study_measure(UUID(study), "grammatical")
            whole = await client.get_study_measure(UUID(study), "dialogue_likert.grammatical")
        assert (short.measure, whole.measure) == ("grammatical", "dialogue_likert.grammatical")
        assert short.model_copy(update={"measure": whole.measure}) == whole

    async def test_may_have_a_slash_in_the_name_of_their_task(self, suite: RunningSuite):
        chats = exported_chats(2)
        collection = await import_chats(suite, chats)
        answers = answers_to("dialogue_likert", chats)
        tasks = [await import_task(suite, collection, name, "dialogue_likert", answers) for name in ("a/b?", "c")]
        study = await create_study(suite, tasks, name="slashed")
        async with AsyncAnalytics(suite.urls["analytics"], await suite.keys.make("analyst")) as client:
            assert (await client.get_study_measure(UUID(study), "a/b?.quality")).measure == "a/b?.quality"


class TestValues:
    async def test_are_of_bots_in_their_own_dialogues(self, suite: RunningSuite, study: str):
        rows = [*csv.DictReader(io.StringIO((await _get(suite, study, "values")).text, newline=""))]
        assert {row["bot"] for row in rows} == set(BOTS)
        assert len({(row["conversation"], row["bot"]) for row in rows}) == 24
        compared = [row for row in rows if row["dimension"] == "comparative.quality"]
        assert {row["conversation"] in row["pair"].split("+") for row in compared} == {True}
        assert len(compared) == 2 * 12 * 2
        assert {row["pair"] for row in rows if row["dimension"] == "quality"} == {""}

    async def test_share_an_annotation_s_time_among_the_turns_of_a_dialogue(self, suite: RunningSuite, study: str):
        """Annotation k took 60 + 1.234 k seconds, for three turns of the bot."""
        rows = [*csv.DictReader(io.StringIO((await _get(suite, study, "values")).text, newline=""))]
        own = [row for row in rows if row["dimension"] == "facts:yes"]
        times = sorted((float(row["seconds"]), row["turn"]) for row in own)
        assert [time for time, _ in times] == [pytest.approx((60 + 1.234 * k) / 3) for k in range(48) for _ in range(3)]
        assert [turn for _, turn in times] == ["1", "3", "5"] * 48
        assert {row["exchanges"] for row in own} == {"3"}


class TestAssessment:
    async def test_gives_a_measure_without_variance_a_reason(self, suite: RunningSuite, study: str):
        found = (await _get(suite, study, "assessment")).json()
        measure = _measure(found, "accuracy:unsure")
        assert measure["r2"] is None
        assert measure["reason"].startswith("the measure is 0 throughout: no dialogue is positive")

    async def test_is_of_a_fixed_panel_where_one_annotator_did_everything(self, suite: RunningSuite):
        chats = exported_chats(6)
        collection = await import_chats(suite, chats)
        tasks = [
            await import_task(suite, collection, each, each, answers_to(each, chats, annotators=["ann"]))
            for each in ("factual_behaviour", "dialogue_likert")
        ]
        study = await create_study(suite, tasks, outcome="quality", name="panel")
        measure = _measure((await _get(suite, study, "assessment")).json(), "engaging")
        assert "for this panel of annotators and no other" in measure["method"]
        assert (measure["alpha"]["estimate"], measure["alpha"]["reason"]) == (None, "no unit has two values")
        assert measure["r2"] is not None


class TestRefusals:
    async def test_say_that_a_study_has_no_outcome(self, suite: RunningSuite, study: str):
        status, problem, detail = await _refused(suite, await _other(suite, study, "aimless", outcome=None))
        assert (status, problem) == (409, "no-outcome")
        assert "'aimless' names no outcome" in detail

    async def test_name_the_measures_if_the_outcome_is_unknown(self, suite: RunningSuite, study: str):
        status, problem, detail = await _refused(suite, await _other(suite, study, "humorous", outcome="humour"))
        assert (status, problem) == (404, "no-such-measure")
        assert "preferred" in detail

    async def test_say_that_nobody_rated_the_outcome(self, suite: RunningSuite):
        chats = exported_chats(2)
        collection = await import_chats(suite, chats)
        task = await import_task(suite, collection, "likert", "dialogue_likert", answers_to("dialogue_likert", chats))
        asked = [{"name": "charm", "text": "Was it charming?"}]
        talks = await open_chats(suite, await two_bots(suite), questions=asked)
        study = await create_study(suite, [task], chats=[talks], outcome="charm", name="charming")
        status, problem, detail = await _refused(suite, study)
        assert (status, problem) == (409, "outcome-not-rated")
        assert "Nobody has rated 'charm', the outcome of 'charming', so far" in detail
        assert "choose one of consistent, emotion_aware" in detail
        charm = _measure((await _get(suite, study, "measures")).json(), "charm")
        assert (charm["question"], charm["n"]) == ("Was it charming?", 0)

    async def test_say_that_the_outcome_is_the_only_measure(self, suite: RunningSuite):
        chats = _rated_by_quality_alone(2)
        collection = await import_chats(suite, chats)
        task = await _unanswered(suite, collection)
        study = await create_study(suite, [task], chats=[collection], outcome="quality", name="alone")
        assert (await _refused(suite, study))[:2] == (409, "outcome-alone")

    async def test_say_that_no_dialogue_has_the_outcome_and_a_measure(self, suite: RunningSuite):
        rated = _rated_by_quality_alone(2)
        others = [conversation("t1", "ada", "bob"), conversation("t2", "bob", "ada")]
        chats, collection = await import_chats(suite, rated), await import_conversations(suite, others)
        answer = {name: {"A": 2, "B": 3} for name in DIMENSIONS}
        answers = [(each["external_id"], None, "ann", answer) for each in others]
        task = await import_task(suite, collection, "likert", "dialogue_likert", answers)
        study = await create_study(suite, [task], chats=[chats], outcome="quality", name="apart")
        status, problem, detail = await _refused(suite, study)
        assert (status, problem) == (409, "no-dialogue-in-common")
        assert "No dialogue of 'apart' has values of 'quality' and of another measure" in detail

    async def test_say_how_much_can_be_assessed(self, suite: RunningSuite, study: str, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("spotthebot.analytics.studies.domain.MAX_DIALOGUES", 3)
        status, problem, detail = await _refused(suite, await _other(suite, study, "large"))
        assert (status, problem) == (409, "too-much-to-assess")
        assert "'large' has 24 dialogues, and at most 3 can be assessed at once" in detail

    async def test_say_that_a_study_is_unknown(self, suite: RunningSuite):
        for path in PATHS:
            assert (await _refused(suite, str(UUID(int=5)), path))[:2] == (404, "no-such-study")
        assert (await _get(suite, "small", "measures")).status_code == 422

    async def test_keep_results_from_keys_that_may_not_know_the_bots(self, suite: RunningSuite, study: str):
        others = [await suite.client("analytics", "team", team="a"), await suite.client("analytics", "annotation")]
        for path in PATHS:
            where = f"/v1/studies/{study}/{path}"
            assert {(await each.get(where)).status_code for each in others} == {403}
            assert (await others[0].get(where, headers={"Authorization": ""})).status_code == 401


async def _unanswered(suite: RunningSuite, collection: str) -> str:
    answers = answers_to("factual_behaviour", exported_chats(2)[::2])
    return await import_task(suite, collection, "facts", "factual_behaviour", answers, answered=False)


def _rated_by_quality_alone(people: int) -> list[ExportedConversation]:
    """Return the first chat of each person, who compared it with no other."""
    chats = exported_chats(people)[::2]
    ratings = [each.rating.model_copy(update={"scores": each.rating.scores[:1]}) for each in chats if each.rating]
    return [each.model_copy(update={"rating": rating}) for each, rating in zip(chats, ratings, strict=True)]


class TestKeptResults:
    async def test_are_computed_once_until_something_changes(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        computed: list[str] = []

        def counted(study: Any, *args: Any) -> Any:
            computed.append(study.name)
            return study_assessment(study, *args)

        monkeypatch.setattr("spotthebot.analytics.studies.use_cases.study_assessment", counted)
        study = await chat_study(suite, people=3, name="counted")
        bodies = [(await _get(suite, study, "assessment")).content for _ in range(2)]
        bodies += [each.content for each in await asyncio.gather(*(_get(suite, study, "assessment") for _ in range(3)))]
        assert len(set(bodies)) == len(computed) == 1
        await _replace(suite, study, outcome="preferred")
        assert (await _get(suite, study, "assessment")).json()["outcome"] == "preferred"
        assert (len(computed), _kept(suite, study)) == (2, 1)

    async def test_change_with_a_task_that_is_added(self, suite: RunningSuite):
        chats = exported_chats(3)
        collection = await import_chats(suite, chats)
        first, second = [
            await import_task(suite, collection, each, each, answers_to(each, chats), closed=False)
            for each in ("dialogue_likert", "factual_behaviour")
        ]
        study = await create_study(suite, [first], chats=[collection], outcome="quality", name="grown")
        before = (await _get(suite, study, "measures")).json()
        await _replace(suite, study, campaigns=[first, second])
        after = (await _get(suite, study, "measures")).json()
        assert before["preliminary"]
        assert {each["name"] for each in after["measures"]} > {each["name"] for each in before["measures"]} | {*FACTS}
        assert _kept(suite, study) == 1
