"""The form of a new campaign, what can be done in which state, and what metrics say: rules without a browser."""

from typing import Any
from uuid import UUID

import pytest

from spotthebot.contracts.annotation.campaign_changes import CHANGEABLE, document_of
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.conversations.collections import CollectionState
from spotthebot.web.domain.admin_actions import campaign_actions, collection_actions
from spotthebot.web.domain.campaign_forms import DEFAULTS, CampaignForm, fixed_fields
from spotthebot.web.domain.health import health_of

ONE, TWO = str(UUID(int=1)), str(UUID(int=2))
DOMAINS = {ONE: "everyday", TWO: "travel"}


def _read(collections: list[str], **typed: str) -> CampaignIn | CampaignForm:
    return CampaignForm.sent({**DEFAULTS, "name": "c", **typed}, collections).read(DOMAINS)


class TestCampaignForm:
    def test_makes_a_draft_of_what_was_typed(self):
        read = _read([ONE], segments=" 1;3  5 ", pay_per_package="1.50", currency="EUR", protocol="mine:3")
        assert isinstance(read, CampaignIn)
        assert (read.open, read.domain, read.segments, str(read.pay_per_package)) == (
            False,
            "everyday",
            (1, 3, 5),
            "1.50",
        )
        assert (read.protocol, read.protocol_version, read.packages_per_annotator) == ("mine", 3, None)

    @pytest.mark.parametrize(
        ("typed", "panel"),
        [
            ({"panel": "prolific", "completion_code": "C1"}, {"kind": "prolific", "completion_code": "C1"}),
            (
                {"panel": "generic", "parameter": "pid", "completion_code": "C1"},
                {"kind": "generic", "parameter": "pid"},
            ),
            ({"completion_code": "C1"}, None),
        ],
    )
    def test_takes_of_a_panel_what_it_needs(self, typed: dict[str, str], panel: dict[str, Any] | None):
        read = _read([ONE], **typed)
        assert isinstance(read, CampaignIn)
        assert (read.panel and read.panel.model_dump(exclude_none=True)) == panel

    @pytest.mark.parametrize(
        ("collections", "typed", "field", "said"),
        [
            ([], {}, "collections", "choose at least one collection"),
            ([ONE, TWO], {}, "collections", "choose collections of one domain"),
            (["nonsense"], {}, "collections", "choose at least one collection"),
            ([ONE], {"name": ""}, "name", "is missing"),
            ([ONE], {"package_size": "many"}, "package_size", "must be a whole number"),
            ([ONE], {"segments": "2, x"}, "segments", "'x' must be a whole number"),
            ([ONE], {"panel": "prolific"}, "completion_code", "is missing"),
            (
                [ONE],
                {"panel": "mturk"},
                "panel",
                "can't be mturk: Mechanical Turk closed to everybody on 2026-09-30; name another panel, or generic",
            ),
            ([ONE], {"pay_per_package": "1"}, "", "give both pay_per_package and currency, or neither"),
        ],
    )
    def test_says_beside_the_field_what_is_wrong_and_keeps_what_was_typed(
        self, collections: list[str], typed: dict[str, str], field: str, said: str
    ):
        read = _read(collections, **typed)
        assert isinstance(read, CampaignForm)
        assert read.faults == {field: said}
        assert (read.values["segments"], [*read.collections]) == (typed.get("segments", "2, 3, 5"), collections)

    def test_says_all_faults_at_once_in_the_order_of_the_page(self):
        read = _read(
            [], name="", segments="2; three", package_size="0", pay_per_package="1", annotations_per_segment=""
        )
        assert isinstance(read, CampaignForm)
        assert read.faults == {
            "name": "is missing",
            "collections": "choose at least one collection",
            "segments": "'three' must be a whole number",
            "package_size": "must be at least 1",
            "": "give both pay_per_package and currency, or neither",
        }
        assert [*read.faults] == ["name", "collections", "segments", "package_size", ""]

    def test_is_filled_with_what_a_campaign_is_and_gives_it_back(self):
        made = _read([ONE], panel="prolific", completion_code="C1", segments="1, 3", instructions="Read.", seed="4")
        assert isinstance(made, CampaignIn)
        same = {name: getattr(made, name) for name in CHANGEABLE} | {"protocol_version": 1}
        campaign = CampaignOut.model_construct(**same)
        read = CampaignForm.of(campaign).read(DOMAINS)
        assert isinstance(read, CampaignIn)
        assert document_of(read) == document_of(campaign)

    def test_keeps_what_can_not_change_and_the_collections_of_before_first(self):
        before = CampaignForm({**DEFAULTS, "segments": "1"}, [TWO])
        typed = CampaignForm.sent({**DEFAULTS, "name": "new", "segments": "9"}, [ONE, TWO])
        form = CampaignForm.changed(before, typed, fixed_fields(CampaignState.OPEN))
        assert (form.values["name"], form.values["segments"], form.collections) == ("new", "1", [TWO, ONE])

    def test_knows_the_fields_that_a_service_names(self):
        found = CampaignForm().with_faults({"/panel/redirect_url": "a", "/collections/0": "b", "/no/such": "c"})
        assert found.faults == {"redirect_url": "a", "collections": "b", "": "c"}


