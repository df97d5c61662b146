"""Whatever a caller sends, no service answers with an error of its own."""

import asyncio

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.factories.house import House

ROLES = {"bots": "admin", "conversations": "admin", "annotation": "admin", "analytics": "analyst"}


def _fuzz(url: str, key: str) -> list[str]:
    """Try made-up requests on every operation; returns those that were answered with 5xx."""
    found: list[str] = []
    tried = 0
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    for result in schema.get_all_operations():
        operation = result.ok()

        @given(case=operation.as_strategy())
        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def attempt(case: schemathesis.Case) -> None:
            nonlocal tried
            tried += 1
            answer = case.call(headers={"Authorization": f"Bearer {key}"})
            if answer.status_code >= 500:
                found.append(f"{answer.status_code} {case.method} {case.formatted_path}: {answer.text[:200]}")

        attempt()
    assert tried > 50
    return found


@pytest.mark.parametrize("service", ROLES)
async def test_no_request_makes_a_service_fail(house: House, service: str):
    key = await house.keys.make(ROLES[service])
    assert await asyncio.to_thread(_fuzz, house.urls[service], key) == []
