"""Gold items between the others, strikes for wrong ones, and packages that were answered too fast."""

import asyncio
from typing import Any

import psycopg
import pytest

from tests.factories.annotating import (
    annotations_of,
    ask,
    claim,
    movable_clock,
    refused,
    save,
    state_of,
    submit,
    work_through,
)
from tests.factories.annotator_trainings import RIGHT, WRONG, gold_dialogue, is_gold, store_gold, store_training
from tests.factories.campaigns import CONVERSATIONS, campaign_of, create_campaign
from tests.factories.databases import Databases
from tests.factories.gates import locks_awaited
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import import_conversations

GOLD: dict[str, Any] = {"training": "gold_set"}


async def _campaign(suite: RunningSuite, *, gold: int = 4, per_package: int = 1, **more: Any) -> dict[str, Any]:
    """Open a campaign of two blocks with two packages each, which show two conversations and gold items."""
    await store_gold(suite, gold)
    rules: dict[str, Any] = {"packages_per_annotator": 2, "gold": GOLD | {"per_package": per_package}}
    return await campaign_of(suite, **rules | more)


async def _answer(suite: RunningSuite, assignment: dict[str, Any], *, gold: dict[str, Any]) -> None:
    """Answer every item rightly, but gold items as `gold` says."""
    for item in assignment["items"]:
        answer = gold if is_gold(item) else RIGHT
        await save(suite, assignment, item["position"], {"entity": answer["entity"]}, show_step=2)
        saved = await save(suite, assignment, item["position"], answer)
        assert saved.status_code == 200, saved.text


async def _annotator(suite: RunningSuite, campaign: dict[str, Any], name: str = "w") -> dict[str, Any]:
    admin = await suite.client("annotation", "admin")
    listed = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    return next(each for each in listed if each["annotator"] == name)


async def _refused(suite: RunningSuite, **more: Any) -> tuple[int, str, str]:
    collection = await import_conversations(suite, CONVERSATIONS[:1])
    admin = await suite.client("annotation", "admin")
    body = {"name": "c", "domain": "everyday", "collection_id": collection, "segments": [1, 2]} | more
    answer = await admin.post("/v1/campaigns", json=body)
    assert answer.is_client_error, answer.text
    problem = answer.json()
    details = "; ".join(each["detail"] for each in problem.get("errors", ())) or problem["detail"]
    return answer.status_code, problem["type"].removeprefix("urn:spotthebot:problem:"), details


