"""What compose runs, and what the proxy serves, are the services of the registry; the recipes are clean."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import yaml

from spotthebot.contracts.services import API_NAMES, SERVICES, ServiceEntry
from spotthebot.kit.settings import EdgeSettings
from spotthebot.local.runtime.services import load_service

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "deploy" / "compose"
CONTAINERS: dict[str, Any] = yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"]
PROXY = (COMPOSE / "Caddyfile").read_text()
ARCHIVE = {"archive-folder", "wal-receiver", "base-backups", "restore"}
OTHERS = {"proxy", "postgres", "provision", "cli"} | ARCHIVE
BY_HAND = {"cli", "restore"}
ONE_SHOT = {"provision", "archive-folder", *BY_HAND, *(f"{service.name}-migrate" for service in SERVICES)}
EVERY = pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
HADOLINT = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin")


class TestCompose:
    def test_runs_every_service_its_worker_and_its_migrations(self):
        expected = set(OTHERS)
        for service in SERVICES:
            expected.add(service.name)
            expected |= {f"{service.name}-worker"} if service.has_worker else set()
            expected |= {f"{service.name}-migrate"} if service.schema else set()
        assert set(CONTAINERS) == expected

    @EVERY
    def test_starts_a_service_and_its_worker_after_its_migrations(self, service: ServiceEntry):
        before = f"{service.name}-migrate" if service.schema else "provision"
        names = [service.name, *([f"{service.name}-worker"] if service.has_worker else [])]
        assert {name: list(CONTAINERS[name]["depends_on"]) for name in names} == {name: [before] for name in names}
        assert CONTAINERS[before]["command"] == (["migrate"] if service.schema else ["provision"])
        if service.has_worker:
            assert CONTAINERS[f"{service.name}-worker"]["command"] == ["work"]

    @EVERY
    def test_tells_a_service_where_those_are_that_it_calls(self, service: ServiceEntry):
        environment = CONTAINERS[service.name]["environment"]
        found = {name: value for name, value in environment.items() if re.fullmatch(r"SPOTTHEBOT_\w+_URL", name)}
        found.pop("SPOTTHEBOT_WEB_PUBLIC_URL", None)
        prefix = service.environment_prefix
        assert found == {f"{prefix}{other.upper()}_URL": f"http://{other}:8000" for other in service.calls}

    @EVERY
    def test_sets_nothing_that_a_service_does_not_know(self, service: ServiceEntry):
        settings: type[EdgeSettings] = load_service(service.name).settings
        known = {f"{service.environment_prefix}{field.upper()}" for field in settings.model_fields}
        own = {name for name in CONTAINERS[service.name]["environment"] if name.startswith(service.environment_prefix)}
        assert own - known == set()
        assert f"{service.environment_prefix}MAX_CONNECTIONS_PER_ADDRESS" in own, "all connections come from the proxy"

    @pytest.mark.parametrize("name", sorted(CONTAINERS))
    def test_gives_a_container_few_rights_and_an_end(self, name: str):
        container = CONTAINERS[name]
        assert (container["read_only"], container["cap_drop"]) == (True, ["ALL"])
        assert container["security_opt"] == ["no-new-privileges:true"]
        assert {"mem_limit", "pids_limit"} <= set(container)
        assert container["logging"]["options"].keys() == {"max-size", "max-file"}
        assert container["restart"] == (
            "no" if name in BY_HAND else "on-failure:5" if name in ONE_SHOT else "unless-stopped"
        )

    def test_shows_the_proxy_alone_to_the_outside(self):
        assert [name for name, container in CONTAINERS.items() if "ports" in container] == ["proxy"]
        with_database = {name for name, each in CONTAINERS.items() if "database" in each.get("networks", ())}
        assert with_database == set(CONTAINERS) - {"proxy", "web"} - ARCHIVE
        assert {CONTAINERS[name]["network_mode"] for name in ARCHIVE} == {"none"}

    def test_archives_every_change_before_anything_is_acknowledged(self):
        assert CONTAINERS["provision"]["depends_on"]["wal-receiver"] == {"condition": "service_healthy"}
        for name, script in (("wal-receiver", "receive-wal"), ("base-backups", "base-backups"), ("restore", "restore")):
            folder, _, file = CONTAINERS[name]["entrypoint"][-1].rpartition("/")
            assert f"./postgres:{folder}:ro" in CONTAINERS[name]["volumes"]
            assert (file, (COMPOSE / "postgres" / file).is_file()) == (f"{script}.sh", True)
        archives = {name for name, each in CONTAINERS.items() if "${ARCHIVE:-archive}:/archive" in each["volumes"]}
        assert archives == ARCHIVE
        assert "${ARCHIVE:-archive}:/archive:ro" in CONTAINERS["postgres"]["volumes"], "read after a restore"

    @pytest.mark.parametrize("name", sorted(set(CONTAINERS) - ARCHIVE))
    def test_hands_a_container_the_secrets_of_its_name(self, name: str):
        mounted = [each for each in CONTAINERS[name].get("volumes", []) if each.startswith("./secrets/")]
        assert mounted == [f"./secrets/{name.removesuffix('-worker')}:/run/secrets:ro"]


class TestOverlays:
    @pytest.mark.parametrize("name", ["gpu", "observe"])
    def test_change_services_that_compose_has(self, name: str):
        """What an overlay adds has an image; what it changes is there."""
        added = {each for each, container in _overlay(name).items() if "image" in container}
        assert set(_overlay(name)) - added <= set(CONTAINERS)
        assert added & set(CONTAINERS) == set()

    def test_trace_every_service_and_worker(self):
        traced = {
            name
            for name, each in _overlay("observe").items()
            if "OTEL_EXPORTER_OTLP_ENDPOINT" in each.get("environment", {})
        }
        assert traced == {name for name in CONTAINERS if name not in OTHERS | ONE_SHOT}

    def test_publish_nothing_beyond_this_machine(self):
        ports = [
            port for name in ("gpu", "observe") for each in _overlay(name).values() for port in each.get("ports", [])
        ]
        assert ports
        assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


class TestProxy:
    @pytest.mark.parametrize("name", API_NAMES)
    def test_serves_a_service_below_its_name(self, name: str):
        (paths,) = re.findall(rf"@{name} path (.+)", PROXY)
        place = f"{{${name.upper()}:{name}:8000}}"
        openai = ["openai/v1/*"] if name == "bots" else []
        ends = ["v1/*", *openai, "healthz", "openapi.json", "docs", "docs/*"]
        assert paths.split() == [f"/{name}/{each}" for each in ends]
        assert f"handle @{name} {{\n\t\turi strip_prefix /{name}\n\t\treverse_proxy {place}\n\t}}" in PROXY

    def test_shows_no_metrics(self):
        assert "@inside path /metrics /readyz /*/metrics /*/readyz\n\thandle @inside {\n\t\trespond 404\n\t}" in PROXY

    def test_leaves_the_pages_their_addresses(self):
        """A page's address never is that of an endpoint: those of `bots` are below /bots/v1."""
        web = load_service("web")
        pages = [str(getattr(route, "path", "")) for route in web.create_app(web.settings()).routes]
        taken = [page for page in pages for name in API_NAMES if page.startswith((f"/{name}/v1", f"/{name}/docs"))]
        assert pages
        assert taken == []


