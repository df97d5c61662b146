"""Sign-in through an OpenID provider: a real one on loopback, which `oidc-provider-mock` brings."""

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from cryptography.fernet import Fernet
from fastapi import FastAPI
from oidc_provider_mock import User, run_server_in_thread
from pydantic import SecretStr

from spotthebot.kit.errors import Error
from spotthebot.web import provider
from spotthebot.web.app import create_app
from spotthebot.web.settings import WebSettings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the provider's own, of Authlib
HOME = "http://pages.test"
KEYS = {each: f"stb_{role}_{'0' * 32}_{'x' * 43}" for each, role in (("operators", "admin"), ("labs", "team"))}
PEOPLE = [
    User(sub="olga", claims={"groups": ["labs", "operators"]}),
    User(sub="lee", claims={"groups": "labs"}),
    User(sub="nobody", claims={"groups": ["guests"]}),
    User(sub="nora", claims={"realm_access": {"roles": ["labs"]}, "https://spot.example/roles": ["operators"]}),
    User(sub="emma", claims={"email": "operators", "email_verified": True}),
    User(sub="eve", claims={"email": "operators", "email_verified": False}),
]


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with run_server_in_thread(user_claims=PEOPLE, require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def settings(issuer: str, tmp_path: Path) -> WebSettings:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps(KEYS))
    keys.chmod(0o600)
    return WebSettings(
        oidc_issuer=issuer,
        oidc_client_id="pages",
        oidc_client_secret=SecretStr("secret"),
        oidc_keys_file=keys,
        public_url=HOME,
        sessions_key=SecretStr(Fernet.generate_key().decode()),
    )


@asynccontextmanager
async def browsing(settings: WebSettings) -> AsyncIterator[tuple[FastAPI, httpx.AsyncClient]]:
    """Yield the pages, and a browser that has opened none of them."""
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url=HOME, headers={"Accept": "text/html"}
        ) as browser,
    ):
        yield app, browser


async def asked(browser: httpx.AsyncClient, after: str = "/campaigns") -> str:
    """Return the address at the provider to which the pages send a browser."""
    sent = await browser.get("/sign-in/provider", params={"after": after})
    assert sent.status_code == 303
    return sent.headers["location"]


async def agreed(address: str, who: str) -> str:
    """Be a person at the provider, and return the address to which it sends the browser back."""
    async with httpx.AsyncClient() as provider:
        back = await provider.post(address, data={"sub": who})
    assert back.status_code == 302
    return back.headers["location"]


@asynccontextmanager
async def faulty_provider(place: str, fault: str) -> AsyncIterator[str]:
    """Yield the address of a provider that answers with its document, but with a fault at one path."""
    issuer = ""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        kind = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
        with contextlib.suppress(ConnectionError):
            if path != place:
                names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
                document = {"issuer": issuer} | {name: f"{issuer}/oauth2/{end}" for name, end in names.items()}
                writer.write(kind + b"\r\n" + json.dumps(document).encode())
            elif fault == "hangs":
                await asyncio.sleep(5)
            elif fault == "drips":
                writer.write(kind + b"\r\n")
                for _ in range(50):
                    writer.write(b" ")
                    await asyncio.sleep(0.1)
            elif fault == "is large":
                writer.write(kind + b"\r\n")
                for _ in range(30):
                    writer.write(b" " * 1024 * 1024)
                    await writer.drain()
            else:
                writer.write(kind + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"{}"))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    issuer = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield issuer
    server.close()


def content_of(app: FastAPI, browser: httpx.AsyncClient) -> dict[str, Any] | None:
    request: Any = type("Request", (), {"cookies": dict(browser.cookies)})
    return app.state.resources.visitors.sessions.read(request)


