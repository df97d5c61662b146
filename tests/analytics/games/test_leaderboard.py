"""The leaderboard of a game: what labels are worth, that guesses earn nothing, and who may see it."""

from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.analytics.games.domain import PlayedSide, final_ranks, leaderboard, ranks_so_far
from spotthebot.analytics.games.errors import OneKindOnly
from spotthebot.contracts.annotation.annotations import Label
from tests.factories.annotating import claim, save, submit
from tests.factories.campaigns import open_campaign
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import conversation, import_conversations

HUMAN, BOT, UNSURE = Label.HUMAN, Label.BOT, Label.UNSURE


def _side(
    is_human: bool, label: Label, turn: int = 1, annotator: str = "a", package: int = 0, conversation: int = 0
) -> PlayedSide:
    return PlayedSide(conversation, annotator, package, label, is_human, turn, turns=5)


def _points(sides: list[PlayedSide], penalty: float = 0.5) -> dict[str, float]:
    return {each.annotator: each.points for each in leaderboard(sides, penalty=penalty)}


class TestPoints:
    def test_are_those_of_the_definition(self):
        """Eight sides, two of people: they weigh 8 / (2 * 2) = 2, those of bots 8 / (2 * 6) = 2/3.

        With a penalty of .5 a right label of turn 3 of 5 is worth 1 - .5 * 2/4 = .75, one of turn 5 is worth .5.
        """
        sides = [
            _side(True, HUMAN),  # 2
            _side(False, BOT, 3),  # .75 * 2/3 = .5
            _side(False, HUMAN, 2),  # -2/3
            _side(False, UNSURE, 5),
            _side(True, BOT, 5, "b"),  # -2
            _side(False, BOT, 5, "b", package=1),  # .5 * 2/3 = 1/3
            _side(False, BOT, 1, "b", package=1),  # 2/3
            _side(False, UNSURE, 1, "b", package=2),
        ]
        one, other = leaderboard(sides, penalty=0.5)
        assert one.rank == 1
        assert one.annotator == "a"
        assert one.points == 1.833
        assert one.points_per_side == 0.458
        assert one.packages == 1
        assert one.sides == 4
        assert one.right == 2
        assert one.wrong == 1
        assert one.unsure == 1
        assert one.mean_turn == 2.0
        assert other.rank == 2
        assert other.annotator == "b"
        assert other.points == -1.0
        assert other.packages == 3
        assert other.right == 2
        assert other.wrong == 1
        assert other.unsure == 1
        assert other.mean_turn == 3.667

    def test_share_a_rank_where_they_are_equal(self):
        sides = [
            _side(is_human, HUMAN if is_human else BOT, annotator == "c", annotator)
            for annotator in "cab"
            for is_human in (True, False)
        ]
        sides += [_side(is_human, UNSURE, annotator="d") for is_human in (True, False)]
        found = [(each.rank, each.annotator) for each in leaderboard(sides, penalty=0)]
        assert found == [(1, "a"), (1, "b"), (1, "c"), (4, "d")]

    @given(
        st.lists(st.booleans(), min_size=2, max_size=60).filter(lambda kinds: len(set(kinds)) == 2),
        st.sampled_from([HUMAN, BOT]),
        st.integers(1, 5),
        st.floats(0, 1),
    )
    def test_are_none_for_one_label_always_and_less_for_it_later(
        self, kinds: list[bool], label: Label, turn: int, penalty: float
    ):
        """Right sides weigh as much as wrong ones: N/2 (1 - late) - N/2 = -N/2 late."""
        (points,) = _points([_side(is_human, label, turn) for is_human in kinds], penalty).values()
        assert points == pytest.approx(-len(kinds) / 2 * penalty * (turn - 1) / 4, abs=1e-3)

    @pytest.mark.parametrize(("turn", "penalty"), [(1, 0.5), (3, 0.5), (5, 1.0)])
    def test_have_the_expectation_that_says_when_to_look_on(self, turn: int, penalty: float):
        """Right about 8 of 10 people and 21 of 30 bots: b = .75, and 40 sides are worth 40 (b (2 - late) - 1)."""
        sides = [_side(True, HUMAN if number < 8 else BOT, turn) for number in range(10)]
        sides += [_side(False, BOT if number < 21 else HUMAN, turn) for number in range(30)]
        late = penalty * (turn - 1) / 4
        (points,) = _points(sides, penalty).values()
        assert points == pytest.approx(40 * (0.75 * (2 - late) - 1), abs=1e-3)

    def test_fall_with_every_exchange_by_the_penalty_alone(self):
        worth = [_points([_side(True, HUMAN, turn), _side(False, UNSURE)], 0.4)["a"] for turn in range(1, 6)]
        assert [one - other for one, other in pairwise(worth)] == pytest.approx([0.1] * 4)

    @pytest.mark.parametrize("is_human", [True, False])
    def test_are_not_counted_where_all_are_of_one_kind(self, is_human: bool):
        with pytest.raises(OneKindOnly, match=f"all 2 annotated are {'people' if is_human else 'bots'}'"):
            leaderboard([_side(is_human, BOT), _side(is_human, HUMAN)], penalty=0.5)

    def test_have_no_entries_where_nobody_played(self):
        assert leaderboard([], penalty=0.5) == ()


