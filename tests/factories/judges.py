"""Judges at the task API: a version in the registry, claims, and labels with probabilities."""

from collections.abc import Mapping
from typing import Any

import httpx

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

SIMULATED = {"kind": "simulated", "seed": 7}
ENTITY = {"human": 0.7, "unsure": 0.1, "bot": 0.2}
PREFERENCE = {"A": 0.5, "B": 0.25, "tie": 0.25}
ANSWER = {"entity": {"A": "human", "B": "bot"}, "fluency": "A", "sensibleness": "A", "specificity": "A"}


async def store_judge(suite: RunningSuite, name: str = "gpt", **settings: Any) -> dict[str, Any]:
    """Store a version of a judge and return its name and version."""
    admin = await suite.client("annotation", "admin")
    found = await created(admin, "/v1/judges", {"name": name, "settings": SIMULATED | settings})
    return {"name": found["name"], "version": found["version"]}


async def claim_as_judge(
    suite: RunningSuite, campaign: Mapping[str, Any], judge: Mapping[str, Any], annotator: str | None = None
) -> httpx.Response:
    """Claim a package for a version of a judge, whether or not there is one."""
    frontend = await suite.client("annotation", "annotation")
    name = annotator or f"{judge['name']}-{judge['version']}"
    body = {"annotator": name, "kind": "judge", "judge": judge}
    return await frontend.post(f"/v1/campaigns/{campaign['id']}/assignments", json=body)


def labels(**changes: Any) -> dict[str, Any]:
    """Write a judge's labels of an item by the protocol `spot_the_bot`, all answered."""
    answers = [
        {"question": "entity", "target": "A", "probabilities": ENTITY},
        {"question": "entity", "target": "B", "probabilities": {"human": 0.2, "unsure": 0, "bot": 0.8}},
        *({"question": name, "probabilities": PREFERENCE} for name in ("fluency", "sensibleness", "specificity")),
    ]
    return {"answers": answers, "input_tokens": 90, "output_tokens": 10, "cost": 0.01} | changes


def label_items(assignment: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"position": each["position"], "answer": ANSWER, "labels": labels()} for each in assignment["items"]]


async def submit_labels(suite: RunningSuite, assignment: Mapping[str, Any], items: Any = None) -> httpx.Response:
    frontend = await suite.client("annotation", "annotation")
    body = {"items": label_items(assignment) if items is None else items}
    return await frontend.post(f"/v1/assignments/{assignment['id']}/judge-labels", json=body)


async def label_campaign(
    suite: RunningSuite, campaign: Mapping[str, Any], judge: Mapping[str, Any], annotator: str | None = None
) -> int:
    """Let a judge label all packages alike, and return how many."""
    packages = 0
    while (claimed := await claim_as_judge(suite, campaign, judge, annotator)).status_code == 201:
        done = await submit_labels(suite, claimed.json())
        assert done.status_code == 200, done.text
        packages += 1
    assert claimed.json()["type"].endswith("nothing-left"), claimed.text
    return packages
