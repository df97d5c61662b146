"""What deploy/observe holds: alerts, and the metrics that its rules and dashboards name."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "observe" / "prometheus"
DASHBOARDS = ROOT / "deploy" / "observe" / "grafana" / "dashboards"
_NO_METRICS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "bool", "offset"}


def _rules() -> list[dict[str, Any]]:
    files = [yaml.safe_load(path.read_text()) for path in sorted((PROMETHEUS / "rules").glob("*.yml"))]
    return [rule for file in files for group in file["groups"] for rule in group["rules"]]


RULES = _rules()
ALERTS = [rule for rule in RULES if "alert" in rule]
RECORDED = {rule["record"] for rule in RULES if "record" in rule}


def expressions() -> Iterator[tuple[str, str]]:
    """Yield where each expression of a rule or a dashboard stands, and the expression."""
    for rule in RULES:
        yield rule.get("alert") or rule["record"], rule["expr"]
    for path in sorted(DASHBOARDS.glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}", target["expr"]


def metrics_in(expression: str) -> set[str]:
    """Return the names of metrics in an expression of PromQL: no functions, no labels, no durations."""
    plain = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring)\s*\([^)]*\)', " ", expression)
    names = re.finditer(r"(?<![\w:.])([a-zA-Z_:][\w:]*)(\s*\()?", plain)
    return {name[1] for name in names if name[2] is None and name[1] not in _NO_METRICS}
