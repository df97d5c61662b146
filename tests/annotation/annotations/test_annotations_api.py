from typing import Any
from uuid import UUID

from tests.factories.annotating import claim, work_through
from tests.factories.campaigns import campaign_of, imported_annotation, unlabelled_campaign, upload
from tests.factories.running_suite import RunningSuite


class TestListAnnotations:
    async def test_gives_the_same_annotations_as_pages_and_as_a_stream(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        await upload(suite, path, "annotations", [imported_annotation(f"a{n}", annotator=f"w{n}") for n in range(5)])
        analyst = await suite.client("annotation", "analyst")
        streamed = (await analyst.get(f"{path}/annotations/stream")).text.splitlines()
        paged: list[str] = []
        params: dict[str, Any] = {"limit": 2}
        while params.get("cursor", "first"):
            page = (await analyst.get(f"{path}/annotations", params=params)).json()
            paged += [each["id"] for each in page["items"]]
            params["cursor"] = page["next_cursor"]
        assert len(streamed) == len(paged) == 5
        assert all(f'"id":"{each}"' in line for each, line in zip(paged, streamed, strict=True))

    async def test_gives_the_annotations_of_one_conversation_alone(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        for annotator in ("v", "w"):
            await work_through(suite, await claim(suite, campaign, annotator))
        client, campaign_id = await suite.annotation("analyst"), UUID(campaign["id"])
        all_of_them = [each async for each in client.list_annotations(campaign_id)]
        one = all_of_them[0].conversation_id
        found = [each async for each in client.list_annotations(campaign_id, conversation_id=one)]
        assert found == [each for each in all_of_them if each.conversation_id == one]
        assert len(found) < len(all_of_them)


class TestAnnotationsRevision:
    async def test_changes_with_the_annotations_and_only_with_them(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        analyst = await suite.client("annotation", "analyst")

        async def revision() -> dict[str, Any]:
            found: dict[str, Any] = (await analyst.get(f"{path}/annotations/revision")).json()
            return found

        before = await revision()
        await upload(suite, path, "annotations", [imported_annotation("a")])
        after = await revision()
        assert (before["annotations"], after["annotations"]) == (0, 1)
        assert before["revision"] != after["revision"]
        await upload(suite, path, "annotations", [imported_annotation("a")])  # known already
        assert await revision() == after

    async def test_is_refused_to_frontends(self, suite: RunningSuite):
        path = await unlabelled_campaign(suite)
        frontend = await suite.client("annotation", "annotation")
        assert (await frontend.get(f"{path}/annotations/revision")).status_code == 403
