"""Every endpoint names its roles, every creating POST can be repeated, every contract is current."""

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, Depends, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from spotthebot.bots.app import SERVICE as BOTS
from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.kit.service.process import Service, openapi_text
from spotthebot.kit.web.bearer.authentication import Allow, allow
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.local.runtime.services import load_service
from spotthebot.web.chats.pages.links import EnteredChat
from spotthebot.web.deps import EnteredCampaign, SignedInAs
from spotthebot.web.metrics.pages import MetricsReader
from tests.architecture.documents import committed_document, committed_text
from tests.factories.routes import make_app, routes_of

ROOT = Path(__file__).parents[2]
OPEN_ON_PURPOSE = {"/healthz", "/readyz", "/openapi.json"}
OPEN_IN_APIS = {"/docs", "/docs/start.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"}
OPEN_PAGES = {
    "/docs",
    "/docs/{path:path}",
    "/",
    "/sign-in",
    "/sign-in/provider",
    "/sign-in/provider/done",
    "/sign-out",
    "/language",
    "/static/{digest}/{name:path}",
    "/annotate/{campaign_id}",
    "/charts/{name}",
    "/chat/{collection_id}/enter",
    "/leaderboard",
    "/llms.txt",
    "/llms-full.txt",
}
EVERY = pytest.mark.parametrize("service", SERVICE_NAMES, indirect=True)


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Service[Any]:
    return load_service(request.param)


class TestRoles:
    @EVERY
    def test_no_endpoint_is_open_by_accident(self, service: Any):
        opened = OPEN_PAGES if service.name == "web" else OPEN_IN_APIS
        opened = opened | ({"/v1/leaderboards"} if service.name == "analytics" else set())
        assert {path for _, path in _open(_app(service))} == OPEN_ON_PURPOSE | opened

    def test_an_open_endpoint_would_be_noticed(self):
        app = make_app(BOTS)
        app.include_router(_planted)
        assert {each for each in _open(app) if each[1] not in OPEN_ON_PURPOSE | OPEN_IN_APIS} == {
            ("POST", "/v1/planted/half-open"),
            ("GET", "/v1/planted/open"),
        }

    def test_no_role_may_do_everything(self):
        assert allow("team").roles == {"team"}


class TestChecks:
    """What `CheckedRoute` does comes before anything else: the key, unknown parameters, limits of the body."""

    @EVERY
    def test_every_route_makes_them(self, service: Any):
        assert [route.path for route in routes_of(_app(service)) if not isinstance(route, CheckedRoute)] == []

    def test_one_that_does_not_would_be_noticed(self):
        assert not any(isinstance(route, CheckedRoute) for route in _planted.routes)


class TestRepeats:
    @EVERY
    def test_every_creating_post_honours_the_idempotency_key(self, service: Any):
        creating = [
            route for route in routes_of(_app(service)) if "POST" in _methods(route) and route.status_code == 201
        ]
        assert creating or service.name in {"analytics", "web"}  # which store nothing
        assert [route.path for route in creating if not _can_be_repeated(route)] == []

    def test_one_that_does_not_would_be_noticed(self):
        (closed,) = [route for route in _planted.routes if isinstance(route, APIRoute) and "closed" in route.path]
        assert not _can_be_repeated(closed)


@EVERY
class TestContract:
    def test_the_committed_one_is_current(self, service: Any):
        assert committed_text(service.name) == openapi_text(service) + "\n", "renew it: ./stb docs"

    def test_is_openapi_3_1(self, service: Any):
        assert committed_document(service.name)["openapi"].startswith("3.1.")

    def test_says_of_each_operation_what_it_does(self, service: Any):
        operations = _operations(service)
        assert len(operations) > 1
        assert len({operation["operationId"] for operation in operations.values()}) == len(operations)
        assert [name for name, operation in operations.items() if not operation.get("description")] == []

    def test_says_of_each_operation_how_it_can_fail(self, service: Any):
        """Operations that ask for a key can be refused; every refusal is a problem document."""
        for name, operation in _operations(service).items():
            if operation.get("security") and not name.endswith("/metrics"):
                assert set(operation["responses"]) >= {"401", "403", "429", "503"}, name
                problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
                if "/openai/" not in name:  # these fail as OpenAI's API does
                    assert operation["responses"]["401"]["content"] == problem, name


