"""Every endpoint names its roles, every creating POST can be repeated, every contract is current."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import SecretStr

from spotthebot.kit.process import openapi_text
from spotthebot.kit.web.authentication import Allow, allow
from spotthebot.kit.web.idempotency import IdempotentRoute
from spotthebot.suite.foundation import SERVICES

ROOT = Path(__file__).parents[2]
OPEN_ON_PURPOSE = {"/healthz", "/readyz", "/docs", "/docs/oauth2-redirect", "/openapi.json"}
EVERY = pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)


@EVERY
def test_no_endpoint_is_open_by_accident(service: Any):
    app = _app(service)
    assert _open_paths(app) == OPEN_ON_PURPOSE


def test_an_open_endpoint_would_be_noticed():
    app = FastAPI()
    app.get("/v1/closed", dependencies=[])(lambda: None)
    assert "/v1/closed" in _open_paths(app)


@EVERY
def test_every_creating_post_honours_the_idempotency_key(service: Any):
    creating = [route for route in _routes(_app(service)) if "POST" in route.methods and route.status_code == 201]
    assert creating or service.name == "analytics"
    for route in creating:
        headers = {field.alias for field in _all_headers(route.dependant)}
        assert isinstance(route, IdempotentRoute), route.path
        assert "idempotency-key" in {header.lower() for header in headers}, route.path


@EVERY
def test_the_committed_contract_is_current(service: Any):
    committed = (ROOT / "openapi" / f"{service.name}.json").read_text()
    renew = f"renew it: python -m spotthebot.{service.name} openapi > openapi/{service.name}.json"
    assert committed.strip() == openapi_text(service), renew


@EVERY
def test_the_contract_is_openapi_3_1_and_says_what_each_operation_does(service: Any):
    document = json.loads(openapi_text(service))
    assert document["openapi"].startswith("3.1")
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(operation.get("description") for operation in operations)


@EVERY
def test_every_setting_is_described_in_the_docs(service: Any):
    documented = (ROOT / "docs" / "settings.md").read_text()
    prefix = service.settings.model_config["env_prefix"]
    for name, field in service.settings.model_fields.items():
        assert field.description, name
        assert f"{prefix}{name.upper()}" in documented or f"`..._{name.upper()}`" in documented, name


def _app(service: Any) -> FastAPI:
    app: FastAPI = service.create_app(service.settings(database_url=SecretStr("postgresql://nobody@localhost/none")))
    return app


def _routes(app: FastAPI) -> list[APIRoute]:
    found: list[APIRoute] = []

    def walk(routes: Any) -> None:
        for route in routes:
            if isinstance(route, APIRoute):
                found.append(route)
            else:
                walk(getattr(getattr(route, "original_router", None) or route, "routes", []))

    walk(app.routes)
    return found


def _open_paths(app: FastAPI) -> set[str]:
    documented = {getattr(route, "path", "") for route in app.routes if not isinstance(route, APIRoute)}
    guarded = {route.path for route in _routes(app) if _names_roles(route.dependant)}
    return ({route.path for route in _routes(app)} | (documented - {""})) - guarded


def _names_roles(dependant: Dependant) -> bool:
    return any(isinstance(each.call, Allow) or _names_roles(each) for each in dependant.dependencies)


def _all_headers(dependant: Dependant) -> list[Any]:
    return [*dependant.header_params, *(field for each in dependant.dependencies for field in _all_headers(each))]


def test_allow_needs_no_hidden_role():
    assert allow("team").roles == {"team"}
