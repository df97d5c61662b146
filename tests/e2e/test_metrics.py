"""What running services say of themselves at `/metrics`, and that the docs and the dashboards know no other metrics."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.bots.replies import ContextIn, RepliesIn
from spotthebot.contracts.services import SERVICE_NAMES
from tests.factories.observed import RECORDED, expressions, metrics_in
from tests.factories.running_suite import RunningSuite

ROOT = Path(__file__).parents[2]
TRITON = {f"nv_inference_{name}" for name in ("count", "exec_count", "queue_duration_us", "request_success")}
"""Of NVIDIA's documentation of Triton, "Metrics": what the suite's services do not expose."""
_DOCUMENTED = re.compile(r"^\| `(\w+)` \| (\w+) \| (.+?) \| (.+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return SERVICE_NAMES


async def _metrics(suite: RunningSuite, service: str, role: str = "admin") -> str:
    """Return what a service says now: nothing that it read before."""
    suite.apps[service].state.core.metrics.sources._reading._kept.clear()
    key = await suite.keys.make(role)
    async with httpx.AsyncClient(base_url=suite.urls[service], trust_env=False) as client:
        answer = await client.get("/metrics", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200, answer.text
    return answer.text


def _values(text: str) -> Mapping[str, float]:
    """Return samples by their name and labels."""
    return {
        f"{sample.name}{{{','.join(f'{name}={value}' for name, value in sorted(sample.labels.items()))}}}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class TestDocumentation:
    async def test_lists_every_metric_with_its_kind_labels_and_meaning(self, suite: RunningSuite):
        found: dict[str, tuple[str, str]] = {}
        labels: dict[str, set[str]] = {}
        for service in SERVICE_NAMES:
            for family in text_string_to_metric_families(await _metrics(suite, service)):
                name = f"{family.name}_total" if family.type == "counter" else family.name
                found[name] = (family.type, family.documentation)
                labels.setdefault(name, set()).update(*(sample.labels for sample in family.samples))
        page = (ROOT / "docs" / "observability.md").read_text()
        documented = {name: (kind, meaning) for name, kind, _, meaning in _DOCUMENTED.findall(page)}
        assert documented == found
        named = {name: set(re.findall(r"`(\w+)`", listed)) for name, _, listed, _ in _DOCUMENTED.findall(page)}
        assert [name for name, each in labels.items() if each - named[name] - {"le"}] == []


class TestDashboardsAndRules:
    async def test_name_only_metrics_that_services_expose_or_rules_record(self, suite: RunningSuite):
        exposed = {"up"} | RECORDED | TRITON
        for service in SERVICE_NAMES:
            for family in text_string_to_metric_families(await _metrics(suite, service)):
                suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}.get(family.type, ("",))
                exposed |= {f"{family.name}{suffix}" for suffix in suffixes}
        named = {where: metrics_in(expression) for where, expression in expressions()}
        assert all(named.values())
        assert {where: names - exposed for where, names in named.items() if names - exposed} == {}

    def test_names_are_found_in_expressions(self):
        expression = 'sum by (a) (rate(b_total{c="d"}[5m])) / on (e) f:g > 14.4 * 0.5 and max_over_time(h[1h]) or i'
        assert metrics_in(expression) == {"b_total", "f:g", "h", "i"}


class TestValues:
    async def test_replies_are_counted_by_protocol_and_outcome_and_circuits_by_bot(self, suite: RunningSuite):
        bots = await suite.bots("admin")
        made = await bots.register_bot(
            BotIn(name="eliza", domains=("small-talk",), protocol=BuiltinProtocol(kind="builtin", model="eliza")),
            probe=False,
        )
        before = _values(await _metrics(suite, "bots"))
        await bots.reply(made.id, RepliesIn(contexts=(ContextIn(turns=("Hello!",)), ContextIn(turns=()))))
        after = _values(await _metrics(suite, "bots"))
        replied = "spotthebot_bot_replies_total{outcome=replied,protocol=builtin}"
        assert after[replied] - before.get(replied, 0) == 2
        assert after[f"spotthebot_bot_questions_total{{bot={made.id},name=eliza}}"] == 2
        assert after[f"spotthebot_bot_circuit_open{{bot={made.id},name=eliza}}"] == 0
        seconds = "spotthebot_bot_reply_seconds_count{protocol=builtin}"
        assert after[seconds] - before.get(seconds, 0) == 2
        statuses = {name: value for name, value in after.items() if name.startswith("spotthebot_bots{")}
        assert sum(statuses.values()) == 1

    async def test_workers_and_waiting_jobs_are_seen_by_the_service_that_serves(self, suite: RunningSuite):
        with psycopg.connect(suite.database.owner["annotation"]) as connection:
            connection.execute("SET search_path TO annotation")  # as procrastinate's triggers need it
            connection.execute(
                "INSERT INTO annotation.procrastinate_jobs (queue_name, task_name) VALUES ('nobody-works', 'none')"
            )
            connection.execute(
                "INSERT INTO annotation.procrastinate_jobs (queue_name, task_name, status, scheduled_at) VALUES"
                " ('nobody-works', 'none', 'failed', NULL), ('nobody-works', 'none', 'todo', now() + interval '1 hour')"
            )
            connection.execute("UPDATE annotation.procrastinate_events SET at = at - interval '100 seconds'")
        async with asyncio.timeout(60):
            while (found := _values(await _metrics(suite, "annotation")))["spotthebot_workers{service=annotation}"] < 1:
                await asyncio.sleep(0.05)  # it has just been started
        assert found["spotthebot_queue_waiting{queue=nobody-works,service=annotation}"] == 1
        assert 100 <= found["spotthebot_queue_oldest_seconds{queue=nobody-works,service=annotation}"] < 160
        assert found["spotthebot_jobs_failed{queue=nobody-works,service=annotation}"] == 1
        assert found["spotthebot_queue_waiting{queue=default,service=annotation}"] == 0


class TestAccess:
    @pytest.mark.parametrize("service", SERVICE_NAMES)
    @pytest.mark.parametrize(("role", "status"), [("admin", 200), ("service", 200), ("analyst", 403), (None, 401)])
    async def test_metrics_are_for_operators_and_services(
        self, suite: RunningSuite, service: str, role: str | None, status: int
    ):
        headers = {"Accept": "application/json"}
        if role is not None:
            headers["Authorization"] = f"Bearer {await suite.keys.make(role)}"
        anybody = await suite.client(service, "admin")
        answer = await anybody.get("/metrics", headers={"Authorization": "", **headers})
        assert answer.status_code == status

    async def test_a_key_that_looks_right_but_is_none_reads_no_metrics_of_the_pages(self, suite: RunningSuite):
        key = await suite.keys.make("admin")
        made_up = key[:-1] + ("a" if key[-1] != "a" else "b")
        client = await suite.client("web", "admin")
        headers = {"Authorization": f"Bearer {made_up}", "Accept": "application/json"}
        assert (await client.get("/metrics", headers=headers)).status_code == 401
        with psycopg.connect(suite.database.owner["access"]) as connection:
            connection.execute("UPDATE access.api_keys SET revoked_at = now() WHERE id = %s", [key.split("_")[2]])
        headers["Authorization"] = f"Bearer {key}"
        assert (await client.get("/metrics", headers=headers)).status_code == 401
