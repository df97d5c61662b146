"""Campaigns give their annotations as files, and collections their conversations."""

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


async def test_collections_give_their_conversations_as_files(suite: RunningSuite, admin: httpx.AsyncClient):
    (collection, *_) = (await campaign_of(suite))["collections"]
    service = await suite.client("conversations", "admin")
    for form, suffix in (("csv", "csv"), ("parquet", "parquet"), ("datasets", "zip")):
        given = await admin.get(f"/conversations/{collection}/export/{form}")
        of_service = await service.get(f"/v1/collections/{collection}/export?format={form}")
        assert given.headers["content-disposition"] == of_service.headers["content-disposition"]
        assert given.headers["content-disposition"].endswith(f'.{suffix}"')
        assert given.content[:4] == of_service.content[:4]
        assert len(given.content) == len(of_service.content)
    page = await admin.get(f"/conversations/{collection}")
    assert f'href="/conversations/{collection}/export/parquet"' in page.text
    assert (await admin.get(f"/conversations/{UUID(int=1)}/export/csv")).status_code == 404