class TestPackage:
    async def test_has_gold_items_that_look_like_the_others(self, suite: RunningSuite):
        campaign = await _campaign(suite, gold=6, per_package=3)
        assignment = await claim(suite, campaign, "w")
        items = assignment["items"]
        assert [item["position"] for item in items] == [0, 1, 2, 3, 4]
        assert sum(map(is_gold, items)) == 3
        assert len({tuple(item) for item in items}) == 1
        lengths = [{len(item["turns"]) for item in items if is_gold(item) == gold} for gold in (True, False)]
        assert lengths[0] <= lengths[1]
        frontend = await suite.client("annotation", "annotation")
        assert (await frontend.get(f"/v1/assignments/{assignment['id']}")).json() == assignment

    async def test_gives_annotations_for_its_other_items_alone(self, suite: RunningSuite):
        campaign = await _campaign(suite, annotations_per_segment=1)
        assert (campaign["items"], campaign["annotations_needed"]) == (8, 8)
        for number in range(4):
            assignment = await claim(suite, campaign, f"w{number // 2}")
            assert len(assignment["items"]) == 3
            await _answer(suite, assignment, gold=RIGHT)
            assert (await submit(suite, assignment)).status_code == 200
        assert (await state_of(suite, campaign))["state"] == "complete"
        assert (await state_of(suite, campaign))["annotations"] == 8
        assert len(await annotations_of(suite, campaign)) == 8
        right = [(await _annotator(suite, campaign, name))["gold_right"] for name in ("w0", "w1")]
        assert right == [2, 2]

    async def test_needs_answers_to_gold_items_too_and_has_no_item_behind_its_last(self, suite: RunningSuite):
        campaign = await _campaign(suite)
        assignment = await claim(suite, campaign, "w")
        for item in assignment["items"]:
            if not is_gold(item):
                await save(suite, assignment, item["position"], {"entity": RIGHT["entity"]}, show_step=2)
                await save(suite, assignment, item["position"], RIGHT)
        (gold,) = (item["position"] for item in assignment["items"] if is_gold(item))
        refusal = (await submit(suite, assignment)).json()
        assert {fault["pointer"].split("/")[2] for fault in refusal["errors"]} == {str(gold)}
        missing = await save(suite, assignment, 3, RIGHT)
        assert (missing.status_code, missing.json()["detail"]) == (
            422,
            "There is no item 3: this assignment has items 0 to 2.",
        )

    async def test_shows_no_gold_dialogue_that_its_annotator_has_seen(self, suite: RunningSuite):
        campaign = await _campaign(suite, gold=4, per_package=2)
        seen = []
        for _ in range(2):
            assignment = await claim(suite, campaign, "w")
            seen += [item["turns"][0]["text"] for item in assignment["items"] if is_gold(item)]
            await _answer(suite, assignment, gold=RIGHT)
            await submit(suite, assignment)
        assert len(set(seen)) == 4
        assert await refused(suite, campaign, "w") == "limit-reached"

    async def test_is_refused_where_an_expired_one_has_used_up_the_gold(self, suite: RunningSuite):
        clock = movable_clock(suite)
        campaign = await _campaign(suite, gold=2, packages_per_annotator=1, per_package=2, annotations_per_segment=1)
        await claim(suite, campaign, "w")
        clock.advance(hours=2)
        taken = [await claim(suite, campaign, f"other {number}") for number in range(4)]
        await _answer(suite, taken[-1], gold=RIGHT)
        await submit(suite, taken[-1])
        clock.advance(hours=2)
        # Three packages are free again, and not the one whose gold this annotator has seen.
        assert await refused(suite, campaign, "w") == "nothing-left"
        assert (await ask(suite, campaign, "another")).status_code == 201

    async def test_follows_the_secret(self, suite: RunningSuite):
        await store_gold(suite, 2)
        places = []
        for secret in ("ab" * 32, "ab" * 32, "ef" * 32):
            campaign = await campaign_of(suite, packages_per_annotator=1, gold=GOLD, secret=secret, package_size=4)
            found = [await claim(suite, campaign, f"w{number}") for number in range(4)]
            places.append([[is_gold(item) for item in each["items"]].index(True) for each in found])
        assert places[0] == places[1]
        assert len({tuple(each) for each in places}) == 2


class TestCampaign:
    async def test_is_refused_with_too_few_gold_dialogues_and_says_how_many_are_missing(self, suite: RunningSuite):
        await store_gold(suite, 5)
        rules = {"packages_per_annotator": 3, "gold": GOLD | {"per_package": 2}}
        assert await _refused(suite, **rules) == (
            422,
            "too-few-gold-dialogues",
            "'gold_set' has 5 gold dialogues, 1 too few for 3 packages with 2 each.",
        )

    async def test_is_refused_with_gold_that_is_too_short_or_was_trained_with(self, suite: RunningSuite):
        await store_gold(suite, 2)
        rules = {"packages_per_annotator": 1, "gold": GOLD}
        assert (await _refused(suite, **rules, segments=[1, 3]))[:2] == (422, "gold-too-short")
        await store_training(suite, dialogues=[gold_dialogue("gold 1")])
        assert (await _refused(suite, **rules, training={"name": "first_steps"}))[:2] == (422, "gold-in-training")
        assert (await _refused(suite, gold={"training": "x"}, packages_per_annotator=1))[1] == "unknown-training"

    @pytest.mark.parametrize(
        ("rules", "reason"),
        [
            ({"gold": GOLD}, "gold needs packages_per_annotator"),
            ({"gold": GOLD, "packages_per_annotator": 1, "package_size": 200}, "may be at most 200 together"),
            ({"max_strikes": 1}, "max_strikes needs gold or strike_fast_packages"),
            ({"strike_fast_packages": True}, "strike_fast_packages needs min_seconds_per_item or"),
            ({"mode": "import", "min_fraction_of_median": 0.3}, "mode import has nobody to train or check"),
            ({"min_fraction_of_median": 1}, "less than 1"),
            ({"mode": "import", "min_seconds_per_item": 1}, "mode import has nobody to train or check"),
            ({"min_seconds_per_item": 0}, "greater than 0"),
        ],
    )
    async def test_is_refused_with_rules_that_contradict_each_other(
        self, suite: RunningSuite, rules: dict[str, Any], reason: str
    ):
        status, _, detail = await _refused(suite, **rules)
        assert status == 422
        assert reason in detail

    @pytest.mark.parametrize(
        ("speakers", "reason"),
        [("BABA", "its speakers take turns as BABA"), ("AABB", "its speakers take turns as AABB")],
    )
    async def test_fails_where_the_speakers_of_a_gold_dialogue_would_give_it_away(
        self, suite: RunningSuite, speakers: str, reason: str
    ):
        turns = [{"speaker": side, "text": f"gold {number}"} for number, side in enumerate(speakers)]
        await store_training(suite, name="gold_set", dialogues=[gold_dialogue("x", turns=turns)])
        collection = await import_conversations(suite, CONVERSATIONS)
        failed = await create_campaign(suite, "failed", collection, packages_per_annotator=1, gold=GOLD)
        assert reason in failed["failure"]


