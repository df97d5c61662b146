"""What a campaign will take, worked by hand, and as the API says it."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.annotation.campaign_setup.domain.previews import preview
from spotthebot.annotation.packages.domain.workload import AnnotatorsNeeded, Workload, annotators_needed
from tests.annotation.campaigns.test_campaign_lifecycle import CAMPAIGN
from tests.factories.annotating import DECISION, WHOLE, claim, movable_clock, save, submit
from tests.factories.annotator_trainings import gold_dialogue, training
from tests.factories.campaigns import campaign_of
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, until

WORKLOAD = Workload(items={2: 40, 3: 40}, packages={0: 2, 1: 2}, largest=20)


def _seconds(exchanges: int, *times: float) -> list[tuple[int, timedelta]]:
    return [(exchanges, timedelta(seconds=time)) for time in times]


class TestPreview:
    def test_counts_packages_and_annotations_with_their_redundancy(self):
        found = preview(CAMPAIGN, WORKLOAD, [])
        assert (found.packages, found.assignments, found.annotations) == (4, 8, 160)
        assert (found.work, found.pay, found.unmeasured) == (None, None, (2, 3))

    def test_takes_the_median_of_each_length(self):
        measured = [*_seconds(2, 10, 20, 1000), *_seconds(3, 30, 50)]
        found = preview(CAMPAIGN, WORKLOAD, measured)
        assert found.work == timedelta(seconds=2 * (40 * 20 + 40 * 40))
        assert (found.measured, found.unmeasured) == (5, ())

    def test_takes_a_length_that_was_never_measured_by_its_exchanges(self):
        found = preview(CAMPAIGN, WORKLOAD, _seconds(2, 10, 20, 60))  # 5, 10 and 30 s an exchange
        assert found.work == timedelta(seconds=2 * (40 * 20 + 40 * 3 * 10))
        assert (found.measured, found.unmeasured) == (3, (3,))

    @pytest.mark.parametrize(
        ("limit", "packages", "annotators"),
        [
            (None, {0: 2, 1: 2}, 4),  # two blocks: an annotator takes two of eight
            (1, {0: 2, 1: 2}, 8),
            (3, {0: 1, 1: 1, 2: 1, 3: 1}, 3),  # eight, three each at most
            (None, {0: 3, 1: 1}, 6),  # three packages of one block twice, each by somebody else
            (None, {}, 0),
        ],
    )
    def test_names_the_fewest_annotators(self, limit: int | None, packages: dict[int | None, int], annotators: int):
        campaign = replace(CAMPAIGN, packages_per_annotator=limit)
        found = preview(campaign, Workload({2: 1}, packages, largest=20), []).annotators
        assert (found.at_least, found.enough) == (annotators, annotators)

    @given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(1, 7))
    def test_names_annotators_who_can_annotate_everything_where_fewer_can_not(
        self, blocks: int, lengths: int, annotations: int, limit: int
    ):
        """Dealing the slots of one block after the other to annotators in turn shows nobody a block twice."""
        campaign = replace(CAMPAIGN, packages_per_annotator=limit, annotations_per_segment=annotations)
        packages: dict[int | None, int] = dict.fromkeys(range(blocks), lengths)
        fewest = preview(campaign, Workload({2: 1}, packages, largest=1), []).annotators.at_least
        slots = [block for block in range(blocks) for _ in range(lengths * annotations)]
        taken: dict[int, list[int]] = {annotator: [] for annotator in range(fewest)}
        for number, block in enumerate(slots):
            taken[number % fewest].append(block)
        assert all(len(set(each)) == len(each) <= limit for each in taken.values())
        assert (fewest - 1) * limit < len(slots) or fewest - 1 < lengths * annotations

    def test_counts_packages_annotated_twice_once_more(self):
        """Block 1 has two packages of 5 + 5 items for two annotators: 2 + 4 assignments, 60 + 20 annotations."""
        campaign = replace(CAMPAIGN, annotations_per_segment=1, pay_per_package=Decimal(1), currency="EUR")
        workload = Workload(
            {2: 30, 3: 30}, {0: 2, 1: 2}, 15, extra_annotations={2: 10, 3: 10}, extra_assignments={1: 2}
        )
        found = preview(campaign, workload, [*_seconds(2, 10), *_seconds(3, 20)])
        assert (found.packages, found.items, found.assignments, found.annotations) == (4, 60, 6, 80)
        assert (found.annotators, found.pay) == (AnnotatorsNeeded(4, 4), Decimal(6))  # block 1: nobody may have two
        assert found.work == timedelta(seconds=40 * 10 + 40 * 20)

    def test_says_which_limits_the_conversations_do_not_reach_and_by_how_much(self):
        assert preview(CAMPAIGN, WORKLOAD, []).unreached == ()
        limited = replace(CAMPAIGN, packages_per_annotator=3)
        found = preview(limited, replace(WORKLOAD, largest=15), []).unreached
        assert [(each.pointer, each.detail.split(" without")[0]) for each in found] == [
            ("/package_size", "is 20, but these conversations make packages of 15"),
            ("/packages_per_annotator", "is 3, but nobody can take more than 2"),
        ]

    def test_takes_uploaded_packages_by_the_conversations_that_they_show(self):
        """Three packages of four show one conversation; the fourth shares none, so one of three annotators has it."""
        shown = [frozenset(map(_id, each)) for each in ("ab", "ac", "ad", "ef")]
        uploaded = replace(CAMPAIGN, mode="uploaded", annotations_per_segment=1, packages_per_annotator=4)
        found = preview(
            uploaded, Workload({2: 8}, {None: 4}, largest=2, conversations=shown, extra_annotators=[0] * 4), []
        )
        assert found.annotators == AnnotatorsNeeded(3, 3)
        assert [(each.pointer, each.detail.split(" without")[0]) for each in found.unreached] == [
            ("/packages_per_annotator", "is 4, but nobody can take more than 3")  # six conversations, two in each
        ]

    def test_pays_for_every_assignment(self):
        paid = replace(CAMPAIGN, pay_per_package=Decimal("2.50"), currency="EUR")
        assert preview(paid, WORKLOAD, []).pay == Decimal("20.00")


def _id(name: str) -> UUID:
    return UUID(int=ord(name))


def _can_annotate(
    packages: Sequence[AbstractSet[str]], needs: Sequence[int], limit: int | None, annotators: int
) -> bool:
    """Say by trying everything whether so many annotators can do it."""

    def place(slots: Sequence[tuple[int, AbstractSet[str]]], held: list[list[tuple[int, AbstractSet[str]]]]) -> bool:
        if not slots:
            return True
        for has in held:
            if len(has) < (limit or 99) and not any(slots[0][1] & shown or slots[0][0] == each for each, shown in has):
                has.append(slots[0])
                if place(slots[1:], held):
                    return True
                has.pop()
        return False

    slots = [(number, package) for number, package in enumerate(packages) for _ in range(needs[number])]
    return place(slots, [[] for _ in range(annotators)])


class TestAnnotatorsNeeded:
    @given(
        st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=3), min_size=1, max_size=4),
        st.lists(st.integers(1, 2), min_size=4, max_size=4),
        st.none() | st.integers(1, 3),
    )
    def test_has_the_fewest_between_two_numbers(
        self, packages: list[frozenset[str]], needs: list[int], limit: int | None
    ):
        needs = needs[: len(packages)]
        found = annotators_needed(packages, needs, packages_per_annotator=limit)
        assert _can_annotate(packages, needs, limit, found.enough)
        assert not _can_annotate(packages, needs, limit, found.at_least - 1)

    def test_says_two_numbers_where_the_fewest_are_not_found(self):
        """A ring of five packages, each sharing a conversation with the next: two annotators can't, three can."""
        ring = [frozenset(pair) for pair in ("ab", "bc", "cd", "de", "ea")]
        found = annotators_needed(ring, [1] * 5, packages_per_annotator=None)
        assert found == AnnotatorsNeeded(at_least=2, enough=3)


