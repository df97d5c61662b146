"""Pass rates of a training by workforce, and what people did in each dialogue of their first attempt."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg

from spotthebot.kit.crypto.pseudonyms import is_pseudonym
from tests.factories.annotating import rows
from tests.factories.annotator_trainings import RIGHT, WRONG, respond, start, training_campaign
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite

BOTH = (RIGHT, RIGHT, RIGHT)
AT_LAST_WRONG = (WRONG, RIGHT, WRONG)


async def _answer(suite: RunningSuite, campaign: dict[str, Any], person: str, *attempts: tuple[Any, ...]) -> None:
    for number, answers in enumerate(attempts, 1):
        assert (await start(suite, campaign, person)).status_code == 200
        for position, answer in enumerate(answers):
            answered = await respond(suite, campaign, person, position, answer, attempt=number)
            assert answered.status_code == 200, answered.text


async def _results(suite: RunningSuite, campaign: dict[str, Any]) -> dict[str, Any]:
    analyst = await suite.client("annotation", "analyst")
    answer = await analyst.get(f"/v1/campaigns/{campaign['id']}/training/results")
    assert answer.status_code == 200, answer.text
    return answer.json()


def _came_by(suite: RunningSuite, campaign: dict[str, Any], link: UUID, *people: str, only: str | None = None) -> None:
    """Note entries by a link as if people had come by it; `only` is the person whose link it is."""
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        connection.execute(
            "INSERT INTO annotation.entry_links (id, campaign_id, annotator, expires_at) VALUES (%s, %s, %s, now())",
            [link, campaign["id"], only],
        )
        connection.execute(
            "INSERT INTO annotation.entries (id, annotator_id, link_id, parameters, entered_at)"
            " SELECT gen_random_uuid(), id, %s, '{}', now() FROM annotation.annotators WHERE external_id = ANY (%s)",
            [link, list(people)],
        )


class TestTrainingResults:
    async def test_count_people_by_their_last_attempt_and_mistakes_of_their_first(self, suite: RunningSuite):
        campaign = await training_campaign(suite, attempts=2)
        await asyncio.gather(
            _answer(suite, campaign, "ann", BOTH),
            _answer(suite, campaign, "bob", AT_LAST_WRONG, BOTH),
            _answer(suite, campaign, "cay", AT_LAST_WRONG, AT_LAST_WRONG),
            _answer(suite, campaign, "dan", (WRONG,)),
            _answer(suite, campaign, "eve", AT_LAST_WRONG, ()),
        )
        found = await _results(suite, campaign)
        assert (found["training"], found["version"], found["allowed_mistakes"]) == ("first_steps", 1, 0)
        (workforce,) = found["workforces"]
        dialogues = workforce.pop("dialogues")
        assert workforce == {
            "frontend": rows(suite, "SELECT DISTINCT frontend FROM annotation.annotators")[0][0],
            "link": None,
            "people": 5,
            "passed": 2,
            "passed_first": 1,
            "failed": 1,  # eve is in her second attempt
            "pass_rate": 2 / 3,
        }
        # A wrong answer has two mistakes, one for each side. Everybody but dan answered all dialogues.
        assert dialogues == [
            {"position": 0, "people": 5, "within_allowed": 1, "mistakes": 8},
            {"position": 1, "people": 4, "within_allowed": 4, "mistakes": 0},
            {"position": 2, "people": 4, "within_allowed": 1, "mistakes": 6},
        ]

    async def test_are_by_frontend_and_by_the_link_that_many_came_by_first(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        for person in ("ann", "bob", "cay", "dan"):
            await _answer(suite, campaign, person, BOTH)
        shared, later = uuid4(), uuid4()
        _came_by(suite, campaign, shared, "ann", "bob")
        _came_by(suite, campaign, later, "ann", "bob")
        _came_by(suite, campaign, uuid4(), "cay", only="cay")
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            connection.execute("UPDATE annotation.annotators SET frontend = 'other' WHERE external_id = 'dan'")
        found = (await _results(suite, campaign))["workforces"]
        ours = rows(suite, "SELECT frontend FROM annotation.annotators WHERE external_id = 'cay'")[0][0]
        named = [(each["frontend"], each["link"], each["people"]) for each in found]
        assert named[0] == (ours, str(shared), 2)
        assert set(named[1:]) == {(ours, None, 1), ("other", None, 1)}

    async def test_belong_to_the_workforces_that_are_listed_by_annotator(self, suite: RunningSuite):
        campaign = await training_campaign(suite)
        for person in ("ann", "bob", "cay"):
            await _answer(suite, campaign, person, BOTH)
        shared = uuid4()
        _came_by(suite, campaign, shared, "ann", "bob")
        _came_by(suite, campaign, uuid4(), "cay", only="cay")
        analyst = await suite.client("annotation", "analyst")
        path = f"/v1/campaigns/{campaign['id']}/workforces"
        first = (await analyst.get(path, params={"limit": 2})).json()
        second = (await analyst.get(path, params={"cursor": first["next_cursor"]})).json()
        listed = first["items"] + second["items"]
        ours = rows(suite, "SELECT DISTINCT frontend FROM annotation.annotators")[0][0]
        assert [(each["frontend"], each["link"]) for each in listed] == [
            (ours, str(shared)),
            (ours, str(shared)),
            (ours, None),
        ]
        assert all(is_pseudonym(each["annotator"]) for each in listed)
        (workforce, *_) = (await _results(suite, campaign))["workforces"]
        assert (workforce["link"], workforce["people"]) == (str(shared), 2)
        for role in ("annotation", "team"):
            client = await suite.client("annotation", role)
            assert (await client.get(path)).status_code == 403

    async def test_have_no_rate_before_somebody_ends(self, suite: RunningSuite):
        await _answer(suite, await training_campaign(suite), "ann", BOTH)  # in another campaign
        campaign = await training_campaign(suite, version=2)
        assert (await _results(suite, campaign))["workforces"] == []
        await _answer(suite, campaign, "ann", ())
        (workforce,) = (await _results(suite, campaign))["workforces"]
        assert (workforce["people"], workforce["pass_rate"], workforce["dialogues"]) == (1, None, [])

    async def test_are_none_of_a_campaign_without_a_training(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        analyst = await suite.client("annotation", "analyst")
        answer = await analyst.get(f"/v1/campaigns/{campaign['id']}/training/results")
        assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (409, "no-training")
