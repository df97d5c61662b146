"""What a report says beside results, read from the services: the design of a study, sample conversations, names."""

from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from spotthebot.analytics.results.domain.chat_times import chat_times
from spotthebot.cli.results.ranking import rank
from spotthebot.cli.results.report import get_annotator_names
from spotthebot.contracts.annotation.assignments import BlockIn
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut
from spotthebot.contracts.annotation.payments import BonusIn
from spotthebot.local.background import wait_until_built
from spotthebot.local.progress import showing_progress
from spotthebot.local.report.campaign_data import read_design, read_samples
from spotthebot.local.report.design import Design
from spotthebot.local.report.design_tables import design_tables
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.work import annotate
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, add_corpus, conversation, created, import_conversations, plan, until

PAY: dict[str, Any] = {"pay_per_package": Decimal("1.50"), "currency": "EUR"}


async def _campaign(clients: Clients, *collections: str, **more: Any) -> CampaignOut:
    """Make a campaign and have it annotated by eight people."""
    request = CampaignIn(
        name="c",
        domain="everyday",
        collections=tuple(map(UUID, collections)),
        segments=(1, 2),
        package_size=8,
        seed=5,
        **more,
    )
    made = await wait_until_built(clients.annotation, await clients.annotation.create_campaign(request))
    people = [replace(each, name=f"person {each.name[-2:]}") for each in simulated_annotators(8, seed=7)]
    with showing_progress() as steps, steps.step("At work") as step:
        await annotate(clients.tasks, made, people, step.advance)
    return await clients.annotation.get_campaign(made.id)


@pytest.fixture
async def held(suite: RunningSuite) -> str:
    """A collection of six conversations between three bots, with openings, and of two between people."""
    corpus = await add_corpus(suite)
    bots = [await add_bot(suite, model) for model in ("eliza", "parrot", "dull")]
    admin = await suite.client("conversations", "admin")
    pools = {"opening": {"corpus_id": corpus}, "humans": {"corpus_id": corpus, "conversations": 2}}
    collection = await created(admin, "/v1/collections", plan(bots, **pools))
    await until(admin, f"/v1/collections/{collection['id']}", "complete")
    return collection["id"]


async def _facts(clients: Clients, campaign: CampaignOut, design: Design) -> dict[str, Any]:
    analysis = await rank(clients, campaign.id, {"resamples": 20})
    facts, _ = design_tables(design, analysis)
    *others, weakest = (each.name for each in analysis.speakers if each.place)
    found = {str(fact): value for fact, value in facts.rows}
    assert found.pop("Bots") == f"{', '.join(others)} and {weakest}"
    return found


