"""A bot's conversations: its team reads them, nobody else's, and not who the partners were."""

from typing import Any
from uuid import UUID

from spotthebot.contracts.conversations.conversations import ConversationState, Participant, ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedConversation
from tests.factories.exported import exported
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
        assert {each["collection"] for each in held} == {"small"}
        by_name = await us.get("/v1/conversations", params={"bot": "eliza"})
        assert by_name.json()["items"] == held
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

    async def test_a_name_that_nothing_or_several_bots_have_is_refused_with_what_there_is(self, suite: RunningSuite):
        for team in ("us", "them"):
            await created(await suite.client("bots", "team", team=team), "/v1/bots?probe=false", ELIZA)
        admin = await suite.client("conversations", "admin")
        refused = await admin.get("/v1/conversations", params={"bot": "eliza"})
        assert refused.status_code == 409
        assert "(of us)" in refused.json()["detail"]
        assert "(of them)" in refused.json()["detail"]
        us = await suite.client("conversations", "team", team="us")
        assert (await us.get("/v1/conversations", params={"bot": "eliza"})).json()["items"] == []
        unknown = await us.get("/v1/conversations", params={"bot": "elisa"})
        assert unknown.status_code == 404
        assert unknown.json()["detail"] == (
            "There is no bot 'elisa' that this API key may see: the nearest is 'eliza'."
        )
        strangers = await suite.client("conversations", "team", team="strangers")
        assert "there are none yet" in (await strangers.get("/v1/conversations", params={"bot": "eliza"})).text
        for nearly in ("us ", None):
            blank = await suite.client("conversations", "team", team=nearly)
            assert (await blank.get("/v1/conversations", params={"bot": "eliza"})).status_code == 404, nearly
        both = {"bot": "eliza", "bot_id": "00000000-0000-7000-8000-000000000000"}
        assert (await us.get("/v1/conversations", params=both)).status_code == 422


class TestPerformanceOfABot:
    async def test_counts_states_failures_at_its_turn_and_times_of_its_replies(self, suite: RunningSuite):
        ours, _ = await _held(suite)
        us = await suite.client("conversations", "team", team="us")
        found = (await us.get("/v1/conversations/performance", params={"bot": "ours"})).json()
        assert found["conversations"] == {"complete": 2, "failed": 2}
        # It failed at position 1, where it speaks second; the other conversation failed at its partner's turn.
        assert (found["failed"], found["failures"]) == (1, [{"reason": "timeout: ours", "conversations": 1}])
        # 10, 20, 20, 30 and 40 ms; 95 % lie below the place 0.95 x 4 = 3.8 between 30 and 40 (R's type 7).
        assert found["replies"] == 5
        assert found["latency"] == {"median_ms": 20, "p95_ms": 38, "longest_ms": 40}
        assert found["collections"] == 1
        versions = [
            (await us.get("/v1/conversations/performance", params={"bot": "ours", "version": number})).json()
            for number in (1, 2)
        ]
        assert versions[0] == found
        assert (versions[1]["conversations"], versions[1]["collections"], versions[1]["replies"]) == ({}, 0, 0)
        other = "00000000-0000-7000-8000-000000000000"
        params = {"bot_id": ours, "collection_id": [other]}
        nowhere = (await us.get("/v1/conversations/performance", params=params)).json()
        assert nowhere["collections"] == 0
        assert nowhere["conversations"] == {}
        assert nowhere["latency"] is None

    async def test_what_a_partners_server_said_is_not_read_by_a_team(self, suite: RunningSuite):
        ours, theirs = await _held(suite)
        us = await suite.client("conversations", "team", team="us")
        answer = await us.get("/v1/conversations", params={"bot_id": ours})
        failures = {each["failure"] for each in answer.json()["items"]}
        assert failures == {None, "timeout: ours", "The partner failed."}
        assert "secret.example.org" not in answer.text
        assert (await us.get("/v1/conversations/performance", params={"bot_id": theirs})).status_code == 404


async def _held(suite: RunningSuite) -> tuple[str, str]:
    """Import four conversations of a bot of the team `us` with one of `them`; return the ids of both."""
    bots = [
        (await created(await suite.client("bots", "team", team=team), "/v1/bots?probe=false", ELIZA | {"name": name}))[
            "id"
        ]
        for team, name in (("us", "ours"), ("them", "theirs"))
    ]
    us, them = (
        Participant(kind=ParticipantKind.BOT, name=name, bot_id=UUID(bot_id), version=1, configuration_sha256="0" * 64)
        for name, bot_id in zip(("ours", "theirs"), bots, strict=True)
    )
    rows = [
        _row(0, (them, us), (1000, 20, 1000, 40)),
        _row(1, (us, them), (10, 1000, 30, 1000)),
        _row(2, (them, us), (1000,), failure="timeout: ours"),
        _row(3, (us, them), (20,), failure="http_error: secret.example.org says 500"),
    ]
    admin = await suite.client("conversations", "admin")
    body = {"mode": "import", "name": "held", "domain": "everyday"}
    collection = await created(admin, "/v1/collections", body)
    content = "".join(f"{each.model_dump_json()}\n" for each in rows)
    answer = await admin.post(f"/v1/collections/{collection['id']}/uploads", content=content)
    assert answer.json()["stored"] == 4, answer.text
    return bots[0], bots[1]


def _row(
    number: int, sides: tuple[Participant, Participant], latencies: tuple[float, ...], **changes: Any
) -> ExportedConversation:
    row = exported(number)
    turns = [turn.model_copy(update={"latency_ms": ms}) for turn, ms in zip(row.turns, latencies, strict=False)]
    state = ConversationState.FAILED if "failure" in changes else ConversationState.COMPLETE
    names = tuple(side.name for side in sides)
    return row.model_copy(
        update={"participants": sides, "bots": names, "turns": tuple(turns), "state": state, **changes}
    )
