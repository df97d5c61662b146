"""Entry links and entries over HTTP, and the way back to the panel."""

import asyncio
from typing import Any
from urllib.parse import parse_qsl

import httpx

from tests.factories.annotating import ask, claim, movable_clock, rows, submit, work_through
from tests.factories.annotator_trainings import gold_dialogue, respond, start, store_training
from tests.factories.campaigns import campaign_of, create_campaign, open_campaign, turk_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

PID = "60ffe5c8371090c7041d43f8"
PROLIFIC = {"kind": "prolific", "completion_code": "C1ODE7"}
MTURK = {
    "hitId": "H1",
    "assignmentId": "AS1",
    "turkSubmitTo": "https://workersandbox.mturk.com",
    "workerId": "AZ3456EXAMPLE",
}


async def link_to(suite: RunningSuite, campaign: dict[str, Any], *, role: str = "admin", **more: Any) -> dict[str, str]:
    """Make an entry link and return the parameters of its URL."""
    client = await suite.client("annotation", role)
    made = await created(client, f"/v1/campaigns/{campaign['id']}/entry-links", more)
    return dict(parse_qsl(made["query"]))


async def enter(suite: RunningSuite, parameters: dict[str, str], *, team: str | None = None) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation", team=team)
    return await frontend.post("/v1/entries", json={"parameters": parameters})


def problem_of(answer: httpx.Response) -> tuple[int, str, list[str]]:
    body = answer.json()
    pointers = [each["pointer"] for each in body["errors"]]
    return answer.status_code, body["type"].removeprefix("urn:spotthebot:problem:"), pointers


