"""Partner sets are made, written to files, read elsewhere, and carry results to rank other bots beside."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from spotthebot.cli.errors import NotAPartnerSet, PartnerDiffers, PartnerNeedsSecret, PartnersDiffer
from spotthebot.cli.evaluations.declaration_file import PlayMode, read_evaluation
from spotthebot.cli.evaluations.partner_sets import (
    DIVERSE,
    configuration_of,
    export_partner_set,
    find_partner_bots,
    find_partner_set,
    import_partner_set,
    measure_diversity,
    rank_beside_files,
    read_partner_file,
    store_partner_set,
)
from spotthebot.cli.evaluations.run import evaluate
from spotthebot.clients import NotFound
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.partner_files import PartnerConfiguration, PartnerSetFile, fingerprint_of
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from tests.factories import tiny_models
from tests.factories.lazy_imports import needs_models

pytestmark = needs_models

LEAGUE = """\
name: {name}
domain: everyday
bots: [{bots}]
partners: {{set: travellers, version: 1}}
exchanges: 2
conversations_per_pair: 5
opening: {{corpus: sample, split: openings}}
scorer: {{model: scorer, dimensions: [fluency, overall]}}
resamples: 200
seed: 3
"""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "fed"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("partners")
    tiny_models.gpt2(place / "scorer", positions=256)
    return place


@pytest.fixture(scope="module")
def settings_of(place: Path) -> dict[str, dict[str, Any]]:
    return {"fed": {"models_folder": place / "data" / "models", "device": "cpu"}}


@pytest.fixture
def evaluated(clients, place):
    async def evaluate_bots(name: str, bots: str):
        folder = DataFolder(place / "data")
        folder.create()
        (place / "league.yaml").write_text(LEAGUE.format(name=name, bots=bots))
        declared = read_evaluation(place / "league.yaml", PlayMode.BIPARTITE)
        with showing_progress() as steps:
            return await evaluate(clients, folder, declared, PlayMode.BIPARTITE, steps)

    return evaluate_bots


async def travellers(clients, *names: str):
    return await store_partner_set(
        clients, "travellers", "", await find_partner_bots(clients, names or ("ngram", "eliza"))
    )


class TestPartnerFiles:
    async def test_a_set_is_the_same_after_a_journey_as_a_file(self, clients):
        made = await travellers(clients)
        file = PartnerSetFile.model_validate_json((await export_partner_set(clients, made, ())).model_dump_json())
        assert [each.name for each in file.partners] == ["ngram", "eliza"]
        assert await import_partner_set(clients, file, None) == made
        elsewhere = [
            each.model_copy(update={"protocol": each.protocol.model_copy(update={"corpus_id": uuid4()})})
            if each.protocol.kind == "builtin" and each.training_sha256
            else each
            for each in file.partners
        ]
        assert fingerprint_of(reversed(elsewhere)) == file.fingerprint

    async def test_bots_that_are_not_there_are_registered_and_compared_with_the_file(self, clients):
        """The bot of another seed learns from the sample, under a name of its own."""
        file = await export_partner_set(clients, await travellers(clients, "ngram", "eliza"), ())
        ngram, eliza = file.partners
        other = ngram.model_copy(update={"protocol": ngram.protocol.model_copy(update={"seed": 9})})
        changed = file.model_copy(update={"partners": (other, eliza), "name": "others"})
        made = await import_partner_set(clients, changed, None)
        assert [each.name for each in made.partners] == [f"ngram {other.sha256[:6]}", "eliza"]
        exported = await export_partner_set(clients, made, ())
        assert exported.fingerprint == fingerprint_of((other, eliza)) != file.fingerprint
        apart = other.model_copy(update={"training_sha256": "a" * 64})
        with pytest.raises(PartnerDiffers, match="name its corpus"):
            await import_partner_set(clients, changed.model_copy(update={"partners": (apart,)}), None)
        secret = apart.model_copy(update={"needs_secret": True})
        with pytest.raises(PartnerNeedsSecret, match="register this bot yourself"):
            await import_partner_set(clients, changed.model_copy(update={"partners": (secret,)}), None)

    async def test_a_file_has_no_query_of_an_address_and_says_that_a_secret_is_missing(self, clients):
        protocol = {"kind": "webhook", "url": "http://127.0.0.1:9/reply?token=SESAME"}
        request = BotIn.model_validate({"name": f"w-{uuid4()}", "domains": ["everyday"], "protocol": protocol})
        bot = await clients.bots.register_bot(request)
        (version,) = [each async for each in clients.bots.list_bot_versions(bot.id)]
        found = configuration_of(bot, version)
        assert (found.model_dump(mode="json")["protocol"]["url"], found.needs_secret) == (
            "http://127.0.0.1:9/reply",
            True,
        )
        assert "SESAME" not in found.model_dump_json()

    def test_hosted_models_of_the_same_files_are_the_same_at_any_address(self):
        def hosted(port: int, files: str | None) -> str:
            protocol = {"kind": "triton", "model": "gpt", "url": f"http://127.0.0.1:{port}"}
            facts = {"training_sha256": None, "files_sha256": files, "needs_secret": False}
            configuration = {"name": "x", "domains": ["everyday"], "protocol": protocol}
            return PartnerConfiguration.model_validate(configuration | facts).sha256

        assert hosted(1, "a" * 64) == hosted(2, "a" * 64) != hosted(1, "b" * 64)
        assert hosted(1, None) != hosted(2, None)

    async def test_the_built_in_set_has_variants_of_learning_bots(self, clients):
        made = await travellers(clients, *DIVERSE)
        exported = await export_partner_set(clients, made, ())
        assert len({each.sha256 for each in exported.partners}) == len(DIVERSE)
        assert (await find_partner_set(clients, "travellers", None)).version == made.version
        with pytest.raises(NotFound):
            await find_partner_set(clients, "nobody's", None)


class TestReferences:
    async def test_a_new_bot_is_ranked_beside_bots_that_are_not_there(self, clients, evaluated, place):
        """The scores of parrot and dull travel; stray alone is here, and all three have their own means."""
        made = await travellers(clients)
        before = await evaluated("before", "parrot, dull")
        file = await export_partner_set(clients, made, [before.scores.id])
        (place / "set.json").write_text(file.model_dump_json())
        after = await evaluated("after", "stray")
        found = await rank_beside_files(clients, after.scores.id, after.fingerprint, [place / "set.json"])
        assert found.absent == ("dull", "parrot")
        own = {bot.bot: bot.score for each in (before, after) for bot in each.scores.dimensions[0].bots}
        assert {bot.bot: bot.score for bot in found.dimensions[0].bots} == pytest.approx(own)
        assert [each.dimension for each in found.dimensions] == ["fluency", "overall"]
        same = await rank_beside_files(clients, before.scores.id, before.fingerprint, [place / "set.json"])
        assert same.absent == ("dull (reference 1)", "parrot (reference 1)")
        by_name = {bot.bot: bot for bot in same.dimensions[0].bots}
        assert by_name["dull (reference 1)"].score == by_name["dull"].score
        diversity = await measure_diversity(clients, made, before.scores.collection_id)
        assert {*diversity.own} == {"ngram", "eliza"}
        assert 1 <= diversity.effective_bots <= 2

    async def test_files_of_other_partners_or_scorers_are_refused(self, clients, evaluated, place):
        made = await travellers(clients)
        played = await evaluated("before", "parrot, dull")
        file = await export_partner_set(clients, made, [played.scores.id])
        written = file.model_dump(mode="json")
        path = place / "refused.json"

        async def ranked(**changes: Any):
            path.write_text(json.dumps(written | changes))
            return await rank_beside_files(clients, played.scores.id, played.fingerprint, [path])

        with pytest.raises(PartnersDiffer, match=r"partner set of refused\.json has other bots"):
            await ranked(fingerprint="a" * 64)
        with pytest.raises(NotAPartnerSet, match="it has no references"):
            await ranked(references=[])
        other = written["references"][0] | {"model_sha256": "another"}
        with pytest.raises(Exception, match="Reference 1 was scored by another model"):
            await ranked(references=[other])
        with pytest.raises(NotAPartnerSet, match="partners"):
            await ranked(partners=[])
        with pytest.raises(NotAPartnerSet):
            read_partner_file(place / "league.yaml")