def _dialogues(annotator: str, right: int, numbers: range) -> list[PlayedSide]:
    """Label a person and a bot in each of these conversations, rightly in the first `right` of them."""
    return [
        _side(is_human, HUMAN if is_human == (place < right) else BOT, annotator=annotator, conversation=number)
        for place, number in enumerate(numbers)
        for is_human in (True, False)
    ]


class TestRanks:
    """What annotators see while the campaign goes on tells nothing that anybody could use."""

    def test_so_far_are_ranks_alone_of_who_has_forty_settled_sides(self):
        """Two annotators are needed: conversations 0 to 19 have a and b, so c and the rest of a's count nothing."""
        sides = [*_dialogues("a", 10, range(30)), *_dialogues("b", 15, range(20)), *_dialogues("c", 20, range(30, 50))]
        found = ranks_so_far(sides, annotations_needed=2)
        assert [(each.rank, each.annotator, each.sides) for each in found] == [(1, "b", 40), (2, "a", 40)]
        assert {(each.points, each.right) for each in found} == {(None, None)}
        assert ranks_so_far(sides, annotations_needed=3) == ()
        assert ranks_so_far([each for each in sides if each.conversation != 7], annotations_needed=2) == ()

    def test_so_far_share_a_rank_where_points_are_equal(self):
        sides = [each for annotator in "abc" for each in _dialogues(annotator, 10 + (annotator == "c"), range(20))]
        found = ranks_so_far(sides, annotations_needed=3)
        assert [(each.rank, each.annotator) for each in found] == [(1, "c"), (2, "a"), (2, "b")]

    def test_so_far_do_not_say_that_all_are_of_one_kind(self):
        sides = [each for each in _dialogues("a", 20, range(40)) if not each.is_human]
        assert ranks_so_far(sides, annotations_needed=1) == ()

    def test_at_the_end_are_all_with_their_points(self):
        """Twenty sides of either kind weigh 1 each: a has 10 right and 30 wrong, b all 4 right."""
        sides = [*_dialogues("a", 5, range(20)), *_dialogues("b", 2, range(2))]
        found = final_ranks(sides)
        assert [(each.rank, each.annotator, each.sides, each.right, each.points) for each in found] == [
            (1, "b", 4, 4, 4.0),
            (2, "a", 40, 10, -20.0),
        ]


