"""What holds for every page: it can be used by everybody, at every width, in light and dark."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.factories.annotator_trainings import store_training
from tests.factories.browsing import Visit, barriers, violations
from tests.factories.campaigns import campaign_of_talks, labelled_campaign, open_campaign, talk
from tests.factories.frontends import open_chats, rate, ratings, start, two_bots
from tests.factories.frontends import talk as talk_to_both
from tests.factories.pages import entry_path
from tests.factories.routes import routes_of
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, register_bots

LISTS: Final = (
    "/leaderboard",
    "/campaigns",
    "/studies",
    "/conversations",
    "/bots",
    "/admin",
    "/admin/campaigns",
    "/admin/collections",
    "/admin/partner-sets",
)
OF_STRANGERS: Final = (
    "/",
    "/sign-in",
    "/leaderboard",
    "/annotate/{campaign}",
    "/chat/{people}",
    "/nothing-here",
)
OF_TEAMS: Final = ("/bots", "/bots/standings", "/bots/{bot}/conversations", "/admin")
OF_ADMINISTRATORS: Final = (
    "/bots",
    "/bots/new",
    "/bots/how-to",
    "/bots/{bot}",
    "/bots/{bot}/settings",
    "/bots/{bot}/versions/new",
    "/campaigns",
    "/campaigns/cost",
    "/campaigns/pooled?campaigns={campaign}&campaigns={second}",
    "/campaigns/{campaign}?whole=true",
    "/campaigns/{campaign}/parts/ranking",
    "/campaigns/{campaign}/parts/measures?latency=true",
    "/campaigns/{campaign}/judges",
    "/campaigns/{campaign}/decisions",
    "/campaigns/{campaign}/figures/ranking/explore?width=narrow",
    "/campaigns/{campaign}/mixed-model?measure=label&kind=linear",
    "/studies",
    "/studies/{study}",
    "/studies/{study}/scores",
    "/studies/{study}/mixed-model?measure=label&kind=linear",
    "/conversations",
    "/conversations/{collection}",
    "/conversations/{collection}/{conversation}",
    "/conversations/{people}/ratings",
    "/chats/{people}/links",
    "/admin",
    "/admin/keys",
    "/admin/campaigns",
    "/admin/campaigns/new",
    "/admin/collections/chats",
    "/admin/collections/table",
    "/admin/campaigns/{campaign}",
    "/admin/campaigns/{campaign}/edit",
    "/admin/campaigns/{campaign}/close",
    "/admin/campaigns/{campaign}/links",
    "/admin/campaigns/{live}/links/{link}/revoke",
    "/admin/campaigns/{campaign}/annotators",
    "/admin/campaigns/{campaign}/annotators/{annotator}",
    "/admin/campaigns/{campaign}/annotators/{annotator}/block",
    "/admin/campaigns/{campaign}/audit",
    "/admin/campaigns/{campaign}/payments",
    "/admin/trainings",
    "/admin/trainings/first_steps/1",
    "/admin/partner-sets",
    "/admin/partner-sets/pair/1?collection={collection}",
    "/admin/collections",
    "/admin/collections/{collection}",
    "/admin/collections/{people}/finish",
    "/admin/collections/{people}/payments",
)
OF_ANNOTATORS: Final = ("/annotate/{game}/leaderboard",)
IN_FILES_OF_THEIR_OWN: Final = {
    "test_admin.py": ("/admin/campaigns/{campaign_id}/annotators/{annotator_id}/packages/{assignment_id}/reject",),
    "test_annotate.py": ("/annotate/{campaign_id}", "/annotate/{campaign_id}/done/{assignment_id}"),
    "test_annotate_protocols.py": ("/annotate/{campaign_id}/training", "/annotate/{campaign_id}/said/{said}"),
    "test_campaign_form.py": ("/admin/campaigns/{campaign_id}/preview",),
    "test_sign_in.py": ("/sign-in/provider", "/sign-in/provider/done"),
    "test_chat.py": ("/chat/{collection_id}", "/chat/{collection_id}/enter", "/chat/{collection_id}/withdrawn"),
}
"""Pages that somebody reaches by what they did before."""
FOR_PROGRAMS: Final = {
    "/healthz",
    "/llms-full.txt",
    "/llms.txt",
    "/metrics",
    "/readyz",
    "/annotate/{campaign_id}/packages/{assignment_id}",
    "/campaigns/{campaign_id:uuid}/progress",
    "/chat/{collection_id}/events",
    "/chat/{collection_id}/state",
}
FILES: Final = {
    "/admin/campaigns/{campaign_id}/export/{rows}.{form}",
    "/conversations/{collection_id}/export/{form}",
    "/admin/campaigns/{campaign_id}/payments/{kind}.csv",
    "/admin/collections/{collection_id}/payments/{kind}.csv",
    "/admin/partner-sets/{name}/{version}/file.json",
    "/campaigns/{campaign_id:uuid}/data/{section}.{form}",
    "/campaigns/{campaign_id:uuid}/figures/{figure}.{form}",
    "/campaigns/{campaign_id:uuid}/measures/{measure}.{form}",
    "/studies/{study_id:uuid}/values.csv",
}


@pytest.fixture(scope="module")
async def places(module_suite: RunningSuite) -> dict[str, str]:
    """What stands in the addresses: a campaign with public results, its collection, a bot, and people who chatted."""
    bots = await register_bots(module_suite)
    path = await labelled_campaign(module_suite, bots)
    admin = await module_suite.client("annotation", "admin")
    for step in ("release", "publish"):
        assert (await admin.post(f"{path}/results/{step}")).status_code == 200
    collection = (await admin.get(path)).json()["collection_id"]
    conversations = await module_suite.client("conversations", "admin")
    held = (await conversations.get(f"/v1/collections/{collection}/conversations")).json()["items"]
    annotators = (await admin.get(f"{path}/annotators")).json()["items"]
    live = (await open_campaign(module_suite, collection))["id"]
    link = await created(admin, f"/v1/campaigns/{live}/entry-links", {"annotator": "ann"})
    await store_training(module_suite)
    study = {"name": "all", "campaigns": [path.rpartition("/")[2]], "outcome": "fluency"}
    study_id = (await created(admin, "/v1/studies", study))["id"]
    await created(conversations, "/v1/partner-sets", {"name": "pair", "bots": [bots["ours"]]})
    people = await open_chats(module_suite, await two_bots(module_suite))
    chat = await start(module_suite, people)
    await talk_to_both(module_suite, chat)
    assert (await rate(module_suite, chat, ratings(1, 2, preferred=2))).status_code == 200
    return {
        "campaign": path.rpartition("/")[2],
        "second": (await labelled_campaign(module_suite, bots, ties=False)).rpartition("/")[2],
        "collection": collection,
        "conversation": held[0]["id"],
        "annotator": annotators[0]["id"],
        "live": live,
        "link": link["id"],
        "bot": bots["ours"],
        "people": people,
        "study": study_id,
    }


@pytest.fixture
async def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services with the data of all its tests."""
    return module_suite


