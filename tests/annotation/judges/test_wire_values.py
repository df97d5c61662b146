"""Answers about judges that are made from attributes: what each field is, stated from rows and requests."""

import hashlib
import json
from typing import Any

from spotthebot.contracts.annotation.annotations import AnnotatingJudgeOut
from spotthebot.contracts.annotation.judges import JudgeVersionOut
from tests.factories.annotating import rows
from tests.factories.campaigns import campaign_of
from tests.factories.judges import label_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created
from tests.factories.wire_values import assert_is


async def get(suite: RunningSuite, path: str, role: str = "admin") -> Any:
    client = await suite.client("annotation", role)
    return (await client.get(path)).json()


class TestJudges:
    async def test_are_versions_of_their_settings(self, suite: RunningSuite):
        settings = {"kind": "simulated", "seed": 3, "missing_share": 0.5}
        body = {"name": "rule", "description": "By hand.", "settings": settings}
        found = await created(await suite.client("annotation", "admin"), "/v1/judges", body)
        ((created_at,),) = rows(suite, "SELECT created_at FROM annotation.judges")
        written = json.dumps(settings, sort_keys=True, separators=(",", ":"))
        stated = body | {"version": 1, "sha256": hashlib.sha256(written.encode()).hexdigest()}
        assert_is(JudgeVersionOut, found, stated | {"created_at": created_at})
        campaign = await campaign_of(suite, 1, segments=[1])
        await label_campaign(suite, campaign, {"name": "rule", "version": 1})
        path = f"/v1/campaigns/{campaign['id']}"
        (annotator,) = (await get(suite, f"{path}/annotators"))["items"]
        (annotation,) = (await get(suite, f"{path}/annotations?judges=rule", "analyst"))["items"]
        for each in (annotator, annotation):
            assert_is(AnnotatingJudgeOut, each["judge"], {"name": "rule", "version": 1})
