"""A bot's conversations: its team reads them, nobody else's, and not who the partners were."""

from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created, plan, until

ELIZA = {"name": "eliza", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}}


class TestConversationsOfABot:
    async def test_a_team_reads_those_of_its_bot_without_the_partners_names(self, suite: RunningSuite):
        ours = await created(await suite.client("bots", "team", team="us"), "/v1/bots", ELIZA)
        theirs = await created(await suite.client("bots", "team", team="them"), "/v1/bots", ELIZA | {"name": "other"})
        dull = await add_bot(suite, "dull")
        admin = await suite.client("conversations", "admin")
        collection = await created(admin, "/v1/collections", plan([ours["id"], theirs["id"], dull]))
        await until(admin, f"/v1/collections/{collection['id']}", "complete")
        us = await suite.client("conversations", "team", team="us")
        first = (await us.get("/v1/conversations", params={"bot_id": ours["id"], "limit": 3})).json()
        rest = await us.get("/v1/conversations", params={"bot_id": ours["id"], "cursor": first["next_cursor"]})
        held = first["items"] + rest.json()["items"]
        assert len(held) == 4  # two with each of the others
        assert all(len(each["turns"]) == 4 for each in held)
        sides = [side for each in held for side in each["participants"]]
        assert [side["bot_id"] for side in sides].count(ours["id"]) == 4
        partners = [side for side in sides if side["bot_id"] != ours["id"]]
        assert {(side["name"], side["bot_id"], side["configuration_sha256"]) for side in partners} == {
            ("partner", None, None)
        }
        full = (await admin.get("/v1/conversations", params={"bot_id": ours["id"]})).json()["items"]
        assert {side["name"] for each in full for side in each["participants"]} == {"eliza", "other", "dull"}

    async def test_another_teams_bot_and_an_unknown_bot_are_not_found(self, suite: RunningSuite):
        theirs = await created(await suite.client("bots", "team", team="them"), "/v1/bots", ELIZA)
        us = await suite.client("conversations", "team", team="us")
        unknown = "00000000-0000-7000-8000-000000000000"
        answers = [await us.get("/v1/conversations", params={"bot_id": each}) for each in (theirs["id"], unknown)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert (await us.get("/v1/conversations")).status_code == 422
        for path in ("/v1/collections", f"/v1/conversations/{unknown}"):
            assert (await us.get(path)).status_code == 403
