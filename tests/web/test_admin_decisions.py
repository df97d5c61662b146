"""What administrators decide on the pages: bonuses, rejections, attempts, erasure, trainings, results for everybody."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from spotthebot.web.pages.admin.annotators import AUDITED
from tests.factories.annotating import campaign_of, claim, work_through
from tests.factories.annotator_trainings import WRONG, respond, start, store_gold, training, training_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.signing_in import signed_in

ANNOTATION = Path(__file__).parents[2] / "services" / "spotthebot" / "annotation"
ONCE = UUID(int=1).hex
PAID: dict[str, Any] = {"pay_per_package": "1.50", "currency": "EUR", "package_size": 20}
HOSTILE = "<script>x</script>"


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

    def test_decisions_that_are_audited_are_all_known(self):
        code = "\n".join(path.read_text() for path in ANNOTATION.rglob("*.py"))
        assert set(re.findall(r'action="([a-z_.]+)"', code)) - set(AUDITED) == set()


class TestTrainings:
    async def test_are_stored_from_a_file_and_shown_as_text(self, admin: httpx.AsyncClient):
        document = training(name="hostile", title=HOSTILE)
        for content in (document, {"training": document}):  # the same file again changes nothing
            stored = await admin.post("/admin/trainings", files={"file": ("t.json", json.dumps(content))})
            assert stored.headers["location"] == "/admin/trainings/hostile/1"
        shown = await admin.get("/admin/trainings/hostile/1")
        assert (HOSTILE in shown.text, "&lt;script&gt;" in shown.text) == (False, True)
        assert "&lt;script&gt;" in (await admin.get("/admin/trainings")).text

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"", "This is not JSON"),
            (b"[1", "This is not JSON"),
            (b"[" * 100, "nested 32 deep"),
            (b"[]", "must be an object"),
            (json.dumps(training(allowed_mistakes=-1)).encode(), "<code>/allowed_mistakes</code>: must be at least 0"),
            (json.dumps(training(questions=["no_such"])).encode(), "<code>/questions/0</code>"),
            (json.dumps(training(protocol="no_such")).encode(), "There is no protocol"),
        ],
    )
    async def test_files_that_cannot_be_stored_are_explained_by_their_places(
        self, admin: httpx.AsyncClient, content: bytes, fault: str
    ):
        answer = await admin.post("/admin/trainings", files={"file": ("t.json", content)})
        assert (answer.status_code, "Nothing was stored" in answer.text) == (422, True)
        assert fault in answer.text


class TestCampaigns:
    async def test_are_made_with_training_gold_and_checks(self, suite: RunningSuite, admin: httpx.AsyncClient):
        campaign = await training_campaign(suite)
        await store_gold(suite, 4)
        form = {
            "name": "checked",
            "collections": campaign["collections"],
            "protocol": "spot_the_bot:1",
            "segments": "1, 2",
            "annotations_per_segment": "1",
            "package_size": "2",
            "packages_per_annotator": "2",
            "training": "first_steps:1",
            "attempts": "2",
            "gold": "gold_set:1",
            "per_package": "1",
            "max_strikes": "1",
            "min_seconds_per_item": "2",
            "strike_fast_packages": "on",
            "pay_per_package": "1,50",
            "currency": "EUR",
        }
        wrong = await admin.post("/admin/campaigns/new", data=form | {"gold": "gold_set:7", "max_strikes": "0"})
        assert wrong.status_code == 422
        assert 'value="gold_set:1"' in wrong.text
        assert 'id="max_strikes-fault"' in wrong.text
        made = await admin.post("/admin/campaigns/new", data=form)
        assert made.status_code == 303, made.text
        found = await (await suite.annotation("admin")).get_campaign(UUID(made.headers["location"].rsplit("/", 1)[1]))
        assert found.training is not None
        assert found.gold is not None
        assert (found.training.name, found.training.attempts) == ("first_steps", 2)
        assert (found.gold.training, found.gold.version, found.gold.per_package) == ("gold_set", 1, 1)
        assert (found.max_strikes, found.min_seconds_per_item, found.strike_fast_packages) == (1, 2.0, True)
        assert str(found.pay_per_package) == "1.50"

    async def test_give_their_annotations_as_files(self, suite: RunningSuite, admin: httpx.AsyncClient):
        campaign = await campaign_of(suite, **PAID)
        await _annotator(suite, campaign, "p-17")
        base = f"/admin/campaigns/{campaign['id']}/export"
        given = await admin.get(f"{base}/annotations.csv")
        assert given.headers["content-disposition"] == 'attachment; filename="annotations.csv"'
        service = await suite.client("annotation", "admin")
        of_service = await service.get(f"/v1/campaigns/{campaign['id']}/export?format=csv")
        assert given.content == of_service.content
        assert "p-17" not in given.text
        assert (await admin.get(f"{base}/annotations.exe")).status_code == 422
        missing = await admin.get(f"/admin/campaigns/{UUID(int=1)}/export/annotations.csv")
        assert (missing.status_code, missing.headers["content-type"]) == (404, "text/html; charset=utf-8")

    async def test_show_their_results_to_everybody_once_they_ended(self, suite: RunningSuite, admin: httpx.AsyncClient):
        campaign = await campaign_of(suite, **PAID)
        page = f"/admin/campaigns/{campaign['id']}"
        assert (await admin.post(f"{page}/publish")).status_code == 409
        form = {"once": ONCE}
        assert [(await admin.post(f"{page}/close", data=form)).status_code for _ in range(2)] == [303, 303]
        assert "anybody reads without a key" in (await admin.get(f"{page}/publish")).text
        await admin.post(f"{page}/publish")
        shown = (await admin.get(page)).text
        assert ("results public" in shown, f"{page}/publish" in shown, f"{page}/withdraw" in shown) == (
            True,
            False,
            True,
        )
        await admin.post(f"{page}/withdraw")
        assert f"{page}/publish" in (await admin.get(page)).text
        assert "Results published" in (await admin.get(f"{page}/audit")).text

    async def test_lend_their_colours_to_the_pages_of_their_collection(
        self, suite: RunningSuite, admin: httpx.AsyncClient
    ):
        campaign = await campaign_of(suite, **PAID)
        await _annotator(suite, campaign, "p-17")
        speakers = (await (await suite.analytics("analyst")).time(campaign["id"])).speakers
        for page in ("/admin/collections", "/conversations"):
            shown = (await admin.get(f"{page}/{campaign['collections'][0]}")).text
            marked = re.findall(r'on-light" fill="(#\w+)".*?<bdi>([^<]+)</bdi>', shown)
            assert set(marked) == {(each.colour, each.name) for each in speakers}
            assert f'href="/campaigns/{campaign["id"]}"' in shown
