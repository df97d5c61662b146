"""The form of a campaign: what was typed becomes the campaign that was meant, or faults beside their fields."""

from typing import Any, get_args
from uuid import UUID

import pytest

from spotthebot.contracts.annotation.campaign_changes import CHANGEABLE, document_of
from spotthebot.contracts.annotation.campaign_settings import CampaignSettings
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut, CampaignState
from spotthebot.contracts.annotation.panels import Panel
from spotthebot.contracts.wire import Wire
from spotthebot.web.campaigns.forms import DEFAULTS, FIELDS, PANELS, CampaignForm, fixed_fields
from spotthebot.web.catalogues import Texts

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
        ("typed", "rule"),
        [
            ({"margin": "0.2"}, None),
            ({"stop_when": "every_pair_decided", "width": "0.3"}, "every_pair_decided"),
            ({"stop_when": "width", "width": "0.3"}, {"width": 0.3}),
        ],
    )
    def test_stops_by_the_chosen_rule(self, typed: dict[str, str], rule: Any):
        read = _read([ONE], **typed)
        assert isinstance(read, CampaignIn)
        document = read.model_dump(mode="json")
        assert document["stop_when"] == rule
        assert read.margin == (0.2 if "margin" in typed else None)

    @pytest.mark.parametrize(
        ("typed", "fields"),
        [
            ({"stop_when": "width"}, ["width"]),
            ({"stop_when": "width", "width": "wide"}, ["width"]),
            ({"stop_when": "soon"}, ["stop_when"]),
            ({"margin": "2"}, ["margin"]),
        ],
    )
    def test_names_the_faulty_field_of_a_rule_to_stop(self, typed: dict[str, str], fields: list[str]):
        read = _read([ONE], **typed)
        assert isinstance(read, CampaignForm)
        assert [*read.faults] == fields

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
            (
                [ONE],
                {"units_twice": "2"},
                "annotations_per_segment",
                "must be 1 or left out next to units_twice: only the drawn units have two annotators",
            ),
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

    @pytest.mark.parametrize("annotations", ["1", ""])
    def test_draws_units_for_two_annotators_where_the_others_have_one(self, annotations: str):
        read = _read([ONE], units_twice="2", annotations_per_segment=annotations)
        assert isinstance(read, CampaignIn)
        assert (read.units_twice, read.annotations_per_segment) == (2, 1)

    def test_says_how_often_a_version_of_a_judge_labels(self):
        read = _read([ONE], judge_annotations_per_segment="3")
        assert isinstance(read, CampaignIn)
        assert read.judge_annotations_per_segment == 3

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

    def test_asks_for_every_field_of_every_panel_of_the_api(self):
        panels: tuple[type[Wire], ...] = get_args(get_args(Panel)[0])
        assert {name for each in panels for name in each.model_fields} - {"kind"} <= {*FIELDS}
        assert len(PANELS) == len(panels) + 1
        assert {f"admin.form.panels.{each or 'none'}" for each in PANELS} <= Texts("en").names.keys()

    def test_as_it_opens_has_the_defaults_of_the_api(self):
        form = CampaignForm.sent({**DEFAULTS, "name": "new"}, [ONE])
        read = form.read({ONE: "everyday"})
        assert isinstance(read, CampaignIn)
        expected = CampaignIn(name="new", domain="everyday", collections=(UUID(ONE),))
        names = [*CampaignSettings.model_fields, "protocol"]
        assert {name: getattr(read, name) for name in names} == {name: getattr(expected, name) for name in names}
