"""Annotators on the pages: how they come in, and what they see where there is no package."""

import html
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest

from spotthebot.contracts.annotation.assignments import BlockIn, RejectionIn
from spotthebot.kit.web.core.rate_limits import RateLimiter
from spotthebot.web.entries.domain import entry_parameters
from tests.factories.annotating import WHOLE, annotations_of, rows
from tests.factories.campaigns import campaign_of_talks, make_turk_campaign, talk
from tests.factories.pages import entered, entry_path, held_package, signed_in
from tests.factories.running_suite import RunningSuite

JSON = {"Accept": "application/json"}
PROLIFIC = {"kind": "prolific", "completion_code": "C1ODE7"}
PERSON = "5f8d0a1b2c3d4e5f6a7b8c9d"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation", "web")


async def _prolific_path(suite: RunningSuite, campaign: Mapping[str, Any]) -> str:
    """Return the path by which Prolific sends a person."""
    return f"{(await entry_path(suite, campaign, None)).partition('&')[0]}&PROLIFIC_PID={PERSON}"


async def _finish(client: httpx.AsyncClient, campaign: Mapping[str, Any], package: str) -> httpx.Response:
    """Answer the only item of a package as the script does, submit, and return what the end shows."""
    path = f"/annotate/{campaign['id']}/packages/{package}"
    for body in ({"answer": {"entity": WHOLE["entity"]}, "show_step": 2}, {"answer": WHOLE}):
        saved = await client.put(f"{path}/items/0", json=body, headers=JSON)
        assert saved.status_code == 200, saved.text
    submitted = await client.post(f"{path}/submit", headers=JSON)
    return await client.get(submitted.json()["next"])


