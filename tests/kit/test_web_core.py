import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import APIRouter
from prometheus_client.core import GaugeMetricFamily, Metric

from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.web.core.metrics import RequestMetrics
from spotthebot.kit.web.core.routers import Application
from tests.factories.running_suite import served
from tests.kit.pages import Theme, build_pages

_ALONE = """
import sys
from starlette.testclient import TestClient
from spotthebot.kit.telemetry.logs import configure_logs
from tests.kit.pages import build_pages

configure_logs("pages", "ERROR")
with TestClient(build_pages()) as client:
    print(client.get("/").text)
for name in ("sqlalchemy", "psycopg", "alembic", "spotthebot.kit.database.sessions", "spotthebot.kit.access"):
    print(name, name in sys.modules)
"""


@pytest.fixture
def theme() -> Theme:
    return Theme()


@pytest.fixture
async def pages(theme: Theme) -> AsyncIterator[httpx.AsyncClient]:
    sock = bind("127.0.0.1", 0)
    async with served(build_pages(theme), sock) as url, httpx.AsyncClient(base_url=url, trust_env=False) as client:
        yield client


class TestCoreAlone:
    def test_imports_neither_a_database_nor_api_keys(self):
        run = subprocess.run([sys.executable, "-c", _ALONE], capture_output=True, text=True, check=True)
        page, *imports = run.stdout.splitlines()
        assert page == "<h1>Welcome to the zoo</h1>"
        assert imports
        assert [line for line in imports if not line.endswith(" False")] == []

    async def test_answers_without_an_api_key(self, pages: httpx.AsyncClient):
        answer = await pages.get("/")
        assert answer.text == "<h1>Welcome to the zoo</h1>"
        assert answer.headers["content-type"].startswith("text/html")
        assert len(answer.headers["x-request-id"]) == 32

    async def test_sends_the_headers_that_an_endpoint_asks_for(self, pages: httpx.AsyncClient):
        assert (await pages.get("/")).headers["content-security-policy"] == "default-src 'self'"

    async def test_documents_no_problem_that_it_never_answers(self, pages: httpx.AsyncClient):
        assert set((await pages.get("/openapi.json")).json()["paths"]["/"]["get"]["responses"]) == {"200"}

    async def test_has_no_metrics_until_it_says_who_may_read_them(self, pages: httpx.AsyncClient):
        assert (await pages.get("/metrics")).status_code == 404


class TestErrorPages:
    @pytest.mark.parametrize(
        ("path", "status", "page"),
        [
            ("/failing/ours", 409, "<h1>The request does not fit the present state.</h1>"),
            ("/failing/unexpected", 500, "<h1>Something went wrong</h1>"),
            ("/nowhere", 404, "<h1>Not Found</h1>"),
        ],
    )
    async def test_stand_in_for_problem_documents(self, pages: httpx.AsyncClient, path: str, status: int, page: str):
        answer = await pages.get(path)
        assert (answer.status_code, answer.text) == (status, page)
        assert answer.headers["content-type"].startswith("text/html")


class TestParts:
    async def test_decide_whether_the_application_is_ready(self, pages: httpx.AsyncClient, theme: Theme):
        assert (await pages.get("/readyz")).json() == {"status": "ready"}
        theme.warm = False
        answer = await pages.get("/readyz")
        assert (answer.status_code, answer.text) == (503, "<h1>The templates are not loaded yet.</h1>")
        assert (await pages.get("/healthz")).status_code == 200

    async def test_name_headers_that_scripts_of_other_origins_may_read(self, pages: httpx.AsyncClient):
        answer = await pages.get("/", headers={"Origin": "https://frontend.example"})
        exposed = {name.strip() for name in answer.headers["access-control-expose-headers"].split(",")}
        assert exposed == {"X-Request-Id", "Retry-After", "X-Theme"}


class TestApplication:
    def test_serves_the_very_routes_of_its_routers_and_documents_them_with_what_all_may_answer(self):
        router = APIRouter()

        @router.get("/animals", responses={404: {"description": "None."}})
        def animals() -> list[str]:
            return []

        app = Application(title="zoo", version="1")
        app.add_router(router, {401: {"description": "No key."}})
        assert router.routes[0] in app.routes
        assert set(app.openapi()["paths"]["/animals"]["get"]["responses"]) == {"200", "401", "404"}

    def test_documents_no_404_or_409_where_the_path_names_nothing_and_nothing_changes(self):
        router = APIRouter()

        @router.get("/animals")
        @router.post("/animals")
        @router.get("/animals/{name}")
        def animals() -> list[str]:
            return []

        app = Application(title="zoo", version="1")
        app.add_router(router, {404: {"description": "None."}, 409: {"description": "Not now."}})
        found = {
            (method, path): set(operation["responses"]) & {"404", "409"}
            for path, operations in app.openapi()["paths"].items()
            for method, operation in operations.items()
        }
        assert found == {
            ("get", "/animals"): set(),
            ("post", "/animals"): {"409"},
            ("get", "/animals/{name}"): {"404", "409"},
        }


class TestMetricSources:
    async def test_are_read_at_most_every_five_seconds_and_one_that_fails_hides_no_other(self):
        metrics, read = RequestMetrics("tests"), list[str]()

        async def good() -> list[Metric]:
            read.append("good")
            return [GaugeMetricFamily("good", "", value=7)]

        async def bad() -> list[Metric]:
            raise ZeroDivisionError

        metrics.sources.use(bad, good)
        await asyncio.gather(metrics.sources.read(), metrics.sources.read())
        await metrics.sources.read()
        rendered = metrics.render().decode()
        assert read == ["good"]
        assert "good 7.0" in rendered
        assert 'spotthebot_metric_source_failures_total{service="tests"} 1.0' in rendered

    def test_a_method_that_a_caller_made_up_makes_no_series_of_its_own(self):
        metrics = RequestMetrics("tests")
        for method in ("MADE-UP", "MKCOL"):
            metrics.observe(method, "/a", 405, 0.1)
        assert (
            'http_requests_total{method="other",route="/a",service="tests",status="405"} 2.0'
            in metrics.render().decode()
        )
