"""Sessions of the pages: sealed cookies, requests of other sites, where a sign-in leads."""

from typing import Any

import pytest
from cryptography.fernet import Fernet
from starlette.requests import Request
from starlette.responses import Response

from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.chats.domain import ChatPerson
from spotthebot.web.layout.domain import choose_language
from spotthebot.web.sign_in.pages import _own_path
from spotthebot.web.visitors.domain import Annotator, SignedIn
from tests.factories.running_suite import RunningSuite

VAULT = Vault(Fernet.generate_key().decode())
WEB = ("bots", "conversations", "annotation", "analytics", "web")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return WEB


def _request(cookie: str) -> Request:
    return Request({"type": "http", "headers": [(b"cookie", cookie.encode())], "method": "GET", "path": "/"})


def _written(cookie: SealedCookie) -> str:
    response = Response()
    cookie.write(response, {"key": "secret"})
    return response.headers["set-cookie"]


class TestSealedCookies:
    def test_hold_what_was_written_and_hide_it(self):
        cookie = SealedCookie("who", VAULT, lasts_seconds=60, secure=False)
        written = _written(cookie)
        assert "secret" not in written
        assert cookie.read(_request(written.split(";")[0])) == {"key": "secret"}

    def test_keep_scripts_and_other_sites_out(self):
        attributes = {each.strip().lower() for each in _written(_secure()).split(";")[1:]}
        assert {"httponly", "samesite=lax", "secure", "path=/", "max-age=60"} <= attributes
        assert _written(_secure()).startswith("__Host-who=")

    @pytest.mark.parametrize("content", ["", "nonsense", "x" * 5000])
    def test_cookies_made_by_others_are_none(self, content: str):
        assert _secure().read(_request(f"__Host-who={content}")) is None

    @pytest.mark.parametrize("form", [ChatPerson, Annotator, SignedIn])
    @pytest.mark.parametrize("lacking", [{}, {"collection_id": "x", "scores": "", "until": ""}])
    def test_cookies_of_an_earlier_form_are_none(self, form: type[Any], lacking: dict[str, str]):
        response = Response()
        _secure().write(response, lacking)
        request = _request(response.headers["set-cookie"].split(";")[0])
        assert _secure().read(request) == lacking
        assert _secure().read_as(request, form.from_session) is None

    def test_cookies_of_another_key_are_none(self):
        other = SealedCookie("who", Vault(Fernet.generate_key().decode()), lasts_seconds=60, secure=True)
        assert _secure().read(_request(_written(other).split(";")[0])) is None

    def test_end_after_their_time(self):
        ended = SealedCookie("who", VAULT, lasts_seconds=-1, secure=True)
        assert ended.read(_request(_written(_secure()).split(";")[0])) is None


class TestRequests:
    """On running services: the middleware stands before every change."""

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Sec-Fetch-Site": "same-site"}, 403),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Sec-Fetch-Site": "same-origin"}, 303),
            ({}, 303),
        ],
    )
    async def test_requests_of_other_sites_change_nothing(
        self, suite: RunningSuite, headers: dict[str, str], status: int
    ):
        http = await suite.client("web", "analyst")
        answer = await http.post("/language", data={"language": "de"}, headers=headers)
        assert answer.status_code == status
        assert ("set-cookie" in answer.headers) is (status == 303)

    async def test_get_headers_that_let_a_browser_run_our_files_alone(self, suite: RunningSuite):
        http = await suite.client("web", "analyst")
        policy = (await http.get("/")).headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy

    async def test_without_a_session_lead_to_the_form_and_back(self, suite: RunningSuite):
        http = await suite.client("web", "analyst")
        first = await http.get("/", headers={"Accept": "text/html"})
        assert (first.status_code, "set-cookie" in first.headers) == (200, False)

    async def test_scripts_get_problem_documents(self, suite: RunningSuite):
        http = await suite.client("web", "analyst")
        answer = await http.get("/nothing-here", headers={"Accept": "application/json"})
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")

    @pytest.mark.parametrize(("role", "status"), [("team", 303), ("analyst", 303), ("admin", 303), ("annotation", 422)])
    async def test_to_sign_in_take_keys_of_people(self, suite: RunningSuite, role: str, status: int):
        http = await suite.client("web", "analyst")
        key = await suite.keys.make(role, team="blue" if role == "team" else None)
        answer = await http.post("/sign-in", data={"key": f" {key}\n"})
        assert answer.status_code == status
        assert key not in answer.text + str(answer.headers)
        http.cookies.clear()

    async def test_to_sign_in_take_no_key_that_was_made_up(self, suite: RunningSuite):
        http = await suite.client("web", "analyst")
        answer = await http.post("/sign-in", data={"key": f"stb_admin_{'0' * 32}_{'x' * 43}"})
        assert answer.status_code == 422

    @pytest.mark.parametrize("secret", ["ключ" + "x" * 39, "x" * 42, "x" * 20 + "\r\n" + "x" * 21, "x" * 43 + "\0"])
    async def test_to_sign_in_refuse_what_has_another_form_than_keys(self, suite: RunningSuite, secret: str):
        http = await suite.client("web", "analyst")
        answer = await http.post("/sign-in", data={"key": f"stb_admin_{'0' * 32}_{secret}"})
        assert (answer.status_code, "This is not an API key" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("after", "led_to"),
    [
        ("/campaigns", "/campaigns"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("", "/"),
    ],
)
def test_signing_in_leads_to_our_own_pages_alone(after: str, led_to: str):
    assert _own_path(after) == led_to


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        (None, "de-AT,de;q=0.9,en;q=0.8", "de"),
        (None, "fr, en;q=0.1, de;q=0.2", "de"),
        ("en", "de", "en"),
        ("xx", "de", "de"),
        (None, "fr;q=nonsense, *", "en"),
        (None, "de;q=0", "en"),
        (None, "", "en"),
    ],
)
def test_a_page_is_in_the_chosen_language_or_the_browsers(chosen: str | None, accepted: str, language: str):
    assert choose_language(chosen, accepted, ("de", "en")) == language


def _secure() -> SealedCookie:
    return SealedCookie("who", VAULT, lasts_seconds=60, secure=True)
