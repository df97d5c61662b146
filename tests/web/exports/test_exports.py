"""A campaign gives its annotations as files."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.factories.annotating import claim, work_through
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite

PAID: dict[str, Any] = {"pay_per_package": "1.50", "currency": "EUR", "package_size": 20}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


async def test_campaigns_give_their_annotations_as_files(suite: RunningSuite, admin: httpx.AsyncClient):
    campaign = await campaign_of(suite, **PAID)
    await work_through(suite, await claim(suite, campaign, "p-17"))
    base = f"/admin/campaigns/{campaign['id']}/export"
    given = await admin.get(f"{base}/annotations.csv")
    assert given.headers["content-disposition"] == 'attachment; filename="annotations.csv"'
    service = await suite.client("annotation", "admin")
    of_service = await service.get(f"/v1/campaigns/{campaign['id']}/export?format=csv")
    assert given.content == of_service.content
    assert "p-17" not in given.text
    assert (await admin.get(f"{base}/annotations.exe")).status_code == 422
    missing = await admin.get(f"/admin/campaigns/{UUID(int=1)}/export/annotations.csv")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")
