from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, conversation, created, import_conversations, plan

NOBODY = "00000000-0000-7000-8000-000000000000"


class TestImport:
    async def test_a_batch_sent_again_changes_nothing(self, suite: RunningSuite):
        batch = [conversation("c1", "X", "Y"), conversation("c2", "HU", "HU")]
        collection = await import_conversations(suite, batch)
        admin = await suite.client("conversations", "admin")
        path = f"/v1/collections/{collection}"
        again = await created(admin, f"{path}/conversations", {"conversations": [*batch, conversation("c3", "X", "Y")]})
        assert again == {"stored": 1, "already_there": 2}
        assert (await admin.get(path)).json()["turns"] == 3 * 6

    async def test_speakers_must_alternate_and_people_are_called_hu(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        collection = await import_conversations(suite, [conversation("c", "X", "Y")])
        path = f"/v1/collections/{collection}/conversations"
        odd = conversation("d", "X", "Y")
        odd["turns"][1]["speaker"] = "A"
        misnamed = conversation("e", "X", "Y")
        misnamed["participants"][0]["kind"] = "human"
        for wrong, pointer in ((odd, "/conversations/0"), (misnamed, "/conversations/0/participants/0")):
            answer = await admin.post(path, json={"conversations": [wrong]})
            assert answer.status_code == 422
            assert pointer in {fault["pointer"] for fault in answer.json()["errors"]}

    async def test_an_unknown_collection_takes_no_import(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        batch = {"conversations": [conversation("c", "X", "Y")]}
        answer = await admin.post(f"/v1/collections/{NOBODY}/conversations", json=batch)
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:spotthebot:problem:no-such-collection")

    async def test_a_collection_with_planned_conversations_takes_no_import(self, suite: RunningSuite):
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        collection = await created(admin, "/v1/collections", plan(bots))
        answer = await admin.post(
            f"/v1/collections/{collection['id']}/conversations", json={"conversations": [conversation("c", "X", "Y")]}
        )
        assert answer.status_code == 409