class TestProvider:
    @pytest.mark.parametrize(("who", "group", "role"), [("olga", "operators", "admin"), ("lee", "labs", "team")])
    async def test_signs_in_with_the_key_of_the_first_value_that_a_person_has(
        self, settings: WebSettings, who: str, group: str, role: str
    ):
        async with browsing(settings) as (app, browser):
            assert 'href="/sign-in/provider?after=/bots"' in (await browser.get("/sign-in?after=/bots")).text
            address = await asked(browser, after="/bots")
            query = parse_qs(urlsplit(address).query)
            assert (query["code_challenge_method"], query["redirect_uri"]) == (
                ["S256"],
                [f"{HOME}/sign-in/provider/done"],
            )
            back = await browser.get(await agreed(address, who))
            assert (back.status_code, back.headers["location"]) == (303, "/bots")
            assert content_of(app, browser) == {"key": KEYS[group], "role": role, "by": "provider"}
            # The way back works once: the cookie of the attempt is gone.
            assert (await browser.get(await agreed(address, who))).status_code == 409

    async def test_signs_out_here_and_leads_to_the_provider(self, settings: WebSettings, issuer: str):
        async with browsing(settings) as (app, browser):
            await browser.get(await agreed(await asked(browser), "olga"))
            left = await browser.post("/sign-out", headers={"Origin": HOME})
            assert f"{issuer}/oauth2/end_session?client_id=pages&amp;post_logout_redirect_uri=" in left.text
            assert content_of(app, browser) is None

    async def test_admits_nobody_without_a_known_value(self, settings: WebSettings):
        async with browsing(settings) as (app, browser):
            refused = await browser.get(await agreed(await asked(browser), "nobody"))
            assert refused.status_code == 403
            assert "ask the operator" in refused.text
            assert content_of(app, browser) is None

    async def test_admits_nobody_whose_sign_in_another_browser_began(self, settings: WebSettings):
        async with browsing(settings) as (app, victim), browsing(settings) as (_, attacker):
            back = await agreed(await asked(attacker), "olga")
            assert (await victim.get(back)).status_code == 409
            await asked(victim)
            assert (await victim.get(back)).status_code == 409
            assert content_of(app, victim) is None

    async def test_admits_nobody_with_another_code_or_a_refusal(self, settings: WebSettings):
        async with browsing(settings) as (app, browser):
            state = parse_qs(urlsplit(await asked(browser)).query)["state"][0]
            for query in ({"code": "made-up"}, {"error": "access_denied"}, {}):
                refused = await browser.get("/sign-in/provider/done", params={"state": state, **query})
                assert refused.status_code == 503
            # A code of another attempt: its nonce and its verifier are others.
            stolen = parse_qs(urlsplit(await agreed(await asked(browser), "olga")).query)["code"][0]
            state = parse_qs(urlsplit(await asked(browser)).query)["state"][0]
            refused = await browser.get("/sign-in/provider/done", params={"state": state, "code": stolen})
            assert refused.status_code == 503
            assert content_of(app, browser) is None

    @pytest.mark.parametrize(
        ("claim", "who", "role"),
        [
            ("realm_access.roles", "nora", "team"),
            ("https://spot.example/roles", "nora", "admin"),
            ("realm_access.roles.more", "nora", None),
            ("email", "emma", "admin"),
            ("email", "eve", None),
        ],
    )
    async def test_reads_nested_claims_and_verified_addresses(
        self, settings: WebSettings, claim: str, who: str, role: str | None
    ):
        async with browsing(settings.model_copy(update={"oidc_claim": claim})) as (app, browser):
            back = await browser.get(await agreed(await asked(browser), who))
            assert back.status_code == (403 if role is None else 303)
            assert (content_of(app, browser) or {}).get("role") == role

    async def test_asks_for_the_scope_of_the_settings(self, settings: WebSettings):
        async with browsing(settings.model_copy(update={"oidc_scope": "openid groups"})) as (_, browser):
            assert parse_qs(urlsplit(await asked(browser)).query)["scope"] == ["openid groups"]

    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            ("hangs", "did not answer within 0.5 s"),
            ("drips", "did not answer within 0.5 s"),
            ("is large", "larger than 1048576 bytes"),
            ("is compressed", "its answer is compressed"),
        ],
    )
    @pytest.mark.parametrize("place", ["/.well-known/openid-configuration", "/oauth2/token"])
    async def test_gives_up_a_provider_that(
        self, settings: WebSettings, monkeypatch: pytest.MonkeyPatch, place: str, fault: str, reason: str
    ):
        monkeypatch.setattr(provider, "_SECONDS", 0.5)
        async with faulty_provider(place, fault) as issuer:
            async with browsing(settings.model_copy(update={"oidc_issuer": issuer})) as (_, browser):
                if place == "/oauth2/token":
                    state = parse_qs(urlsplit(await asked(browser)).query)["state"][0]
                    refused = await browser.get("/sign-in/provider/done", params={"state": state, "code": "c"})
                else:
                    refused = await browser.get("/sign-in/provider")
            assert refused.status_code == 503
            assert reason in refused.text

    async def test_says_so_where_the_provider_fails(self, settings: WebSettings):
        for issuer in ("http://127.0.0.1:9", f"{settings.oidc_issuer}/elsewhere"):
            async with browsing(settings.model_copy(update={"oidc_issuer": issuer})) as (_, browser):
                refused = await browser.get("/sign-in/provider")
                assert refused.status_code == 503
                assert "sign in with an API key" in refused.text

    async def test_leads_to_these_pages_alone(self, settings: WebSettings):
        async with browsing(settings) as (_, browser):
            back = await browser.get(await agreed(await asked(browser, after="https://evil.example"), "olga"))
            assert back.headers["location"] == "/"

    async def test_is_none_without_settings(self, settings: WebSettings):
        async with browsing(settings.model_copy(update={"oidc_issuer": ""})) as (_, browser):
            assert "/sign-in/provider" not in (await browser.get("/sign-in")).text
            assert (await browser.get("/sign-in/provider")).status_code == 404