class _Campaign:
    def __init__(self, state: CampaignState, released_at: object = None, published_at: object = None) -> None:
        self.state, self.released_at, self.published_at = state, released_at, published_at


class _Collection:
    def __init__(self, state: CollectionState, mode: str = "self_play") -> None:
        self.state, self.mode = state, mode


class TestActions:
    def test_campaigns_can_do_what_their_state_allows(self):
        found = {state: campaign_actions(_Campaign(state)) for state in CampaignState}  # type: ignore[arg-type]
        assert found[CampaignState.DRAFT] == ("open", "close", "delete")
        assert found[CampaignState.OPEN] == ("pause", "close")
        assert found[CampaignState.COMPLETE] == found[CampaignState.CLOSED] == ("release", "publish")
        assert found[CampaignState.FAILED] == ("delete",)
        released = _Campaign(CampaignState.CLOSED, "now")
        assert campaign_actions(released) == ("publish", "withdraw")  # type: ignore[arg-type]
        released.published_at = "now"
        assert campaign_actions(released) == ("withdraw",)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("state", "mode", "actions"),
        [
            (CollectionState.COLLECTING, "self_play", ("pause", "cancel")),
            (CollectionState.PAUSED, "bipartite", ("resume", "cancel")),
            (CollectionState.COLLECTING, "human_bot", ("finish",)),
            (CollectionState.COLLECTING, "import", ()),
            (CollectionState.COMPLETE, "self_play", ()),
        ],
    )
    def test_collections_can_do_what_their_mode_and_state_allow(
        self, state: CollectionState, mode: str, actions: tuple[str, ...]
    ):
        assert collection_actions(_Collection(state, mode)) == actions  # type: ignore[arg-type]


class TestHealth:
    def test_counts_requests_and_own_faults_of_all_routes(self):
        metrics = """\
# HELP http_requests_total Requests answered.
http_requests_total{method="GET",route="/v1/a/{b}",service="x",status="200"} 7.0
http_requests_total{method="POST",route="/v1/a",service="x",status="503"} 2.0
http_requests_total{method="GET",route="/v1/500",service="x",status="404"} 1e+01
http_request_duration_seconds_sum{method="GET",route="/v1/a/{b}",service="x"} 0.9
http_request_duration_seconds_sum{method="POST",route="/v1/a",service="x"} 1.0
"""
        found = health_of("x", None, metrics)
        assert (found.requests, found.own_faults, found.mean_ms) == (19, 2, 100.0)

    def test_a_service_that_says_nothing_is_not_known(self):
        found = health_of("x", "no answer", None)
        assert (found.reason, found.requests, found.mean_ms) == ("no answer", None, None)
        assert health_of("x", None, "").mean_ms is None