async def _barriers(visit: Visit, addresses: Iterable[str], places: Mapping[str, str]) -> dict[str, list[str]]:
    """Open pages one after the other in one window; returns those with barriers."""
    page = await visit.open("/sign-in")
    found = {}
    for address in addresses:
        await page.goto(visit.address(address.format_map(places)))
        found[address] = await barriers(page)
    refused = ("401", "403", "404", "409")
    visit.complaints = [each for each in visit.complaints if not any(status in each for status in refused)]
    return {address: those for address, those in found.items() if those}


class TestEveryPage:
    async def test_has_no_barrier_while_there_is_nothing_to_show(self, visit: Visit):
        await visit.sign_in("admin", after="/nothing-here")
        assert await _barriers(visit, LISTS, {}) == {}

    async def test_has_no_barrier_for_strangers(self, visit: Visit, places: dict[str, str]):
        assert await _barriers(visit, OF_STRANGERS, places) == {}

    async def test_has_no_barrier_for_annotators(self, visit: Visit, suite: RunningSuite):
        game = await campaign_of_talks(suite, talk("c0"), protocol="spot_the_bot_gamified", protocol_version=1)
        await visit.open(await entry_path(suite, game))
        assert await _barriers(visit, OF_ANNOTATORS, {"game": game["id"]}) == {}

    async def test_has_no_barrier_for_teams(self, visit: Visit, places: dict[str, str]):
        await visit.sign_in("team", team="us", after="/nothing-here")
        assert await _barriers(visit, OF_TEAMS, places) == {}

    async def test_has_no_barrier_for_administrators(self, visit: Visit, places: dict[str, str]):
        await visit.sign_in("admin", after="/nothing-here")
        assert await _barriers(visit, OF_ADMINISTRATORS, places) == {}

    def test_is_held_against_barriers_in_some_test(self, places: dict[str, str], suite: RunningSuite):
        elsewhere = {path for paths in IN_FILES_OF_THEIR_OWN.values() for path in paths}
        listed = {*LISTS, *OF_STRANGERS, *OF_ANNOTATORS, *OF_TEAMS, *OF_ADMINISTRATORS}
        opened = [address.format_map(places | {"game": "a-game"}).partition("?")[0] for address in listed]
        gets = [route for route in routes_of(suite.apps["web"]) if "GET" in (route.methods or ())]
        shown = {next((route.path for route in gets if route.path_regex.match(path)), path) for path in opened}
        assert {route.path for route in gets} - shown - elsewhere == FOR_PROGRAMS | FILES
        for file in IN_FILES_OF_THEIR_OWN:
            assert "violations(" in (Path(__file__).parent / file).read_text()


class TestSigningIn:
    async def test_leads_where_the_person_was_going_and_signing_out_ends_it(self, visit: Visit):
        page = await visit.open("/sign-in?after=/nothing-here")
        await page.get_by_label("API key").fill(await visit.suite.keys.make("analyst"))
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url("**/nothing-here")
        await page.get_by_role("button", name="Sign out").click()
        assert await page.get_by_role("link", name="Sign in", exact=True).is_visible()
        visit.complaints.clear()  # Chromium reports the status 404

    async def test_with_a_wrong_key_says_what_is_wrong_beside_the_field(self, visit: Visit):
        page = await visit.open("/sign-in")
        await page.get_by_label("API key").fill("hello")
        await page.get_by_role("button", name="Sign in").click()
        assert "begins with stb_" in await page.get_by_role("alert").inner_text()
        assert await violations(page) == []
        visit.complaints.clear()  # Chromium reports the status 422


class TestLanguage:
    async def test_is_chosen_once_for_all_pages(self, visit: Visit):
        page = await visit.open("/sign-in")
        await page.get_by_role("button", name="Deutsch").click()
        assert await page.locator("html").get_attribute("lang") == "de"
        assert await page.get_by_role("heading", level=1).inner_text() == "Anmelden"
