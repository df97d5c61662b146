"""Reports of verdicts: they order packages, are events once each, and stop a campaign by its own rule."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import httpx
import pytest

from spotthebot.annotation.verdicts.domain import is_fulfilled
from spotthebot.contracts.annotation.verdicts import ReportedVerdict, StopAtWidth
from tests.factories.annotating import ask, claim, rows, state_of
from tests.factories.campaigns import campaign_of, create_campaign
from tests.factories.running_suite import RunningSuite

_EVERY = "every_pair_decided"


def _pair(verdict: str, low: float | None = 0.125, high: float | None = 0.375) -> Any:
    return {"verdict": verdict, "low": low, "high": high}


async def _report(
    suite: RunningSuite,
    campaign: dict[str, Any],
    *verdicts: Any,
    role: str = "service",
    undecided: Mapping[str, int] = MappingProxyType({}),
) -> httpx.Response:
    client = await suite.client("annotation", role)
    packages = [{"package_id": package, "items": items} for package, items in undecided.items()]
    body = {"verdicts": verdicts, "packages": packages}
    return await client.put(f"/v1/campaigns/{campaign['id']}/verdicts", json=body)


async def _packages(suite: RunningSuite, campaign: dict[str, Any]) -> list[str]:
    service = await suite.client("annotation", "service")
    return [each["id"] for each in (await service.get(f"/v1/campaigns/{campaign['id']}/packages")).json()["items"]]


async def _act(suite: RunningSuite, campaign: dict[str, Any], action: str) -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    answer = await admin.post(f"/v1/campaigns/{campaign['id']}/{action}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def _events(suite: RunningSuite, kind: str) -> list[dict[str, Any]]:
    found = rows(suite, "SELECT type, data FROM annotation.events ORDER BY id")
    return [data for type_, data in found if type_ == kind]


def _leased(suite: RunningSuite, assignment: dict[str, Any]) -> str:
    """Return the package of an assignment."""
    found = rows(suite, "SELECT id, package_id FROM annotation.assignments")
    return {str(row_id): str(package) for row_id, package in found}[assignment["id"]]


class TestRules:
    @pytest.mark.parametrize(
        ("stop_when", "verdicts", "fulfilled"),
        [
            (None, [_pair("ahead")], False),
            (_EVERY, [], False),
            (_EVERY, [_pair("ahead"), _pair("equivalent")], True),
            (_EVERY, [_pair("ahead"), _pair("open")], False),
            (StopAtWidth(width=0.25), [_pair("open")], True),
            (StopAtWidth(width=0.24), [_pair("ahead")], False),
            (StopAtWidth(width=0.3), [_pair("ahead"), _pair("open", None, None)], False),
        ],
    )
    def test_are_fulfilled_by_all_pairs_or_not_at_all(self, stop_when, verdicts, fulfilled):
        assert is_fulfilled(stop_when, [ReportedVerdict.model_validate(each) for each in verdicts]) is fulfilled


class TestPackages:
    async def test_with_undecided_pairs_are_given_out_first(self, suite: RunningSuite):
        campaign = await campaign_of(suite, stop_when=_EVERY)
        packages = await _packages(suite, campaign)
        assert len(packages) > 2
        undecided = dict.fromkeys(packages, 0) | {packages[-1]: 2, packages[1]: 1}
        assert (await _report(suite, campaign, _pair("open"), undecided=undecided)).status_code == 200
        first = await claim(suite, campaign, "ann")
        assert _leased(suite, first) == packages[-1]

    async def test_come_in_their_old_order_where_all_pairs_are_decided(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        packages = await _packages(suite, campaign)
        await _report(suite, campaign, _pair("ahead"), undecided=dict.fromkeys(packages, 0))
        first = await claim(suite, campaign, "ann")
        assert _leased(suite, first) == packages[0]

    async def test_without_a_rule_to_stop_keep_the_order_of_the_seed(self, suite: RunningSuite):
        """When reports arrive is chance: a seed would not give the same labels again."""
        campaign = await campaign_of(suite)
        packages = await _packages(suite, campaign)
        await _report(suite, campaign, _pair("open"), undecided={packages[-1]: 2})
        assert _leased(suite, await claim(suite, campaign, "ann")) == packages[0]

    async def test_elsewhere_stay_as_they_are(self, suite: RunningSuite):
        one, other = await campaign_of(suite, stop_when=_EVERY), await campaign_of(suite, name="other")
        foreign = (await _packages(suite, other))[0]
        assert (await _report(suite, one, _pair("open"), undecided={foreign: 5})).status_code == 200
        assert {items for (items,) in rows(suite, "SELECT undecided_items FROM annotation.packages")} == {0}


class TestStopping:
    async def test_pauses_once_every_pair_is_decided_and_says_why(self, suite: RunningSuite):
        campaign = await campaign_of(suite, stop_when=_EVERY, margin=0.2)
        assert (campaign["stop_when"], campaign["margin"], campaign["stopped_at"]) == (_EVERY, 0.2, None)
        await _report(suite, campaign, _pair("ahead"), _pair("open"))
        assert (await state_of(suite, campaign))["state"] == "open"
        stopped = (await _report(suite, campaign, _pair("ahead"), _pair("equivalent"))).json()
        assert (stopped["state"], stopped["stop_reason"]) == ("paused", "every pair of bots is decided")
        assert (await ask(suite, campaign, "ann")).status_code == 409
        (event,) = _events(suite, "campaign.stopped")
        assert (event["reason"], event["campaign"]["id"]) == ("every pair of bots is decided", campaign["id"])

    async def test_goes_on_where_an_operator_opens_it_again(self, suite: RunningSuite):
        campaign = await campaign_of(suite, stop_when={"width": 0.3})
        stopped = (await _report(suite, campaign, _pair("open"))).json()
        assert stopped["stop_reason"] == "the bounds of every pair of bots are at most 0.3 wide"
        assert (await _act(suite, campaign, "open"))["state"] == "open"
        assert (await _report(suite, campaign, _pair("open"))).json()["state"] == "open"
        assert len(_events(suite, "campaign.stopped")) == 1
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}"
        changed = (await admin.patch(path, json={"stop_when": {"width": 0.5}})).json()
        assert (changed["stop_when"], changed["stopped_at"]) == ({"width": 0.5}, None)
        assert (await _report(suite, campaign, _pair("open"))).json()["state"] == "paused"

    async def test_never_starts_what_does_not_run(self, suite: RunningSuite):
        campaign = await campaign_of(suite, stop_when=_EVERY)
        await _act(suite, campaign, "close")
        assert (await _report(suite, campaign, _pair("ahead"))).json()["state"] == "closed"
        assert _events(suite, "campaign.stopped") == []

    async def test_stops_once_under_concurrent_reports(self, suite: RunningSuite):
        campaign = await campaign_of(suite, stop_when=_EVERY)
        answers = await asyncio.gather(*(_report(suite, campaign, _pair("ahead")) for _ in range(6)))
        assert {each.status_code for each in answers} == {200}
        assert len(_events(suite, "campaign.stopped")) == len(_events(suite, "campaign.verdicts_changed")) == 1

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"stop_when": "never"}, "stop_when"),
            ({"stop_when": {"width": 0}}, "stop_when"),
            ({"margin": 1}, "margin"),
            ({"stop_when": _EVERY, "mode": "import"}, "leave it out in mode import"),
            ({"margin": 0.1, "protocol": "dialogue_likert"}, "other protocols give no verdicts"),
        ],
    )
    async def test_is_refused_where_there_are_no_verdicts(self, suite: RunningSuite, settings: Any, said: str):
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": "00000000-0000-0000-0000-000000000001"} | settings
        answer = await admin.post("/v1/campaigns", json=body)
        assert answer.status_code == 422
        assert said in answer.text


class TestReports:
    async def test_are_events_where_the_number_of_decided_pairs_changes(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        await _report(suite, campaign, _pair("ahead"), _pair("open"))
        await _report(suite, campaign, _pair("ahead"), _pair("open"))
        await _report(suite, campaign, _pair("ahead"), _pair("behind"))
        named = {"campaign": {"id": campaign["id"], "name": campaign["name"]}, "pairs": 2}
        assert _events(suite, "campaign.verdicts_changed") == [named | {"decided": 1}, named | {"decided": 2}]

    async def test_are_refused_to_everybody_but_services(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        for role in ("admin", "analyst", "annotation"):
            assert (await _report(suite, campaign, role=role)).status_code == 403

    @pytest.mark.parametrize("wrong", [_pair("best"), _pair("ahead", low=-2)])
    async def test_with_nonsense_are_refused(self, suite: RunningSuite, wrong: Any):
        campaign = await campaign_of(suite)
        assert (await _report(suite, campaign, wrong)).status_code == 422

    async def test_about_no_campaign_are_refused(self, suite: RunningSuite):
        assert (await _report(suite, {"id": "00000000-0000-0000-0000-000000000001"})).status_code == 404

    async def test_list_open_campaigns_alone(self, suite: RunningSuite):
        running = await campaign_of(suite)
        await create_campaign(suite, "draft", running["collection_id"], name="draft", open=False)
        service = await suite.client("annotation", "service")
        found = (await service.get("/v1/campaigns", params={"state": "open"})).json()["items"]
        assert [each["id"] for each in found] == [running["id"]]
        assert (await service.get("/v1/campaigns", params={"state": "ajar"})).status_code == 422
