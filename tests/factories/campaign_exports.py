"""Exports of campaigns, as bytes and as rows."""

import json
from typing import Any

from tests.factories.running_suite import RunningSuite


async def exported(
    suite: RunningSuite, campaign_id: str, form: str = "ndjson", *, role: str = "analyst", **params: str
) -> bytes:
    client = await suite.client("annotation", role)
    answer = await client.get(f"/v1/campaigns/{campaign_id}/export", params={"format": form} | params)
    assert answer.status_code == 200, answer.text
    return answer.content


async def lines(suite: RunningSuite, campaign_id: str, **params: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (await exported(suite, campaign_id, **params)).splitlines()]