class TestBillOfMaterials:
    def test_lists_what_is_installed_and_says_the_same_again(self):
        sbom = _program("sbom")
        bill = sbom.bill_of_materials("annotation")
        installed = {re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower(): each.version for each in distributions()}
        assert {each["name"]: each["version"] for each in bill["components"]} == installed
        assert bill == sbom.bill_of_materials("annotation")
        references = {each["bom-ref"] for each in bill["components"]}
        assert "pkg:pypi/fastapi@" + installed["fastapi"] in references
        assert {need for each in bill["dependencies"] for need in each["dependsOn"]} <= references


class TestSymbols:
    def test_are_taken_out_of_libraries_that_can_be_loaded(self, tmp_path: Path):
        """Others, such as those of a GPU that the building machine lacks, would not show that they broke."""
        (loads, *_) = [
            Path(line.split()[-1]) for line in Path("/proc/self/maps").read_text().splitlines() if ".so" in line
        ]
        (broken := tmp_path / "broken.so").write_text("no library")
        command = [sys.executable, str(ROOT / "docker" / "loadable.py")]
        done = subprocess.run(command, input=f"{broken}\n{loads}\n", capture_output=True, text=True, check=True)
        assert done.stdout == f"{loads}\n"
        assert f"not loaded: {broken}" in done.stderr


OWN_PROCESSES = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
FIRST_PROCESS = """
import subprocess, sys
checks = [sys.executable, sys.argv[1]]
service = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
said = [subprocess.run(checks, stderr=subprocess.DEVNULL).returncode for _ in range(int(sys.argv[2]))]
try:
    service.wait(float(sys.argv[3]))  # a signal takes a moment
except subprocess.TimeoutExpired:
    pass
print(*said, service.returncode)
service.kill()
"""
"""Stands in for a container's init: its service sleeps, and it runs the health check some times."""


