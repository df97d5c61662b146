"""A search over all collections, and the words that were searched for in a conversation."""

import pytest

from tests.factories.campaigns import campaign_of_talks, talk
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation", "web")


async def test_searches_find_conversations_of_all_collections_and_mark_the_words(suite: RunningSuite):
    talks = {"one": [talk(f"c{number}") for number in range(4)], "other": [talk("c")]}
    one, other = [(await campaign_of_talks(suite, *held, name=name))["collections"][0] for name, held in talks.items()]
    async with signed_in(suite, "analyst") as client:
        found = (await client.get("/conversations?text=TRIP")).text
        assert found.count("<mark>trip</mark>") == 4  # three of a collection are shown
        assert found.count("More in ") == 1
        for collection in (one, other):
            assert f'href="/conversations/{collection}?text=TRIP"' in found
        address = found.partition('<h3><a class="stretched" href="')[2].partition('"')[0]
        assert "<mark>trip</mark>" in (await client.get(address)).text
        assert "Nothing matches" in (await client.get("/conversations?text=nobody+said+this")).text
