"""The documentation site: built once, without a dead link, searched without a server, and served by the pages."""

import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from playwright.async_api import Browser, expect
from starlette.testclient import TestClient

from spotthebot.contracts.services import API_NAMES
from spotthebot.web.app import create_app
from spotthebot.web.documentation import mount_site
from spotthebot.web.settings import WebSettings
from tools import ROOT
from tools.site import SiteBroken, build_site
from tools.site_reference import operations_of

pytestmark = pytest.mark.filterwarnings("ignore:.*Check CHANGES for Sphinx API modifications")  # MyST's, to Sphinx


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. The build fails on dead links, dead anchors, and pages outside the contents."""
    folder = tmp_path_factory.mktemp("site") / "built"
    build_site(folder)
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A clone with two pages."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Small\n\n## Pages\n\n- [Other](other.md): a page\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n\n## A section\n\n[The program](../run.py)\n")
    (tmp_path / "run.py").write_text("print(1)\n")
    return tmp_path


def _words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


class TestSite:
    def test_shows_docstrings_and_endpoints(self, site: Path):
        assert "Return alpha of values (n,) given to units (n,)" in (site / "reference" / "stats.html").read_text()
        endpoints = (site / "reference" / "annotation.html").read_text()
        assert "POST /v1/campaigns/{campaign_id}/entry-links" in endpoints
        assert "spotthebot.contracts.annotation.campaigns" in endpoints
        claim = endpoints.partition("POST /v1/campaigns/{campaign_id}/assignments<")[2].partition("</section>")[0]
        words = _words(claim)
        assert "Roles: annotation campaign_id (path" in words
        assert "Problems: 401, 403, 404, 409, 413, 422, 429, 503" in words
        assert "<li><p>409 <code" in endpoints.partition('id="problems"')[2]
        (document,) = re.findall(r'href="([^"]*annotation-openapi\.json)"', endpoints)
        assert (site / "reference" / document).read_text() == (ROOT / "openapi" / "annotation.json").read_text()

    def test_names_the_clients_method_of_each_endpoint_and_every_type(self, site: Path):
        methods = (site / "reference" / "clients.html").read_text()
        for name in API_NAMES:
            endpoints = (site / "reference" / f"{name}.html").read_text()
            for _, path, operation in operations_of(name):
                called = operation["operationId"]
                assert f'href="{name}.html#{name}-{called.replace("_", "-")}"' in methods, path
                assert f"{name.capitalize()}.{called}(" in endpoints
        claim = "Annotation.claim_package(campaign_id: UUID, claim: ClaimIn, **key"
        assert claim in _words((site / "reference" / "annotation.html").read_text())
        types = (site / "reference" / "contracts.html").read_text()
        assert 'href="annotation.html#claimin"' in types
        assert 'id="analytics-standings"' in types
        own = types.partition('id="webhookquestion"')[2].partition("</section>")[0]  # no API has this type
        assert "conversation_id" in own

    def test_draws_diagrams(self, site: Path):
        assert (site / "develop.html").read_text().count("<svg") > 10

    async def test_is_searched_without_a_server_or_network(self, site: Path, chromium: Browser):
        page = await chromium.new_page()
        for words, title in (
            ("Prolific", "Run a study with people on Prolific"),
            ("TrueSkill", "The statistics"),
            ("how many annotators", "The command line"),
            ("cite", "The report of a campaign or a study"),
        ):
            await page.goto(f"{site.as_uri()}/search.html?q={words}")
            await page.locator("#search-results li a").first.click(timeout=60_000)
            await expect(page.locator("h1")).to_contain_text(title)
        await page.close()

    def test_is_served_under_a_policy_that_allows_its_own_scripts(self, site: Path):
        app = FastAPI(docs_url=None)
        mount_site(app, site)
        pages = TestClient(app)
        first = pages.get("/docs")
        assert first.url.path == "/docs/"
        policy = first.headers["content-security-policy"]
        assert "script-src 'self' 'sha256-" in policy
        assert "unsafe-inline" not in policy.partition("style-src")[0]
        linked = re.findall(r'<link rel="stylesheet"[^>]* href="([^"?]+)', first.text)
        assert linked
        assert {pages.get(f"/docs/{each}").status_code for each in linked} == {200}
        assert pages.get("/docs/../web/app.py").status_code == 404


class TestBuild:
    def test_calls_a_link_by_the_title_of_its_page(self, small: Path):
        (small / "docs" / "other.md").write_text("# Other\n\nSee [docs/index.md](index.md#pages).\n")
        build_site(small / "built", small)
        assert re.search(r'href="index.html#pages"[^>]*>(<[^>]+>)*Small<', (small / "built" / "other.html").read_text())

    def test_takes_along_what_a_page_links_to(self, small: Path):
        build_site(small / "built", small)
        assert [path.read_text() for path in (small / "built").rglob("run.py")] == ["print(1)\n"]

    def test_names_all_dead_links(self, small: Path):
        with (small / "docs" / "other.md").open("a") as page:
            page.write("\n[Page](nothing.md), [section](index.md#nothing), [file](../nothing.py)\n")
        with pytest.raises(SiteBroken) as broken:
            build_site(small / "built", small)
        for fault in ("other.md:7: .*'nothing.md'", "other.md:7: .*'nothing'", "other.md:7: .*nothing.py"):
            assert re.search(fault, str(broken.value)), fault
        assert not (small / "built").exists()

    def test_fails_on_a_page_that_no_list_names(self, small: Path):
        (small / "docs" / "lost.md").write_text("# Lost\n")
        with pytest.raises(SiteBroken, match=r"lost\.md.*toctree"):
            build_site(small / "built", small)


def test_without_a_site_its_pages_are_one_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("spotthebot.web.app.mount_site", lambda app: mount_site(app, tmp_path / "none"))
    with TestClient(create_app(WebSettings())) as pages:
        answer = pages.get("/docs/")
    assert (answer.status_code, "# Put your bot in" in answer.text) == (200, True)
