"""What commands put there where it is missing: the sample corpus, and the bots that are built in."""

from collections.abc import Mapping
from typing import Any

from spotthebot.kit.client import ServiceClient
from spotthebot.suite import sample
from spotthebot.suite.session import Clients

BUILT_IN = ("retrieval", "ngram", "eliza", "stray", "parrot", "dull")
"""The models that answer without a network or a download."""
LEARNING = frozenset({"retrieval", "ngram", "stray"})
"""Those that learn from a corpus."""


async def upload_sample(clients: Clients) -> str:
    """Make sure that the sample corpus is there; returns its id. What is there already stays as it is."""
    request = {"name": sample.NAME, "domain": sample.DOMAIN, "origin": sample.ORIGIN, "licence": sample.LICENCE}
    corpus = await _find_or_create(clients.conversations, "/v1/corpora", request)
    path = f"/v1/corpora/{corpus['id']}/dialogues"
    await clients.conversations.post(path, {"dialogues": sample.sample_dialogues()})
    return str(corpus["id"])


async def register_built_in(clients: Clients, model: str, *, domain: str, corpus_id: str | None) -> str:
    """Make sure that a bot of the model's name is there; returns its id. `corpus_id` is for those that learn."""
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