class TestEntryLinks:
    async def test_have_the_placeholders_that_prolific_fills(self, suite: RunningSuite):
        parameters = await link_to(suite, await campaign_of(suite, panel=PROLIFIC))
        assert {name: value for name, value in parameters.items() if name != "entry"} == {
            name: f"{{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        }

    async def test_name_an_annotator_where_no_panel_does(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}/entry-links"
        assert problem_of(await admin.post(path, json={}))[:2] == (422, "entry-link-names-nobody")
        assert (await admin.post(path, json={"annotator": "p-17"})).status_code == 201

    async def test_are_for_people_whose_ids_the_panel_could_have_given(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel=PROLIFIC)
        admin = await suite.client("annotation", "admin")
        answer = await admin.post(f"/v1/campaigns/{campaign['id']}/entry-links", json={"annotator": "p-17"})
        assert problem_of(answer) == (422, "annotator-id-unusable", ["/annotator"])

    async def test_are_made_by_administrators_and_frontends_alone(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel=PROLIFIC)
        path = f"/v1/campaigns/{campaign['id']}/entry-links"
        for role in ("analyst", "team", "service"):
            client = await suite.client("annotation", role, team="t" if role == "team" else None)
            assert (await client.post(path, json={})).status_code == 403
        frontend = await suite.client("annotation", "annotation")
        assert (await frontend.post(path, json={}, headers={"Authorization": ""})).status_code == 401

    async def test_show_no_secret_and_no_person(self, suite: RunningSuite):
        secret = "5ec7e7" * 10 + "abcd"
        campaign = await campaign_of(suite, secret=secret)
        parameters = await link_to(suite, campaign, annotator="p-17")
        assert "p-17" not in parameters["entry"]
        assert secret not in parameters["entry"]


class TestEntries:
    async def test_say_who_came_and_what_comes_next(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel=PROLIFIC, consent="We keep your labels.", packages_per_annotator=2)
        parameters = await link_to(suite, campaign) | {"PROLIFIC_PID": PID, "STUDY_ID": "a" * 24, "utm": "x"}
        del parameters["SESSION_ID"]
        found = (await enter(suite, parameters)).json()
        admin = await suite.client("annotation", "admin")
        (listed,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
        assert found == {
            "campaign_id": campaign["id"],
            "link_id": found["link_id"],
            "state": "open",
            "preview": False,
            "annotator": PID,
            "pseudonym": listed["pseudonym"],
            "blocked": False,
            "consent": {"text": "We keep your labels.", "sha256": campaign["consent_sha256"]},
            "training_required": False,
            "packages_left": 2,
            "completion": None,
        }
        assert rows(suite, "SELECT parameters FROM annotation.entries") == [
            ({"PROLIFIC_PID": PID, "STUDY_ID": "a" * 24},)
        ]

    async def test_say_whether_the_training_is_still_to_be_passed(self, suite: RunningSuite):
        await store_training(suite, dialogues=[gold_dialogue("one")])
        campaign = await campaign_of(suite, training={"name": "first_steps"})
        parameters = await link_to(suite, campaign, annotator="p-17")
        assert (await enter(suite, parameters)).json()["training_required"]
        assert (await start(suite, campaign, "p-17")).status_code == 200
        assert (await enter(suite, parameters)).json()["training_required"]
        assert (await respond(suite, campaign, "p-17", 0)).json()["state"] == "passed"
        assert not (await enter(suite, parameters)).json()["training_required"]

    async def test_come_to_campaigns_that_are_not_open_and_say_so(self, suite: RunningSuite):
        """Who holds a package of a closed campaign may submit it; where packages never were, nobody comes in."""
        campaign = await campaign_of(suite)
        parameters = await link_to(suite, campaign, annotator="p-17")
        admin = await suite.client("annotation", "admin")
        for step, state in (("pause", "paused"), ("close", "closed")):
            assert (await admin.post(f"/v1/campaigns/{campaign['id']}/{step}")).status_code == 200
            entered = await enter(suite, parameters)
            assert (entered.status_code, entered.json()["state"]) == (200, state)
        failed = await create_campaign(suite, "failed", campaign["collection_id"], segments=[9])
        parameters = await link_to(suite, failed, annotator="p-17")
        assert problem_of(await enter(suite, parameters))[:2] == (409, "closed")
        imported = await open_campaign(suite, campaign["collection_id"], mode="import")
        path = f"/v1/campaigns/{imported['id']}/entry-links"
        answer = await admin.post(path, json={"annotator": "p-17"})
        assert problem_of(answer)[:2] == (409, "campaign-takes-no-claims")

    async def test_can_be_repeated(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel={"kind": "generic", "parameter": "pid"})
        parameters = await link_to(suite, campaign, max_annotators=1) | {"pid": "p-17"}
        answers = [await enter(suite, parameters) for _ in range(2)]
        answers += await asyncio.gather(*(enter(suite, parameters) for _ in range(6)))
        assert {answer.text for answer in answers} == {answers[0].text}
        assert rows(suite, "SELECT count(*) FROM annotation.entries") == [(1,)]
        assert rows(suite, "SELECT annotators FROM annotation.entry_links") == [(1,)]

    async def test_are_for_as_many_annotators_as_the_link_says(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel={"kind": "generic", "parameter": "pid"})
        parameters = await link_to(suite, campaign, max_annotators=3)
        answers = await asyncio.gather(*(enter(suite, parameters | {"pid": f"p-{number}"}) for number in range(8)))
        assert sorted(answer.status_code for answer in answers) == [200] * 3 + [409] * 5
        refused = next(answer for answer in answers if answer.status_code == 409)
        assert problem_of(refused)[1] == "entry-link-used-up"
        assert rows(suite, "SELECT count(*) FROM annotation.annotators") == [(3,)]

    async def test_end_with_the_link(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        clock = movable_clock(suite)
        parameters = await link_to(suite, campaign, annotator="p-17", expires_in_hours=1)
        clock.advance(minutes=59)
        assert (await enter(suite, parameters)).status_code == 200
        clock.advance(minutes=1)
        assert problem_of(await enter(suite, parameters))[:2] == (409, "entry-link-expired")

    async def test_entries_by_a_link_that_was_tampered_with_are_refused(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        first, second = [(await link_to(suite, campaign, annotator=each))["entry"] for each in ("a", "b")]
        for token in (
            f"{first.split('.')[0]}.{second.split('.')[1]}",
            f"{'0' * 32}.{first.split('.')[1]}",
            first[:-1],
            f"{first}A",
            "\u2028<script>",
        ):
            refused = problem_of(await enter(suite, {"entry": token}))
            assert refused == (422, "entry-link-not-genuine", ["/parameters/entry"])
        assert problem_of(await enter(suite, {}))[1] == "entry-link-not-genuine"

    async def test_by_a_frontends_link_are_that_frontends_alone(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        parameters = await link_to(suite, campaign, role="annotation", annotator="p-17")
        assert problem_of(await enter(suite, parameters, team="others"))[1] == "entry-link-not-genuine"
        assert (await enter(suite, parameters)).status_code == 200

    async def test_refuse_another_person_than_the_link_is_for(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel={"kind": "generic", "parameter": "pid"})
        parameters = await link_to(suite, campaign, annotator="p-17")
        refused = problem_of(await enter(suite, parameters | {"pid": "p-18"}))
        assert refused == (422, "entry-refused", ["/parameters/pid"])
        for more in ({}, {"pid": "p-17"}):
            assert (await enter(suite, parameters | more)).json()["annotator"] == "p-17"

    async def test_name_the_parameter_that_has_another_form(self, suite: RunningSuite):
        parameters = await link_to(suite, await campaign_of(suite, panel=PROLIFIC))
        answer = await enter(suite, parameters)  # as the link is written: nobody filled the places
        assert problem_of(answer)[:2] == (422, "entry-refused")
        assert "/parameters/PROLIFIC_PID" in problem_of(answer)[2]

    async def test_by_a_link_for_anybody_name_who_came(self, suite: RunningSuite):
        parameters = await link_to(suite, await campaign_of(suite, panel=PROLIFIC))
        status, kind, pointers = problem_of(await enter(suite, {"entry": parameters["entry"]}))
        assert (status, kind) == (422, "entry-refused")
        assert "/parameters/PROLIFIC_PID" in pointers

    async def test_entries_to_a_hit_that_nobody_accepted_are_previews_and_keep_nothing(self, suite: RunningSuite):
        campaign = await turk_campaign(suite, consent="We keep your labels.")
        parameters = await link_to(suite, campaign)
        found = (await enter(suite, parameters | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H"})).json()
        assert (found["preview"], found["annotator"]) == (True, None)
        assert rows(suite, "SELECT count(*) FROM annotation.annotators") == [(0,)]

    async def test_are_open_to_frontends_alone(self, suite: RunningSuite):
        for role in ("admin", "analyst", "service"):
            client = await suite.client("annotation", role)
            assert (await client.post("/v1/entries", json={"parameters": {}})).status_code == 403

    async def test_parameters_that_are_too_large_or_hold_nul_are_refused(self, suite: RunningSuite):
        for parameters in ({"entry": "x" * 501}, {"a\0": "b"}, {"a": "\0"}, {str(n): "" for n in range(51)}):
            assert (await enter(suite, parameters)).status_code == 422
        assert (await enter(suite, {"entry": "x" * 10_000_000})).status_code == 413


class TestIdsOfClaims:
    async def test_have_the_form_of_the_panels_ids(self, suite: RunningSuite):
        campaign = await campaign_of(suite, panel=PROLIFIC)
        assert problem_of(await ask(suite, campaign, "p-17")) == (422, "annotator-id-unusable", ["/annotator"])
        assert (await ask(suite, campaign, PID)).status_code == 201


class TestSubmit:
    async def test_says_where_the_panel_takes_the_annotator_back_and_how_many_packages_are_left(
        self, suite: RunningSuite
    ):
        campaign = await campaign_of(suite, panel=PROLIFIC, packages_per_annotator=2)
        done = [await work_through(suite, await claim(suite, campaign, PID)) for _ in range(2)]
        assert [each["packages_left"] for each in done] == [1, 0]
        redirect: dict[str, Any] = {
            "kind": "redirect",
            "code": "C1ODE7",
            "url": "https://app.prolific.com/submissions/complete?cc=C1ODE7",
            "fields": {},
        }
        assert [each["completion"] for each in done] == [redirect, redirect]
        parameters = await link_to(suite, campaign) | {"PROLIFIC_PID": PID, "STUDY_ID": PID, "SESSION_ID": PID}
        assert (await enter(suite, parameters)).json()["completion"] == redirect

    async def test_ends_the_assignment_of_mechanical_turk_by_which_the_annotator_came(self, suite: RunningSuite):
        """A repeat says the same, although the worker accepted another HIT meanwhile."""
        clock = movable_clock(suite)
        campaign = await turk_campaign(suite)
        parameters = await link_to(suite, campaign)
        assigned: list[tuple[Any, ...]] = []
        for number in (1, 2):
            clock.advance(seconds=1)
            assert (await enter(suite, parameters | MTURK | {"assignmentId": f"AS{number}"})).status_code == 200
            assignment = await claim(suite, campaign, "AZ3456EXAMPLE")
            clock.advance(seconds=1)
            assigned.append((assignment, await work_through(suite, assignment)))
        for number, (assignment, done) in enumerate(assigned, 1):
            assert done["completion"] == {
                "kind": "form",
                "code": None,
                "url": "https://workersandbox.mturk.com/mturk/externalSubmit",
                "fields": {"assignmentId": f"AS{number}", "completionCode": done["completion_code"]},
            }
            assert (await submit(suite, assignment)).json()["completion"] == done["completion"]

    async def test_ends_the_assignment_of_mechanical_turk_though_the_annotator_came_back_by_a_link_of_their_own(
        self, suite: RunningSuite
    ):
        clock = movable_clock(suite)
        campaign = await turk_campaign(suite, pay_per_package="1", currency="USD")
        assert (await enter(suite, await link_to(suite, campaign) | MTURK)).status_code == 200
        clock.advance(seconds=1)
        own = await link_to(suite, campaign, annotator=MTURK["workerId"])
        assert (await enter(suite, own)).status_code == 200
        done = await work_through(suite, await claim(suite, campaign, MTURK["workerId"]))
        assert done["completion"]["fields"]["assignmentId"] == MTURK["assignmentId"]
        admin = await suite.client("annotation", "admin")
        approved = await admin.get(f"/v1/campaigns/{campaign['id']}/payments/file", params={"kind": "approvals"})
        assert approved.text == "AS1\r\n"

    async def test_has_no_completion_where_there_is_no_panel(self, suite: RunningSuite):
        done = await work_through(suite, await claim(suite, await campaign_of(suite), "w"))
        assert (done["completion"], done["packages_left"]) == (None, None)
