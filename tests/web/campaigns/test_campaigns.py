"""Administrators make a campaign by its form, and show its results to everybody once it ended."""

import re
from typing import Any
from uuid import UUID

import httpx
import pytest

from spotthebot.contracts.annotation.verdicts import ReportedVerdict, VerdictReportIn
from tests.factories.annotator_trainings import store_gold, training_campaign
from tests.factories.campaigns import campaign_of, open_campaign
from tests.factories.chat_studies import import_chats
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite

ONCE = UUID(int=1).hex
PAID: dict[str, Any] = {"pay_per_package": "1.50", "currency": "EUR", "package_size": 20}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics", "web")


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

    async def test_show_how_many_submissions_a_drawn_part_needs(self, suite: RunningSuite, admin: httpx.AsyncClient):
        """Four conversations, one in each package, and three of them for two annotators."""
        campaign = await campaign_of(suite, 4, segments=[1], package_size=1, units_twice=3)
        shown = (await admin.get(f"/admin/campaigns/{campaign['id']}")).text
        assert '<dt>Packages submitted</dt><dd>0 <span class="soft">of 7</span></dd>' in shown
        assert "<dt>Dialogues or pairs annotated twice</dt><dd>3</dd>" in shown
        form = (await admin.get(f"/admin/campaigns/{campaign['id']}/edit")).text
        assert re.search(r'name="units_twice"[^>]* value="3"[^>]* disabled', form)

    async def test_show_when_they_stop_and_why_they_did(self, suite: RunningSuite, admin: httpx.AsyncClient):
        campaign = await campaign_of(suite, margin=0.25, stop_when={"width": 0.5})
        page = f"/admin/campaigns/{campaign['id']}"
        assert "<dd>Once the bounds of every pair are narrow: 0.50</dd>" in (await admin.get(page)).text
        form = (await admin.get(f"{page}/edit")).text
        assert '<option value="width" selected>' in form
        assert re.search(r'name="width"[^>]* value="0.5"', form)
        assert re.search(r'name="margin"[^>]* value="0.25"', form)
        narrow = ReportedVerdict(verdict="open", low=-0.1, high=0.1)
        annotation = await suite.annotation("service")
        await annotation.report_verdicts(UUID(campaign["id"]), VerdictReportIn(verdicts=(narrow,), packages=()))
        assert (
            "Paused by itself: the bounds of every pair of bots are at most 0.50 wide." in (await admin.get(page)).text
        )
        german = await admin.get(page, headers={"Accept-Language": "de"})
        assert "Von selbst pausiert" in german.text
        opened = await admin.post(f"{page}/open")
        assert opened.status_code in {200, 303}, opened.text
        assert "Paused by itself" not in (await admin.get(page)).text

    async def test_show_whose_dialogues_are_paired(self, suite: RunningSuite, admin: httpx.AsyncClient):
        collection = await import_chats(suite, exported_chats(3))
        campaign = await open_campaign(suite, collection, protocol="comparative", pairs="same_person")
        pairs = "Two that one person had with different bots"
        page = f"/admin/campaigns/{campaign['id']}"
        assert f"<dt>Pairs of dialogues</dt><dd>{pairs}</dd>" in (await admin.get(page)).text
        form = (await admin.get(f"{page}/edit")).text
        assert f'<option value="same_person" selected>{pairs}</option>' in form
        assert re.search(r'<select id="pairs"[^>]* disabled', form)

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
