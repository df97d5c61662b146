"""What administrators decide about annotators on the pages: bonuses, rejections, attempts, erasure."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.factories.annotating import claim, work_through
from tests.factories.annotator_trainings import WRONG, respond, start, training_campaign
from tests.factories.campaigns import campaign_of
from tests.factories.pages import signed_in
from tests.factories.running_suite import RunningSuite

ONCE = UUID(int=1).hex
HOSTILE = "<script>x</script>"
PAID: dict[str, Any] = {"pay_per_package": "1.50", "currency": "EUR", "package_size": 20}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


@pytest.fixture(scope="module")
async def suite(module_suite: RunningSuite) -> RunningSuite:
    """The file's services with the data of all its tests."""
    return module_suite


@pytest.fixture(scope="module")
async def admin(suite: RunningSuite) -> AsyncIterator[httpx.AsyncClient]:
    """An administrator who signed in."""
    async with signed_in(suite, "admin") as client:
        yield client


async def _annotator(suite: RunningSuite, campaign: Mapping[str, Any], name: str) -> str:
    """Let somebody submit a package; returns the path of their page."""
    await work_through(suite, await claim(suite, campaign, name))
    return await _page_of(suite, campaign, name)


async def _page_of(suite: RunningSuite, campaign: Mapping[str, Any], name: str) -> str:
    service = await suite.annotation("admin")
    (found,) = (await service.list_annotators(campaign["id"], annotator=name).page()).items
    return f"/admin/campaigns/{campaign['id']}/annotators/{found.id}"


class TestBonuses:
    async def test_sent_twice_at_once_are_granted_once_and_stand_in_the_payments(
        self, suite: RunningSuite, admin: httpx.AsyncClient
    ):
        campaign = await campaign_of(suite, **PAID)
        page = await _annotator(suite, campaign, "p-17")
        form = {"once": ONCE, "amount": " 2,50 ", "reason": "found a mistake"}
        both = await asyncio.gather(*(admin.post(f"{page}/bonus", data=form) for _ in range(2)))
        assert [(each.status_code, each.headers["location"]) for each in both] == [(303, page)] * 2
        payments = await admin.get(f"/admin/campaigns/{campaign['id']}/payments")
        assert re.findall(r"(\d+\.\d\d)", payments.text)[:3] == ["1.50", "2.50", "4.00"]  # pay, bonuses, total
        assert "found a mistake" in (await admin.get(page)).text

    @pytest.mark.parametrize(
        ("typed", "fault"),
        [
            ({"amount": "a lot", "reason": "x"}, "must be a number"),
            ({"amount": "1,500", "reason": "x"}, "must be a number"),
            ({"amount": "1", "reason": " "}, "is missing"),
        ],
    )
    async def test_are_asked_for_again_with_what_was_typed_where_something_is_wrong(
        self, suite: RunningSuite, admin: httpx.AsyncClient, typed: dict[str, str], fault: str
    ):
        page = await _annotator(suite, await campaign_of(suite, **PAID), "p-17")
        answer = await admin.post(f"{page}/bonus", data=typed)
        assert (answer.status_code, fault in answer.text) == (422, True)
        assert f'value="{typed["amount"]}"' in answer.text


class TestRejections:
    async def test_take_a_package_from_the_payments_and_only_of_its_own_annotator(
        self, suite: RunningSuite, admin: httpx.AsyncClient
    ):
        campaign = await campaign_of(suite, **PAID)
        mine, other = await _annotator(suite, campaign, "one"), await _annotator(suite, campaign, "two")
        (reject,) = re.findall(rf"{mine}(/packages/[^\"]+/reject)", (await admin.get(mine)).text)
        assert (await admin.get(f"{other}{reject}")).status_code == 404
        assert (await admin.post(f"{mine}{reject}", data={"reason": ""})).status_code == 422
        rejected = await admin.post(f"{mine}{reject}", data={"reason": HOSTILE})
        assert rejected.headers["location"] == mine
        shown = (await admin.get(mine)).text
        assert ("rejected" in shown, HOSTILE in shown, f"{reject}" in shown) == (True, False, False)
        paid = (await admin.get(f"/admin/campaigns/{campaign['id']}/payments")).text
        assert ("two" in paid, ">one<" in paid) == (True, False)


class TestAttempts:
    async def test_are_granted_once_to_who_failed_the_training(self, suite: RunningSuite, admin: httpx.AsyncClient):
        campaign = await training_campaign(suite)
        await start(suite, campaign, "p-17")
        for position in range(3):
            await respond(suite, campaign, "p-17", position, WRONG)
        page = await _page_of(suite, campaign, "p-17")
        shown = (await admin.get(page)).text
        assert ("failed the training" in shown, ">active<" in shown) == (True, False)
        assert re.findall(rf'href="{page}/(\w+)"', shown) == ["attempt", "block", "erase"]
        (number,) = re.findall(r'name="attempt" value="(\d+)"', (await admin.get(f"{page}/attempt")).text)
        form = {"attempt": number, "reason": "the first dialogue was unclear"}
        assert [(await admin.post(f"{page}/attempt", data=form)).status_code for _ in range(2)] == [303, 303]
        assert (await admin.get(f"{page}/attempt")).status_code == 409
        assert (await start(suite, campaign, "p-17")).json()["attempt"] == 2
        assert (await admin.post(f"{page}/attempt", data={"reason": "x", "attempt": "²"})).status_code == 409


class TestErasure:
    async def test_says_what_nobody_can_undo_and_leaves_nothing_to_decide(
        self, suite: RunningSuite, admin: httpx.AsyncClient
    ):
        page = await _annotator(suite, await campaign_of(suite, **PAID), "p-17")
        assert "Nobody can undo it" in (await admin.get(f"{page}/erase")).text
        assert (await admin.post(f"{page}/erase", data={"submitted_texts": "neither"})).status_code == 422
        erased = await admin.post(f"{page}/erase", data={"submitted_texts": "keep"})
        shown = (await admin.get(erased.headers["location"])).text
        assert ("erased" in shown, "p-17" in shown, "data-confirm" in shown) == (True, False, True)
        assert re.findall(rf'href="{page}/(\w+)"', shown) == []
        assert (await admin.post(f"{page}/nothing", data={"reason": "x"})).status_code == 404


class TestLists:
    async def test_annotators_are_narrowed_by_id_and_state(self, suite: RunningSuite, admin: httpx.AsyncClient):
        campaign = await campaign_of(suite, **PAID)
        blocked = await _annotator(suite, campaign, "one")
        await _annotator(suite, campaign, "two")
        await admin.post(f"{blocked}/block", data={"reason": "too fast"})
        base = f"/admin/campaigns/{campaign['id']}/annotators"
        shown = {
            query: re.findall(r"<bdi>(one|two)</bdi></a>", (await admin.get(f"{base}?{query}")).text)
            for query in ("", "annotator=two", "only=blocked", "only=appealed", "annotator=tw")
        }
        assert shown == {
            "": ["one", "two"],
            "annotator=two": ["two"],
            "only=blocked": ["one"],
            "only=appealed": [],
            "annotator=tw": [],
        }
