"""Agreement within each workforce of a campaign and of a study, over HTTP and on the command line."""

import json
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from tests.factories.chat_studies import chat_study
from tests.factories.command_line import stb_of_admin
from tests.factories.running_suite import RunningSuite


def move(suite: RunningSuite, campaign: str, *people: str, frontend: str) -> None:
    """Note a frontend by which these annotators came."""
    with psycopg.connect(suite.database.owner["annotation"]) as connection:
        connection.execute(
            "UPDATE annotation.annotators SET frontend = %s WHERE campaign_id = %s AND external_id = ANY (%s)",
            [frontend, campaign, list(people)],
        )


async def agreements(suite: RunningSuite, path: str, role: str = "analyst", **query: Any) -> httpx.Response:
    client = await suite.client("analytics", role)
    return await client.get(f"/v1/{path}/workforces", params=query)


async def tasks_of(suite: RunningSuite, study: str) -> dict[str, str]:
    analyst = await suite.client("analytics", "analyst")
    sources = (await analyst.get(f"/v1/studies/{study}/measures")).json()["sources"]
    return {each["task"]: each["campaign_id"] for each in sources}


def named(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(each["task"], each["frontend"], each["annotators"]) for each in found["workforces"]]


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services, which keep all rows: most tests read one study."""
    return module_suite


@pytest.fixture(scope="module")
async def study(suite: RunningSuite) -> str:
    return await chat_study(suite, people=3)


@pytest.fixture(scope="module")
async def campaign(suite: RunningSuite, study: str) -> str:
    """The id of a campaign of two annotators who rated six conversations each."""
    return (await tasks_of(suite, study))["dialogue_likert"]


class TestCampaign:
    async def test_has_the_agreement_of_all_and_of_each_workforce(self, suite: RunningSuite):
        """Two people annotated everything: alone in their workforces they agree with nobody."""
        study = await chat_study(suite, people=3, tasks=["dialogue_likert"], name="moved")
        campaign = (await tasks_of(suite, study))["small.dialogue_likert"]
        analyst = await suite.client("analytics", "analyst")
        together = (await agreements(suite, f"campaigns/{campaign}")).json()
        assert named(together) == [(together["name"], None, 2), (together["name"], "", 2)]
        everybody, imported = (each["measures"] for each in together["workforces"])
        assert everybody == imported
        measured = (await analyst.get(f"/v1/campaigns/{campaign}/measures")).json()["measures"]
        assert {each["measure"]: each["alpha"] for each in everybody} == {
            each["measure"]: each["alpha"] for each in measured
        }
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            people = [
                name
                for (name,) in connection.execute(
                    "SELECT external_id FROM annotation.annotators WHERE campaign_id = %s ORDER BY 1", [campaign]
                )
            ]
        move(suite, campaign, people[0], frontend="lab")
        apart = (await agreements(suite, f"campaigns/{campaign}")).json()
        assert sorted(named(apart)[1:]) == [(apart["name"], "", 1), (apart["name"], "lab", 1)]
        assert apart["workforces"][0] == together["workforces"][0]
        for each in apart["workforces"][1:]:
            assert each["annotations"] == 6
            assert {(one["alpha"]["estimate"], one["alpha"]["n"]) for one in each["measures"]} == {(None, 0)}
            assert all(one["alpha"]["reason"] for one in each["measures"])
        assert not any(f'"{name}"' in json.dumps(apart) for name in people)

    async def test_takes_the_parameters_of_every_result(self, suite: RunningSuite, campaign: str):
        wide = (await agreements(suite, f"campaigns/{campaign}", confidence_level=0.99, clusters="conversation")).json()
        narrow = (
            await agreements(suite, f"campaigns/{campaign}", confidence_level=0.5, clusters="conversation")
        ).json()
        assert (wide["confidence_level"], narrow["confidence_level"]) == (0.99, 0.5)
        outer, inner = (each["workforces"][0]["measures"][0]["alpha"] for each in (wide, narrow))
        assert outer["low"] < inner["low"] < inner["high"] < outer["high"]
        assert (await agreements(suite, f"campaigns/{campaign}", confidence_level=2)).status_code == 422

    async def test_has_those_of_each_period_that_a_request_names(self, suite: RunningSuite, campaign: str):
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            days = connection.execute(
                "SELECT DISTINCT ended_at IS NULL FROM annotation.annotations WHERE campaign_id = %s", [campaign]
            ).fetchall()
        whole = (await agreements(suite, f"campaigns/{campaign}")).json()
        answer = (await agreements(suite, f"campaigns/{campaign}", period=["2020-02-01", "2020-01-01"])).json()
        assert answer["undated"] == (whole["workforces"][0]["annotations"] if days == [(True,)] else 0)
        assert answer["workforces"][:2] == whole["workforces"]
        everybody = [each for each in answer["workforces"] if each["frontend"] is None]
        assert [(each["since"], each["until"]) for each in everybody] == [
            (None, None),
            (None, "2020-01-01"),
            ("2020-01-01", "2020-02-01"),
            ("2020-02-01", None),
        ]
        assert (await agreements(suite, f"campaigns/{campaign}")).json() == whole

    @pytest.mark.parametrize("period", [["soon"], ["2026-13-01"], ["2026-11-10"] * 11, ["2026-11-10T10:00:00Z"]])
    async def test_refuses_days_that_there_are_not(self, suite: RunningSuite, period: list[str]):
        answer = await agreements(suite, f"campaigns/{uuid4()}", period=period)
        assert (answer.status_code, answer.json()["detail"]) == (422, "See `errors`: period.")

    @pytest.mark.parametrize("role", ["team", "annotation"])
    async def test_is_hidden_from_teams_and_frontends(self, suite: RunningSuite, role: str):
        for path in (f"campaigns/{uuid4()}", f"studies/{uuid4()}"):
            assert (await agreements(suite, path, role)).status_code == 403

    async def test_has_to_exist(self, suite: RunningSuite):
        for path, kind in ((f"campaigns/{uuid4()}", "no-such-campaign"), (f"studies/{uuid4()}", "no-such-study")):
            answer = await agreements(suite, path)
            assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (404, kind)


class TestStudy:
    async def test_has_those_of_each_campaign_under_the_study_s_names_and_none_of_chats(
        self, suite: RunningSuite, study: str, monkeypatch: pytest.MonkeyPatch
    ):
        found = (await agreements(suite, f"studies/{study}")).json()
        tasks = ["factual_behaviour", "dialogue_likert", "comparative"]
        assert [(task, frontend) for task, frontend, _ in named(found)] == [
            (task, frontend) for task in tasks for frontend in (None, "")
        ]
        measures = {each["measure"] for each in found["workforces"][2]["measures"]}
        assert {"dialogue_likert.quality", "dialogue_likert.engaging"} <= measures
        async with stb_of_admin(suite, monkeypatch) as stb:
            printed = await stb("studies", "agreement", study)
            assert printed.returncode == 0, printed.stderr
            header, *lines = printed.stdout.splitlines()
            assert header.split()[:3] == ["Task", "Period", "Frontend"]
            assert len(lines) == sum(len(each["measures"]) + 1 for each in found["workforces"])
            by_period = await stb("studies", "agreement", study, "--period", "2026-11-10", "--period", "2026-12-01")
            assert by_period.returncode == 0, by_period.stderr
            for words in ("all labels", "before 2026-11-10", "2026-11-10 to before 2026-12-01", "from 2026-12-01"):
                assert words in by_period.stdout
            campaign = (await tasks_of(suite, study))["comparative"]
            one = json.loads((await stb("campaigns", "agreement", campaign, "--json", "-")).stdout)
            assert [each["frontend"] for each in one["workforces"]] == [None, ""]
