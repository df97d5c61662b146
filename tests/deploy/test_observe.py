"""Alert rules have tests and pages, which promtool runs where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from spotthebot.contracts.services import SERVICE_NAMES
from tests.factories.observed import ALERTS, PROMETHEUS, ROOT

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