async def _play(suite: RunningSuite, campaign: dict[str, Any], annotator: str, a: str, b: str, *, turn: int) -> None:
    """Open `turn` exchanges of the only item, and label both sides."""
    frontend = await suite.client("annotation", "annotation")
    assignment = await claim(suite, campaign, annotator)
    for number in range(1, turn + 1):
        path = f"/v1/assignments/{assignment['id']}/items/0/exchanges"
        assert (await frontend.post(path, json={"open": number})).status_code == 200
    assert (await save(suite, assignment, 0, {"entity": {"A": a, "B": b}})).status_code == 200
    assert (await submit(suite, assignment)).status_code == 200


async def _game(suite: RunningSuite, first: str, second: str, **more: Any) -> dict[str, Any]:
    collection = await import_conversations(suite, [conversation("c", first, second)])
    body = {"protocol": "spot_the_bot_gamified", "protocol_version": 1, "segments": [3], "annotations_per_segment": 3}
    return await open_campaign(suite, collection, **body | more)


class TestLeaderboard:
    async def test_lists_annotators_under_the_pseudonyms_of_exports_page_by_page(self, suite: RunningSuite):
        """One person and one bot, three annotators: all sides weigh 1, and turn 3 of 3 costs a right label .5."""
        campaign = await _game(suite, "HU", "SECRET-ONE")
        await _play(suite, campaign, "ann", "human", "bot", turn=3)
        await _play(suite, campaign, "bob", "human", "bot", turn=1)
        await _play(suite, campaign, "cy", "bot", "unsure", turn=2)
        names = {each["pseudonym"]: each["annotator"] for each in await _annotators(suite, campaign)}
        analyst = await suite.client("analytics", "analyst")
        path = f"/v1/campaigns/{campaign['id']}/leaderboard"
        found, cursor = [], None
        while True:
            query = {"limit": 1} | ({"cursor": cursor} if cursor else {})
            page = (await analyst.get(path, params=query)).json()
            found += page["items"]
            if (cursor := page["next_cursor"]) is None:
                break
        assert [(each["rank"], names[each["annotator"]], each["points"]) for each in found] == [
            (1, "bob", 2.0),
            (2, "ann", 1.0),
            (3, "cy", -1.0),
        ]
        without = (await analyst.get(path, params={"penalty": 0})).json()["items"]
        assert [each["rank"] for each in without] == [1, 1, 3]
        assert (await analyst.get(path)).json()["items"] == found

    async def test_leads_to_its_next_page_whatever_the_campaign_is_called(self, suite: RunningSuite):
        name = "Игра ☃ 50%41 & co? #1"
        campaign = await _game(suite, "HU", "SECRET-ONE", name=name)
        for annotator in ("ann", "bob"):
            await _play(suite, campaign, annotator, "human", "bot", turn=1)
        analyst = await suite.client("analytics", "analyst")
        path = f"/v1/campaigns/{quote(name)}/leaderboard"
        both = (await analyst.get(path)).json()["items"]
        first = await analyst.get(path, params={"limit": 1})
        assert first.json()["items"] == both[:1]
        following = first.headers["Link"].removeprefix("<").removesuffix('>; rel="next"')
        assert (await analyst.get(following)).json()["items"] == both[1:]

    async def test_is_none_before_the_first_package_is_submitted(self, suite: RunningSuite):
        campaign = await _game(suite, "HU", "SECRET-ONE")
        analyst = await suite.client("analytics", "analyst")
        empty = await analyst.get(f"/v1/campaigns/{campaign['id']}/leaderboard")
        assert empty.json() == {"items": [], "next_cursor": None}

    async def test_is_refused_to_frontends_and_for_what_is_no_game(self, suite: RunningSuite):
        game = await _game(suite, "SECRET-ONE", "SECRET-TWO")
        await _play(suite, game, "ann", "bot", "bot", turn=1)
        other = await _game(suite, "HU", "SECRET-ONE", protocol="spot_the_bot")
        frontend = await suite.client("analytics", "annotation")
        analyst = await suite.client("analytics", "analyst")
        path = f"/v1/campaigns/{game['id']}/leaderboard"
        assert (await frontend.get(path)).status_code == 403
        for query in ("penalty=1.1", "penalty=-1", "penalty=nan", "penalty=x", "cursor=x", "limit=0", "unknown=1"):
            assert (await analyst.get(f"{path}?{query}")).status_code == 422
        for campaign, problem in ((game, "one-kind-only"), (other, "other-protocol")):
            refused = await analyst.get(f"/v1/campaigns/{campaign['id']}/leaderboard")
            assert (refused.status_code, refused.json()["type"]) == (409, f"urn:spotthebot:problem:{problem}")
        ranking = await analyst.get(f"/v1/campaigns/{game['id']}/ranking")
        assert (ranking.status_code, ranking.json()["type"]) == (409, "urn:spotthebot:problem:other-protocol")

    async def test_shows_no_rank_for_conversations_that_another_annotator_may_still_get(self, suite: RunningSuite):
        """Twenty conversations make a rank, but all of them are drawn for two annotators, and one has played them."""
        talks = [conversation(f"c{number}", "HU", "SECRET-ONE") for number in range(20)]
        body = {"protocol": "spot_the_bot_gamified", "protocol_version": 1, "segments": [3], "units_twice": 20}
        game = await open_campaign(suite, await import_conversations(suite, talks), **body)
        frontend = await suite.client("annotation", "annotation")
        ranks = await suite.client("analytics", "annotation")
        found = []
        for annotator in ("ann", "bob"):
            assignment = await claim(suite, game, annotator)
            for position in range(20):
                path = f"/v1/assignments/{assignment['id']}/items/{position}/exchanges"
                assert (await frontend.post(path, json={"open": 1})).status_code == 200
                assert (await save(suite, assignment, position, {"entity": {"A": HUMAN, "B": BOT}})).status_code == 200
            assert (await submit(suite, assignment)).status_code == 200
            found.append((await ranks.get(f"/v1/campaigns/{game['id']}/annotator-ranks")).json()["items"])
        assert [[each["sides"] for each in items] for items in found] == [[], [40, 40]]

    async def test_is_shown_to_frontends_as_ranks_and_points_come_when_the_game_is_over(self, suite: RunningSuite):
        game = await _game(suite, "HU", "SECRET-ONE")
        for annotator, a in (("ann", "human"), ("bob", "bot")):
            await _play(suite, game, annotator, a, "bot", turn=1)
        frontend = await suite.client("analytics", "annotation")
        path = f"/v1/campaigns/{game['id']}/annotator-ranks"
        assert (await frontend.get(path)).json()["items"] == []  # a rank takes twenty conversations
        admin = await suite.client("annotation", "admin")
        await admin.post(f"/v1/campaigns/{game['id']}/close")
        one = (await frontend.get(f"{path}?limit=1")).json()
        two = (await frontend.get(f"{path}?limit=1&cursor={one['next_cursor']}")).json()
        names = {each["annotator"]: each["pseudonym"] for each in await _annotators(suite, game)}
        assert one["items"] + two["items"] == [
            {"rank": 1, "annotator": names["ann"], "packages": 1, "sides": 2, "right": 2, "points": 2.0},
            {"rank": 2, "annotator": names["bob"], "packages": 1, "sides": 2, "right": 1, "points": 0.0},
        ]
        assert two["next_cursor"] is None
        team = await suite.client("analytics", "team", team="blue")
        assert (await team.get(path)).status_code == 403
        for query in ("penalty=0", "cursor=x", "limit=0"):
            assert (await frontend.get(f"{path}?{query}")).status_code == 422


async def _annotators(suite: RunningSuite, campaign: dict[str, Any]) -> list[dict[str, Any]]:
    admin = await suite.client("annotation", "admin")
    found: list[dict[str, Any]] = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    return found