class TestStrikes:
    async def test_block_with_the_last_one_that_the_campaign_takes(self, suite: RunningSuite):
        campaign = await _campaign(suite, max_strikes=2)
        for strikes in (1, 2):
            assignment = await claim(suite, campaign, "w")
            await _answer(suite, assignment, gold=WRONG)
            assert (await submit(suite, assignment)).status_code == 200
            annotator = await _annotator(suite, campaign)
            assert annotator["strikes"] == strikes
            assert annotator["gold_wrong"] == strikes
            assert annotator["gold_right"] == 0
            assert (annotator["blocked_at"] is None) == (strikes == 1)
        assert await refused(suite, campaign, "w") == "blocked"
        admin = await suite.client("annotation", "admin")
        (entry,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/audit")).json()["items"]
        reason = "2 strikes of 2: 2 gold items wrong, 0 packages too fast"
        assert entry["action"] == "annotator.blocked"
        assert entry["annotator_id"] == annotator["id"]
        assert entry["details"] == {"reason": reason}
        assert annotator["blocked_reason"] == reason

    async def test_are_counted_once_however_often_a_package_is_submitted(self, suite: RunningSuite):
        campaign = await _campaign(suite, per_package=2, max_strikes=5)
        assignment = await claim(suite, campaign, "w")
        await _answer(suite, assignment, gold=WRONG)
        # Claims lock what submissions lock: neither may wait for the other in a circle.
        mixed = [submit(suite, assignment) if number % 2 else ask(suite, campaign, "w") for number in range(12)]
        answers = await asyncio.gather(*mixed)
        assert {answer.status_code for answer in answers} <= {200, 201}
        assert len({answer.json()["completion_code"] for answer in answers[1::2]}) == 1
        annotator = await _annotator(suite, campaign)
        assert (annotator["strikes"], annotator["gold_wrong"]) == (2, 2)

    @pytest.mark.parametrize(
        "rules",
        [{"gold": GOLD, "packages_per_annotator": 1}, {"min_seconds_per_item": 1}, {"min_fraction_of_median": 0.3}],
    )
    async def test_are_counted_by_submissions_that_lock_the_annotator_before_the_assignment(
        self, suite: RunningSuite, databases: Databases, rules: dict[str, Any]
    ):
        """A claim locks its annotator first: a submission that held the assignment meanwhile would wait in a circle."""
        await store_gold(suite, 1)
        campaign = await campaign_of(suite, **rules)
        assignment = await claim(suite, campaign, "w")
        await _answer(suite, assignment, gold=RIGHT)
        async with await psycopg.AsyncConnection.connect(suite.database.owner["annotation"]) as connection:
            await connection.execute("SELECT id FROM annotation.annotators FOR UPDATE")
            waiting = asyncio.create_task(submit(suite, assignment))
            await locks_awaited(databases.admin_url(suite.database), 1)
            await connection.execute("SELECT id FROM annotation.assignments FOR UPDATE NOWAIT")
        assert (await waiting).status_code == 200

    async def test_come_with_more_mistakes_than_the_gold_allows(self, suite: RunningSuite):
        await store_gold(suite, 2, allowed_mistakes=1)
        campaign = await campaign_of(suite, packages_per_annotator=2, gold=GOLD, max_strikes=1)
        for side, strikes in (({"A": "human", "B": "human"}, 0), ({"A": "bot", "B": "human"}, 1)):
            assignment = await claim(suite, campaign, "w")
            await _answer(suite, assignment, gold=RIGHT | {"entity": side})
            await submit(suite, assignment)
            assert (await _annotator(suite, campaign))["strikes"] == strikes

    async def test_before_a_block_that_was_lifted_block_again_with_a_new_one_alone(self, suite: RunningSuite):
        campaign = await _campaign(suite, gold=3, max_strikes=1, packages_per_annotator=3, package_size=1)
        assignment = await claim(suite, campaign, "w")
        await _answer(suite, assignment, gold=WRONG)
        await submit(suite, assignment)
        admin = await suite.client("annotation", "admin")
        annotator = await _annotator(suite, campaign)
        path = f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}/unblock"
        await admin.post(path, json={"reason": "appeal granted"})
        for answer, blocked in ((RIGHT, False), (WRONG, True)):
            assignment = await claim(suite, campaign, "w")
            await _answer(suite, assignment, gold=answer)
            await submit(suite, assignment)
            assert ((await _annotator(suite, campaign))["blocked_at"] is not None) == blocked

    async def test_are_not_counted_for_a_package_that_a_block_takes_away(self, suite: RunningSuite):
        campaign = await _campaign(suite, max_strikes=1)
        assignment = await claim(suite, campaign, "w")
        annotator = await _annotator(suite, campaign)
        admin = await suite.client("annotation", "admin")
        path = f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}/block"
        await admin.post(path, json={"reason": "by hand"})
        refused = await save(suite, assignment, 0, WRONG)
        assert (refused.status_code, refused.json()["type"]) == (409, "urn:spotthebot:problem:assignment-expired")
        assert (await submit(suite, assignment)).status_code == 409
        blocked = await _annotator(suite, campaign)
        assert (blocked["strikes"], blocked["blocked_reason"]) == (0, "by hand")


