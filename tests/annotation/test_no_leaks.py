"""Nothing that annotators get, but the texts, tells people from bots; and what once did would be noticed."""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from spotthebot.annotation.assignments.domain.gold import Extent
from spotthebot.annotation.assignments.store import gold as gold_store
from spotthebot.annotation.campaign_setup.use_cases import packages as packages_use_cases
from spotthebot.annotation.packages.domain.allocation import AllocatedPackage, Allocation, Candidate, Item, allocate
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.contracts.conversations.collections import PlannedIn
from spotthebot.contracts.conversations.conversations import ParticipantKind
from spotthebot.conversations.plans import domain as plans_domain
from spotthebot.importers.published_dump.dump import open_dump
from spotthebot.importers.published_dump.records import DumpConversation
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.local.sample import sample_dialogues
from tests.annotation.leaks import SIGNIFICANCE_LEVEL, Table, detect, pool
from tests.factories.annotator_trainings import RIGHT, gold_dialogue, gold_pair, store_training
from tests.factories.campaigns import open_campaign
from tests.factories.dump_files import PUBLISHED
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created, import_conversations, plan, until

NAMES = ("one", "two", "three", "four", "five")
Conversations = list[dict[str, Any]]


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "annotation"


async def leaks(suite: RunningSuite, *collections: str, campaigns: int = 2, **more: Any) -> bool:
    """Say whether people can be told from bots in two campaigns over collections, with a secret each.

    A leak is in both; by chance the classifier finds something once in a million times. To notice a leak that was
    planted, one campaign is enough: by chance it does once in a thousand times.
    """
    conversations = [each for collection in collections for each in await _conversations(suite, collection)]
    for _ in range(campaigns):
        campaign = await open_campaign(suite, collections=collections, annotations_per_segment=1, **more)
        frontend = await suite.client("annotation", "annotation")
        if detect((await pool(frontend, campaign)).table(), conversations) > SIGNIFICANCE_LEVEL:
            return False
    return True


async def _conversations(suite: RunningSuite, collection: str) -> list[tuple[tuple[str, ...], bool]]:
    """Return the texts that can be shown of each conversation, and whether people speak."""
    admin = await suite.conversations("admin")
    return [
        (
            tuple(turn.text for turn in ((*each.opening, *each.turns) if each.opening_shown else each.turns)),
            each.participants[0].kind is ParticipantKind.HUMAN,
        )
        async for each in admin.list_conversations(UUID(collection))
    ]


def _simulated(human_exchanges: Sequence[int], *, for_a_pair: int = 15) -> Conversations:
    """Return conversations of ten pairs of bots, 150 unless said otherwise, pair after pair, then those of people."""
    pairs = [(one, other) for number, one in enumerate(NAMES) for other in NAMES[:number]]
    sides = [(pair, 5) for pair in pairs for _ in range(for_a_pair)] + [
        (("HU", "HU"), each) for each in human_exchanges
    ]
    return [
        {
            "external_id": f"conversation {number}",
            "participants": [{"kind": "human" if side == "HU" else "bot", "name": side} for side in pair],
            "turns": [{"speaker": "AB"[turn % 2], "text": f"{number} says {turn}"} for turn in range(2 * exchanges)],
        }
        for number, (pair, exchanges) in enumerate(sides)
    ]


LONG_AND_SHORT = [5] * 30 + [3] * 10 + [2] * 10


class TestClassifier:
    """What no correlation shows: people in four of eight bands of a feature, as in the sequence of Thue and Morse.

    Over these bands people's and bots' means of the feature are equal, and those of its square.
    """

    @pytest.mark.parametrize("by_package", [False, True])
    def test_finds_bands_that_no_correlation_shows(self, by_package: bool):
        table, people = _in_bands(np.random.default_rng(5), by_package=by_package)
        assert detect(table, people) <= SIGNIFICANCE_LEVEL

    def test_finds_nothing_where_people_are_anywhere(self):
        table, people = _in_bands(np.random.default_rng(5), by_package=False)
        anybody = np.random.default_rng(6).permutation([human for _, human in people])
        assert (
            detect(table, [(texts, bool(human)) for (texts, _), human in zip(people, anybody, strict=True)])
            > SIGNIFICANCE_LEVEL
        )


