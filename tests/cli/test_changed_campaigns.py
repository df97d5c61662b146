"""A campaign's file that was changed: what differs is said, and applied with `--change`."""

from pathlib import Path

import pytest

from spotthebot.cli.campaigns.run import declare
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.errors import CampaignNameTaken
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.annotation.panels import ProlificPanel
from spotthebot.local.runtime.session import Clients
from tests.factories.declared_campaigns import SMALL, Write, annotate_simulated
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

PANEL = "panel: {kind: prolific, completion_code: WRONG}\n"


@pytest.fixture(autouse=True)
async def collection(suite: RunningSuite) -> str:
    return await import_conversations(suite, [conversation(f"c{number}", "one", "other") for number in range(4)])


class TestChangedFile:
    async def test_changes_what_may_change_while_annotators_work(
        self, clients: Clients, declared: Write, tmp_path: Path
    ):
        made = await declare(clients, declared(SMALL + PANEL), opens=True)
        (tmp_path / "read.md").write_text("Read this.")
        text = (SMALL + PANEL).replace("WRONG", "RIGHT") + "instructions: read.md\nlease_minutes: 30\n"
        text = text.replace("annotations_per_segment: 2", "annotations_per_segment: 3")
        with pytest.raises(CampaignNameTaken, match=r"change it with --change"):
            await declare(clients, declared(text), opens=False)
        changed = await declare(clients, declared(text), opens=False, changes=True)
        assert (changed.campaign.id, changed.campaign.state) == (made.campaign.id, CampaignState.OPEN)
        assert changed.campaign.panel == ProlificPanel(kind="prolific", completion_code="RIGHT")
        assert (changed.campaign.instructions, changed.campaign.lease_minutes) == ("Read this.", 30)
        assert "the instructions differ" in changed.changed
        assert "lease_minutes is 60 there, 30 here" in changed.changed
        again = await declare(clients, declared(text), opens=False, changes=True)
        assert (again.campaign, again.changed, again.is_new) == (changed.campaign, (), False)

    async def test_is_the_same_with_a_pay_that_the_service_writes_with_other_digits(
        self, clients: Clients, declared: Write
    ):
        paid = SMALL + "pay: {per_package: 1.5, currency: EUR}\n"
        made = await declare(clients, declared(paid), opens=False)
        again = await declare(clients, declared(paid), opens=False)
        assert (again.campaign, again.is_new) == (made.campaign, False)

    async def test_names_the_lines_of_what_may_not_change(self, clients: Clients, declared: Write):
        await declare(clients, declared(SMALL), opens=True)
        other = declared(SMALL.replace("[1, 2]", "[1]") + "seed: 4\n")
        with pytest.raises(DeclarationFaulty) as raised:
            await declare(clients, other, opens=False, changes=True)
        said = {fault.key: fault.reason for fault in raised.value.faults}
        assert set(said) == {"segments", "seed"}
        assert said["segments"].startswith("can't change once a campaign was opened: packages show these lengths")
        assert all(fault.line for fault in raised.value.faults)

    async def test_builds_a_draft_again(self, clients: Clients, declared: Write):
        first = await declare(clients, declared(SMALL), opens=False)
        shorter = declared(SMALL.replace("[1, 2]", "[1]"))
        changed = await declare(clients, shorter, opens=False, changes=True)
        assert (changed.campaign.id, changed.campaign.state) == (first.campaign.id, CampaignState.DRAFT)
        assert (changed.campaign.items, changed.campaign.segments) == (4, (1,))

    async def test_adds_a_collection_to_a_campaign_that_is_complete(
        self, clients: Clients, declared: Write, suite: RunningSuite, collection: str
    ):
        made = await declare(clients, declared(SMALL.replace("[im]", f"[{collection}]")), opens=True)
        await annotate_simulated(clients, made.campaign, 8)
        done = await clients.annotation.get_campaign(made.campaign.id)
        assert done.state is CampaignState.COMPLETE
        more = await import_conversations(suite, [conversation("more", "one", "other")])
        text = SMALL.replace("[im]", f"[{collection}, {more}]")
        changed = await declare(clients, declared(text), opens=False, changes=True)
        assert (changed.campaign.state, changed.campaign.items) == (CampaignState.OPEN, done.items + 2)
