"""A running campaign's first line: how many pairs of bots are decided, and what the nearest open pair needs."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from spotthebot.contracts.analytics.verdicts import GivenVerdict, PairVerdictOut
from spotthebot.web.results.domain import decided_pairs
from tests.factories.annotating import WHOLE, claim, work_through
from tests.factories.campaigns import open_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


def _pair(other: str, *, decided: bool = False, conversations: int | None = None, people: int | None = None):
    return PairVerdictOut(
        bot="A",
        other=other,
        verdict="ahead" if decided else "open",
        given=GivenVerdict(given_at=datetime(2026, 1, 1, tzinfo=UTC), n=9, low=0.1, high=0.5) if decided else None,
        estimate=0.2,
        low=None,
        high=None,
        n=10,
        conversations=5,
        annotators=4,
        more_conversations=conversations,
        more_annotators=people,
        margin=None,
        level=0.05,
        n_pairs=3,
        method="m",
        reason=None,
    )


class TestDecidedPairs:
    def test_name_the_open_pair_that_needs_the_fewest_conversations(self):
        near = _pair("C", conversations=7, people=30)
        found = decided_pairs([_pair("B", decided=True), near, _pair("D", conversations=9, people=2)])
        assert (found.decided, found.pairs, found.nearest, found.needed) == (1, 3, near, "more_conversations")

    def test_name_annotators_where_no_conversations_help(self):
        near = _pair("D", people=2)
        found = decided_pairs([_pair("C", people=30), near])
        assert (found.nearest, found.needed) == (near, "more_annotators")

    def test_name_none_where_nothing_helps_or_all_are_decided(self):
        assert decided_pairs([_pair("B"), _pair("C", decided=True)]).nearest is None

    async def test_are_the_first_line_of_a_running_campaign(self, suite: RunningSuite):
        talks = [conversation(f"c{at}", "X", "Y") for at in range(10)]
        collection = await import_conversations(suite, talks)
        campaign = await open_campaign(suite, collection, segments=[1], annotations_per_segment=20)
        for at in range(3):
            won = WHOLE | {"entity": {"A": "human", "B": "bot"}}
            await work_through(suite, await claim(suite, campaign, f"ann{at}"), won)
        path = f"/campaigns/{UUID(campaign['id'])}/parts/claim"
        async with signed_in(suite, "analyst") as page:
            english = (await page.get(path)).text
            assert "0 of 1 pairs of bots are decided, and stay so." in english
            assert "more conversations do not help" in english
            german = (await page.get(path, headers={"Accept-Language": "de"})).text
            assert "0 von 1 Paaren von Bots sind entschieden" in german
