"""Partner sets are made, written to files, read elsewhere, and carry results to rank other bots beside."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from spotthebot.cli.errors import NotAPartnerSet, PartnersDiffer, TooFewDialogues
from spotthebot.cli.evaluations import partner_pool
from spotthebot.cli.evaluations.declaration_file import PlayMode, read_evaluation
from spotthebot.cli.evaluations.partner_pool import SLICES, VARIANTS, compositions, register_pool, train_pool
from spotthebot.cli.evaluations.partner_sets import (
    DIVERSE,
    find_partner_bots,
    find_partner_set,
    rank_beside_files,
    read_partner_file,
)
from spotthebot.cli.evaluations.run import evaluate
from spotthebot.clients import NotFound
from spotthebot.clients.partner_sets import (
    PartnerDiffers,
    PartnerNeedsSecret,
    PartnerSilent,
    ask_partners,
    configuration_of,
    read_replies,
)
from spotthebot.clients.partner_sets import export_partner_set as export_by
from spotthebot.clients.partner_sets import import_partner_set as import_by
from spotthebot.clients.partner_sets import store_partner_set as store_by
from spotthebot.contracts.bots.registry import BotIn, BotStatus
from spotthebot.contracts.partner_files import PartnerConfiguration, PartnerSetFile, fingerprint_of
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.seeding import upload_sample
from spotthebot.local.training.corpus import TRAIN, VALIDATION, Corpus
from spotthebot.statistics.reply_overlap import reply_diversity
from tests.factories import tiny_models
from tests.factories.lazy_imports import needs_models
from tests.factories.running_suite import bots_settings

pytestmark = needs_models

LEAGUE = """\
name: {name}
domain: everyday
bots: [{bots}]
partners: {{set: travellers, version: 1}}
exchanges: 2
conversations_per_pair: 2
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
    folder = place / "data" / "models"
    return {"fed": {"models_folder": folder, "device": "cpu"}, "bots": bots_settings() | {"models_folder": folder}}


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
    bots = await find_partner_bots(clients, names or ("ngram", "eliza"))
    return await store_by(clients.bots, clients.conversations, "travellers", "", bots)


async def export_partner_set(clients, made, references):
    return await export_by(clients.bots, clients.fed, made, references)


async def import_partner_set(clients, file):
    return await import_by(clients.bots, clients.conversations, file, lambda: upload_sample(clients))


class TestPartnerFiles:
    async def test_a_set_is_the_same_after_a_journey_as_a_file(self, clients):
        made = await travellers(clients)
        file = PartnerSetFile.model_validate_json((await export_partner_set(clients, made, ())).model_dump_json())
        assert [each.name for each in file.partners] == ["ngram", "eliza"]
        assert await import_partner_set(clients, file) == made
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
        made = await import_partner_set(clients, changed)
        assert [each.name for each in made.partners] == [f"ngram {other.sha256[:6]}", "eliza"]
        exported = await export_partner_set(clients, made, ())
        assert exported.fingerprint == fingerprint_of((other, eliza)) != file.fingerprint
        apart = other.model_copy(update={"training_sha256": "a" * 64})
        with pytest.raises(PartnerDiffers, match="name its corpus"):
            await import_partner_set(clients, changed.model_copy(update={"partners": (apart,)}))
        secret = apart.model_copy(update={"needs_secret": True})
        with pytest.raises(PartnerNeedsSecret, match="register this bot yourself"):
            await import_partner_set(clients, changed.model_copy(update={"partners": (secret,)}))

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
        made = await store_by(clients.bots, clients.conversations, "silent", "", [bot.id])
        with pytest.raises(PartnerSilent, match=rf"'{bot.name}' answered none of the openings: .*No bot answers at"):
            await ask_partners(clients.bots, made, [["Hi."]])

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


