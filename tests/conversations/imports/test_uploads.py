import json

from spotthebot.contracts.conversations.conversations import ConversationState, Ending
from tests.conversations.transfers import collected, lines_of, open_import, unflagged, upload
from tests.factories.exported import exported
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created, plan


class TestImportOfAnExport:
    async def test_gives_the_same_collection_line_for_line(self, suite: RunningSuite):
        first = await unflagged(suite, await collected(suite))
        copy = await open_import(suite)
        account = await upload(suite, copy, first)
        assert account == {"read": 8, "stored": 8, "already_there": 0, "rejected": {"count": 0, "first": []}}
        assert await unflagged(suite, copy) == first
        admin = await suite.client("conversations", "admin")
        found = (await admin.get(f"/v1/collections/{copy}")).json()
        assert found["conversations"] == 8
        assert found["complete"] == 8
        assert found["turns"] == 32
        assert found["state"] == "complete"

    async def test_keeps_every_field_of_conversations_that_ended_in_any_way(self, suite: RunningSuite):
        rows = [exported(number) for number in range(520)]
        rows[3] = exported(3, state=ConversationState.FAILED, failure="unreachable: gone", ended_by=None)
        rows[4] = exported(4, state=ConversationState.CANCELLED, turns=(), opening=())
        rows[5] = exported(5, ended_by=Ending.FAREWELL, exchanges=1)
        collection = await open_import(suite, "made-up")
        account = await upload(suite, collection, lines_of(*rows))
        assert (account["stored"], account["rejected"]["count"]) == (520, 0)
        assert await unflagged(suite, collection) == lines_of(*rows)
        admin = await suite.client("conversations", "admin")
        found = (await admin.get(f"/v1/collections/{collection}")).json()
        assert (found["complete"], found["failed"], found["cancelled"]) == (518, 1, 1)

    async def test_continues_after_an_interruption_and_changes_nothing_when_sent_again(self, suite: RunningSuite):
        rows = [exported(number) for number in range(20)]
        collection = await open_import(suite, "made-up")
        assert (await upload(suite, collection, lines_of(*rows[:12])))["stored"] == 12
        account = await upload(suite, collection, lines_of(*rows))
        assert account["stored"] == 8
        assert account["already_there"] == 12
        assert account["rejected"]["count"] == 0
        assert await unflagged(suite, collection) == lines_of(*rows)

        renamed = await open_import(suite, "renamed")
        for stored in (20, 0):
            account = await upload(suite, renamed, lines_of(*rows))
            assert (account["stored"], account["already_there"]) == (stored, 20 - stored)
        assert await unflagged(suite, renamed) == lines_of(
            *(row.model_copy(update={"collection": "renamed"}) for row in rows)
        )

    async def test_reports_lines_without_a_conversation_by_their_number(self, suite: RunningSuite):
        good = [exported(number) for number in range(3)]
        running = exported(7, state=ConversationState.RUNNING)
        content = json.loads(exported(8).model_dump_json())
        lines = [
            lines_of(good[0]),
            b"{not json}\n",
            b"\n",
            lines_of(exported(5, domain="weather")),
            lines_of(running),
            lines_of(exported(6, mode="bipartite")),
            json.dumps(content | {"turns": content["turns"][:1] * 2}).encode() + b"\n",
            json.dumps({key: value for key, value in content.items() if key != "seed"}).encode() + b"\n",
            b'{"id": "\xff"}\n',
            lines_of(good[1]),
            lines_of(exported(1, seed=99)),
            lines_of(good[2]).rstrip(b"\n"),
        ]
        collection = await open_import(suite, "made-up")
        account = await upload(suite, collection, b"".join(lines))
        assert (account["read"], account["stored"], account["already_there"]) == (11, 3, 0)
        reasons = {each["line"]: each["reason"] for each in account["rejected"]["first"]}
        assert account["rejected"]["count"] == len(reasons) == 8
        assert "JSON" in reasons[2]
        assert "domain 'weather'" in reasons[4]
        assert "has not ended" in reasons[5]
        assert "held as bipartite, the collection holds all_play_all" in reasons[6]
        assert "speakers must alternate" in reasons[7]
        assert "seed: is missing" in reasons[8]
        assert "not UTF-8" in reasons[9]
        assert "the id 'c1' stands for another conversation already" in reasons[11]
        assert await unflagged(suite, collection) == lines_of(*good)

    async def test_is_accepted_from_administrators_for_collections_of_mode_import_only(self, suite: RunningSuite):
        bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
        admin = await suite.client("conversations", "admin")
        held = await created(admin, "/v1/collections", plan(bots))
        answer = await admin.post(f"/v1/collections/{held['id']}/uploads", content=lines_of(exported(1)))
        assert (answer.status_code, answer.json()["type"]) == (409, "urn:spotthebot:problem:not-an-import")
        analyst = await suite.client("conversations", "analyst")
        assert (
            await analyst.post(f"/v1/collections/{await open_import(suite)}/uploads", content=b"")
        ).status_code == 403
