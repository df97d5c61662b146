"""Conversations of several collections for one campaign: repeats, shares of human dialogues, bots of one name."""

import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.conversations.mixes.domain import Mix, Mixed, MixedPair, check_bots, select
from spotthebot.conversations.mixes.errors import BotsDiffer, HumanShareUnreachable, NamedAlike, OpeningsDiffer
from spotthebot.kit.text.words import text_hash
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

ONE, TWO = UUID(int=1), UUID(int=2)


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations",)


def _mix(*, exchanges: int = 2, human_share: float | None = None, seed: int = 0) -> Mix:
    return Mix((ONE, TWO), exchanges, human_share, seed)


def _bot(name: str, *, version: int = 1, sha: str | None = None) -> Participant:
    bot_id = UUID(int=ord(name))
    return Participant(
        kind=ParticipantKind.BOT, name=name, bot_id=bot_id, version=version, configuration_sha256=sha and sha * 64
    )


HUMAN = Participant(kind=ParticipantKind.HUMAN, name=HUMAN_NAME)


def _mixed(
    number: int,
    collection: UUID,
    words: str,
    *,
    people: bool = False,
    exchanges: int = 3,
    opening: int = 0,
    name: str | None = None,
) -> Mixed:
    pair = MixedPair.of((HUMAN, HUMAN) if people else (_bot("X"), _bot("Y")))
    return Mixed(UUID(int=number), collection, name, pair, exchanges, words.encode(), opening)


def _study(bots: int, people: int, *, first_id: int = 100) -> list[Mixed]:
    """Return conversations of bots in one collection, and dialogues of people in the other."""
    spoken = [_mixed(first_id + number, ONE, f"bots {number}") for number in range(bots)]
    return spoken + [_mixed(first_id + bots + number, TWO, f"people {number}", people=True) for number in range(people)]


class TestRepeated:
    def test_conversations_are_taken_once_from_the_first_collection(self):
        selection = select([_mixed(1, ONE, "a"), _mixed(2, ONE, "b"), _mixed(3, TWO, "a"), _mixed(4, TWO, "c")], _mix())
        assert set(selection.left_out) == {UUID(int=3)}
        assert selection.repeated == 1
        assert selection.long_enough == 3

    def test_conversations_are_taken_from_the_collection_where_they_are_long_enough(self):
        short, long = (
            _mixed(number, at, "a", people=True, exchanges=length) for number, at, length in ((1, ONE, 1), (2, TWO, 3))
        )
        assert select([short, long], _mix()).left_out == {short.id}

    def test_conversations_of_one_collection_are_all_taken(self):
        """As in a campaign over this collection alone."""
        assert select([_mixed(1, ONE, "a"), _mixed(2, ONE, "a")], _mix()).left_out == set()

    def test_words_of_other_speakers_are_another_conversation(self):
        assert select([_mixed(1, ONE, "a"), _mixed(2, TWO, "a", people=True)], _mix()).left_out == set()


class TestHumanShare:
    @pytest.mark.parametrize(
        ("bots", "share", "drawn"),
        [(8, 0.2, 2), (30, 0.25, 10), (3, 0.5, 3), (10, 0.0, 0), (9, 0.1, 1)],  # drawn / (bots + drawn) = share
    )
    def test_human_share_is_met(self, bots: int, share: float, drawn: int):
        selection = select(_study(bots, 12), _mix(human_share=share))
        assert (selection.not_drawn, selection.long_enough) == (12 - drawn, bots + drawn)
        assert drawn / (bots + drawn) == share

    def test_human_share_however_small_is_one_dialogue_at_least(self):
        assert select(_study(2, 3), _mix(human_share=0.01)).long_enough == 3
        with pytest.raises(HumanShareUnreachable, match="there are 0: lower it"):
            select(_study(2, 0), _mix(human_share=0.01))

    def test_human_share_is_of_conversations_that_are_long_enough(self):
        short = [_mixed(number, TWO, f"short {number}", people=True, exchanges=1) for number in range(5)]
        selection = select([*short, *_study(8, 4)], _mix(human_share=0.2))
        assert (selection.too_short, selection.not_drawn, selection.long_enough) == (5, 2, 10)

    def test_human_share_that_is_too_large_says_how_many_dialogues_are_there_and_needed(self):
        with pytest.raises(HumanShareUnreachable) as raised:
            select(_study(30, 9), _mix(human_share=0.25))
        assert str(raised.value) == ("A share of 0.25 needs 10 human dialogues of 2 exchanges; there are 9: lower it.")

    def test_human_share_counts_a_dialogue_of_both_collections_once(self):
        twice = [_mixed(1, ONE, "same", people=True), _mixed(2, TWO, "same", people=True)]
        with pytest.raises(HumanShareUnreachable, match="there are 1: lower it"):
            select([*twice, *_study(2, 0)], _mix(human_share=0.5))

    def test_human_share_is_drawn_by_the_seed_whatever_the_ids(self):
        def drawn(first_id: int, seed: int) -> list[bytes]:
            study = _study(4, 40, first_id=first_id)
            left_out = select(study, _mix(human_share=0.5, seed=seed)).left_out
            return [each.words for each in study if each.pair.is_by_people and each.id not in left_out]

        assert drawn(100, 1) == drawn(1000, 1)
        assert len({tuple(drawn(100, seed)) for seed in range(5)}) == 5


