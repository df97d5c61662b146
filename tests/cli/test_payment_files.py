"""`stb campaigns payments` and `stb collections payments`: files by which people are paid."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.factories.annotating import claim, work_through
from tests.factories.campaigns import campaign_of
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.frontends import advance, exchange, open_chats, rate, ratings, start, two_bots
from tests.factories.running_suite import RunningSuite


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
