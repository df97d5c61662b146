"""What the dashboard lets a visitor choose, and says of it."""

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
