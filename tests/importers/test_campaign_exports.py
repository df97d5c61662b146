"""Exported campaigns come back by the command line's functions as they were, with the same figures."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from spotthebot.cli.campaigns.declaration_file import read_declaration
from spotthebot.cli.campaigns.run import declare
from spotthebot.cli.results.ranking import rank
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.importers.campaign_exports import ExportedCampaign, export, import_campaign, read_exported_campaign
from spotthebot.importers.dump_import import Imported
from spotthebot.importers.errors import NotAnExport
from spotthebot.local.background import wait_until_built
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import simulated_annotators
from spotthebot.simulation.work import annotate
from tests.factories.chat_studies import answers_to, import_chats, import_task
from tests.factories.command_line_fixtures import clients_of
from tests.factories.declared_campaigns import SMALL, Write, annotate_simulated
from tests.factories.rated_chats import exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

FILES = ["campaign.json", "conversations-1.jsonl", "conversations-2.jsonl", "packages.jsonl", "annotations.jsonl"]


@pytest.fixture(scope="module")
def suite(module_suite: RunningSuite) -> RunningSuite:
    """The services, with the rows of the tests before: all of them export the same campaign."""
    return module_suite


@pytest.fixture(scope="module")
async def clients(suite: RunningSuite) -> AsyncIterator[Clients]:
    async with clients_of(suite) as opened:
        yield opened


@pytest.fixture(scope="module")
async def campaign(suite: RunningSuite, clients: Clients, tmp_path_factory: pytest.TempPathFactory) -> CampaignOut:
    """A complete campaign over two collections of one name, which have a dialogue of people in common.

    Its annotators pass for people, who have pseudonyms in exports and results.
    """
    parts = [
        [*(conversation(f"{name}{number}", name, "other") for number in range(4)), conversation("h", "HU", "HU")]
        for name in ("one", "two")
    ]
    collections = [await import_conversations(suite, part) for part in parts]
    folder = tmp_path_factory.mktemp("declared")
    (folder / "read.md").write_text("Read this.")
    file = folder / "campaign.yaml"
    file.write_text(SMALL.replace("[im]", str(collections)) + "instructions: read.md\nseed: 3\n")
    made = await declare(clients, read_declaration(file), opens=True)
    people = [replace(each, name=f"person {each.name[-2:]}") for each in simulated_annotators(12, seed=7)]
    with showing_progress() as steps, steps.step("At work") as step:
        await annotate(clients.tasks, made.campaign, people, step.advance)
    found = await clients.annotation.get_campaign(made.campaign.id)
    assert (found.state, found.not_selected) == (CampaignState.COMPLETE, 1)
    return found


async def _import(clients: Clients, folder: Path, name: str | None = None) -> Imported:
    exported = read_exported_campaign(folder)
    assert isinstance(exported, ExportedCampaign)
    with showing_progress() as steps:
        return await import_campaign(clients, folder, exported, name, steps)


async def built(suite: RunningSuite, body: dict[str, Any]) -> CampaignOut:
    """Create a campaign and wait for its packages."""
    client = await suite.annotation("admin")
    made = await client.create_campaign(CampaignIn.model_validate(body))
    return await wait_until_built(client, made)


async def _ranked(clients: Clients, campaign_id: UUID) -> str:
    """Return what `rank --json` writes, but for the id of the campaign."""
    found = (await rank(clients, campaign_id, {"resamples": 200})).model_dump(mode="json")
    assert (found.pop("campaign_id"), found["seed"]) == (str(campaign_id), 3)
    return json.dumps(found)


LEFT_OUT = {
    "of the campaign's place in its suite": {"id", "created_at", "collection_id", "mode"},
    "of its progress, which the rows have": {
        *("state", "failure", "packages", "items", "submitted", "assignments_needed"),
        *("annotations", "annotations_needed", "too_short", "not_selected", "unpaired", "released_at", "published_at"),
    },
    "of annotators at work, whom an import has not": {
        *("lease_minutes", "panel", "training", "gold", "max_strikes", "min_seconds_per_item"),
        *("min_fraction_of_median", "strike_fast_packages"),
    },
    "of verdicts and judges, which the copy states for itself": {
        *("margin", "stop_when", "stop_reason", "stopped_at", "judge_annotations_per_segment"),
    },
    "computed from the consent": {"consent_sha256"},
    "a part of the protocol": {"protocol_version"},
}
"""The fields of a campaign that `campaign.json` has not, and why."""


class TestForm:
    def test_has_every_field_of_a_campaign_that_an_import_can_have(self):
        left_out = [*chain.from_iterable(LEFT_OUT.values())]
        assert Counter(left_out) == Counter({*left_out}), "each has one reason"
        assert {*left_out} == CampaignOut.model_fields.keys() - ExportedCampaign.model_fields.keys()
        assert ExportedCampaign.model_fields.keys() - CampaignOut.model_fields.keys() == {"format", "ended"}

    async def test_brings_every_field_back(self, clients: Clients, suite: RunningSuite, tmp_path: Path):
        collection = await import_chats(suite, exported_chats(6))
        body = {
            "name": "pairs",
            "domain": "everyday",
            "collections": [collection],
            "protocol": "comparative",
            "pairs": "same_person",
            "units_twice": 2,
            "package_size": 3,
            "packages_per_annotator": 5,
            "pay_per_package": "1.50",
            "currency": "EUR",
            "instructions": "Compare.",
            "consent": "I am an adult.",
            "headline": "informative",
            "seed": 7,
            "open": False,
        }
        made = await built(suite, body)
        await export(clients, made, tmp_path)
        written = json.loads((tmp_path / "campaign.json").read_text())
        changed = {"collections", "protocol"}  # names and the whole protocol there, in a form of their own
        assert {name: written[name] for name in body.keys() & written.keys() - changed} == {
            name: body[name] for name in body.keys() - changed - {"open"}
        }
        copy = await clients.annotation.get_campaign(_id(await _import(clients, tmp_path, "copied pairs")))
        same = CampaignOut.model_fields.keys() - {"name", "collections"}.union(*LEFT_OUT.values())
        assert {name: getattr(copy, name) for name in same} == {name: getattr(made, name) for name in same}
        assert (copy.protocol_version, copy.consent_sha256) == (made.protocol_version, made.consent_sha256)
        more = {name: value for name, value in body.items() if name not in {"pairs", "units_twice", "headline"}}
        share = {"name": "share", "protocol": "dialogue_likert", "human_share": 0.0, "segments": [1, 3]}
        shared = await built(suite, more | share)
        await export(clients, shared, tmp_path / "share")
        copy = await clients.annotation.get_campaign(_id(await _import(clients, tmp_path / "share", "copied share")))
        assert {name: getattr(copy, name) for name in same} == {name: getattr(shared, name) for name in same}
        assert (copy.human_share, copy.segments) == (0.0, shared.segments)

    async def test_keeps_names_that_were_published(self, clients: Clients, suite: RunningSuite, tmp_path: Path):
        chats = exported_chats(2)
        collection = await import_chats(suite, chats)
        answers = answers_to("dialogue_likert", chats)
        campaign = await import_task(suite, collection, "old", "dialogue_likert", answers, annotators_published=True)
        await export(clients, await clients.annotation.get_campaign(UUID(campaign)), tmp_path)
        copy = _id(await _import(clients, tmp_path, "copy with names"))
        found = {each.annotator async for each in clients.annotation.stream_annotations(copy)}
        assert found == {"ann", "ben"}

    async def test_is_read_if_an_earlier_release_wrote_it(
        self, clients: Clients, campaign: CampaignOut, tmp_path: Path
    ):
        """Release 0.2.0 wrote these fields alone."""
        await export(clients, campaign, tmp_path)
        file = tmp_path / "campaign.json"
        written = json.loads(file.read_text())
        names = ("format", "name", "domain", "collections", "segments", "annotations_per_segment", "package_size")
        old = {name: written[name] for name in (*names, "instructions", "protocol", "ended")}
        file.write_text(json.dumps(old))
        copy = await clients.annotation.get_campaign(_id(await _import(clients, tmp_path, "copy of 0.2.0")))
        assert (copy.headline, copy.units_twice, copy.pairs, copy.seed) == (None, None, "any", 0)

    async def test_is_refused_before_anything_is_imported_if_its_settings_contradict(
        self, clients: Clients, campaign: CampaignOut, tmp_path: Path
    ):
        await export(clients, campaign, tmp_path)
        file = tmp_path / "campaign.json"
        written = json.loads(file.read_text())
        collections = [each.id async for each in clients.conversations.list_collections()]
        for change, reason in (
            ({"units_twice": 3, "annotations_per_segment": 2}, "must be 1 or left out next to units_twice"),
            ({"pay_per_package": "2.00"}, "give both pay_per_package and currency, or neither"),
        ):
            file.write_text(json.dumps(written | change))
            with pytest.raises(NotAnExport, match=reason):
                await _import(clients, tmp_path, "copy")
        assert [each.id async for each in clients.conversations.list_collections()] == collections


class TestExport:
    async def test_export_writes_all_that_an_import_needs(
        self, clients: Clients, campaign: CampaignOut, tmp_path: Path
    ):
        for _ in range(2):  # the second time over the first
            files = await export(clients, campaign, tmp_path / "people")
        assert [file.name for file in files] == FILES
        assert {each.name for each in (tmp_path / "people").iterdir()} == {*FILES}
        packages, annotations = ([json.loads(line) for line in file.read_text().splitlines()] for file in files[3:])
        assert (len(packages), len(annotations)) == (18, 36)
        shown = {(each["package"], each["conversation"], each["exchanges"]) for each in packages}
        assert {(each["package"], each["conversation"], each["exchanges"]) for each in annotations} == shown


class TestImport:
    async def test_import_has_the_same_ranking_and_the_same_export(
        self, clients: Clients, campaign: CampaignOut, tmp_path: Path
    ):
        await export(clients, campaign, tmp_path / "people")
        first, second = [await _import(clients, tmp_path / "people") for _ in range(2)]
        counts = {"conversations": 10, "packages": 10, "annotations": 36}
        assert first.read == counts
        assert first.stored == counts
        assert first.already_there == dict.fromkeys(counts, 0)
        assert (second.campaign_id, second.already_there) == (first.campaign_id, counts)
        copy = await clients.annotation.get_campaign(_id(first))
        assert copy.state == CampaignState.CLOSED
        assert copy.mode == "import"
        assert copy.instructions == "Read this."
        assert await _ranked(clients, copy.id) == await _ranked(clients, campaign.id)
        await export(clients, copy, tmp_path / "copy")
        for file in FILES[3:]:
            assert (tmp_path / "copy" / file).read_bytes() == (tmp_path / "people" / file).read_bytes()

    async def test_import_of_a_campaign_in_progress_stays_open_under_another_name(
        self, clients: Clients, declared: Write, suite: RunningSuite, tmp_path: Path
    ):
        held = [conversation(f"c{number}", "one", "other") for number in range(4)]
        text = SMALL.replace("[im]", f"[{await import_conversations(suite, held)}]").replace("people", "in progress")
        made = await declare(clients, declared(text), opens=True)
        await annotate_simulated(clients, made.campaign, 1)
        await export(clients, made.campaign, tmp_path / "people")
        imported = await _import(clients, tmp_path / "people", "copy in progress")
        copy = await clients.annotation.get_campaign(_id(imported))
        assert (copy.name, copy.state, copy.annotations) == ("copy in progress", CampaignState.OPEN, 4)

    async def test_import_of_a_folder_that_lacks_something_says_what(
        self, clients: Clients, campaign: CampaignOut, tmp_path: Path
    ):
        folder = tmp_path / "people"
        await export(clients, campaign, folder)
        whole = {file: (folder / file).read_text() for file in FILES}
        there = [each.id async for each in clients.annotation.list_campaigns()]
        faults = {
            "conversations-2.jsonl": (None, "there is no such file"),
            "annotations.jsonl": (None, "there is no annotations.jsonl in it"),
            "packages.jsonl": ("{}\n", "line 1: campaign: is missing"),
            "campaign.json": ('{"format": 2}', "format: must be 1"),
        }
        for file, (content, reason) in faults.items():
            if content is None:
                (folder / file).unlink()
            else:
                (folder / file).write_text(content)
            with pytest.raises(NotAnExport, match=reason):
                await _import(clients, folder)
            (folder / file).write_text(whole[file])
        assert [each.id async for each in clients.annotation.list_campaigns()] == there
        assert read_exported_campaign(tmp_path) is None


def _id(imported: Imported) -> UUID:
    return UUID(imported.campaign_id)
