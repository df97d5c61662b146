"""Campaigns that files declare, on a running suite, and simulated annotators who work on them."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from spotthebot.analytics.stats import Design, power_of
from spotthebot.analytics.stats.design_reach import lowest_p
from spotthebot.cli.campaigns.run import declare, estimate
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.errors import CampaignNameTaken, NoSuchName
from spotthebot.cli.resources.directories import Campaigns
from spotthebot.cli.resources.resolver import find
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.assignments import AnswerIn, ClaimIn, ExchangeIn
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.annotation.panels import ProlificPanel
from spotthebot.contracts.annotation.requirements import GoldItems, RequiredTraining
from spotthebot.local.errors import JobFailed
from spotthebot.local.runtime.session import Clients
from spotthebot.simulation.errors import PanelNotSimulated
from spotthebot.simulation.work import SimulatedWork
from tests.factories.annotator_trainings import gold_dialogue, training
from tests.factories.campaigns import make_turk_campaign
from tests.factories.declared_campaigns import SMALL, Write, annotate_simulated
from tests.factories.protocols import document, single
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, conversation, created, import_conversations, plan

CHECKED = """\
trainings: [first.json, gold.json]
training: {name: first_steps, attempts: 2}
gold: {training: gold_set, per_package: 1}
max_strikes: 2
min_seconds_per_item: 3
"""


@pytest.fixture
async def collection(suite: RunningSuite) -> str:
    """Four conversations of three exchanges, and one of a single exchange."""
    spoken = [conversation(f"c{number}", "one", "other") for number in range(4)]
    return await import_conversations(suite, [*spoken, conversation("short", "one", "other", exchanges=1)])


async def _campaigns(clients: Clients) -> list[CampaignOut]:
    return [each async for each in clients.annotation.list_campaigns()]


@pytest.mark.usefixtures("collection")
class TestDeclare:
    async def test_makes_the_draft_that_the_dry_run_said(self, clients: Clients, declared: Write, collection: str):
        """Four conversations fit in two blocks of two, and each block makes a package for each of two lengths."""
        # 4 packages, each submitted twice: at most 8 annotators.
        design = Design(annotations_per_conversation=4, annotators=8)
        expected: dict[str, Any] = {
            "campaign": None,
            "name": "people",
            "packages": 4,
            "segments": 8,
            "conversations": {"used": 4, "too_short": 1},
            "repeated_texts": [],
            "reach": {
                "pairs": 1,
                "conversations": 5,
                "smallest_p": lowest_p(5, design),
                "least_conversations": 2,
                "power": power_of(0.75, 5, design),
            },
        }
        request = declared(SMALL + "pay: {per_package: 1.5, currency: EUR}\n")
        said = await estimate(clients, request)
        assert said.account == expected
        assert await _campaigns(clients) == []
        made = await declare(clients, request, opens=False)
        assert made.account == expected | {"campaign": str(made.campaign.id)}
        assert made.is_new
        # 4 packages, each annotated twice, and at most two for an annotator: one of either block. 8 x 1.50 EUR.
        assert (made.preview.annotators, made.preview.pay) == (4, Decimal("12.00"))
        seen = made.campaign
        assert (seen.state, seen.collection_id, seen.domain) == (CampaignState.DRAFT, UUID(collection), "everyday")
        assert (seen.packages_per_annotator, seen.lease_minutes, seen.protocol) == (2, 60, "spot_the_bot")

    async def test_the_same_file_again_changes_nothing_and_opens_a_draft_with_the_option(
        self, clients: Clients, declared: Write
    ):
        first = await declare(clients, declared(SMALL), opens=False)
        again = await declare(clients, declared(f"# another comment\n{SMALL}"), opens=False)
        assert (again.campaign, again.is_new) == (first.campaign, False)
        assert (await estimate(clients, declared(SMALL))).campaign == first.campaign
        for opens in (True, False, True):  # an open one stays open
            opened = await declare(clients, declared(SMALL), opens=opens)
            assert (opened.campaign.id, opened.campaign.state) == (first.campaign.id, CampaignState.OPEN)
        assert len(await _campaigns(clients)) == 1

    async def test_stores_the_trainings_that_it_names_and_requires_them(
        self, clients: Clients, declared: Write, tmp_path: Path
    ):
        gold = [gold_dialogue(f"gold {number}") for number in range(2)]
        for file, written in (("first", training()), ("gold", training(name="gold_set", dialogues=gold))):
            (tmp_path / f"{file}.json").write_text(json.dumps(written))
        first = await declare(clients, declared(SMALL + CHECKED), opens=False)
        assert first.campaign.training == RequiredTraining(name="first_steps", version=1, attempts=2)
        assert first.campaign.gold == GoldItems(training="gold_set", version=1, per_package=1)
        assert (first.campaign.max_strikes, first.campaign.min_seconds_per_item) == (2, 3)
        assert not (await declare(clients, declared(SMALL + CHECKED), opens=False)).is_new
        other = SMALL + CHECKED.replace("attempts: 2", "attempts: 3")
        with pytest.raises(CampaignNameTaken, match=r'training is .*"attempts": 2} there'):
            await declare(clients, declared(other), opens=False)

    async def test_another_file_under_the_name_is_refused_with_every_difference(
        self, clients: Clients, declared: Write, tmp_path: Path
    ):
        await declare(clients, declared(SMALL), opens=False)
        (tmp_path / "read.md").write_text("Read this.")
        other = SMALL.replace("_size: 2", "_size: 3").replace("[1, 2]", "[1]") + "seed: 1\ninstructions: read.md\n"
        for attempt in (declare(clients, declared(other), opens=True), estimate(clients, declared(other))):
            with pytest.raises(CampaignNameTaken) as raised:
                await attempt
            assert str(raised.value) == (
                "The campaign 'people' differs from this file (segments is [1, 2] there, [1] here; package_size is 2 "
                "there, 3 here; seed is 0 there, 1 here; the instructions differ): choose another name, or change it "
                "with --change."
            )
        (only,) = await _campaigns(clients)
        assert only.state is CampaignState.DRAFT

    async def test_hands_panel_and_consent_on_and_compares_them(
        self, clients: Clients, declared: Write, tmp_path: Path
    ):
        (tmp_path / "consent.md").write_text("We keep your labels.")
        text = SMALL + "consent: consent.md\npanel: {kind: prolific, completion_code: C1ODE7}\n"
        made = (await declare(clients, declared(text), opens=True)).campaign
        assert made.consent == "We keep your labels."
        assert made.panel == ProlificPanel(kind="prolific", completion_code="C1ODE7")
        assert not (await declare(clients, declared(text), opens=True)).is_new
        (tmp_path / "consent.md").write_text("We keep them longer.")
        with pytest.raises(
            CampaignNameTaken, match=r"panel is .*C1ODE7.* there.*C2.* here; the text of consent is another"
        ):
            await declare(clients, declared(text.replace("C1ODE7", "C2")), opens=True)

    async def test_a_failed_campaign_says_why_and_leaves_the_name_free(self, clients: Clients, declared: Write):
        longer = declared(SMALL.replace("[1, 2]", "[1, 9]"))
        for _ in range(2):  # the second call finds the first one's
            with pytest.raises(JobFailed, match="No conversation has the 9 exchanges"):
                await declare(clients, longer, opens=True)
        assert len(await _campaigns(clients)) == 1
        with pytest.raises(DeclarationFaulty, match="No conversation has the 9 exchanges"):
            await estimate(clients, declared(SMALL.replace("[1, 2]", "[1, 9]").replace("people", "others")))
        made = await declare(clients, declared(SMALL), opens=True)
        assert made.is_new
        assert (await find(Campaigns(clients), "people")).id == made.campaign.id
        assert (await find(Campaigns(clients), str(made.campaign.id)[:-1])).id == made.campaign.id
        with pytest.raises(NoSuchName, match=r"^There is no campaign 'poeple': did you mean 'people'"):
            await find(Campaigns(clients), "poeple")

    async def test_stores_the_protocol_of_a_file(self, clients: Clients, declared: Write, tmp_path: Path):
        own = tmp_path / "own.json"
        own.write_text(json.dumps(document([single("sense", "yes", "no")])))
        text = f"{SMALL}protocol: ./own.json\n"
        made = await declare(clients, declared(text), opens=True)
        assert (made.campaign.protocol, made.campaign.protocol_version) == ("example", 1)
        assert not (await declare(clients, declared(text), opens=True)).is_new
        own.write_text(json.dumps(document([single("sense", "yes", "no")], version=2)))
        with pytest.raises(CampaignNameTaken, match="the protocol is of version 1 there, 2 here"):
            await declare(clients, declared(text), opens=True)
        own.write_text(json.dumps(document([single("other", "yes", "no")])))
        others = declared(text.replace("people", "others"))
        for attempt in (declare(clients, others, opens=True), estimate(clients, others)):
            with pytest.raises(DeclarationFaulty, match="Version 1 of 'example' is stored with other content"):
                await attempt

    async def test_names_the_place_of_a_fault_in_a_document_of_the_file(
        self, clients: Clients, declared: Write, tmp_path: Path
    ):
        twice = document([single("same", "yes", "no"), single("same", "yes", "no")])
        strange = training(name="strange", questions=["strange"])
        for file, written in (("own", twice), ("first", training()), ("strange", strange)):
            (tmp_path / f"{file}.json").write_text(json.dumps(written))
        for text, fault in (
            ("protocol: own.json", "protocol: own.json, /steps/0/questions/1/id: Another question has the id 'same'."),
            ("trainings: [first.json, strange.json]", "trainings[1]: strange.json, /questions/0: "),
        ):
            request = declared(f"{SMALL}{text}\n")
            for attempt in (declare(clients, request, opens=True), estimate(clients, request)):
                with pytest.raises(DeclarationFaulty) as raised:
                    await attempt
                assert str(raised.value).startswith(f"{request.file.path}, line 6: {fault}")
        assert [each async for each in clients.annotation.list_trainings()] == []

    async def test_a_dry_run_stores_neither_the_campaign_nor_the_documents_of_its_file(
        self, clients: Clients, declared: Write, tmp_path: Path
    ):
        (tmp_path / "own.json").write_text(json.dumps(document([single("sense", "yes", "no")])))
        (tmp_path / "first.json").write_text(json.dumps(training()))
        said = await estimate(clients, declared(f"{SMALL}protocol: own.json\n"))
        assert said.estimate.packages == 4
        text = f"{SMALL}trainings: [first.json]\ntraining: {{name: first_steps, attempts: 2}}\n"
        assert (await estimate(clients, declared(text))).estimate.packages == 4
        assert await _campaigns(clients) == []
        assert "example" not in {each.name async for each in clients.annotation.list_protocols()}
        assert [each async for each in clients.annotation.list_trainings()] == []

    async def test_names_every_unknown_name_with_its_line(self, clients: Clients, declared: Write):
        request = declared(SMALL.replace("[im]", "[imm]") + "protocol: spot-the-bot\n")
        with pytest.raises(DeclarationFaulty) as raised:
            await declare(clients, request, opens=False)
        lines = [line.removeprefix(f"{request.file.path}, ") for line in str(raised.value).splitlines()]
        assert lines == [
            "line 2: collections[0]: there is no collection 'imm': did you mean 'im'?",
            "line 6: protocol: there is no protocol 'spot-the-bot': did you mean 'spot_the_bot'?",
        ]
        nobody = "00000000-0000-7000-8000-000000000000"
        with pytest.raises(DeclarationFaulty, match=f"no collection '{nobody}': name one of im, or make one with"):
            await estimate(clients, declared(SMALL.replace("[im]", f"['{nobody}']")))

    async def test_asks_by_the_version_of_the_protocol_that_the_file_names(self, clients: Clients, declared: Write):
        text = SMALL + "protocol: dialogue_likert\nprotocol_version: {}\n"
        unknown = declared(text.format(9))
        for attempt in (estimate(clients, unknown), declare(clients, unknown, opens=True)):
            with pytest.raises(DeclarationFaulty) as raised:
                await attempt
            assert str(raised.value).endswith(
                "line 7: protocol_version: the protocol 'dialogue_likert' has no version 9: choose one of 1, 2."
            )
        assert await _campaigns(clients) == []
        assert (await estimate(clients, declared(text.format(1)))).campaign is None
        made = await declare(clients, declared(text.format(1)), opens=False)
        assert (made.campaign.protocol, made.campaign.protocol_version) == ("dialogue_likert", 1)
        assert not (await declare(clients, declared(text.format(1)), opens=False)).is_new
        with pytest.raises(CampaignNameTaken, match="the protocol is of version 1 there, 2 here"):
            await declare(clients, declared(text.format(2)), opens=False)

    async def test_shows_a_game_to_its_longest_length_alone(self, clients: Clients, declared: Write):
        request = declared(SMALL + "protocol: spot_the_bot_gamified\n")
        said, made = await estimate(clients, request), await declare(clients, request, opens=False)
        assert said.account | {"campaign": str(made.campaign.id)} == made.account
        assert (made.account["packages"], made.account["segments"], said.estimate.lengths) == (2, 4, (2,))
        assert made.account["conversations"] == {"used": 4, "too_short": 1}

    async def test_shows_whole_conversations_where_the_protocol_asks_about_them(
        self, clients: Clients, declared: Write
    ):
        """All five, as none is too short: in blocks of two, two and one, each with one package."""
        request = declared(SMALL + "protocol: dialogue_likert\n")
        said, made = await estimate(clients, request), await declare(clients, request, opens=False)
        assert said.account | {"campaign": str(made.campaign.id)} == made.account
        assert (made.account["packages"], made.account["segments"]) == (3, 5)
        assert made.account["conversations"] == {"used": 5, "too_short": 0}

    async def test_shows_pairs_of_dialogues_where_the_protocol_compares_them(
        self, suite: RunningSuite, clients: Clients, declared: Write
    ):
        """Three pairs of seven dialogues, in blocks of two and one, each with one package."""
        bots = ["one", "two", "one", "two", "one", "two", "one"]
        spoken = [conversation(f"p{number}", "HU", bot) for number, bot in enumerate(bots)]
        collection = await import_conversations(suite, spoken)
        request = declared(SMALL.replace("[im]", f"['{collection}']") + "protocol: comparative\n")
        said, made = await estimate(clients, request), await declare(clients, request, opens=False)
        assert said.account | {"campaign": str(made.campaign.id)} == made.account
        assert (made.account["packages"], made.account["segments"], made.campaign.unpaired) == (2, 3, 1)
        assert made.account["conversations"] == {"used": 6, "too_short": 0}

    async def test_two_collections_with_one_name_are_reported_with_their_ids(
        self, suite: RunningSuite, clients: Clients, declared: Write, collection: str
    ):
        await import_conversations(suite, [conversation("c", "one", "other")])
        with pytest.raises(DeclarationFaulty, match=f"2 collections called 'im': give the id .* {collection} "):
            await declare(clients, declared(SMALL), opens=False)
        made = await declare(clients, declared(SMALL.replace("[im]", f"['{collection}']")), opens=False)
        assert made.campaign.collection_id == UUID(collection)


class TestUnfinishedCollection:
    async def test_is_refused_with_what_is_to_be_done(self, suite: RunningSuite, clients: Clients, declared: Write):
        bots = [await add_bot(suite, model) for model in ("dull", "eliza")]
        admin = await suite.client("conversations", "admin")
        body = plan(bots, name="im", exchanges=90, conversations_per_pair=50)
        collecting = await created(admin, "/v1/collections", body)
        await admin.post(f"/v1/collections/{collecting['id']}/pause")
        for attempt in (declare(clients, declared(SMALL), opens=True), estimate(clients, declared(SMALL))):
            with pytest.raises(DeclarationFaulty, match=r"'im' is paused: .* conversations are unfinished"):
                await attempt


@pytest.mark.usefixtures("collection")
class TestAnnotate:
    async def test_works_until_nothing_is_left_and_says_why_each_annotator_stopped(
        self, clients: Clients, declared: Write
    ):
        """Four packages, annotated twice, are eight assignments of two segments: two for each of four annotators."""
        made = await declare(clients, declared(SMALL), opens=True)
        first = await annotate_simulated(clients, made.campaign, 3)
        assert first == SimulatedWork(3, assignments=6, annotations=12, refused={"limit_reached": 3})
        second = await annotate_simulated(clients, made.campaign, 5)
        assert (second.assignments, second.annotations) == (2, 4)
        assert second.refused == {"limit_reached": 3, "closed": 2}  # to the complete campaign
        annotations = [each async for each in clients.annotation.list_annotations(made.campaign.id)]
        assert {each.annotator for each in annotations} == {f"simulated-0{number}" for number in (1, 2, 3, 4, 5)}
        segments = Counter((each.conversation_id, each.exchanges) for each in annotations)
        assert set(segments.values()) == {2}
        assert len(segments) == 8
        assert (await clients.annotation.get_campaign(made.campaign.id)).state is CampaignState.COMPLETE

    async def test_stops_where_nobody_may_see_a_conversation_again(self, clients: Clients, declared: Write):
        """An annotator can take one package of each of two blocks, whatever the limit is."""
        made = await declare(clients, declared(SMALL.replace("annotator: 2", "annotator: 9")), opens=True)
        work = await annotate_simulated(clients, made.campaign, 2)
        assert work == SimulatedWork(2, assignments=4, annotations=8, refused={"nothing_left": 2})

    async def test_opens_exchanges_until_both_sides_are_decided(self, clients: Clients, declared: Write):
        text = SMALL + "protocol: spot_the_bot_gamified\nannotations_per_segment: 3\n"
        made = await declare(clients, declared(text), opens=True)
        work = await annotate_simulated(clients, made.campaign, 3)
        assert work == SimulatedWork(3, assignments=6, annotations=12, refused={"closed": 3})
        annotations = [each async for each in clients.annotation.list_annotations(made.campaign.id)]
        for annotation in annotations:
            labels = annotation.answer["entity"]
            assert isinstance(labels, dict)
            turns = {each.target: each.exchanges for each in annotation.decisions if each.question == "entity"}
            assert set(turns) == set(labels) == {"A", "B"}
            assert all(turns[side] == 2 for side, label in labels.items() if label == "unsure")
        assert len({each.exchanges for annotation in annotations for each in annotation.decisions}) == 2

    async def test_takes_a_game_up_where_an_earlier_call_stopped(self, clients: Clients, declared: Write):
        text = SMALL + "protocol: spot_the_bot_gamified\n"
        made = await declare(clients, declared(text), opens=True)
        held = await clients.tasks.claim_package(
            made.campaign.id, ClaimIn(annotator="simulated-01", kind=AnnotatorKind.SIMULATED)
        )
        await clients.tasks.open_exchange(held.id, 0, ExchangeIn(open=1))
        await clients.tasks.save_answer(held.id, 0, AnswerIn(answer={"entity": {"A": "unsure"}}))
        await clients.tasks.open_exchange(held.id, 0, ExchangeIn(open=2))
        assert (await annotate_simulated(clients, made.campaign, 2)).assignments == 4
        annotations = [each async for each in clients.annotation.list_annotations(made.campaign.id)]
        assert "unsure" in [
            each.answer["entity"]["A"] for each in annotations if isinstance(each.answer["entity"], dict)
        ]

    async def test_claims_nothing_from_a_draft(self, clients: Clients, declared: Write):
        made = await declare(clients, declared(SMALL), opens=False)
        work = await annotate_simulated(clients, made.campaign, 2)
        assert work == SimulatedWork(2, assignments=0, annotations=0, refused={"closed": 2})

    async def test_consents_to_what_the_campaign_asks(self, clients: Clients, declared: Write, tmp_path: Path):
        (tmp_path / "consent.md").write_text("We keep your labels.")
        text = SMALL + "consent: consent.md\npanel: {kind: generic, parameter: pid}\n"
        campaign = (await declare(clients, declared(text), opens=True)).campaign
        assert (await annotate_simulated(clients, campaign, 2)).assignments == 4

    async def test_has_no_ids_of_panels_that_give_their_own(
        self, clients: Clients, declared: Write, suite: RunningSuite
    ):
        made = (await declare(clients, declared(SMALL), opens=True)).campaign
        make_turk_campaign(suite, str(made.id))
        campaign = await clients.annotation.get_campaign(made.id)
        with pytest.raises(PanelNotSimulated, match="lack ids of the panel 'mturk'"):
            await annotate_simulated(clients, campaign, 2)

    async def test_takes_up_what_an_earlier_call_left_unfinished(self, clients: Clients, declared: Write):
        made = await declare(clients, declared(SMALL), opens=True)
        held = await clients.tasks.claim_package(
            made.campaign.id, ClaimIn(annotator="simulated-01", kind=AnnotatorKind.SIMULATED)
        )
        decided = {"entity": {"A": "unsure", "B": "unsure"}}
        await clients.tasks.save_answer(held.id, 0, AnswerIn(answer=decided, show_step=2))
        work = await annotate_simulated(clients, made.campaign, 1)
        assert work.assignments == 2
        submitted = await clients.tasks.get_assignment(held.id)
        assert submitted.completion_code is not None
        assert submitted.items[0].answer["entity"] == decided["entity"]
