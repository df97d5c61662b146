"""Uploads the sample corpus and registers built-in bots where they are missing."""

from collections.abc import Mapping
from typing import Any

from spotthebot.kit.client import ServiceClient
from spotthebot.suite import sample
from spotthebot.suite.runtime.session import Clients

BUILT_IN = ("retrieval", "ngram", "eliza", "stray", "parrot", "dull")
"""Models that need no network and no download."""
LEARNING = frozenset({"retrieval", "ngram", "stray"})
"""Built-in models that learn from a corpus."""


async def upload_sample(clients: Clients) -> str:
    """Upload the sample corpus where it is missing; return its id."""
    request = {"name": sample.NAME, "domain": sample.DOMAIN, "origin": sample.ORIGIN, "licence": sample.LICENCE}
    corpus = await _find_or_create(clients.conversations, "/v1/corpora", request)
    path = f"/v1/corpora/{corpus['id']}/dialogues"
    await clients.conversations.post(path, {"dialogues": sample.sample_dialogues()})
    return str(corpus["id"])


async def register_built_in(clients: Clients, model: str, *, domain: str, corpus_id: str | None) -> str:
    """Register a bot of the model's name where there is none; return its id. `corpus_id` is for learning models."""
    protocol = {"kind": "builtin", "model": model}
    if model in LEARNING and corpus_id is not None:
        protocol["corpus_id"] = corpus_id
    request = {"name": model, "description": "Built in.", "domains": [domain], "protocol": protocol}
    return str((await _find_or_create(clients.bots, "/v1/bots", request))["id"])


async def _find_or_create(client: ServiceClient, path: str, request: Mapping[str, Any]) -> dict[str, Any]:
    async for found in client.pages(path, {"name": request["name"]}):
        return dict(found)
    created: dict[str, Any] = await client.post(path, request)
    return created
