"""Pages of errors: what was wrong with which field, and what to do; texts that no form should hold make none fail."""

import html
import logging
import re

import httpx
import pytest

from tests.factories.campaigns import campaign_of_talks, talk
from tests.factories.pages import entered, entry_path
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

ID = "00000000-0000-7000-8000-000000000000"
NOTE = "It was my sister who\0 answered"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


async def _signed_in(suite: RunningSuite, role: str) -> httpx.AsyncClient:
    browser = await suite.client("web", role)
    browser.headers["Accept"] = "text/html"
    answer = await browser.post("/sign-in", data={"key": await suite.keys.make(role)})
    assert answer.status_code == 303
    return browser


def _words(page: httpx.Response) -> str:
    """Return what stands in the main part of a page."""
    found = re.search(r"<main.*?</main>", page.text, re.DOTALL)
    assert found
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", found[0])).split())


class TestAddressesThatNobodyCanRead:
    @pytest.mark.parametrize("after", ["//[", "http://[", "/\\[", "//\u2100", "/\t/[", "///", "/x\u202e", "[", "/\0"])
    async def test_lead_nowhere_after_a_form(self, suite: RunningSuite, after: str):
        browser = await suite.client("web", "analyst")
        shown = await browser.get("/sign-in", params={"after": after}, headers={"Accept": "text/html"})
        assert shown.status_code == (422 if "\0" in after else 200)
        key = await suite.keys.make("analyst")
        for path, form in (("/sign-in", {"key": key}), ("/language", {"language": "en"})):
            led = await browser.post(path, data=form | {"after": after})
            assert (led.status_code, led.headers["location"]) == (303, "/")
        browser.cookies.clear()

    @pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://a:b:c", "//[", "[", "", "http://\u2100"])
    async def test_are_no_origin_of_ours(self, suite: RunningSuite, origin: str):
        browser = await suite.client("web", "analyst")
        for method, path in (("POST", "/language"), ("PUT", f"/annotate/{ID}/packages/{ID}/items/0")):
            answer = await browser.request(method, path, headers={b"Origin": origin.encode()})
            assert answer.status_code == 403


class TestKeysThatNobodyCanHave:
    async def test_open_no_metrics(self, suite: RunningSuite):
        browser = await suite.client("web", "analyst")
        headers = {b"Authorization": "Bearer stb_admin_\xff".encode("latin-1")}
        assert (await browser.get("/metrics", headers=headers)).status_code == 401


class TestPagesOfErrors:
    @pytest.mark.parametrize(
        ("path", "said"),
        [
            (f"/campaigns/{ID}?unit=foo", "Unit of results: must be 'annotation', 'segment' or 'conversation'"),
            (f"/campaigns/{ID}?confidence=abc", "Level of intervals, in percent: must be '90', '95' or '99'"),
            (f"/campaigns/{ID}?whole=perhaps", "whole: must be true or false"),
            (f"/conversations/{ID}/not", "Id of the conversation in the address: must be a UUID"),
            ("/conversations/not", "Id of the collection in the address: must be a UUID"),
            (f"/admin/campaigns/{ID}/audit?action=%00", "action: The text holds the character NUL"),
            (f"/admin/campaigns/{ID}/annotators?annotator={'x' * 201}", "at most 200 characters"),
        ],
    )
    async def test_name_the_part_of_an_address_and_the_reason(self, suite: RunningSuite, path: str, said: str):
        page = await (await _signed_in(suite, "admin")).get(path)
        assert page.status_code == 422
        assert said in _words(page)
        assert "send it again" not in _words(page)

    @pytest.mark.parametrize(
        ("typed", "said"),
        [
            ({"expires_in_hours": "0"}, "Valid for hours: must be at least 1"),
            ({"expires_in_hours": "x"}, "Valid for hours: must be a whole number"),
            ({"max_annotators": "many"}, "At most so many people: must be a whole number"),
            ({"max_annotators": "100001"}, "At most so many people: must be at most 100000"),
            ({"people": NOTE}, "For one person each, by id, one a line: must not contain NUL characters"),
            ({"people": "ann\n" + "x" * 201}, "For one person each, by id, one a line: must have at most 200"),
        ],
    )
    async def test_name_the_field_of_a_form_and_the_reason(self, suite: RunningSuite, typed: dict[str, str], said: str):
        browser = await _signed_in(suite, "admin")
        page = await browser.post(f"/admin/campaigns/{ID}/links", data=typed)
        assert page.status_code == 422
        assert said in _words(page)
        german = await browser.post(f"/admin/campaigns/{ID}/links", data=typed, headers={"Accept-Language": "de"})
        assert said.partition(": ")[0] not in _words(german)

    async def test_scripts_read_the_field_in_a_problem_document(self, suite: RunningSuite):
        browser = await _signed_in(suite, "admin")
        path, headers = f"/admin/campaigns/{ID}/links", {"Accept": "application/json"}
        problem = (await browser.post(path, data={"people": NOTE}, headers=headers)).json()
        assert problem["errors"] == [
            {"pointer": "/people/0", "parameter": None, "detail": "must not contain NUL characters"}
        ]


class TestPagesOfErrorsForAnnotators:
    async def test_send_them_back_to_their_link(self, suite: RunningSuite):
        campaign = await campaign_of_talks(suite, talk("c0"))
        path = await entry_path(suite, campaign)
        browser = await suite.client("web", "analyst")
        for wrong in ("/annotate/nope", f"/annotate/{ID}?entry=x", f"{path[:-4]}", f"/chat/{ID[:-1]}?x=1"):
            page = await browser.get(wrong, headers={"Accept": "text/html"})
            assert page.status_code in {401, 403, 404, 422}
            assert "Open the link that you were given" in _words(page)
            assert "mend it" not in _words(page)

    async def test_name_the_parameters_that_a_panel_did_not_fill_in(self, suite: RunningSuite):
        panel = {"kind": "prolific", "completion_code": "C1ODE7"}
        campaign = await campaign_of_talks(suite, talk("c0"), panel=panel)
        admin = await suite.client("annotation", "admin")
        link = await created(admin, f"/v1/campaigns/{campaign['id']}/entry-links", {})
        browser = await suite.client("web", "analyst")
        page = await browser.get(f"/annotate/{campaign['id']}?{link['query']}", headers={"Accept": "text/html"})
        assert page.status_code == 422
        for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"):
            assert f"{name}: must be 24 hexadecimal digits" in _words(page)
        assert "`" not in _words(page)

    async def test_say_what_is_wrong_with_a_note_and_log_none_of_it(
        self, suite: RunningSuite, caplog: pytest.LogCaptureFixture
    ):
        campaign = await campaign_of_talks(suite, talk("c0"))
        caplog.set_level(logging.INFO)
        async with entered(suite, await entry_path(suite, campaign)) as browser:
            page = await browser.post(f"/annotate/{campaign['id']}/appeal", data={"note": NOTE})
        assert page.status_code == 422
        assert "Your note: must not contain NUL characters" in _words(page)
        assert "sister" not in caplog.text
