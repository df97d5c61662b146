"""`/docs` of a service needs nothing but the service: tried in a browser, and read as a browser reads it."""

import base64
import hashlib
import re
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.web.core.documentation import DOCS_URL, INTEGRITY
from tests.factories.browser import needs_browser, opened_page
from tests.factories.running_suite import RunningSuite


@pytest.fixture
def suite(module_suite: RunningSuite) -> RunningSuite:
    return module_suite


class TestPage:
    @pytest.mark.parametrize("service", SERVICE_NAMES)
    async def test_asks_its_own_server_alone_and_for_the_published_bytes(self, suite: RunningSuite, service: str):
        async with httpx.AsyncClient(base_url=suite.urls[service], trust_env=False) as anybody:
            page = await anybody.get(DOCS_URL)
            assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
            policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
            assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
            assert (policy["script-src"], policy["connect-src"]) == ("'self'", "'self'")
            assert "://" not in page.text
            files = re.findall(r'(?:src|href)="(docs/[^"]+)"(?: integrity="sha384-([^"]+)")?', page.text)
            assert [name for name, _ in files] == ["docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "docs/start.js"]
            for name, digest in files:
                file = await anybody.get(urljoin(str(page.url), name))
                assert file.status_code == 200
                assert file.headers["x-content-type-options"] == "nosniff"
                assert digest in {"", base64.b64encode(hashlib.sha384(file.content).digest()).decode()}
            assert [f"sha384-{digest}" for _, digest in files if digest] == [*reversed(INTEGRITY.values())]

    async def test_is_not_sent_again_to_a_browser_that_has_it(self, suite: RunningSuite):
        async with httpx.AsyncClient(base_url=suite.urls["bots"], trust_env=False) as anybody:
            first = await anybody.get("/docs/swagger-ui-bundle.js")
            again = await anybody.get("/docs/swagger-ui-bundle.js", headers={"If-None-Match": first.headers["etag"]})
        assert len(first.content) > 1_000_000
        assert (again.status_code, again.content) == (304, b"")


@needs_browser
async def test_a_browser_shows_every_operation_and_tries_one_without_asking_anybody_else(
    suite: RunningSuite, tmp_path: Path
):
    url = suite.urls["conversations"]
    operations = sum(len(methods) for methods in suite.apps["conversations"].openapi()["paths"].values())
    async with opened_page(f"{url}{DOCS_URL}", tmp_path) as page:
        await page.wait_for(f"document.querySelectorAll('.opblock').length == {operations}")
        await page.value_of("document.querySelector('#operations-operations-health button').click()")
        await page.wait_for("document.querySelector('#operations-operations-health .try-out__btn')")
        await page.value_of("document.querySelector('#operations-operations-health .try-out__btn').click()")
        await page.wait_for("document.querySelector('#operations-operations-health .execute')")
        await page.value_of("document.querySelector('#operations-operations-health .execute').click()")
        await page.wait_for("document.querySelector('.live-responses-table .response-col_status')?.innerText == '200'")
        refused = await page.value_of("fetch('http://127.0.0.2/').then(() => false, () => true)")
        mine = [each for each in page.requested if urlsplit(each).scheme != "data"]
        assert {urlsplit(each).netloc for each in mine} == {urlsplit(url).netloc}
        assert f"{url}/healthz" in mine
        assert refused
        complaints = [each for each in page.complaints if "127.0.0.2" not in each]
        assert complaints == []