class TestOpenings:
    def test_shown_openings_have_the_same_lengths_in_all_collections(self):
        one = [_mixed(1, ONE, "a", opening=2), _mixed(2, ONE, "b", opening=1)]
        select([*one, _mixed(3, TWO, "c", opening=1), _mixed(4, TWO, "d", opening=2)], _mix())
        with pytest.raises(OpeningsDiffer, match="openings of 1 or 2 and of 2 turns,"):
            select([*one, _mixed(3, TWO, "c", opening=2)], _mix())


class TestNames:
    def test_one_name_for_two_texts_is_refused_whatever_is_drawn(self):
        alike = [_mixed(1, ONE, "one", people=True, name="c"), _mixed(2, TWO, "other", people=True, name="c")]
        for share in (None, 0.0):
            with pytest.raises(NamedAlike, match="are called 'c'"):
                select([*alike, *_study(2, 0)], _mix(human_share=share))

    def test_an_imported_copy_with_other_words_has_the_id_of_its_original_for_a_name(self):
        original = _mixed(1, ONE, "one")
        with pytest.raises(NamedAlike, match=str(original.id)):
            select([original, _mixed(2, TWO, "other", name=str(original.id))], _mix())

    def test_one_name_for_a_conversation_of_both_collections_is_right(self):
        once = [_mixed(1, ONE, "same", name="c"), _mixed(2, ONE, "a"), _mixed(3, TWO, "b")]
        assert select([*once, _mixed(4, TWO, "same", name="c")], _mix()).repeated == 1


class TestBots:
    @pytest.mark.parametrize(
        ("one", "other", "are_same"),
        [
            (_bot("X"), _bot("X"), True),
            (_bot("X"), _bot("X", version=2), False),
            (_bot("X", sha="a"), _bot("X", sha="b"), False),
            (_bot("X", sha="a"), _bot("X", version=2, sha="a"), True),
            (_bot("X"), Participant(kind=ParticipantKind.BOT, name="X"), False),
            (*[Participant(kind=ParticipantKind.BOT, name="X")] * 2, True),
            (*[Participant(kind=ParticipantKind.BOT, name="X", system=each) for each in ("one", "other")], False),
        ],
    )
    def test_bots_of_one_name_are_the_same_in_all_collections(
        self, one: Participant, other: Participant, are_same: bool
    ):
        if are_same:
            check_bots([("first", one), ("first", _bot("Y")), ("second", other)])
        else:
            with pytest.raises(BotsDiffer, match=r"'X' is .* in 'first' and .* in 'second'"):
                check_bots([("first", one), ("first", _bot("Y")), ("second", other)])

    def test_bots_of_one_collection_are_not_compared(self):
        check_bots([("first", _bot("X")), ("first", _bot("X", version=2)), ("second", _bot("Y"))])


def _cut(spoken: dict[str, Any], turns: int) -> dict[str, Any]:
    return spoken | {"turns": spoken["turns"][:turns]}