class TestHungProcesses:
    @pytest.mark.parametrize(("checks", "said", "wait"), [(2, "1 1 None", 0.1), (3, "1 1 1 -9", 30)])
    def test_are_killed_by_the_third_silent_check(self, checks: int, said: str, wait: float, tmp_path: Path):
        assert _checked(checks, "true", tmp_path, wait) == said

    def test_are_left_alone_where_nobody_asked_for_more(self, tmp_path: Path):
        assert _checked(3, "false", tmp_path, wait=0.1) == "1 1 1 None"

    def test_are_not_those_that_show_life_in_between(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        health = _program("health")
        monkeypatch.setattr(health, "_SILENT_CHECKS", str(tmp_path / "silent-checks"))
        monkeypatch.setattr(health.os, "listdir", lambda _: pytest.fail("kills"))
        beat = tmp_path / "heartbeat"
        for age in (60, 60, 0, 60, 60):
            beat.touch()
            os.utime(beat, (time.time() - age, time.time() - age))
            health._end_if_hung(str(beat))

    def test_are_those_that_take_a_connection_and_say_nothing(self, monkeypatch: pytest.MonkeyPatch):
        health = _program("health")
        monkeypatch.setattr(health, "_ALIVE_SECONDS", 0.1)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            monkeypatch.setattr(health, "_PORT", listener.getsockname()[1])
            assert health._hangs(None)
        assert not health._hangs(None), "nobody listens yet, or any more"


def _checked(checks: int, ends: str, folder: Path, wait: float) -> str:
    """Let a first process with processes of its own run a health check of a worker that beats no more."""
    (folder / "heartbeat").touch()
    os.utime(folder / "heartbeat", (0, 0))
    program = str(ROOT / "docker" / "health.py")
    command = [*OWN_PROCESSES, sys.executable, "-c", FIRST_PROCESS, program, str(checks), str(wait)]
    own = {"SPOTTHEBOT_FED_HEARTBEAT_FILE": str(folder / "heartbeat"), "SPOTTHEBOT_END_WHEN_HUNG": ends}
    environment = os.environ | own | {"TMPDIR": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip(f"no namespace of processes can be made here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class TestHealth:
    def test_takes_a_worker_for_alive_by_its_heartbeat(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        health, beat = _program("health"), tmp_path / "heartbeat"
        monkeypatch.setenv("SPOTTHEBOT_FED_HEARTBEAT_FILE", str(beat))
        assert health._heartbeat_file() == str(beat)
        assert "has not begun" in health._beats(str(beat))
        beat.touch()
        assert health._beats(str(beat)) is None
        os.utime(beat, (time.time() - 60, time.time() - 60))
        assert "stood still for 60 s" in health._beats(str(beat))

    @pytest.mark.parametrize(
        ("answer", "fault"),
        [
            ("200 OK\r\n\r\nready", None),
            ("503 Unavailable\r\n\r\nno database", "no database"),
            ("", "the server closed the connection without an answer"),
        ],
    )
    def test_passes_on_what_a_server_says(self, answer: str, fault: str | None, monkeypatch: pytest.MonkeyPatch):
        health = _program("health")
        with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor() as pool:
            monkeypatch.setattr(health, "_PORT", listener.getsockname()[1])
            asked = pool.submit(health._answers)
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(f"HTTP/1.0 {answer}".encode() if answer else b"")
        assert asked.result() == fault

    def test_says_that_nobody_answers(self, monkeypatch: pytest.MonkeyPatch):
        health = _program("health")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            monkeypatch.setattr(health, "_PORT", listener.getsockname()[1])
        assert health._answers().startswith("no answer on port")


def test_recipes_are_clean():
    if HADOLINT is None:
        pytest.skip("hadolint is not installed (it comes with the extra dev)")
    recipes = sorted([*(ROOT / "docker").glob("*.Dockerfile"), *(ROOT / "deploy" / "try").glob("*.Dockerfile")])
    assert recipes
    said = subprocess.run([HADOLINT, "--no-color", *recipes], capture_output=True, text=True, check=False)
    assert said.stdout == ""


def _overlay(name: str) -> dict[str, Any]:
    overlay: dict[str, Any] = yaml.safe_load((COMPOSE / f"compose.{name}.yaml").read_text())["services"]
    return overlay


def _program(name: str) -> Any:
    """Import a program of `docker/`, which no package holds."""
    found = spec_from_file_location(name, ROOT / "docker" / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module
