"""The registry of judges over HTTP: versions that never change, and hold no secret."""

from typing import Any
from uuid import uuid4

import pytest

from tests.factories.judges import SIMULATED, store_judge
from tests.factories.running_suite import RunningSuite

ENDPOINT = {"kind": "endpoint", "base_url": "https://models.example/v1", "model": "m-1", "key_variable": "MODEL_KEY"}
PROMPT = "{dialogue} {question} {side} {options}"


async def add(suite: RunningSuite, **body: Any) -> Any:
    admin = await suite.client("annotation", "admin")
    return await admin.post("/v1/judges", json={"name": "gpt", "settings": ENDPOINT} | body)


class TestVersions:
    async def test_are_the_same_for_the_same_settings_and_new_for_others(self, suite: RunningSuite):
        first = (await add(suite, description="The first one.")).json()
        assert (first["version"], first["name"], len(first["sha256"])) == (1, "gpt", 64)
        again = (await add(suite, description="Said otherwise.")).json()
        assert again == first, "a version never changes, its description included"
        second = (await add(suite, settings=ENDPOINT | {"temperature": 0.5})).json()
        assert (second["version"], second["sha256"] == first["sha256"]) == (2, False)
        other = (await add(suite, name="other")).json()
        assert (other["version"], other["sha256"]) == (1, first["sha256"])
        reader = await suite.client("annotation", "annotation")
        assert (await reader.get("/v1/judges/gpt/versions/1")).json() == first
        assert (await reader.get("/v1/judges/gpt/versions/3")).status_code == 404

    async def test_are_listed_page_by_page_and_by_name(self, suite: RunningSuite):
        for number in range(3):
            await store_judge(suite, seed=number)
        await store_judge(suite, "other")
        reader = await suite.client("annotation", "analyst")
        page = (await reader.get("/v1/judges", params={"limit": 2})).json()
        assert [(each["name"], each["version"]) for each in page["items"]] == [("gpt", 1), ("gpt", 2)]
        rest = (await reader.get("/v1/judges", params={"limit": 2, "cursor": page["next_cursor"]})).json()
        assert [(each["name"], each["version"]) for each in rest["items"]] == [("gpt", 3), ("other", 1)]
        named = (await reader.get("/v1/judges", params={"name": "other"})).json()["items"]
        assert [each["settings"] for each in named] == [SIMULATED | {"missing_share": 0}]

    @pytest.mark.parametrize(
        ("settings", "why"),
        [
            (ENDPOINT | {"key": "sk-secret"}, "is not known here"),
            (ENDPOINT | {"base_url": "https://me:sk-secret@models.example/v1"}, "neither a user nor a query"),
            (ENDPOINT | {"base_url": "https://models.example/v1?key=sk-secret"}, "neither a user nor a query"),
            (ENDPOINT | {"key_variable": "sk-secret key"}, "key_variable"),
            (ENDPOINT | {"base_url": "file:///etc/passwd"}, "base_url"),
            (ENDPOINT | {"prompts": {"spot_the_bot": {"user": "Who is a bot?"}}}, "names no {dialogue}"),
            (ENDPOINT | {"prompts": {"spot_the_bot": {"user": "{dialogue}"}}}, "names no {questions}"),
            (
                ENDPOINT
                | {
                    "answers": "log_probabilities",
                    "prompts": {"spot_the_bot": {"user": PROMPT.replace("{side}", "")}},
                },
                "names no {side}",
            ),
            (ENDPOINT | {"input_price": 1.0}, "currency"),
            ({"kind": "oracle"}, "kind"),
            ({"kind": "simulated", "missing_share": 1}, "missing_share"),
            ({"kind": "trained", "model": "m", "files_sha256": "x", "trained_on": [str(uuid4())]}, "files_sha256"),
        ],
    )
    async def test_with_secrets_or_faults_are_refused(self, suite: RunningSuite, settings: Any, why: str):
        refused = await add(suite, settings=settings)
        assert refused.status_code == 422
        assert why in refused.text
        assert "sk-secret" not in refused.text
        reader = await suite.client("annotation", "analyst")
        assert (await reader.get("/v1/judges")).json()["items"] == []
