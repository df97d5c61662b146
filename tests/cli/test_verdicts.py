"""`stb campaigns verdicts` and `show`: which pairs are decided, what others need, and when a campaign stops."""

import json
import re
from collections.abc import AsyncIterator

import pytest

from tests.factories.annotating import WHOLE, claim
from tests.factories.campaigns import campaign_of, import_campaign, imported_annotation
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


class TestVerdicts:
    async def test_are_shown_with_the_needs_of_open_pairs(self, stb: Stb, suite: RunningSuite):
        pairs = {f"c{at}": ("X", "Y") for at in range(10)} | {"z": ("X", "Z")}
        collection = await import_conversations(suite, [conversation(key, *pair) for key, pair in pairs.items()])
        won = WHOLE | {"entity": {"A": "human", "B": "bot"}}
        rows = [
            imported_annotation(f"{key}-{at}", conversation=key, annotator=f"ann{at}", answer=won)
            for key in pairs
            for at in range(12)
        ]
        path = await import_campaign(suite, collection, {"p": [(key, 1) for key in pairs]}, rows)
        done = await stb("campaigns", "verdicts", path.rpartition("/")[2])
        header, first, second, third = done.stdout.splitlines()
        assert header.split() == ["Bot", "Verdict", "Other", "Difference", "Bounds", "Games", "Needs"]
        assert first.split()[:4] == ["X", "ahead", "Y", "+1.00"]
        assert "bounds need games of at least two conversations and two annotators" in second
        assert "no game of the two was decided" in third
        assert done.stderr.startswith("1 of 3 pairs are decided. A verdict holds at every look")
        found = json.loads((await stb("campaigns", "verdicts", path.rpartition("/")[2], "--json")).stdout)
        assert [each["verdict"] for each in found["verdicts"]] == ["ahead", "open", "open"]

    async def test_are_refused_for_what_is_no_margin(self, stb: Stb, suite: RunningSuite):
        campaign = await campaign_of(suite)
        assert (await stb("campaigns", "verdicts", campaign["id"], "--margin", "7")).returncode != 0

    async def test_decide_when_a_campaign_stops(self, stb: Stb, suite: RunningSuite):
        campaign = await campaign_of(suite, margin=0.2, stop_when={"width": 0.5})
        shown = (await stb("campaigns", "show", campaign["id"])).stdout
        assert "once the bounds of every pair of bots are at most 0.5 wide" in shown
        assert "Equivalent within" in shown
        assert re.search("^Annotators +nobody came yet$", shown, re.MULTILINE)
        await claim(suite, campaign, "p1")
        shown = (await stb("campaigns", "show", campaign["id"])).stdout
        assert re.search("^Annotators +people: 1 came, 1 took a package$", shown, re.MULTILINE)
