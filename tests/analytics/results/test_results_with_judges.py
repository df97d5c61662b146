"""Judges in results: nowhere by default, and only those that a request names."""

from typing import Any

import pytest

from tests.factories.annotating import WHOLE
from tests.factories.campaigns import import_campaign, imported_annotation
from tests.factories.judges import ANSWER, claim_as_judge, label_items, labels, store_judge, submit_labels
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

BOTS = ("one", "other", "third")
PAIRS = (("one", "other"), ("one", "third"), ("other", "third"))


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation", "analytics", "bots")


async def labelled(suite: RunningSuite) -> str:
    """Two people label twelve conversations; a judge labels all of them, and leaves one side out of the first."""
    held = [conversation(f"c{number}", *pair) for number, pair in enumerate(PAIRS * 4)]
    said = [
        imported_annotation(f"{each['external_id']}/{name}", conversation=each["external_id"], annotator=name)
        | {"answer": WHOLE | {"entity": {"A": "human" if number % 3 else "bot", "B": "bot"}}}
        for number, each in enumerate(held)
        for name in ("ann", "ben")
    ]
    collection = await import_conversations(suite, held)
    path = await import_campaign(suite, collection, {"p": [(each["external_id"], 1) for each in held]}, said)
    judge = await store_judge(suite)
    assignment = (await claim_as_judge(suite, {"id": path.rpartition("/")[2]}, judge)).json()
    items = label_items(assignment)
    stated = labels()
    stated["answers"][1] = {"question": "entity", "target": "B", "missing": "refused"}
    items[0] |= {"answer": ANSWER | {"entity": {"A": "human"}}, "labels": stated}
    assert (await submit_labels(suite, assignment, items)).status_code == 200
    admin = await suite.client("annotation", "admin")
    assert (await admin.post(f"{path}/close")).status_code == 200
    return path


async def get(suite: RunningSuite, path: str, **params: Any) -> Any:
    client = await suite.client("analytics", "analyst")
    asked: dict[str, Any] = {"resamples": 50, "filter": "complete_packages"} | params
    answer = await client.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


class TestResults:
    async def test_are_those_of_people_unless_a_judge_is_named(self, suite: RunningSuite):
        path = await labelled(suite)
        for section in ("ranking", "agreement", "annotators", "fooling-rates"):
            people = await get(suite, f"{path}/{section}")
            counts = people["counts"]
            assert (counts["annotators"], counts["judges"], counts["annotations"]) == (2, 0, 24)
            assert await get(suite, f"{path}/{section}", judges="nobody") == people
            both = await get(suite, f"{path}/{section}", judges="gpt")
            counts = both["counts"]
            assert (counts["annotators"], counts["judges"]) == (3, 1)
            assert counts["annotations"] == 24 + 11, "a label that is missing is no label"
            assert await get(suite, f"{path}/{section}") == people
        sections = await get(suite, f"{path}/sections", sections="ranking", judges="*")
        assert sections["ranking"]["counts"]["judges"] == 1
