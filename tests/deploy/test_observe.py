"""Alert rules have tests and pages, which promtool runs where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.factories.observed import ALERTS, PROMETHEUS, ROOT

PROMTOOL = shutil.which("promtool")
RUNBOOKS = ROOT / "docs" / "runbooks"
TESTS = {path.name: path.read_text() for path in sorted((PROMETHEUS / "tests").glob("*.yml"))}


def test_every_alert_has_a_runbook_and_every_runbook_an_alert():
    assert {page.stem for page in RUNBOOKS.glob("*.md")} - {"README"} == {alert["alert"] for alert in ALERTS}
    assert {alert["annotations"]["runbook"] for alert in ALERTS} == {
        f"docs/runbooks/{alert['alert']}.md" for alert in ALERTS
    }
    listed = re.findall(r"^\| \[(\w+)\]\((\w+)\.md\) \|", (RUNBOOKS / "README.md").read_text(), re.MULTILINE)
    assert listed == [(name, name) for name in sorted({alert["alert"] for alert in ALERTS})]


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
