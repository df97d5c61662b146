"""Alert rules have tests and pages, which promtool runs where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from fastapi.routing import APIRoute
from starlette.responses import StreamingResponse

from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.local.runtime.services import load_services
from tests.factories.observed import ALERTS, PROMETHEUS, ROOT, RULES
from tests.factories.routes import make_app, routes_of

PROMTOOL = shutil.which("promtool")
RUNBOOKS = ROOT / "docs" / "runbooks"
SCRAPES = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())["scrape_configs"]
TESTS = {path.name: path.read_text() for path in sorted((PROMETHEUS / "tests").glob("*.yml"))}


def test_every_alert_has_a_runbook_and_every_runbook_an_alert():
    assert {page.stem for page in RUNBOOKS.glob("*.md")} - {"README"} == {alert["alert"] for alert in ALERTS}
    assert {alert["annotations"]["runbook"] for alert in ALERTS} == {
        f"docs/runbooks/{alert['alert']}.md" for alert in ALERTS
    }
    listed = re.findall(r"^\| \[(\w+)\]\((\w+)\.md\) \|", (RUNBOOKS / "README.md").read_text(), re.MULTILINE)
    assert listed == [(name, name) for name in sorted({alert["alert"] for alert in ALERTS})]


def test_prometheus_scrapes_every_service_of_compose_with_the_key_that_its_setup_makes():
    (services,) = [each for each in SCRAPES if each["job_name"] == "spotthebot"]
    (targets,) = [each["targets"] for each in services["static_configs"]]
    assert targets == [f"{name}:8000" for name in SERVICE_NAMES]
    compose = ROOT / "deploy" / "compose"
    key = Path(services["authorization"]["credentials_file"])
    assert f"give service_key prometheus {key.name}\n" in (compose / "setup.sh").read_text()
    mounted = yaml.safe_load((compose / "compose.observe.yaml").read_text())["services"]["prometheus"]["volumes"]
    assert f"./secrets/prometheus:{key.parent}:ro" in mounted


def test_every_alert_says_how_urgent_it_is():
    assert {alert["labels"]["severity"] for alert in ALERTS} == {"page", "ticket"}


@pytest.mark.parametrize("alert", sorted({alert["alert"] for alert in ALERTS}))
def test_every_alert_is_tested_where_it_fires_and_where_it_does_not(alert: str):
    tested = [test for text in TESTS.values() for test in text.split("\n  - name: ")[1:] if f'"{alert}"' in test]
    assert {"exp_samples: []" in test for test in tested} == {True, False}


@pytest.mark.parametrize("name", TESTS)
def test_series_in_the_tests_of_rules_have_the_labels_that_a_scrape_gives_them(name: str):
    series = [each["series"] for test in yaml.safe_load(TESTS[name])["tests"] for each in test["input_series"]]
    for each in series:
        labels = dict(re.findall(r'(\w+)="([^"]*)"', each))
        if each.startswith("nv_"):
            assert (labels["job"], labels["instance"]) == ("triton", "triton:8002"), each
        else:
            assert (labels["job"], labels["instance"]) == ("spotthebot", f"{labels['service']}:8000"), each


class TestServiceLevels:
    def test_leave_out_probes_and_scrapes(self):
        for rule in _request_rules():
            for left_out in _left_out(rule["expr"]):
                assert [re.fullmatch(left_out, f"/{page}") is None for page in ("healthz", "readyz", "metrics")] == [
                    False
                ] * 3, rule["record"]

    def test_leave_every_stream_and_file_out_of_latency(self):
        (left_out,) = {
            each for rule in _request_rules() if "slow" in rule["record"] for each in _left_out(rule["expr"])
        }
        routes = [route for service in load_services() for route in routes_of(make_app(service))]
        slow = {route.path for route in routes if _is_stream_or_file(route)}
        assert {"/v1/campaigns/{campaign_id}/export", "/admin/campaigns/{campaign_id}/export/{rows}.{form}"} <= slow
        assert {path for path in slow if not re.fullmatch(left_out, path)} == set()
        counted = {route.path for route in routes if not re.fullmatch(left_out, route.path)}
        assert {
            "/v1/campaigns/{campaign_id}",
            "/campaigns/{campaign_id:uuid}",
            "/v1/events/{event_id}/replay",
        } <= counted


def _request_rules() -> list[dict[str, str]]:
    return [rule for rule in RULES if "record" in rule and "http_request" in rule["expr"]]


def _left_out(expression: str) -> list[str]:
    """Return what each selector of requests in an expression leaves out, as patterns of whole routes."""
    selectors = re.findall(r"http_request\w+(?:\{([^}]*)\})?\[", re.sub(r"\{\w+\}", "", expression))
    return [re.findall(r'route!~"([^"]*)"', selector)[0] for selector in selectors]


def _is_stream_or_file(route: APIRoute) -> bool:
    """Say whether a route answers in pieces or with a file, or takes a file."""
    answer = route.endpoint.__annotations__.get("return")
    classes = [each for each in (answer, route.response_class) if isinstance(each, type)]
    taken = (route.openapi_extra or {}).get("requestBody", {}).get("content", {})
    return (
        any(issubclass(each, StreamingResponse) for each in classes)
        or "application/octet-stream" in taken
        or route.path.endswith((".{form}", ".csv", "/file"))
    )


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is missing: apt-get install prometheus")
class TestPromtool:
    @pytest.mark.parametrize("name", TESTS)
    def test_finds_that_rules_do_as_their_tests_say(self, name: str):
        _promtool("test", "rules", PROMETHEUS / "tests" / name)

    def test_takes_the_configuration(self):
        _promtool("check", "config", "--syntax-only", PROMETHEUS / "prometheus.yml")


def _promtool(*arguments: str | Path) -> None:
    done = subprocess.run([str(PROMTOOL), *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
