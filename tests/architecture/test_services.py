"""The registry of services is the one list: code, import contracts, extras, documents and docs agree with it."""

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from pydantic import SecretStr
from typer.testing import CliRunner

from spotthebot.cli.application import app as command_line
from spotthebot.contracts.access import Role
from spotthebot.contracts.services import (
    API_NAMES,
    DEFAULT_PORT_BASE,
    SCHEMAS,
    SERVICE_NAMES,
    SERVICES,
    ServiceEntry,
    get_service,
)
from spotthebot.kit.web.bearer.authentication import Allow
from spotthebot.local.runtime import running_suite
from spotthebot.local.runtime.services import load_service
from tools import documents

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
NOT_SERVED = {"alembic", "datasets", "lifelines", "matplotlib", "pandas", "torch", "transformers", "typer"}
OF_OTHERS = {
    "bots": {"altair", "pyarrow", "scipy"},
    "conversations": {"altair", "scipy", "tritonclient"},
    "annotation": {"altair", "numpy", "scipy", "tritonclient"},
    "analytics": {"tritonclient"},
    "fed": {"altair", "spotthebot.bots"},
    "web": {"altair", "numpy", "scipy", "tritonclient"},
}
WITH_THE_FIRST_USE = {
    *("altair", "grpc", "pyarrow", "tritonclient"),
    *("scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
}
WEB = {"fastapi", "prometheus_client", "starlette", "uvicorn"}
NO_NOUNS = {
    *("spotthebot.analytics.clients", "spotthebot.analytics.figures", "spotthebot.analytics.stats"),
    *("spotthebot.bots.protocols", "spotthebot.fed.stats"),
}
"""Folders of a service that are laid out by what they hold: readers of others, drawings, ways of asking, statistics."""
IMPORTER = """
import gc, os, sys
gc.disable()
import spotthebot.kit.service.process
for line in sys.stdin:
    if os.fork() == 0:
        for module in line.split():
            __import__(module)
        print(*sys.modules, flush=True)
        os._exit(0)
    if os.wait()[1]:
        sys.exit(1)
"""
"""Reads lines of modules, and writes all that a process holds which imported those of a line."""
EVERY = pytest.mark.parametrize("entry", SERVICES, ids=lambda entry: entry.name)


class TestRegistry:
    def test_names_every_service_package(self):
        packages = {path.parent.name for path in (ROOT / "services" / "spotthebot").glob("*/app.py")}
        assert packages == set(SERVICE_NAMES)

    def test_gives_each_service_a_port_and_a_schema_of_its_own(self):
        for field in ("name", "port"):
            assert len({getattr(entry, field) for entry in SERVICES}) == len(SERVICES)
        assert len(set(SCHEMAS)) == len(SCHEMAS) == len(API_NAMES)
        assert [entry.port_after(9000) for entry in SERVICES] == [entry.port + 900 for entry in SERVICES]
        assert all(entry.port > DEFAULT_PORT_BASE for entry in SERVICES)

    def test_is_read_without_any_import_beyond_the_standard_library(self):
        program = "import sys, spotthebot.contracts.services; print(*sorted(sys.modules))"
        loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        ours = {name for name in loaded.split() if name.startswith("spotthebot.")}
        assert ours == {"spotthebot.contracts", "spotthebot.contracts.access", "spotthebot.contracts.services"}
        assert "pydantic" not in loaded.split()

    def test_an_unknown_name_is_an_error(self):
        with pytest.raises(KeyError):
            get_service("nobody")


@EVERY
class TestEntry:
    def test_agrees_with_the_code_of_its_service(self, entry: ServiceEntry):
        service = load_service(entry.name)
        assert service.name == entry.name
        assert (find_spec(f"spotthebot.{entry.name}.worker") is not None) is entry.has_worker
        assert (service.lineage.schema if service.lineage else None) == entry.schema
        assert service.settings.model_config["env_prefix"] == entry.environment_prefix

    def test_names_the_services_that_its_settings_lead_to(self, entry: ServiceEntry):
        fields = load_service(entry.name).settings.model_fields
        urls = {name: field.default for name, field in fields.items() if name.removesuffix("_url") in SERVICE_NAMES}
        assert urls == {f"{other}_url": f"http://127.0.0.1:{get_service(other).port}" for other in entry.calls}

    def test_names_the_roles_that_its_endpoints_let_in(self, entry: ServiceEntry):
        service = load_service(entry.name)
        app = service.create_app(service.settings(database_url=SecretStr("postgresql://nobody@localhost/none")))
        assert _roles(app) == entry.roles

    def test_has_an_extra_that_the_suite_installs(self, entry: ServiceEntry):
        extras = PROJECT["project"]["optional-dependencies"]
        assert entry.extra in extras
        (suite,) = [each for each in extras["suite"] if each.startswith("spotthebot[")]
        assert entry.extra in re.findall(r"\w+", suite)

    def test_has_its_import_contracts(self, entry: ServiceEntry):
        assert entry.package in PROJECT["tool"]["importlinter"]["root_packages"]
        inside = [each for each in CONTRACTS if entry.package in each.get("containers", ())]
        assert [each["exhaustive"] for each in inside] == [True]
        (pure,) = [each for each in CONTRACTS if each["name"] == "Domains and statistics know no framework"]
        assert {f"{entry.package}.domain", f"{entry.package}.*.domain"} & {*pure["source_modules"]}

    def test_has_layers_in_each_of_its_nouns(self, entry: ServiceEntry):
        (layers,) = [each for each in CONTRACTS if each["name"] == "Layers inside a noun"]
        named = {each for each in layers["containers"] if each.startswith(f"{entry.package}.")}
        folders = {path.parent.name for path in (ROOT / "services/spotthebot" / entry.name).glob("*/__init__.py")}
        nouns = {f"{entry.package}.{folder}" for folder in folders - {"migrations"}} - NO_NOUNS
        assert named in (nouns, set())

    def test_is_kept_apart_from_the_other_services(self, entry: ServiceEntry):
        (apart,) = [each for each in CONTRACTS if each["type"] == "layers" and "containers" not in each]
        (siblings,) = [layer for layer in apart["layers"] if entry.package in layer]
        assert set(siblings.split(" | ")) == {other.package for other in SERVICES}

    def test_is_a_row_of_the_table_in_the_docs(self, entry: ServiceEntry):
        row = _row(entry)
        assert row in (ROOT / "services" / "README.md").read_text().splitlines(), (
            f"write into services/README.md: {row}"
        )


Imports = Callable[..., set[str]]


@pytest.fixture(scope="module")
def imports_of() -> Iterator[Imports]:
    """Returns all modules that a new process of a service holds after importing these.

    Each process is forked from one that has imported what every service and worker imports first.
    """
    known: dict[str, set[str]] = {}
    with subprocess.Popen([sys.executable, "-c", IMPORTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as importer:
        asks, answers = importer.stdin, importer.stdout
        assert asks is not None
        assert answers is not None

        def find(*modules: str) -> set[str]:
            asked = " ".join(modules)
            if asked not in known:
                asks.write(f"{asked}\n".encode())
                asks.flush()
                known[asked] = set(answers.readline().decode().split())
            assert known[asked], f"{asked} can't be imported"
            return known[asked]

        yield find


class TestStart:
    """What a service imports before it serves; each row of `benchmarks/suite` costs every start and every restart."""

    @EVERY
    def test_imports_what_is_served_and_no_other_service(self, entry: ServiceEntry, imports_of: Imports):
        others = {other.package for other in SERVICES if other is not entry} | {"spotthebot.cli", "spotthebot.local"}
        kept_out = NOT_SERVED | WITH_THE_FIRST_USE | OF_OTHERS[entry.name] | others | {f"{entry.package}.worker"}
        assert imports_of(f"{entry.package}.app") & kept_out == set()

    @pytest.mark.parametrize("entry", [each for each in SERVICES if each.has_worker], ids=lambda entry: entry.name)
    def test_imports_no_web_framework_and_no_application_for_a_worker(self, entry: ServiceEntry, imports_of: Imports):
        kept_out = NOT_SERVED | WITH_THE_FIRST_USE | OF_OTHERS[entry.name] | WEB | {f"{entry.package}.app"}
        imported = imports_of(f"{entry.package}.worker")
        endpoints = {each for each in imported if re.fullmatch(rf"{entry.package}\.(\w+\.)?api(\.\w+)*", each)}
        assert (imported & kept_out) | endpoints == set()

    def test_imports_before_a_fork_what_most_services_need(self, imports_of: Imports):
        needed = Counter(module for entry in SERVICES for module in imports_of(f"{entry.package}.app"))
        server = imports_of("uvicorn.protocols.http.httptools_impl", "uvloop", "spotthebot.kit.serving.configuration")
        starter = imports_of("spotthebot.kit.processes.fork_program")
        given = imports_of(*running_suite.NEEDS) - server - starter
        assert {module for module in given if needed[module] <= len(SERVICES) / 2} == set()


class TestDocuments:
    def test_are_those_of_the_registry(self):
        assert {path.stem for path in (ROOT / "openapi").glob("*.json")} == set(SERVICE_NAMES)

    def test_are_renewed_by_one_command(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        (tmp_path / "openapi").mkdir()
        (tmp_path / "docs" / "examples").mkdir(parents=True)
        (tmp_path / "docs" / "examples" / "webhook_bot.py").write_text("a bot")
        develop = (ROOT / "docs" / "develop.md").read_text()
        (tmp_path / "docs" / "develop.md").write_text(develop.replace("conversation_id FK", "conversation_id"))
        monkeypatch.setattr(documents, "ROOT", tmp_path)
        said = CliRunner().invoke(command_line, ["docs"])
        assert said.exit_code == 0, said.output
        for name in SERVICE_NAMES:
            written, committed = ((root / "openapi" / f"{name}.json").read_text() for root in (tmp_path, ROOT))
            assert json.loads(written) == json.loads(committed)
        assert (tmp_path / "docs" / "develop.md").read_text() == develop
        assert (tmp_path / documents.BOT_ON_PAGE).read_text() == "a bot"


def _row(entry: ServiceEntry) -> str:
    called = [f"`{other}`" for other in entry.calls] + ([entry.calls_outside] if entry.calls_outside else [])
    roles = [role.value for role in Role if role in entry.roles]
    worker = "yes" if entry.has_worker else "no"
    cells = (
        f"`{entry.name}`",
        entry.owns,
        str(entry.port),
        f"`{entry.schema}`" if entry.schema else "none",
        worker,
        ", ".join(called),
        ", ".join(roles) or "none: people sign in",
    )
    return f"| {' | '.join(cells)} |"


def _roles(app: Any) -> set[str]:
    return {role for route in _routes(app.routes) for role in _allowed(route.dependant)}


def _routes(routes: Any) -> list[APIRoute]:
    found: list[APIRoute] = []
    for route in routes:
        if isinstance(route, APIRoute):
            found.append(route)
        else:
            found += _routes(getattr(getattr(route, "original_router", None) or route, "routes", []))
    return found


def _allowed(dependant: Any) -> set[str]:
    own = set(dependant.call.roles) if isinstance(dependant.call, Allow) else set()
    return own.union(*(_allowed(each) for each in dependant.dependencies))