@EVERY
class TestSettings:
    def test_say_what_they_mean(self, service: Any):
        fields = service.settings.model_fields
        assert fields
        assert [name for name, field in fields.items() if not field.description] == []

    def test_are_all_in_the_docs(self, service: Any):
        documented = (ROOT / "docs" / "settings.md").read_text()
        prefix = service.settings.model_config["env_prefix"]
        forgotten = [
            name
            for name in service.settings.model_fields
            if f"`{prefix}{name.upper()}`" not in documented and f"`..._{name.upper()}`" not in documented
        ]
        assert forgotten == []

    def test_have_the_defaults_that_the_docs_say(self, service: Any):
        rows = (ROOT / "docs" / "settings.md").read_text()
        prefix = service.settings.model_config["env_prefix"]
        wrong = {}
        for name, field in service.settings.model_fields.items():
            said = re.findall(rf"^\| `(?:{prefix}|\.\.\._){name.upper()}` \| `([\d.]+)` \|", rows, re.MULTILINE)
            if said and [float(each) for each in said] != [field.default]:
                wrong[name] = said
        assert wrong == {}


class TestDependencies:
    """FastAPI calls a plain function in another thread, which costs as much as the rest of a short request."""

    @EVERY
    def test_run_on_the_event_loop(self, service: Any):
        assert {name for route in routes_of(_app(service)) for name in _in_threads(route.dependant)} == set()

    def test_one_in_a_thread_would_be_noticed(self):
        (half_open,) = [route for route in _planted.routes if isinstance(route, APIRoute) and route.methods == {"PUT"}]
        assert _in_threads(half_open.dependant) == {"_in_a_thread"}


def _in_a_thread() -> None: ...


_planted = APIRouter(prefix="/v1/planted")


@_planted.put("/threaded", dependencies=[Depends(allow("admin")), Depends(_in_a_thread)])
async def _closed_by_a_thread() -> None: ...


@_planted.post("/closed", status_code=201, dependencies=[Depends(allow("admin"))])
async def _closed() -> None: ...


@_planted.get("/half-open", dependencies=[Depends(allow("admin"))])
async def _half_closed() -> None: ...


@_planted.post("/half-open")
async def _half_open() -> None: ...


@_planted.get("/open")
async def _wide_open() -> None: ...


_app = cache(make_app)


def _open(app: FastAPI) -> set[tuple[str, str]]:
    """Return the method and path of whatever asks for no role."""
    plain = {("GET", route.path) for route in app.routes if not isinstance(route, APIRoute) and hasattr(route, "path")}
    unguarded = [route for route in routes_of(app) if not _names_roles(route.dependant)]
    return plain | {(method, route.path) for route in unguarded for method in _methods(route)}


def _names_roles(dependant: Dependant) -> bool:
    return any(
        isinstance(each.call, Allow | SignedInAs | EnteredCampaign | EnteredChat | MetricsReader) or _names_roles(each)
        for each in dependant.dependencies
    )


def _in_threads(dependant: Dependant) -> set[str]:
    """Return the names of dependencies that are neither coroutines nor asynchronous generators."""
    calls = {each.call for each in dependant.dependencies if each.call is not None}
    asynchronous = {
        call
        for call in calls
        for function in (call, getattr(call, "__call__", call))  # noqa: B004 - an object with an asynchronous `__call__`
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    }
    found = {getattr(call, "__name__", repr(call)) for call in calls - asynchronous}
    return found.union(*(_in_threads(each) for each in dependant.dependencies))


def _methods(route: APIRoute) -> set[str]:
    return route.methods or set()


def _can_be_repeated(route: APIRoute) -> bool:
    headers = {header.alias.lower() for header in _all_headers(route.dependant)}
    return isinstance(route, IdempotentRoute) and "idempotency-key" in headers


def _all_headers(dependant: Dependant) -> list[Any]:
    return [*dependant.header_params, *(field for each in dependant.dependencies for field in _all_headers(each))]


def _operations(service: Any) -> dict[str, dict[str, Any]]:
    paths = committed_document(service.name)["paths"]
    return {f"{method} {path}": operation for path, methods in paths.items() for method, operation in methods.items()}
