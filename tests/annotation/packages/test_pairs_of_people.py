"""Pairs of two dialogues that one person had with different bots: how they are drawn, and campaigns over them."""

from collections import Counter
from itertools import combinations
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.annotation.packages.domain.allocation import Candidate, allocate
from spotthebot.annotation.packages.domain.pairs import Dialogue, pair_by_person
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.packages.errors import NoPersonTwice
from spotthebot.annotation.protocols.domain.questions import Unit
from tests.factories.annotating import rows
from tests.factories.campaigns import open_campaign
from tests.factories.chat_studies import import_chats
from tests.factories.rated_chats import BOTS, exported_chats
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, created, import_conversations, until

BODY = {"name": "c", "domain": "everyday", "protocol": "comparative", "pairs": "same_person"}
PROBLEM = "urn:spotthebot:problem:no-person-twice"


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "conversations", "annotation"


def _max_pairs(bots: list[str]) -> int:
    """Return how many pairs of different bots can be made, by trying every pair first."""
    pairs = [(one, other) for one, other in combinations(range(len(bots)), 2) if bots[one] != bots[other]]
    rest = ([bots[at] for at in range(len(bots)) if at not in pair] for pair in pairs)
    return max((1 + _max_pairs(each) for each in rest), default=0)


class TestPairByPerson:
    @given(st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("xyz")), max_size=10), st.integers(0, 9))
    def test_makes_as_many_pairs_as_there_can_be_of_each_person(self, held: list[tuple[str, str]], seed: int):
        dialogues = [Dialogue(bot, 5 + at) for at, (_, bot) in enumerate(held)]
        people = [person for person, _ in held]
        possible = sum(_max_pairs([bot for person, bot in held if person == each]) for each in "pq")
        if not possible:
            with pytest.raises(NoPersonTwice):
                pair_by_person(dialogues, people, Shuffle(b"", seed))
            return
        pairs = pair_by_person(dialogues, people, Shuffle(b"", seed))
        assert len(pairs) == possible
        assert len({at for each in pairs for at in each}) == 2 * possible
        for left, right in pairs:
            assert people[left] == people[right]
            assert dialogues[left].stratum != dialogues[right].stratum

    def test_shows_each_bot_as_often_on_the_left_as_on_the_right(self):
        """60 people, each with two of three bots: 20 pairs of each two bots, 40 dialogues of each bot."""
        met = [pair for pair in combinations("xyz", 2) for _ in range(20)]
        dialogues = [Dialogue(bot, 30) for pair in met for bot in pair]
        pairs = pair_by_person(dialogues, [at // 2 for at in range(120)], Shuffle(b"secret", 3))
        sides = Counter((dialogues[left].stratum, dialogues[right].stratum) for left, right in pairs)
        assert sides == dict.fromkeys([(one, other) for one in "xyz" for other in "xyz" if one != other], 10)

    def test_lets_bots_meet_equally_often_over_all_people(self):
        """Each of 30 people talked with four bots, so they make 60 pairs: 10 of each two bots."""
        dialogues = [Dialogue(bot, 30) for _ in range(30) for bot in "wxyz"]
        pairs = pair_by_person(dialogues, [at // 4 for at in range(120)], Shuffle(b"secret", 3))
        met = Counter(frozenset(dialogues[at].stratum for at in pair) for pair in pairs)
        assert sorted(met.values()) == [10] * 6

    def test_counts_the_dialogues_without_a_partner(self):
        """p had three dialogues, q one, r two with one bot: two are paired, four are not."""
        held = ["px", "py", "py", "qx", "rz", "rz"]
        candidates = [
            Candidate(UUID(int=at), 9, bot, person.encode()) for at, (person, bot) in enumerate(map(tuple, held))
        ]
        found = allocate(candidates, Unit(dialogues=2), package_size=9, pairs="same_person", secret=b"", seed=0)
        (package,) = found.packages
        assert (len(package.items), found.unpaired, found.too_short) == (1, 4, 0)


async def _pairs(suite: RunningSuite, campaign: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the ids of origin of each pair."""
    query = """
        SELECT i.campaign_id::text, l.external_id, r.external_id FROM annotation.items i
        JOIN annotation.shown_conversations l USING (campaign_id, conversation_id)
        JOIN annotation.shown_conversations r
            ON r.campaign_id = i.campaign_id AND r.conversation_id = i.right_conversation_id
    """
    return [(left, right) for campaign_id, left, right in rows(suite, query) if campaign_id == campaign["id"]]


class TestCampaign:
    async def test_compares_the_two_chats_of_each_person(self, suite: RunningSuite):
        collection = await import_chats(suite, exported_chats(9))
        campaign = await open_campaign(suite, collection, protocol="comparative", pairs="same_person", package_size=3)
        assert (campaign["pairs"], campaign["items"], campaign["unpaired"]) == ("same_person", 9, 0)
        pairs = await _pairs(suite, campaign)
        assert {left[:3] for left, _ in pairs} == {f"p{number:02}" for number in range(9)}
        assert all(left[:3] == right[:3] and left != right for left, right in pairs)
        by_any = await open_campaign(suite, collection, name="d", protocol="comparative", package_size=3)
        assert by_any["pairs"] == "any"
        assert any(left[:3] != right[:3] for left, right in await _pairs(suite, by_any))

    async def test_shows_annotators_nothing_of_the_people(self, suite: RunningSuite):
        chats = exported_chats(3)
        collection = await import_chats(suite, chats)
        campaign = await open_campaign(suite, collection, protocol="comparative", pairs="same_person")
        frontend = await suite.client("annotation", "annotation")
        path = f"/v1/campaigns/{campaign['id']}/assignments"
        shown = (await frontend.post(path, json={"annotator": "w"})).text
        assert not any(name in shown for name in (*BOTS, "person-", "same_person", "interactor"))
        own = {"annotator": chats[0].rating.interactor if chats[0].rating else ""}
        refused = await frontend.post(path, json=own)  # every package has a chat of this person
        assert (refused.status_code, refused.json()["type"]) == (409, "urn:spotthebot:problem:nothing-left")

    async def test_leaves_out_who_talked_once(self, suite: RunningSuite):
        collection = await import_chats(suite, exported_chats(4)[1:])
        campaign = await open_campaign(suite, collection, protocol="comparative", pairs="same_person")
        assert (campaign["items"], campaign["unpaired"]) == (3, 1)
        admin = await suite.client("annotation", "admin")
        tried = (await admin.post("/v1/campaigns/dry-run", json=BODY | {"collection_id": collection})).json()
        assert (tried["items"], tried["unpaired"], tried["conversations"]) == (3, 1, 6)

    async def test_draws_pairs_for_two_annotators(self, suite: RunningSuite):
        collection = await import_chats(suite, exported_chats(6))
        admin = await suite.client("annotation", "admin")
        body = BODY | {"collection_id": collection, "units_twice": 7}
        answer = await admin.post("/v1/campaigns", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/units_twice")
        made = await created(admin, "/v1/campaigns", body | {"units_twice": 6})
        found = await until(admin, f"/v1/campaigns/{made['id']}", "open")
        assert (found["items"], found["annotations_needed"]) == (6, 12)

    async def test_takes_the_rule_only_as_a_draft(self, suite: RunningSuite):
        collection = await import_chats(suite, exported_chats(3))
        admin = await suite.client("annotation", "admin")
        made = await created(admin, "/v1/campaigns", BODY | {"collection_id": collection, "open": False})
        path = f"/v1/campaigns/{made['id']}"
        await until(admin, path, "draft")
        assert (await admin.patch(path, json={"pairs": "any"})).json()["state"] == "building"
        assert (await until(admin, path, "draft"))["pairs"] == "any"
        assert (await admin.post(f"{path}/open")).status_code == 200
        late = await admin.patch(path, json={"pairs": "same_person"})
        assert (late.status_code, late.json()["errors"][0]["pointer"]) == (409, "/pairs")


class TestRefusals:
    async def test_name_the_key_if_there_are_no_people_or_nobody_twice(self, suite: RunningSuite):
        without = [conversation(f"c{number}", "HU", f"bot-{number}") for number in range(4)]
        once = exported_chats(4)[::2]
        admin = await suite.client("annotation", "admin")
        for collection in (await import_conversations(suite, without), await import_chats(suite, once)):
            for path in ("/v1/campaigns", "/v1/campaigns/dry-run"):
                answer = await admin.post(path, json=BODY | {"collection_id": collection})
                assert (answer.status_code, answer.json()["type"]) == (422, PROBLEM)
                assert answer.json()["errors"][0]["pointer"] == "/pairs"
        assert (await admin.get("/v1/campaigns")).json()["items"] == []

    @pytest.mark.parametrize(
        ("change", "pointer", "reason"),
        [
            ({"pairs": "persons"}, "/pairs", "'any' or 'same_person'"),
            ({"protocol": "dialogue_likert"}, "/pairs", "is not used here"),
            ({"mode": "uploaded"}, "", "pairs is for mode live"),
        ],
    )
    async def test_say_why_a_rule_does_not_fit(
        self, suite: RunningSuite, change: dict[str, Any], pointer: str, reason: str
    ):
        collection = await import_chats(suite, exported_chats(2))
        admin = await suite.client("annotation", "admin")
        answer = await admin.post("/v1/campaigns", json=BODY | {"collection_id": collection} | change)
        assert answer.status_code == 422
        (fault,) = answer.json()["errors"]
        assert fault["pointer"] == pointer
        assert reason in fault["detail"]
