"""`/docs` of a service needs nothing but the service: tried in a browser, and read as a browser reads it."""

import base64
import contextlib
import hashlib
import re
from urllib.parse import urljoin, urlsplit

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.async_api import Browser, expect
from pydantic import SecretStr
from starlette.testclient import TestClient

from spotthebot.contracts.services import API_NAMES
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.web.core.documentation import DOCS_URL, INTEGRITY
from spotthebot.local.runtime.services import load_service
from tests.factories.running_suite import serve_all


def _app(name: str) -> FastAPI:
    """Make a service that has no database: nothing here asks for one."""
    service = load_service(name)
    app: FastAPI = service.create_app(service.settings(database_url=SecretStr("postgresql://nobody@localhost/none")))
    return app


class TestPage:
    @pytest.mark.parametrize("service", API_NAMES)
    def test_asks_its_own_server_alone_and_for_the_published_bytes(self, service: str):
        anybody = TestClient(_app(service))
        page = anybody.get(DOCS_URL)
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert "://" not in page.text
        files = re.findall(r'(?:src|href)="(docs/[^"]+)"(?: integrity="sha384-([^"]+)")?', page.text)
        assert [name for name, _ in files] == ["docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "docs/start.js"]
        for name, digest in files:
            file = anybody.get(urljoin(str(page.url), name))
            assert file.status_code == 200
            assert file.headers["x-content-type-options"] == "nosniff"
            assert digest in {"", base64.b64encode(hashlib.sha384(file.content).digest()).decode()}
        assert [f"sha384-{digest}" for _, digest in files if digest] == [*reversed(INTEGRITY.values())]

    def test_is_not_sent_again_to_a_browser_that_has_it(self):
        anybody = TestClient(_app("bots"))
        first = anybody.get("/docs/swagger-ui-bundle.js")
        again = anybody.get("/docs/swagger-ui-bundle.js", headers={"If-None-Match": first.headers["etag"]})
        assert len(first.content) > 1_000_000
        assert (again.status_code, again.content) == (304, b"")


async def test_a_browser_shows_every_operation_and_tries_one_without_asking_anybody_else(chromium: Browser):
    app = _app("conversations")
    operations = sum(len(methods) for methods in app.openapi()["paths"].values())
    requested: list[str] = []
    complaints: list[str] = []
    with contextlib.closing(bind("127.0.0.1", 0)) as sock:
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        config = uvicorn.Config(app, log_config=None, lifespan="off", access_log=False)
        async with serve_all([(config, sock)]), await chromium.new_page() as page:
            page.on("request", lambda request: requested.append(request.url))
            page.on("console", lambda said: complaints.append(said.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            await page.goto(f"{url}{DOCS_URL}")
            await expect(page.locator(".opblock")).to_have_count(operations)
            health = page.locator("#operations-operations-health")
            for button in ("button", ".try-out__btn", ".execute"):
                await health.locator(button).first.click()
            await expect(health.locator(".live-responses-table tbody td").first).to_have_text("200")
            was_refused = await page.evaluate("fetch('http://127.0.0.2/').then(() => false, () => true)")
    asked = [each for each in requested if urlsplit(each).scheme != "data"]
    assert {urlsplit(each).netloc for each in asked} == {urlsplit(url).netloc}
    assert f"{url}/healthz" in asked
    assert was_refused
    assert [each for each in complaints if "127.0.0.2" not in each] == []