class TestDesign:
    async def test_is_that_of_the_campaign_its_collections_and_its_payments(self, clients: Clients, held: str):
        campaign = await _campaign(clients, held, **PAY)
        annotators = [each async for each in clients.annotation.list_annotators(campaign.id)]
        worked = [each for each in annotators if each.packages]
        await clients.annotation.grant_bonus(campaign.id, worked[0].id, BonusIn(amount=Decimal("0.40"), reason="good"))
        await clients.annotation.block_annotator(campaign.id, worked[0].id, BlockIn(reason="too fast"))
        design = await read_design(clients, campaign)
        facts = await _facts(clients, campaign, design)
        # 8 conversations at 2 lengths by 2 annotators are 32 annotations, in packages of 8: 4 x 1.50 EUR, and 0.40 EUR.
        assert campaign.annotations == 32
        assert campaign.submitted == 4
        expected = {
            "Protocol": "spot_the_bot, version 1",
            "Conversations": "8 complete, 2 of them between people (25 %); 8 annotated",
            "Mode of collection": "all-play-all",
            "Exchanges in a conversation": "2",
            "Exchanges shown to annotators": "1 and 2",
            "With an opening": "8 conversations (100 %)",
            "Conversations left out": "none",
            "Annotations of a segment": "2 asked for, 2.00 counted on average",
            "Packages": f"{campaign.packages}, made by the service, of at most 8 items",
            "Recruitment": "by no panel",
            "Training": "none",
            "Screening": "1 blocked",
            "Pay": "1.50 EUR for a package",
            "Paid": f"6.40 EUR to {len(worked)} annotators: 6.00 for packages, 0.40 as bonuses",
            "Cost": "0.800 for a conversation, 0.200 for an annotation (EUR)",  # 6.40 / 8 and 6.40 / 32
            "Seeds": "collection small 3, campaign 5, results 5",
        }
        assert {fact: facts[fact] for fact in expected} == expected
        today = f"{campaign.created_at:%Y-%m-%d}"
        assert facts["Annotated"].startswith(today)
        _, collections = design_tables(design, await rank(clients, campaign.id, {"resamples": 20}))
        opening = "first exchange of small (split openings), hidden from annotators"
        people = "2 of small (split openings)"
        assert collections.rows == (("small", "all-play-all", opening, 1.0, people, 2, 2, 8, 0, "3"),)
        times = chat_times(design.collections[0].collection, ())
        chatted = replace(design, collections=[replace(design.collections[0], times=times)])
        *_, chats = design_tables(chatted, await rank(clients, campaign.id, {"resamples": 20}))
        assert (chats.key, chats.rows) == ("chats", (("small", 0, 0, None, None, None),))

    async def test_says_how_many_conversations_were_drawn_for_two_annotators(
        self, suite: RunningSuite, clients: Clients
    ):
        """Four conversations at two lengths, one of them drawn: 10 annotations of 8 segments."""
        collection = await import_conversations(suite, [conversation(f"c{at}", "x", "y") for at in range(4)])
        campaign = await _campaign(clients, collection, units_twice=1)
        facts = await _facts(clients, campaign, await read_design(clients, campaign))
        assert facts["Annotations of a segment"] == "1 asked for, 2 in 1 drawn conversations, 1.25 counted on average"

    async def test_leaves_out_what_an_analyst_may_not_see(self, suite: RunningSuite, clients: Clients):
        collection = await import_conversations(
            suite, [conversation(f"c{at}", "x", "y", 2 + at % 2) for at in range(4)]
        )
        campaign = await _campaign(clients, collection, **PAY)
        key = await suite.keys.make("analyst")
        async with Clients(suite.urls, admin_key=key, frontend_key=key) as analysts:
            design = await read_design(analysts, campaign)
            facts = await _facts(analysts, campaign, design)
            samples = await read_samples(analysts, design, "none", 1)
        assert samples.transcripts
        assert (design.paid, design.screened) == (None, None)
        assert facts["Pay"] == "1.50 EUR for a package"
        assert not {"Paid", "Cost"} & set(facts)
        assert facts["Exchanges in a conversation"] == "2 to 3, median 2.5"
        assert facts["Mode of collection"] == "imported"
        assert facts["With an opening"] == "not known of imported conversations"
        assert "Conversations imported" in facts
        assert "Conversations held" not in facts


class TestSamples:
    async def test_have_texts_labels_and_annotators_whose_ids_can_be_asked_for(
        self, suite: RunningSuite, clients: Clients
    ):
        collection = await import_conversations(suite, [conversation(f"c{at}", "x", "y") for at in range(4)])
        campaign = await _campaign(clients, collection)
        samples = await read_samples(clients, await read_design(clients, campaign), "complete_packages", 2)
        assert samples.reason is None
        given = {
            (each.conversation_id, each.exchanges, each.annotator)
            async for each in clients.annotation.stream_annotations(campaign.id)
        }
        names = await get_annotator_names(clients, campaign.id)
        assert {names[annotator] for _, _, annotator in given} <= {f"person {at:02}" for at in range(1, 9)}
        shown = [each for group in samples.groups for each in group.selected]
        assert shown
        for each in shown:
            mine = {(row.conversation, row.exchanges, row.annotator) for row in each.annotations}
            assert mine == {row for row in given if row[0] == each.conversation}
            assert samples.transcripts[each.conversation].turns[0].text.endswith("says 0")

    async def test_are_none_for_a_reason_where_labels_came_without_texts(self, suite: RunningSuite, clients: Clients):
        silent = [conversation(f"c{at}", "x", "y") for at in range(2)]
        for each in silent:
            each["turns"] = [turn | {"text": ""} for turn in each["turns"]]
        campaign = await _campaign(clients, await import_conversations(suite, silent))
        samples = await read_samples(clients, await read_design(clients, campaign), "none", 2)
        assert samples.groups == ()
        assert samples.reason is not None
        assert samples.reason.startswith("The labels of this campaign were imported without the texts")
