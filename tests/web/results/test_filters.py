"""What the dashboard lets a visitor choose, and says of it."""

import re

import pytest

from tests.factories.campaigns import labelled_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


async def test_the_threshold_of_weak_annotators_and_the_worth_of_a_segment(suite: RunningSuite):
    path = await labelled_campaign(suite, await register_bots(suite), [("ours", "baseline")])
    address = path.removeprefix("/v1")
    async with signed_in(suite, "analyst") as visitor:
        annotators = (await visitor.get(f"{address}/parts/annotators?weak=75")).text
        chosen = (await visitor.get(f"{address}?paper=true&unit=conversation&weighting=log_exchanges")).text
        refused = await visitor.get(f"{address}/parts/annotators?weak=76")
    assert annotators.count("At least ") == 1
    assert "At least 75" in annotators
    assert "A segment of i exchanges is worth log(i)." in chosen
    assert refused.status_code == 422


async def test_campaigns_are_pooled_with_a_column_for_each(suite: RunningSuite):
    bots = await register_bots(suite)
    paths = [await labelled_campaign(suite, bots, [("ours", "baseline")], ties=ties) for ties in (True, False)]
    query = "&".join(f"campaigns={path.rpartition('/')[2]}" for path in paths)
    async with signed_in(suite, "analyst") as visitor:
        lone = await visitor.get(f"/campaigns/pooled?{query.split('&')[0]}")
        shown = {
            result: (await visitor.get(f"/campaigns/pooled?{query}&result={result}")).text
            for result in ("agreement", "fooling-rates", "win-rates", "measures", "ranking", "survival")
        }
    assert "Choose two or more campaigns" in lone.text
    for page in shown.values():
        assert "each campaign counts the same" in page
    # In the first campaign the first bot won three of four games and the fourth is a tie, in the second all.
    assert "<b>1.00</b>" in shown["win-rates"]
    assert "Exchanges seen" in shown["agreement"]
    assert "Ranks</th>" in shown["ranking"]
    curves, pairs = shown["survival"].split("<h3>")[1:]
    assert ("Exchanges seen</th>" in curves, "p</th>" in curves) == (True, False)
    assert "Against</th>" in pairs


async def test_the_cost_of_both_designs_and_where_they_cross(suite: RunningSuite):
    async with signed_in(suite, "analyst") as visitor:
        paper = (await visitor.get("/campaigns/cost")).text
        changed = (await visitor.get("/campaigns/cost?seconds_per_chat=4.7")).text
        paid = (await visitor.get("/campaigns/cost?hourly_wage=12")).text
    assert "up to 51 bots" in re.sub("[\u2068\u2069]", "", paper)
    assert "Chatting costs less with any number of bots." in changed
    assert ("Cost</th>" in paper, "Cost</th>" in paid) == (False, True)