class TestPreviewApi:
    async def test_learns_from_campaigns_of_the_same_protocol(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        clock = movable_clock(suite)
        first = await campaign_of(suite, 2, segments=[1], pay_per_package="1.20", currency="EUR")
        path = f"/v1/campaigns/{first['id']}/preview"
        before = (await admin.get(path)).json()
        assert (before["packages"], before["assignments"], before["annotators"]) == (1, 2, 2)
        assert [each["pointer"] for each in before["unreached"]] == []
        assert before["hours"] is None
        assert before["pay"] == "2.40"
        assert before["unmeasured_lengths"] == [1]
        for annotator, seconds, kind in (("simulated-01", 36, "person"), ("w", 9, "simulated")):
            assignment = await claim(suite, first, annotator, kind=kind)
            for position in (0, 1):
                clock.advance(seconds=seconds)
                await save(suite, assignment, position, DECISION, show_step=2)
                await save(suite, assignment, position, WHOLE)
            assert (await submit(suite, assignment)).status_code == 200
        after = (await admin.get(path)).json()
        assert (after["measured_annotations"], after["unmeasured_lengths"]) == (2, [])
        assert after["seconds_by_length"]["1"] == pytest.approx(36, abs=0.9)
        assert after["hours"] == 0.04  # four annotations of 36 s

    async def test_is_for_administrators(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        frontend = await suite.client("annotation", "annotation")
        assert (await frontend.get(f"/v1/campaigns/{campaign['id']}/preview")).status_code == 403

    @pytest.mark.parametrize(
        "pay",
        [
            {"pay_per_package": "1"},
            {"currency": "EUR"},
            {"pay_per_package": "-1", "currency": "EUR"},
            {"pay_per_package": "1", "currency": "euro"},
        ],
    )
    async def test_refuses_pay_without_a_currency_and_the_other_way_round(
        self, suite: RunningSuite, pay: dict[str, str]
    ):
        admin = await suite.client("annotation", "admin")
        body = {"name": "c", "domain": "everyday", "collection_id": "01a20439-3f41-73c5-bbc9-dc50739db422"} | pay
        assert (await admin.post("/v1/campaigns", json=body)).status_code == 422


class TestDryRun:
    async def test_says_of_a_new_campaign_what_the_preview_of_the_same_one_says(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        request = {"pay_per_package": "1.20", "currency": "EUR", "packages_per_annotator": 1, "package_size": 3}
        campaign = await campaign_of(suite, 4, segments=[1, 2], **request)
        body = {name: campaign[name] for name in ("domain", "collections", "segments", *request)} | {"name": "tried"}
        tried = (await admin.post("/v1/campaigns/dry-run", json=body)).json()
        there = (await admin.get(f"/v1/campaigns/{campaign['id']}/preview")).json()
        assert tried == {name: there[name] for name in tried}
        # Two blocks of two conversations make a package for each of two lengths; two annotators see each of four.
        assert tried["packages"] == 4
        assert tried["items"] == 8
        assert tried["conversations"] == 4
        assert tried["annotators"] == 8
        assert tried["pay"] == "9.60"
        assert [each["name"] for each in (await admin.get("/v1/campaigns")).json()["items"]] == [campaign["name"]]

    async def test_counts_what_is_left_out(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        campaign = await campaign_of(suite, 3)
        body = {"name": "pairs", "domain": "everyday", "collections": campaign["collections"]}
        tried = (await admin.post("/v1/campaigns/dry-run", json=body | {"protocol": "comparative"})).json()
        assert (tried["conversations"], tried["unpaired"], tried["lengths"]) == (2, 1, [])
        longer = await admin.post("/v1/campaigns/dry-run", json=body | {"segments": [1, 9]})
        assert longer.status_code == 422
        assert "No conversation has the 9 exchanges" in longer.json()["detail"]

    async def test_takes_documents_of_more_than_a_megabyte(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        campaign = await campaign_of(suite)
        body = {"name": "tried", "domain": "everyday", "collections": campaign["collections"], "segments": [1, 2]}
        turns = [{"speaker": side, "text": f"{side} says " + "so and " * 1200} for side in "ABAB"]
        dialogues = [
            gold_dialogue(f"{number}", turns=[turn | {"text": f"{number} {turn['text']}"} for turn in turns])
            for number in range(40)
        ]
        large = body | {"training_documents": [training(dialogues=dialogues)], "training": {"name": "first_steps"}}
        assert (await admin.post("/v1/campaigns/dry-run", json=large)).status_code == 200

    async def test_checks_and_counts_packages_that_would_be_uploaded(self, suite: RunningSuite):
        campaign, admin = await campaign_of(suite), await suite.client("annotation", "admin")
        shown = [{"conversation": "c0", "exchanges": 2}, {"conversation": "c1", "exchanges": 1}]
        body = {"name": "tried", "domain": "everyday", "collections": campaign["collections"], "segments": [1, 2]}
        body |= {"mode": "uploaded", "annotations_per_segment": 1, "pay_per_package": "1.50", "currency": "EUR"}
        package = {"external_id": "p", "annotators": 4, "segments": shown}
        tried = (await admin.post("/v1/campaigns/dry-run", json=body | {"packages": [package]})).json()
        made = await created(admin, "/v1/campaigns", body | {"open": False})
        path = f"/v1/campaigns/{made['id']}"
        await until(admin, path, "draft")
        assert (await admin.get(f"{path}/packages")).json()["items"] == []
        await created(admin, f"{path}/packages", {"packages": [package]})
        there = (await admin.get(f"{path}/preview")).json()
        assert tried == {name: there[name] for name in tried}
        assert (tried["packages"], tried["assignments"], tried["annotations"], tried["pay"]) == (1, 4, 8, "6.00")
        for change, pointer, said in (
            ({"packages": [package | {"segments": [shown[0] | {"exchanges": 7}]}]}, "/packages/0/segments/0", "not 7"),
            ({"packages": [package], "mode": "live"}, "", "packages are for mode uploaded"),
        ):
            refused = await admin.post("/v1/campaigns/dry-run", json=body | change)
            (fault,) = refused.json()["errors"]
            assert (refused.status_code, fault["pointer"]) == (422, pointer)
            assert said in fault["detail"]
        assert len((await admin.get("/v1/campaigns")).json()["items"]) == 2, "nothing is stored by a dry run"

    async def test_refuses_campaigns_whose_packages_are_uploaded(self, suite: RunningSuite):
        admin = await suite.client("annotation", "admin")
        campaign = await campaign_of(suite)
        body = {"name": "tried", "domain": "everyday", "collections": campaign["collections"], "mode": "uploaded"}
        refused = await admin.post("/v1/campaigns/dry-run", json=body)
        assert refused.status_code == 422
        assert "mode 'uploaded' has no packages to try: name `packages`" in refused.json()["detail"]

    async def test_is_for_administrators(self, suite: RunningSuite):
        campaign = await campaign_of(suite)
        frontend = await suite.client("annotation", "annotation")
        body = {"name": "tried", "domain": "everyday", "collections": campaign["collections"]}
        assert (await frontend.post("/v1/campaigns/dry-run", json=body)).status_code == 403
