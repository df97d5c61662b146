"""`stb campaigns payments` and `stb collections payments`: files by which people are paid."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.factories.annotating import claim, work_through
from tests.factories.campaigns import campaign_of
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.frontends import advance, exchange, open_chats, rate, ratings, start, two_bots
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


class TestPayments:
    async def test_pays_the_annotators_of_a_campaign(self, stb: Stb, suite: RunningSuite, tmp_path: Path):
        campaign = await campaign_of(suite, package_size=20, pay_per_package="1.50", currency="EUR")
        await work_through(suite, await claim(suite, campaign, "p-17"))
        file = tmp_path / "paid.csv"
        done = await stb("campaigns", "payments", campaign["name"], "--out", str(file), "--kind", "bonuses")
        assert (done.returncode, done.stdout) == (0, "")
        assert file.read_text() == "p-17,1.50\n"

    async def test_pays_people_who_chat_beside_the_reward(self, stb: Stb, suite: RunningSuite, tmp_path: Path):
        """Two rated chats of 1.67 each: 3.34 in all, 1.67 beside a reward for the first."""
        pay = {"bots_per_chat": 1, "pay_per_chat": "1.67", "currency": "USD"}
        collection_id = await open_chats(suite, await two_bots(suite), **pay)
        for _ in range(2):
            chat = await start(suite, collection_id, "ann")
            await exchange(suite, chat)
            await advance(suite, chat)
            await rate(suite, chat, ratings(1))
        for options, expected in (((), "ann,3.34\n"), (("--first-is-reward",), "ann,1.67\n")):
            file = tmp_path / "paid.csv"
            whole = ("--out", str(file), "--kind", "bonuses", *options)
            assert (await stb("collections", "payments", collection_id, *whole)).returncode == 0
            assert file.read_text() == expected

    async def test_say_why_there_are_none(self, stb: Stb, suite: RunningSuite, tmp_path: Path):
        collection_id = await open_chats(suite, await two_bots(suite))
        file = tmp_path / "paid.csv"
        done = await stb("collections", "payments", collection_id, "--out", str(file))
        assert (done.returncode, done.stdout) == (1, "")
        assert "pays nothing for chats" in done.stderr
        assert not file.exists()


async def test_a_panel_s_link_is_the_next_step_of_its_campaign(stb: Stb, suite: RunningSuite, tmp_path: Path):
    collection = await import_conversations(suite, [conversation("c1", "one", "other")])
    file = tmp_path / "panel.yaml"
    panel = "panel: {kind: prolific, completion_code: C1}\npay: {per_package: 1.50, currency: GBP}"
    file.write_text(f"name: sent\ncollections: ['{collection}']\nsegments: [1]\nannotations_per_segment: 1\n{panel}\n")
    opened = await stb("campaign", str(file), "--open")
    said = " ".join(opened.stderr.split())
    assert "by at least 1 annotator; hours unknown until people have annotated" in said
    assert "1.50 GBP for annotators, without a panel's fee" in said
    assert "make it on the page /admin/campaigns/" in said
    assert "./stb annotate" not in said