class TestSpeed:
    async def test_below_the_least_is_counted_by_item_and_package_and_nothing_is_dropped(self, suite: RunningSuite):
        clock = movable_clock(suite)
        campaign = await campaign_of(suite, min_seconds_per_item=5)
        for number, seconds in enumerate(((1, 20), (1, 2))):
            assignment = await claim(suite, campaign, "w")
            for item, each in zip(assignment["items"], seconds, strict=True):
                clock.advance(seconds=each)
                await save(suite, assignment, item["position"], {"entity": RIGHT["entity"]}, show_step=2)
                await save(suite, assignment, item["position"], RIGHT)
            await submit(suite, assignment)
            annotator = await _annotator(suite, campaign)
            # 1 s and 20 s are one fast item and no fast package; 1 s and 2 s two fast items and a fast package.
            assert (annotator["fast_items"], annotator["fast_packages"]) == ((1, 0), (3, 1))[number]
        assert (annotator["strikes"], annotator["blocked_at"]) == (0, None)
        assert len(await annotations_of(suite, campaign)) == 4

    async def test_too_high_for_a_package_is_a_strike_where_the_campaign_says_so(self, suite: RunningSuite):
        movable_clock(suite)
        rules = {"min_seconds_per_item": 60, "strike_fast_packages": True, "max_strikes": 1}
        campaign = await campaign_of(suite, **rules)
        await work_through(suite, await claim(suite, campaign, "w"))
        annotator = await _annotator(suite, campaign)
        assert annotator["fast_items"] == 2
        assert annotator["fast_packages"] == 1
        assert annotator["strikes"] == 1
        assert annotator["blocked_reason"] == "1 strikes of 1: 0 gold items wrong, 1 packages too fast"
        assert await refused(suite, campaign, "w") == "blocked"