class TestPool:
    async def test_is_trained_in_variants_once_and_asked_the_same(self, clients, place, monkeypatch):
        """Two slices and two decodings: four bots of three models, trained for two steps each."""
        kinds = {("kv", 1, ""), ("kv", 2, ""), ("gpt", 1, " cool"), ("gpt", 1, " hot")}
        toy = [each for each in VARIANTS if (each.kind.value, each.data, each.decoding) in kinds]
        monkeypatch.setattr(partner_pool, "VARIANTS", toy)
        dialogues = [(f"Do you like number {at}?", f"Number {at} is my favourite.") for at in range(2 * SLICES)]
        corpus = Corpus("numbers", {TRAIN: dialogues[:-2], VALIDATION: dialogues[-2:]})
        models = place / "data" / "models"
        with showing_progress() as steps:
            train_pool(models / "pool", corpus, 2, 0, steps)
            cards = {path: path.read_bytes() for path in models.glob("pool/*/training.json")}
            train_pool(models / "pool", corpus, 2, 0, steps)
            bots = await register_pool(clients, models, "pool", steps)
            assert await register_pool(clients, models, "pool", steps) == bots
        assert {path: path.read_bytes() for path in models.glob("pool/*/training.json")} == cards
        assert {json.loads(each)["corpus"] for each in cards.values()} == {f"numbers, slice {at} of 6" for at in (1, 2)}
        statuses = {each.name: (each.status, each.status_reason) async for each in clients.bots.list_bots()}
        assert {each: found for each, found in statuses.items() if found[0] != BotStatus.ACTIVE} == {}
        made = await store_by(clients.bots, clients.conversations, "pool", "", bots)
        assert {each.name for each in made.partners} >= {"kv-1", "kv-2", "gpt-1 cool", "gpt-1 hot", "eliza", "ngram:2"}
        said = await ask_partners(clients.bots, made, [["Hi.", "Hello!"], ["Do you like number 1?", "Yes."]])
        assert said == await ask_partners(clients.bots, made, [["Hi.", "Hello!"], ["Do you like number 1?", "Yes."]])
        first, second = (set(said[name]) for name in ("kv-1", "kv-2"))
        assert first & second == set()
        with pytest.raises(TooFewDialogues, match="has 5 dialogues to learn from, and a pool needs 6"):
            train_pool(models / "small", Corpus("small", {TRAIN: dialogues[:5], VALIDATION: []}), 2, 0, steps)

    def test_has_as_many_bots_as_the_papers_and_says_what_they_are_made_of(self):
        """As many as n^2 / (sum of squared counts), by hand.

        Trained: 6 rankers, 6 memories, 4 causal, 2 and 1 recurrent ones, eliza, parrot, dull, 2 of n-grams; slice 1
        is learned by 6 of them, slice 2 by 5, the others by 2, the sample by 2. Table 2: 14 Tfm, 3 PEn, 2 GPT, Brt,
        B+F; of data, Bsm and Wow 4 times, Lgt, Rdt, Emp and Cv2 twice, Slf, Img, Sfr, Woi and All once.
        """
        found = compositions()
        assert {name: each.bots for name, each in found.items()} == {"trained": 24, "built in": 10, "Table 2": 21}
        assert found["trained"].architectures == pytest.approx(24**2 / (36 + 36 + 16 + 4 + 1 + 3 + 4))
        assert found["built in"].architectures == pytest.approx(10**2 / (4 + 9 + 4 + 3))
        assert found["Table 2"].architectures == pytest.approx(21**2 / (196 + 9 + 4 + 1 + 1))
        assert found["trained"].data == pytest.approx(24**2 / (36 + 25 + 4 * 4 + 4 + 3))
        assert found["built in"].data == pytest.approx(10**2 / (49 + 3))
        assert found["Table 2"].data == pytest.approx(21**2 / (2 * 16 + 4 * 4 + 5))


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
        diversity = reply_diversity(await read_replies(clients.conversations, made, before.scores.collection_id))
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