def _in_bands(chance: np.random.Generator, *, by_package: bool) -> tuple[Table, list[tuple[tuple[str, ...], bool]]]:
    """Return 320 conversations, each in a package of its own or ten in one, and which are of people."""
    feature, noise = chance.uniform(0, 8, 320), chance.normal(size=320)
    texts: list[tuple[str, ...]] = [(f"text {number}",) for number in range(320)]
    packages = [{number // 10 if by_package else number} for number in range(320)]
    table = Table(texts, packages, np.column_stack([feature, noise]))
    return table, [(each, band in {1, 2, 4, 7}) for each, band in zip(texts, feature.astype(int), strict=True)]


class TestSimulatedCollection:
    async def test_with_human_dialogues_at_its_end_some_of_them_short_does_not_leak(self, suite: RunningSuite):
        collection = await import_conversations(suite, _simulated(LONG_AND_SHORT))
        assert not await leaks(suite, collection, segments=[2, 3, 5])

    async def test_shown_as_far_as_each_conversation_goes_leaks_and_is_noticed(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(packages_use_cases, "allocate", _leaking(shuffled_by=random.SystemRandom))
        collection = await import_conversations(suite, _simulated(LONG_AND_SHORT))
        assert await leaks(suite, collection, campaigns=1, segments=[2, 3, 5])

    async def test_shuffled_with_a_public_seed_leaks_and_is_noticed(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(packages_use_cases, "allocate", _leaking(shuffled_by=lambda: random.Random("packages/0")))
        collection = await import_conversations(suite, _simulated([5] * 50))
        assert await leaks(suite, collection, campaigns=1, segments=[2, 3, 5])

    async def test_in_a_random_order_without_a_secret_does_not_leak(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        """So that it was the seed, and nothing else of the packing, that was noticed."""
        monkeypatch.setattr(packages_use_cases, "allocate", _leaking(shuffled_by=random.SystemRandom))
        collection = await import_conversations(suite, _simulated([5] * 50))
        assert not await leaks(suite, collection, segments=[2, 3, 5])


class TestCollections:
    """The people of one study with the bots of another, and some of both in each of the two."""

    async def test_collections_of_which_one_has_most_people_do_not_leak(self, suite: RunningSuite):
        spoken = _simulated([5] * 60 + [3] * 10)
        parts = spoken[:100] + spoken[150:155], spoken[100:150] + spoken[153:]
        collections = [await import_conversations(suite, part) for part in parts]
        assert not await leaks(suite, *collections, segments=[2, 3, 5], human_share=0.25)


class TestPairs:
    """A package shows two conversations at each position; those of people are beside bots' alone."""

    async def test_do_not_leak(self, suite: RunningSuite):
        collection = await import_conversations(suite, _simulated([5] * 50))
        assert not await leaks(suite, collection, protocol="comparative", segments=[5])

    async def test_with_people_on_the_left_leak_and_are_noticed(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(packages_use_cases, "allocate", _with_people_on_the_left)
        collection = await import_conversations(suite, _simulated([5] * 50))
        assert await leaks(suite, collection, campaigns=1, protocol="comparative", segments=[5])


def _with_people_on_the_left(candidates: Sequence[Candidate], unit: Unit, **settings: Any) -> Allocation:
    """Return our allocation, turned around where people, who come last in the plan, are on the right."""
    found = allocate(candidates, unit, **settings)
    place = {each.conversation_id: number for number, each in enumerate(candidates)}
    packages = [
        replace(
            package,
            items=tuple(
                replace(item, conversations=tuple(sorted(item.conversations, key=place.__getitem__, reverse=True)))
                for item in package.items
            ),
        )
        for package in found.packages
    ]
    return replace(found, packages=tuple(packages))


SHORT_AND_LONG = [5] * 6 + [3] * 6 + [7] * 6
"""Conversations of people that go on for longer or less long than those of bots, and of which two can be opened."""


class TestExchanges:
    """An annotator opens every exchange of every item: the longest segment is as far as any conversation goes."""

    async def test_do_not_leak_although_some_dialogues_go_on(self, suite: RunningSuite):
        collection = await import_conversations(suite, _simulated(SHORT_AND_LONG, for_a_pair=4))
        assert not await leaks(suite, collection, protocol="spot_the_bot_gamified", segments=[2])

    async def test_to_the_end_of_each_dialogue_leak_and_are_noticed(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(packages_use_cases, "unit_of", lambda _protocol, _segments: Unit())
        collection = await import_conversations(suite, _simulated(SHORT_AND_LONG, for_a_pair=2))
        assert await leaks(suite, collection, campaigns=1, protocol="spot_the_bot_gamified", segments=[2])


GAME: dict[str, Any] = {"protocol": "spot_the_bot_gamified", "protocol_version": 1, "segments": [2]} | {
    "package_size": 20,
    "conversations": 40,
}
"""Two packages, each with three gold items of 23: if any order is as likely, one in C(46, 6) = 9,366,819 parts them."""


class TestGoldItems:
    @pytest.mark.parametrize(
        "unit",
        [
            {},
            {"protocol": "comparative", "package_size": 10},
            GAME,
        ],
    )
    async def test_between_the_others_are_not_found(self, suite: RunningSuite, unit: dict[str, Any]):
        assert not await _gold_leaks(suite, **unit)

    async def test_opened_further_than_other_items_are_found(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        async def whole(session: ReadSession, package_id: UUID) -> dict[int, Extent]:
            return dict.fromkeys(await list_extents(session, package_id), Extent(turns=10))

        list_extents = gold_store.list_extents
        monkeypatch.setattr(gold_store, "list_extents", whole)
        assert await _gold_leaks(suite, campaigns=1, **GAME)

    @pytest.mark.parametrize("planted", ["last", "long"])
    async def test_at_the_end_of_packages_or_longer_than_the_others_are_found(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch, planted: str
    ):
        def last(_shuffle: Shuffle, _package: int, *, items: int, gold: int) -> frozenset[int]:
            return frozenset(range(items, items + gold))

        def as_long_as_the_longest(session: ReadSession, package_id: UUID) -> Awaitable[dict[int, Extent]]:
            return _longest(list_extents(session, package_id))

        list_extents = gold_store.list_extents
        if planted == "last":
            monkeypatch.setattr(packages_use_cases, "gold_positions", last)
        else:
            monkeypatch.setattr(gold_store, "list_extents", as_long_as_the_longest)
        assert await _gold_leaks(suite, campaigns=1)


async def _longest(extents: Awaitable[dict[int, Extent]]) -> dict[int, Extent]:
    found = await extents
    return dict.fromkeys(found, max(found.values(), key=lambda each: each.turns))


async def _gold_leaks(suite: RunningSuite, *, campaigns: int = 2, conversations: int = 80, **more: Any) -> bool:
    """Say whether gold items can be told from the others in a package, in two campaigns with a secret each."""
    collection = await import_conversations(suite, _simulated([5] * 30)[-conversations:])
    await _store_gold(suite, more.get("protocol", "spot_the_bot"))
    rules = {"packages_per_annotator": 3, "gold": {"training": "gold_set", "per_package": 3}, "segments": [2, 3, 5]}
    for _ in range(campaigns):
        campaign = await open_campaign(suite, collection, annotations_per_segment=1, **rules | more)
        frontend = await suite.client("annotation", "annotation")
        table, known = (await pool(frontend, campaign)).by_item(lambda texts: texts[0].startswith("gold "))
        assert sum(is_gold for _, is_gold in known) == 3 * campaign["packages"]
        if detect(table, known) > SIGNIFICANCE_LEVEL:
            return False
    return True


async def _store_gold(suite: RunningSuite, protocol: str) -> None:
    """Store nine dialogues, or pairs, of five exchanges as gold for a protocol."""
    match protocol:
        case "comparative":
            dialogues = [gold_pair(f"gold {number}", exchanges=5) for number in range(9)]
        case "spot_the_bot_gamified":
            answer = {"entity": RIGHT["entity"]}
            dialogues = [gold_dialogue(f"gold {number}", exchanges=5, gold=answer) for number in range(9)]
        case _:
            dialogues = [gold_dialogue(f"gold {number}", exchanges=5) for number in range(9)]
    version = 2 if protocol == "comparative" else 1
    of = {"protocol": protocol, "protocol_version": version}
    await store_training(suite, name="gold_set", questions=None, dialogues=dialogues, **of)


class TestPlannedCollection:
    @pytest.mark.parametrize("shown", [True, False])
    async def test_does_not_leak(self, suite: RunningSuite, shown: bool):
        collection = await _collect(suite, shown=shown)
        assert not await leaks(suite, collection, segments=[2, 3], package_size=10)

    async def test_with_a_shown_opening_for_bots_alone_leaks_and_is_noticed(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        def no_opening_for_people(_plan: PlannedIn) -> int:
            return 0

        monkeypatch.setattr(plans_domain, "_turns_before_people", no_opening_for_people)
        collection = await _collect(suite, shown=True)
        assert await leaks(suite, collection, campaigns=1, segments=[2, 3], package_size=10)


class TestPublishedStudy:
    @pytest.mark.parametrize(("domain", "segments"), [("dailydialog", [2, 3, 5]), ("empathetic", [1, 2, 3])])
    async def test_annotated_again_does_not_leak(self, suite: RunningSuite, domain: str, segments: list[int]):
        if not PUBLISHED.is_dir():
            pytest.skip("the published conversations ../shared/data/spot-the-bot are not here")
        with open_dump(PUBLISHED, domain) as dump:
            conversations = [_uploaded(each) for each in dump.conversations() if isinstance(each, DumpConversation)]
        collection = await import_conversations(suite, conversations)
        assert not await leaks(suite, collection, segments=segments)


async def _collect(suite: RunningSuite, *, shown: bool) -> str:
    """Let three bots converse, 25 times a pair, about the sample's openings, and mix in 25 of its dialogues."""
    admin = await suite.client("conversations", "admin")
    body = {"name": "sample", "domain": "everyday", "origin": "Written for this project.", "licence": "Apache-2.0"}
    corpus = (await created(admin, "/v1/corpora", body))["id"]
    openings = [each for each in sample_dialogues() if each["split"] == "openings"]
    await created(admin, f"/v1/corpora/{corpus}/dialogues", {"dialogues": openings})
    bots = [await add_bot(suite, model) for model in ("eliza", "parrot", "dull")]
    request = plan(
        bots,
        exchanges=3,
        conversations_per_pair=25,
        opening={"corpus_id": corpus, "shown": shown},
        humans={"corpus_id": corpus, "conversations": 25},
        seed=0,
    )
    collection = await created(admin, "/v1/collections", request)
    await until(admin, f"/v1/collections/{collection['id']}", "complete")
    return collection["id"]


def _uploaded(conversation: DumpConversation) -> dict[str, Any]:
    return {
        "external_id": conversation.external_id,
        "participants": [{"kind": each.kind, "name": each.name} for each in conversation.participants],
        "turns": [{"speaker": "AB"[turn.speaker], "text": turn.text} for turn in conversation.turns],
    }


def _leaking(shuffled_by: Callable[[], random.Random]) -> Callable[..., Allocation]:
    """Return the allocator of version 0.1.0, which showed conversations as far as they went, by a shuffle of ours."""

    def allocate_as_before(
        candidates: Sequence[Candidate],
        unit: Unit,
        *,
        package_size: int,
        pairs: str,
        units_twice: None,
        secret: bytes,
        seed: int,
    ) -> Allocation:
        assert (pairs, units_twice, len(secret), seed) == ("any", None, 32, 0)
        chance = shuffled_by()
        shuffled = chance.sample(candidates, len(candidates))
        packages = []
        for start in range(0, len(shuffled), package_size):
            block = shuffled[start : start + package_size]
            for rotation in range(len(unit.lengths)):
                items = [
                    Item((each.conversation_id,), length)
                    for index, each in enumerate(block)
                    if (length := unit.lengths[(index + rotation) % len(unit.lengths)]) <= each.exchanges
                ]
                packages.append(AllocatedPackage(start, tuple(chance.sample(items, len(items)))))
        return Allocation(tuple(packages), -(-len(shuffled) // package_size), 0, 0)

    return allocate_as_before
