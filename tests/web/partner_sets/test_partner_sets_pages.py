"""Administrators read partner sets, measure how diverse their replies are, and carry them as files."""

import html
import json
from typing import Any

import httpx
import pytest

from spotthebot.fed.score_sets.domain import ScoredContext
from spotthebot.kit.ids import new_id
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.stored_scores import store_scores
from tests.factories.studies import add_bot, add_corpus, created, until

PAGE = "/admin/partner-sets/my%20partners/1"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "fed", "analytics", "web")


async def _stored(suite: RunningSuite) -> dict[str, Any]:
    conversations = await suite.client("conversations", "admin")
    bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
    return await created(conversations, "/v1/partner-sets", {"name": "my partners", "bots": bots})


async def _played(suite: RunningSuite) -> str:
    conversations = await suite.client("conversations", "admin")
    plan = {
        "mode": "bipartite",
        "name": "played",
        "domain": "everyday",
        "exchanges": 2,
        "conversations_per_pair": 3,
        "bots": [await add_bot(suite, "parrot")],
        "partners": {"set": "my partners", "version": 1},
        "seed": 3,
    }
    collection: str = (await created(conversations, "/v1/collections", plan))["id"]
    await until(conversations, f"/v1/collections/{collection}", "complete")
    return collection


class TestPartnerSets:
    async def test_are_listed_or_said_how_to_make(self, suite: RunningSuite, admin: httpx.AsyncClient):
        assert "./stb partners create diverse" in (await admin.get("/admin/partner-sets")).text
        await _stored(suite)
        listed = (await admin.get("/admin/partner-sets")).text
        assert (f'href="{PAGE}"' in listed, "2 bots" in listed) == (True, True)
        admin.cookies.set("language", "de")
        assert "Einen Partnersatz importieren" in (await admin.get("/admin/partner-sets")).text
        assert "Fingerabdruck" in (await admin.get(PAGE)).text

    async def test_show_who_used_them_and_how_diverse_they_are(self, suite: RunningSuite, admin: httpx.AsyncClient):
        """Eliza and dull have no pair of words in common, so they are as diverse as two bots."""
        await _stored(suite)
        assert "No collection has used this version yet" in (await admin.get(PAGE)).text
        collection = await _played(suite)
        assert "not scored" in (await admin.get(PAGE)).text
        score_set = await store_scores(suite, collection, [ScoredContext(new_id(), 2, "parrot", 9, 0, (1.5,))])
        shown = (await admin.get(f"{PAGE}?collection={collection}")).text
        assert f'name="reference" value="{score_set}"' in shown
        assert "2 partners, as diverse as 2.0 that say nothing alike." in shown
        assert "Jaccard overlap of word pairs" in shown

    async def test_travel_as_files(self, suite: RunningSuite, admin: httpx.AsyncClient):
        await _stored(suite)
        sent = await admin.get(f"{PAGE}/file.json")
        assert sent.headers["content-disposition"] == 'attachment; filename="partner-set.json"'
        file = sent.json()
        assert [each["name"] for each in file["partners"]] == ["eliza", "dull"]
        assert file["fingerprint"] in (await admin.get(PAGE)).text
        again = await admin.post("/admin/partner-sets", files={"file": ("s.json", sent.content)})
        assert again.headers["location"] == PAGE  # the same bots: the same version

    async def test_need_a_corpus_if_a_missing_bot_learns(self, suite: RunningSuite, admin: httpx.AsyncClient):
        await _stored(suite)
        file = (await admin.get(f"{PAGE}/file.json")).json()
        learner = {"kind": "builtin", "model": "ngram", "seed": 5, "split": "train"}
        missing = file["partners"][0] | {"name": "n", "protocol": learner, "training_sha256": "a" * 64}
        content = json.dumps(file | {"partners": [missing]})
        refused = await admin.post("/admin/partner-sets", files={"file": ("s.json", content)})
        assert (refused.status_code, "A partner of this file learns from a corpus" in refused.text) == (422, True)
        corpus = await add_corpus(suite)
        files, chosen = {"file": ("s.json", content)}, {"corpus": corpus}
        refused = await admin.post("/admin/partner-sets", files=files, data=chosen)
        assert (refused.status_code, "learned or loaded other data" in refused.text) == (409, True)

    @pytest.mark.parametrize("content", [b"", b"[", b"{}"])
    async def test_files_of_something_else_are_refused(self, admin: httpx.AsyncClient, content: bytes):
        refused = await admin.post("/admin/partner-sets", files={"file": ("s.json", content)})
        assert refused.status_code == 422
        assert "The file is not a partner set:" in html.unescape(refused.text)

    async def test_are_for_administrators(self, suite: RunningSuite):
        async with signed_in(suite, "analyst") as analyst:
            assert (await analyst.get("/admin/partner-sets")).status_code == 403