class TestSettings:
    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"public_url": ""}, "OIDC_ISSUER can't be used: it also needs .*PUBLIC_URL"),
            ({"oidc_keys_file": None}, "OIDC_ISSUER can't be used: .*OIDC_KEYS_FILE or OIDC_KEYS"),
            ({"oidc_keys": SecretStr("{")}, "OIDC_KEYS can't be used: it is not JSON"),
            ({"oidc_keys": SecretStr("[]")}, "OIDC_KEYS can't be used: it must be a JSON object"),
            ({"oidc_keys": SecretStr("{}")}, "OIDC_KEYS can't be used: it must be a JSON object"),
        ],
    )
    def test_say_what_they_lack(self, settings: WebSettings, change: dict[str, Any], reason: str):
        with pytest.raises(Error, match=reason):
            settings.model_copy(update=change).check()

    def test_name_the_entry_without_a_key_and_not_what_it_has(self, settings: WebSettings):
        assert settings.oidc_keys_file is not None
        settings.oidc_keys_file.write_text(json.dumps(KEYS | {"guests": "nonsense"}))
        with pytest.raises(Error, match="OIDC_KEYS_FILE can't be used: its entry 'guests' is no API key") as raised:
            settings.check()
        assert "nonsense" not in str(raised.value)

    def test_refuse_a_file_that_others_can_read(self, settings: WebSettings):
        assert settings.oidc_keys_file is not None
        settings.oidc_keys_file.chmod(0o644)
        with pytest.raises(Error, match=r"OIDC_KEYS_FILE can't be used: .*chmod 600"):
            settings.check()

    def test_take_the_keys_from_a_secret_before_the_file(self, settings: WebSettings):
        given = settings.model_copy(update={"oidc_keys": SecretStr(json.dumps({"labs": KEYS["labs"]}))})
        given.check()
        assert given.read_oidc_keys() == {"labs": KEYS["labs"]}