async def _ask(suite: RunningSuite, path: str, collections: list[str], **mix: str) -> httpx.Response:
    client = await suite.client("conversations", "service")
    params: list[tuple[str, str | int | float | bool | None]] = [("also", each) for each in collections[1:]]
    return await client.get(f"/v1/collections/{collections[0]}/{path}", params=[*params, *mix.items()])


async def _hashes(suite: RunningSuite, collections: list[str], **mix: str) -> list[dict[str, str]]:
    answer = await _ask(suite, "text-hashes/stream", collections, **mix)
    return [json.loads(line) for line in answer.text.splitlines()]


class TestCollections:
    """Two collections: conversations of bots, of which both have one, and of people, of which both have one."""

    @pytest.fixture
    async def collections(self, suite: RunningSuite) -> list[str]:
        bots = [conversation(f"b{number}", "X", "Y") for number in range(5)]
        people = [conversation(f"p{number}", "HU", "HU") for number in range(5)]
        one = await import_conversations(suite, [*bots[:3], *people[:2], conversation("short", "X", "Y", exchanges=1)])
        return [one, await import_conversations(suite, [*bots[2:], _cut(people[1], 4), *people[2:]])]

    async def test_collections_are_counted_as_one(self, suite: RunningSuite, collections: list[str]):
        """5 of bots and 5 of people; one of each is in both, people's there is cut after two exchanges."""
        answer = (await _ask(suite, "mix", collections, exchanges="2")).json()
        assert answer == {"long_enough": 10, "too_short": 1, "repeated": 2, "not_drawn": 0}
        share = (await _ask(suite, "mix", collections, exchanges="3", human_share="0.375")).json()
        assert share == {"long_enough": 8, "too_short": 1, "repeated": 2, "not_drawn": 2}  # 3 / (5 + 3)

    async def test_collections_have_strata_in_common(self, suite: RunningSuite, collections: list[str]):
        for asked in (collections, collections[::-1]):
            lines = (await _ask(suite, "strata/stream", asked, exchanges="2")).text.splitlines()
            assert len({line.partition("stratum")[0] for line in lines}) == len(lines) == 11
            assert len({line.partition("stratum")[2] for line in lines}) == 2
            hashes = (await _ask(suite, "interactors/stream", asked)).text.splitlines()
            assert len({line.partition("salt")[0] for line in hashes}) == len(hashes) == 13
            assert len({line.partition("salt")[2].partition("interactor")[0] for line in hashes}) == 1

    async def test_conversations_that_are_taken_have_a_hash_of_what_is_shown(
        self, suite: RunningSuite, collections: list[str]
    ):
        """Ten of two exchanges are taken, and eleven of one: each begins with words of its own."""
        for exchanges, taken in (("2", 10), ("1", 11)):
            found = await _hashes(suite, collections, exchanges=exchanges, shown=exchanges)
            assert len({each["id"] for each in found}) == len({each["text_hash"] for each in found}) == taken
        words = [f"b0 says {number}" for number in range(4)]
        assert text_hash(words).hex() in {each["text_hash"] for each in await _hashes(suite, collections, shown="2")}
        assert text_hash(words).hex() not in {each["text_hash"] for each in await _hashes(suite, collections)}

    @pytest.mark.parametrize("path", ["mix", "strata/stream"])
    async def test_collections_are_refused_where_a_share_can_not_be_met(
        self, suite: RunningSuite, collections: list[str], path: str
    ):
        answer = await _ask(suite, path, collections, human_share="0.9")
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:spotthebot:problem:human-share-unreachable")
        for wrong in ("1", "-0.1", "nan", "many"):
            assert (await _ask(suite, path, collections, human_share=wrong)).status_code == 422

    async def test_collections_have_to_be_there(self, suite: RunningSuite, collections: list[str]):
        nobody = "00000000-0000-7000-8000-000000000000"
        for path in ("mix", "strata/stream", "text-hashes/stream", "interactors/stream"):
            assert (await _ask(suite, path, [collections[0], nobody])).status_code == 404

    async def test_collections_are_mixed_for_administrators_and_services_alone(
        self, suite: RunningSuite, collections: list[str]
    ):
        for role, status in (("admin", 200), ("analyst", 403), ("annotation", 403)):
            client = await suite.client("conversations", role)
            assert (await client.get(f"/v1/collections/{collections[0]}/mix")).status_code == status
