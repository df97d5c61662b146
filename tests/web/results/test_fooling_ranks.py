"""The dashboard and the leaderboard of a campaign in which no two bots met."""

import html
import re

import pytest

from tests.factories.campaigns import labelled_campaign
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import register_bots

PAIRS = [("ours", "HU"), ("HU", "secretive"), ("HU", "baseline")]
LANGUAGES = {
    "en": ("By fooling rate, ", "No two bots met, so there are no win rates", "Differences of fooling rates"),
    "de": ("Nach der Täuschungsrate ", "Keine zwei Bots trafen aufeinander", "Unterschiede der Täuschungsraten"),
}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


async def _shown(suite: RunningSuite, path: str, language: str) -> str:
    async with signed_in(suite, "analyst") as visitor:
        visitor.timeout = 60
        answer = await visitor.get(path, headers={"Accept-Language": language})
    assert answer.status_code == 200, answer.text
    return re.sub("[\u2068\u2069]", "", html.unescape(answer.text))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_dashboard_says_that_fooling_rates_decide(suite: RunningSuite, language: str):
    path = await labelled_campaign(suite, await register_bots(suite), PAIRS)
    address = path.removeprefix("/v1")
    claim = await _shown(suite, f"{address}/parts/claim", language)
    ranking = await _shown(suite, f"{address}/parts/ranking", language)
    measured, why, differences = LANGUAGES[language]
    assert measured in claim
    assert why in claim
    assert why in ranking
    assert differences in ranking
    rows = re.findall(r'<tr data-bot="([^"]+)">(.*?)</tr>', ranking, re.DOTALL)
    assert rows[0][0] == "ours"
    assert rows[-1][0] == "HU"
    assert "\N{EN DASH}</td>" in rows[-1][1]
    assert len(re.findall("data-pair=", ranking)) == 3
    for part in ("win-rates", "features", "segments"):
        assert "No two bots met in these conversations" in await _shown(suite, f"{address}/parts/{part}", language)


async def test_leaderboard_orders_bots_by_fooling_rate(suite: RunningSuite):
    path = await labelled_campaign(suite, await register_bots(suite), PAIRS)
    admin = await suite.client("annotation", "admin")
    for step in ("release", "publish"):
        assert (await admin.post(f"{path}/results/{step}")).status_code == 200
    board = await _shown(suite, "/leaderboard", "en")
    assert "By fooling rate, " in board
    bots = re.findall(r'<tr data-bot="([^"]+)">', board)
    assert (len(bots), bots[-1]) == (4, "HU")