class TestEntry:
    async def test_by_a_link_leads_to_the_page_without_the_token(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"), name="bots against people")
        path = await entry_path(suite, campaign)
        async with entered(suite, f"{path}&utm_source=panel&utm_campaign={'x' * 600}") as client:
            package = await client.get(f"/annotate/{campaign['id']}")
            assert package.status_code == 200
            assert "I have a trip too" in package.text
            assert "SECRET" not in package.text + str(package.headers)
            assert campaign["name"] not in package.text

    async def test_by_the_link_of_another_campaign_leads_into_that_one(self, suite: RunningSuite):
        mine, other = [await campaign_of_talks(suite, talk("c"), name=name) for name in ("mine", "other")]
        token = (await entry_path(suite, other)).partition("?")[2]
        async with entered(suite, f"/annotate/{mine['id']}?{token}") as client:
            assert (await client.get(f"/annotate/{other['id']}")).status_code == 200
            refused = await client.get(f"/annotate/{mine['id']}")
            assert (refused.status_code, "Open your link" in refused.text) == (401, True)

    @pytest.mark.parametrize("query", ["", "?entry=nonsense", f"?entry={'0' * 32}.{'x' * 43}", "?entry="])
    async def test_without_a_genuine_link_is_refused(self, suite: RunningSuite, query: str):
        async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False) as client:
            refused = await client.get(f"/annotate/{uuid4()}{query}", headers={"Accept": "text/html"})
        assert refused.status_code == (422 if query else 401)
        assert "set-cookie" not in refused.headers
        assert [said for said in ("token", "Sign in", "Leaderboard", "Documentation") if said in refused.text] == []

    async def test_from_mechanical_turk_shows_a_preview_and_asks_for_a_window(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        make_turk_campaign(suite, campaign["id"])
        path = (await entry_path(suite, campaign, None)).partition("&")[0]
        async with httpx.AsyncClient(base_url=suite.urls["web"], trust_env=False) as client:
            preview = await client.get(f"{path}&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H1")
            assert "A preview" in preview.text
            framed = await client.get(f"{path}&assignmentId=A&hitId=H1", headers={"Sec-Fetch-Dest": "iframe"})
        assert 'target="_blank"' in framed.text
        for shown in (preview, framed):
            assert "frame-ancestors https://worker.mturk.com" in shown.headers["content-security-policy"]
            assert "set-cookie" not in shown.headers

    def test_leaves_out_what_others_added_to_a_link_but_never_the_token(self):
        added = [(f"p{number}", "x") for number in range(60)]
        found = entry_parameters([("long", "x" * 501), ("n\0", ""), *added, ("entry", "token")])
        assert len(found) == 50
        assert found["entry"] == "token"
        assert set(found) <= {"entry", *(name for name, _ in added)}


@contextmanager
def _limited(suite: RunningSuite, name: str) -> Iterator[None]:
    """Have one limit of the pages allow two a minute while the block lasts."""
    state = suite.apps["web"].state
    usual = state.resources
    limits = {name: RateLimiter(2, clock=lambda: 0.0)}
    state.resources = replace(usual, visitors=replace(usual.visitors, **limits))
    try:
        yield
    finally:
        state.resources = usual


class TestLinks:
    async def test_are_made_for_many_people_at_once(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        address = f"/admin/campaigns/{campaign['id']}/links"
        async with signed_in(suite, "admin") as client:
            made = await client.post(address, data={"people": "ann\r\n\r\neve\nann", "expires_in_hours": "3"})
        lines = re.findall(r"(ann|eve)\thttp://[^/]+(/annotate/[^<\s]+)", html.unescape(made.text))
        assert [person for person, _ in lines] == ["ann", "eve"]
        for _, path in lines:
            async with entered(suite, path) as client:
                assert (await client.get(f"/annotate/{campaign['id']}")).status_code == 200


class TestLimit:
    async def test_counts_the_requests_of_each_annotator_alone(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        with _limited(suite, "request_limits"):
            for annotator in ("ann", "eve"):
                async with entered(suite, await entry_path(suite, campaign, annotator)) as client:
                    statuses = [(await client.get(f"/annotate/{campaign['id']}")).status_code for _ in range(3)]
                    assert statuses == [200, 200, 429]
                    beat = f"/annotate/{campaign['id']}/packages/{uuid4()}/heartbeat"
                    refused = await client.post(beat, json={"position": 0}, headers=JSON)
                    assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")

    async def test_counts_the_links_of_an_address_that_open_nothing_and_no_others(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        with _limited(suite, "failed_links"):
            async with httpx.AsyncClient(base_url=suite.urls["web"]) as client:
                nonsense = [f"/annotate/{campaign['id']}?entry=nonsense", f"/chat/{uuid4()}/enter?entry=nonsense"]
                answers = [await client.get(path, headers=JSON) for path in (*nonsense, *nonsense)]
                opened = await client.get(await entry_path(suite, campaign))
        assert [each.status_code == 429 for each in answers] == [False, False, True, True]
        assert [(each.status_code, each.headers["retry-after"]) for each in answers[2:]] == [(429, "30")] * 2
        assert opened.status_code == 303


class TestGerman:
    async def test_is_what_built_in_protocols_and_refusals_are_shown_in(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        german = {"Accept-Language": "de"}
        async with entered(suite, await entry_path(suite, campaign)) as client:
            page = await client.get(f"/annotate/{campaign['id']}", headers=german)
            assert page.text.count("Ist das ein Mensch oder ein Bot?") == 2  # for the script, and in the instructions
            assert "Is this speaker a human" not in page.text
            path = f"/annotate/{campaign['id']}/packages/{(await held_package(suite, campaign)).id}"
            refused = await client.post(f"{path}/submit", headers=JSON | german)
            assert (refused.status_code, refused.json()["type"]) == (409, "urn:spotthebot:problem:items-unanswered")
            assert "Einige Gespräche brauchen noch eine Antwort" in refused.json()["detail"]
            shown = await client.get(f"/annotate/{campaign['id']}/done/{uuid4()}", headers=german)
            assert (shown.status_code, "Dieses Paket gibt es nicht" in shown.text) == (404, True)


class TestEnd:
    async def test_shows_the_way_back_to_the_panel_again_and_again(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"), panel=PROLIFIC, packages_per_annotator=1)
        path = f"{await _prolific_path(suite, campaign)}&STUDY_ID={PERSON}"
        link = "https://app.prolific.com/submissions/complete?cc=C1ODE7"
        async with entered(suite, f"{path}&SESSION_ID={PERSON}") as client:
            package = (await held_package(suite, campaign, PERSON)).id
            assert (await client.get(f"/annotate/{campaign['id']}/done/{package}")).status_code == 303  # not done yet
            end = await _finish(client, campaign, str(package))
            again = await client.get(f"/annotate/{campaign['id']}")
        async with entered(suite, f"{path}&SESSION_ID={PERSON}") as client:
            elsewhere = await client.get(f"/annotate/{campaign['id']}")
        for page in (end, again, elsewhere):
            assert f'href="{link}"' in page.text
            assert "Confirm to Prolific that you are done" in page.text
            assert '<code id="code">C1ODE7</code>' in page.text
        assert "You have done your share" in again.text
        assert "Next package" not in end.text
        assert len(await annotations_of(suite, campaign)) == 1

    async def test_is_all_that_rejected_work_leaves(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"), panel=PROLIFIC, packages_per_annotator=1)
        path = await _prolific_path(suite, campaign)
        home = f"/annotate/{campaign['id']}"
        async with entered(suite, path) as client:
            package = (await held_package(suite, campaign, PERSON)).id
            end = await _finish(client, campaign, str(package))
            admin = await suite.annotation("admin")
            await admin.reject_assignment(campaign["id"], package, RejectionIn(reason="all alike"))
            reloaded = await client.get(end.url, follow_redirects=True)
            await client.get(path)
            back = await client.get(home)
        for page in (reloaded, back):
            assert page.url.path == home
            assert "It is over" in page.text
            assert [said for said in ("C1ODE7", "Confirm", "share") if said in page.text] == []

    async def test_takes_no_other_package_until_it_is_asked_for(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("a"), talk("b"), package_size=1, annotations_per_segment=1)
        path, home = await entry_path(suite, campaign), f"/annotate/{campaign['id']}"
        async with entered(suite, path) as client:
            first = str((await held_package(suite, campaign)).id)
            code = re.findall(r'id="code">(\w+)<', (await _finish(client, campaign, first)).text)
            pages = [await client.get(home)]
        async with entered(suite, path) as client:  # on another device
            pages.append(await client.get(home))
            for page in pages:
                assert "Your last package is submitted" in page.text
                assert "For the last package that you submitted:" in page.text
                assert re.findall(r'id="code">(\w+)<', page.text) == code
            assert rows(suite, "SELECT count(*) FROM annotation.assignments") == [(1,)]
            assert (await client.get(f"{home}?next=true")).headers["location"] == home
            assert "I have a trip too" in (await client.get(home)).text
            assert rows(suite, "SELECT count(*) FROM annotation.assignments") == [(2,)]

    async def test_comes_early_for_who_stops(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"), panel=PROLIFIC)
        async with entered(suite, await _prolific_path(suite, campaign)) as client:
            shown = await client.get(f"/annotate/{campaign['id']}")
            (action,) = re.findall(r'action="([^"]+/release)"', shown.text)
            stopped = await client.post(action, follow_redirects=True)
            assert "no completion code until you submit it" in stopped.text
            for page in (shown, stopped):
                assert "return the study at Prolific" in page.text
            assert rows(suite, "SELECT state FROM annotation.assignments") == [("expired",)]

    async def test_lets_a_form_be_sent_to_mechanical_turk_alone(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        make_turk_campaign(suite, campaign["id"])
        path = (await entry_path(suite, campaign, None)).partition("&")[0]
        turk = "https://www.mturk.com"
        query = f"workerId=A1B2C3&assignmentId=3XAMPLE&hitId=H1&turkSubmitTo={turk}"
        async with entered(suite, f"{path}&{query}") as client:
            end = await _finish(client, campaign, str((await held_package(suite, campaign, "A1B2C3")).id))
        assert f'action="{turk}/mturk/externalSubmit"' in end.text
        assert f"form-action 'self' {turk};" in end.headers["content-security-policy"]


class TestConsent:
    async def test_comes_first_can_be_declined_and_taken_back(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"), consent="I agree to <b>everything</b>.")
        page = f"/annotate/{campaign['id']}"
        sha256 = campaign["consent_sha256"]
        async with entered(suite, await entry_path(suite, campaign)) as client:
            asked = await client.get(page)
            assert "I agree to &lt;b&gt;everything&lt;/b&gt;." in asked.text
            declined = await client.post(f"{page}/consent", data={"answer": "no", "sha256": sha256})
            assert "That is fine" in (await client.get(declined.headers["location"])).text
            other = await client.post(f"{page}/consent", data={"answer": "yes", "sha256": "0" * 64})
            assert (other.status_code, "consent" in other.text) == (409, True)
            given = await client.post(f"{page}/consent", data={"answer": "yes", "sha256": sha256})
            assert given.headers["location"] == page
            assert "I have a trip too" in (await client.get(page)).text
            end = await _finish(client, campaign, str((await held_package(suite, campaign)).id))
            assert f'action="{page}/consent/withdraw"' in end.text
            withdrawn = await client.post(f"{page}/consent/withdraw")
            assert "Your consent is taken back" in (await client.get(withdrawn.headers["location"])).text
            assert "Before you begin" in (await client.get(page)).text


class TestStates:
    """Where there is no package, a page says why and what to do."""

    @pytest.mark.parametrize(("move", "title"), [("pause", "A pause"), ("close", "This campaign is over")])
    async def test_are_shown_where_a_campaign_gives_out_nothing(self, suite: RunningSuite, move: str, title: str):
        campaign = await campaign_of_talks(suite, talk("c"), name="bots against people")
        admin = await suite.client("annotation", "admin")
        await admin.post(f"/v1/campaigns/{campaign['id']}/{move}")
        async with entered(suite, await entry_path(suite, campaign)) as client:
            shown = await client.get(f"/annotate/{campaign['id']}")
        assert (shown.status_code, title in shown.text) == (200, True)
        assert campaign["name"] not in shown.text

    async def test_after_a_block_take_one_note(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c"))
        admin = await suite.annotation("admin")
        page = f"/annotate/{campaign['id']}"
        async with entered(suite, await entry_path(suite, campaign)) as client:
            (annotator,) = [each async for each in admin.list_annotators(campaign["id"])]
            await admin.block_annotator(campaign["id"], annotator.id, BlockIn(reason="too fast"))
            shown = await client.get(page)
            assert "You can&#39;t go on here" in shown.text
            assert "too fast" not in shown.text
            left = await client.post(f"{page}/appeal", data={"note": "I read <i>everything</i>."})
            assert "Your note is left" in (await client.get(left.headers["location"])).text
            assert (await client.post(f"{page}/appeal", data={"note": "Another one."})).status_code == 409
            assert (await client.post(f"{page}/appeal", data={"note": " "})).headers["location"] == page
        (annotator,) = [each async for each in admin.list_annotators(campaign["id"])]
        assert annotator.appeal == "I read <i>everything</i>."
