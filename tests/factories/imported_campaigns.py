"""A campaign of mode `import` with two packages, and what is uploaded to it."""

from typing import Any

import httpx

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import ANNOTATION, conversation, created, import_conversations, until

PACKAGES = [
    {"external_id": "p", "segments": [{"conversation": "c0", "exchanges": 1}, {"conversation": "c1", "exchanges": 2}]},
    {"external_id": "q", "segments": [{"conversation": "c0", "exchanges": 2}]},
]


def annotation(external_id: str, **change: Any) -> dict[str, Any]:
    return (
        ANNOTATION
        | {
            "external_id": external_id,
            "package": "p",
            "conversation": "c0",
            "exchanges": 1,
            "annotator": "ann",
            "started_at": "2020-03-01T10:00:00+02:00",
            "ended_at": None,
            "completion_code": None,
        }
        | change
    )


async def import_campaign(suite: RunningSuite) -> str:
    collection = await import_conversations(suite, [conversation(f"c{number}", "X", "Y") for number in range(2)])
    admin = await suite.client("annotation", "admin")
    body: dict[str, Any] = {"mode": "import", "name": "i", "domain": "everyday", "segments": [1, 2]}
    body |= {"collection_id": collection, "annotators_published": True}
    path = f"/v1/campaigns/{(await created(admin, '/v1/campaigns', body))['id']}"
    await until(admin, path, "open")
    await created(admin, f"{path}/packages", {"packages": PACKAGES})
    return path


async def upload(suite: RunningSuite, path: str, kind: str, rows: list[dict[str, Any]]) -> httpx.Response:
    admin = await suite.client("annotation", "admin")
    return await admin.post(f"{path}/{kind}", json={kind: rows})
