"""Studies that files declare, on running services: their campaigns, changed files, and commands that work on them."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path

import pytest

from spotthebot.cli.campaigns import run as campaigns
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.errors import NameIsAmbiguous, NoSuchName, StudyDiffers
from spotthebot.cli.resources.directories import CampaignsAndStudies
from spotthebot.cli.resources.resolver import find
from spotthebot.cli.studies.costs import total_cost
from spotthebot.cli.studies.declaration_file import StudyDeclared, read_study
from spotthebot.cli.studies.run import DeclaredStudy, declare, estimate
from spotthebot.cli.studies.work import work_on
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.annotation.studies import StudyIn, StudyOut
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import simulated_annotators
from tests.factories.command_line import Printed
from tests.factories.protocols import document, single
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

TASKS = """\
  - {protocol: dialogue_likert, units_twice: 2, pay: {per_package: 1.5, currency: EUR}}
  - {name: pairs, protocol: comparative, package_size: 1}
"""
STUDY = f"name: small\ncollections: [im]\noutcome: dialogue_likert.quality\nseed: 3\ntasks:\n{TASKS}"
MORE = "  - {protocol: turn_likert}\n"
Write = Callable[[str], StudyDeclared]
Stb = Callable[..., Awaitable[Printed]]


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture(autouse=True)
async def collection(suite: RunningSuite) -> str:
    """Six conversations of three exchanges between three bots."""
    pairs = [("one", "other"), ("one", "third"), ("other", "third")] * 2
    return await import_conversations(suite, [conversation(f"c{at}", *pair) for at, pair in enumerate(pairs)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "study.yaml"


@pytest.fixture
def write(file: Path) -> Write:
    def written(text: str) -> StudyDeclared:
        file.write_text(text)
        return read_study(file)

    return written


async def _declare(
    clients: Clients, declared: StudyDeclared, *, opens: bool = False, changes: bool = False
) -> DeclaredStudy:
    with showing_progress() as steps:
        return await declare(clients, declared, steps, opens=opens, changes=changes)


async def _names(clients: Clients) -> list[str]:
    return [each.name async for each in clients.annotation.list_campaigns()]


async def _studies(clients: Clients) -> list[StudyOut]:
    return [each async for each in clients.annotation.list_studies()]


class TestDryRun:
    async def test_says_what_every_task_would_cost_and_makes_nothing(self, clients: Clients, write: Write):
        """Two of six dialogues are rated twice, and six dialogues make three pairs."""
        with showing_progress() as steps:
            said = await estimate(clients, write(STUDY), steps)
        likert, pairs = said.costs["dialogue_likert"], said.costs["pairs"]
        assert (likert.units, likert.annotations, likert.hours) == (6, 6 + 2, None)
        assert (pairs.packages, pairs.units, pairs.annotations, pairs.pay) == (3, 3, 3, {})
        total = total_cost(said.costs.values())
        assert (total.units, total.annotations, total.packages) == (9, 11, likert.packages + 3)
        assert total.annotators == max(likert.annotators, pairs.annotators)
        assert total.pay == likert.pay
        assert total.hours is None
        account = said.account
        assert (account["study"], account["name"], account["outcome"]) == (None, "small", "dialogue_likert.quality")
        assert [(each["task"], each["name"], each["campaign"]) for each in account["tasks"]] == [
            ("dialogue_likert", "small.dialogue_likert", None),
            ("pairs", "small.pairs", None),
        ]
        assert account["tasks"][0]["cost"] == likert.document
        assert account["cost"] == total.document
        assert (await _names(clients), await _studies(clients)) == ([], [])

    async def test_pays_every_package_as_often_as_it_is_annotated(self, clients: Clients, write: Write):
        """All six dialogues are in one package if all are rated once: 1.50 EUR, and as much for each of the pairs."""
        text = STUDY.replace("units_twice: 2, ", "").replace("package_size: 1", "pay: {per_package: 2, currency: USD}")
        with showing_progress() as steps:
            said = await estimate(clients, write(text), steps)
        assert total_cost(said.costs.values()).pay == {"EUR": Decimal("1.50"), "USD": Decimal("2.00")}


class TestDeclare:
    async def test_makes_the_campaign_of_each_task_and_then_the_study(self, clients: Clients, write: Write):
        made = await _declare(clients, write(STUDY))
        assert (made.is_new, made.changed, made.changed_nothing) == (True, (), False)
        (study,) = await _studies(clients)
        assert study == made.study
        assert (study.name, study.outcome, study.seed, study.chats) == ("small", "dialogue_likert.quality", 3, ())
        assert study.campaigns == tuple(each.campaign.id for each in made.tasks.values())
        likert, pairs = (made.tasks[task].campaign for task in ("dialogue_likert", "pairs"))
        assert (likert.name, likert.protocol, likert.seed, likert.units_twice) == (
            "small.dialogue_likert",
            "dialogue_likert",
            3,
            2,
        )
        assert (pairs.name, pairs.protocol, pairs.annotations_per_segment) == ("small.pairs", "comparative", 1)
        assert {likert.state, pairs.state} == {CampaignState.DRAFT}
        assert [each["campaign"] for each in made.account["tasks"]] == [str(each) for each in study.campaigns]

    async def test_again_changes_nothing_and_opens_with_the_option(self, clients: Clients, write: Write):
        first = await _declare(clients, write(STUDY))
        again = await _declare(clients, write(f"# a comment\n{STUDY}"))
        assert again.changed_nothing
        assert again.study == first.study
        opened = await _declare(clients, write(STUDY), opens=True)
        assert not opened.changed_nothing
        assert {each.campaign.state for each in opened.tasks.values()} == {CampaignState.OPEN}
        assert (await _declare(clients, write(STUDY), opens=True)).changed_nothing
        assert len(await _names(clients)) == 2

    async def test_goes_on_after_an_interruption(self, clients: Clients, write: Write):
        declared = write(STUDY)
        await campaigns.declare(clients, declared.tasks[0].campaign, opens=False)
        made = await _declare(clients, declared)
        assert [each.is_new for each in made.tasks.values()] == [False, True]
        assert made.is_new
        assert sorted(await _names(clients)) == ["small.dialogue_likert", "small.pairs"]

    async def test_twice_at_once_makes_one_study(self, clients: Clients, write: Write):
        first, second = await asyncio.gather(_declare(clients, write(STUDY)), _declare(clients, write(STUDY)))
        assert first.study == second.study
        assert len(await _studies(clients)) == 1

    async def test_adds_a_task_that_the_file_has_in_addition(self, clients: Clients, write: Write):
        first = await _declare(clients, write(STUDY), opens=True)
        added = await _declare(clients, write(STUDY + MORE), opens=True)
        assert added.changed == ("the task turn_likert is new",)
        assert added.study.id == first.study.id
        assert added.study.campaigns == (*first.study.campaigns, added.tasks["turn_likert"].campaign.id)
        assert await _studies(clients) == [added.study]

    async def test_names_every_difference_before_it_changes_anything(self, clients: Clients, write: Write):
        made = await _declare(clients, write(STUDY + MORE))
        other = STUDY.replace("outcome: dialogue_likert.quality", "outcome: engaging").replace("twice: 2", "twice: 3")
        with pytest.raises(StudyDiffers) as raised:
            await _declare(clients, write(other))
        assert str(raised.value) == (
            "The study 'small' differs from this file (task dialogue_likert: units_twice is 2 there, 3 here; outcome is"
            ' "dialogue_likert.quality" there, "engaging" here; the campaign small.turn_likert belongs to the study'
            " there, and to no task here): choose another name, or change it with --change."
        )
        with pytest.raises(StudyDiffers), showing_progress() as steps:
            await estimate(clients, write(other), steps)
        assert await _studies(clients) == [made.study]

    async def test_with_change_has_the_content_of_the_file(self, clients: Clients, write: Write):
        made = await _declare(clients, write(STUDY + MORE))
        other = STUDY.replace("outcome: dialogue_likert.quality", "outcome: engaging").replace("twice: 2", "twice: 3")
        changed = await _declare(clients, write(other), changes=True)
        assert (changed.study.id, changed.study.outcome) == (made.study.id, "engaging")
        assert changed.study.campaigns == made.study.campaigns[:2]
        assert changed.tasks["dialogue_likert"].campaign.units_twice == 3
        assert changed.changed == (
            'outcome is "dialogue_likert.quality" there, "engaging" here',
            "the campaign small.turn_likert belongs to the study there, and to no task here",
        )
        assert (await _declare(clients, write(other), changes=True)).changed_nothing


class TestFaults:
    async def test_all_tasks_are_checked_before_anything_is_made(self, clients: Clients, write: Write):
        declared = write(
            "name: small\ncollections: [imm]\nchats: [none]\ntasks:\n  - {protocol: dialogue_likert}\n"
            "  - {protocol: comparativ}\n  - {name: c, protocol: turn_liker}\n"
        )
        with pytest.raises(DeclarationFaulty) as raised:
            await _declare(clients, declared)
        said = [(fault.line, fault.key, fault.reason.split(": ")[-1]) for fault in raised.value.faults]
        assert said == [
            (2, "collections[0]", "did you mean 'im'?"),
            (3, "chats[0]", "name one of im, or make one with ./stb collect."),
            (6, "tasks[1].protocol", "did you mean 'comparative'?"),
            (7, "tasks[2].protocol", "did you mean 'turn_likert'?"),
        ]
        assert await _names(clients) == []

    async def test_from_the_service_have_their_place_in_the_file(self, clients: Clients, write: Write, tmp_path: Path):
        twice = document([single("same", "yes", "no"), single("same", "yes", "no")])
        (tmp_path / "own.json").write_text(json.dumps(twice))
        more = "  - {protocol: turn_likert, training: {name: none, attempts: 2}}\n  - {protocol: own.json}\n"
        with pytest.raises(DeclarationFaulty) as raised:
            await _declare(clients, write(STUDY + more))
        training, protocol = raised.value.faults
        assert (training.line, training.key) == (8, "tasks[2]")
        assert "'none'" in training.reason
        assert (protocol.line, protocol.key) == (9, "tasks[3].protocol")
        assert protocol.reason == "own.json, /steps/0/questions/1/id: Another question has the id 'same'."
        assert await _names(clients) == []

    async def test_in_collections_without_chats_name_the_line(self, clients: Clients, write: Write):
        with pytest.raises(DeclarationFaulty, match=r"line 2: chats\[0\]: "):
            await _declare(clients, write(STUDY.replace("name: small\n", "name: small\nchats: [im]\n")))


class TestWork:
    async def test_simulated_annotators_go_through_all_tasks(self, clients: Clients, write: Write):
        made = await _declare(clients, write(STUDY), opens=True)
        with showing_progress() as steps:
            likert, pairs = await work_on(clients, made.study, simulated_annotators(4, seed=1), steps)
        assert (likert.work.annotations, pairs.work.annotations) == (8, 3)
        assert {likert.campaign.state, pairs.campaign.state} == {CampaignState.COMPLETE}
        assert likert.campaign.name == "small.dialogue_likert"


class TestNames:
    async def test_a_campaign_and_a_study_of_one_name_differ_by_id(self, clients: Clients, write: Write):
        made = await _declare(clients, write(STUDY))
        directory = CampaignsAndStudies(clients)
        assert await find(directory, "small") == made.study
        assert await find(directory, str(made.study.id)) == made.study
        assert (await find(directory, "small.pairs")).id == made.tasks["pairs"].campaign.id
        with pytest.raises(NoSuchName, match=r"^There is no campaign or study 'smal': did you mean 'small'"):
            await find(directory, "smal")
        request = StudyIn(name="small.pairs", campaigns=made.study.campaigns)
        other = await clients.annotation.create_study(request)
        with pytest.raises(NameIsAmbiguous) as raised:
            await find(directory, "small.pairs")
        said = str(raised.value)
        assert said.startswith("There are 2 campaigns and studies called 'small.pairs': give the id of one of them: ")
        assert f"{made.tasks['pairs'].campaign.id} (a campaign, draft, of " in said
        assert f"{other.id} (a study of 2 campaigns, of " in said

    async def test_a_frontend_knows_no_study(self, clients: Clients, write: Write, suite: RunningSuite):
        made = await _declare(clients, write(STUDY))
        key = await suite.keys.make("annotation")
        async with Clients(suite.urls, admin_key=key, frontend_key=key) as frontend:
            directory = CampaignsAndStudies(frontend)
            assert (await find(directory, "small.pairs")).id == made.tasks["pairs"].campaign.id
            for name in ("small", str(made.study.id)):
                with pytest.raises(NoSuchName):
                    await find(directory, name)
