"""Panels without a service: forms of ids, ways back, and what a link's signature holds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from pydantic import TypeAdapter, ValidationError

from spotthebot.annotation.campaigns.domain import Pseudonyms
from spotthebot.annotation.entry_links.domain.entry_links import EntryLink, read_token, sign, signing_key, verify
from spotthebot.annotation.entry_links.domain.panels import (
    completion,
    entry_query,
    id_parameter,
    is_preview,
    read_identity,
    require_id,
)
from spotthebot.annotation.entry_links.errors import (
    AnnotatorIdUnusable,
    EntryLinkExpired,
    EntryLinkNotGenuine,
    EntryRefused,
)
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.panels import StoredPanel

_PANEL: TypeAdapter[StoredPanel] = TypeAdapter(StoredPanel)
PID = "60ffe5c8371090c7041d43f8"  # from Prolific's API reference, "Set up bonuses"
TURK = {
    # from Amazon's requester guide, "How Mechanical Turk tasks are rendered"
    "hitId": "123RVWYBAZW00EXAMPLE",
    "assignmentId": "123RVWYBAZW00EXAMPLE456RVWYBAZW00EXAMPLE",
    "turkSubmitTo": "https://www.mturk.com/",
    "workerId": "AZ3456EXAMPLE",
}
SECRET = bytes(range(32))
LINK = EntryLink(UUID(int=7), UUID(int=8), "team a", "p-17", datetime(2026, 11, 22, tzinfo=UTC), 3)


def panel(**fields: Any) -> StoredPanel:
    return _PANEL.validate_python(fields)


PROLIFIC = panel(kind="prolific", completion_code="C1ODE7")
MTURK = panel(kind="mturk")
GENERIC = panel(
    kind="generic", parameter="pid", redirect_url="https://panel.example.org/done?s=7&c={code}&p={annotator}"
)


def faults(read: StoredPanel, parameters: dict[str, str]) -> dict[str, str]:
    with pytest.raises(EntryRefused) as refused:
        read_identity(read, parameters)
    return {fault.pointer: fault.detail for fault in refused.value.fields}


def test_pseudonyms_do_not_show_the_key_that_makes_them():
    assert "secret" not in repr(Pseudonyms(b"secret", are_published=False))


class TestIds:
    @pytest.mark.parametrize(
        ("read", "sent", "missing"),
        [
            (PROLIFIC, {"PROLIFIC_PID": PID}, {"PROLIFIC_PID"}),
            (panel(kind="cloudresearch", completion_code="C1ODE7"), {"participantId": "p-17"}, {"participantId"}),
            (MTURK, {"workerId": TURK["workerId"], **TURK}, {"workerId", "assignmentId", "hitId", "turkSubmitTo"}),
            (GENERIC, {"pid": "p-17"}, {"pid"}),
        ],
    )
    def test_what_a_panel_has_to_send_begins_with_the_id_of_the_person(
        self, read: StoredPanel, sent: dict[str, str], missing: set[str]
    ):
        assert id_parameter(read) == next(iter(sent))
        identity = read_identity(read, sent)
        assert (identity.annotator, identity.parameters) == (sent[id_parameter(read)], sent)
        assert {pointer.removeprefix("/parameters/") for pointer in faults(read, {})} == missing

    def test_ids_of_prolific_are_kept_with_study_and_session_and_nothing_else(self):
        sent = {"PROLIFIC_PID": PID, "STUDY_ID": "a" * 24, "utm_source": "mail"}
        identity = read_identity(PROLIFIC, sent)
        assert (identity.annotator, identity.parameters) == (PID, {"PROLIFIC_PID": PID, "STUDY_ID": "a" * 24})

    @pytest.mark.parametrize("pid", ["", "p-17", PID.upper(), PID + "0", PID + "\n", "{{%PROLIFIC_PID%}}", "<b>"])
    def test_ids_of_another_form_are_refused_with_the_parameter_and_the_rule(self, pid: str):
        assert faults(PROLIFIC, {"PROLIFIC_PID": pid, "SESSION_ID": "x"}) == {
            "/parameters/PROLIFIC_PID": "must be 24 hexadecimal digits, in lower case",
            "/parameters/SESSION_ID": "must be 24 hexadecimal digits, in lower case",
        }

    def test_missing_ids_are_named_as_missing(self):
        assert "is missing" in faults(panel(kind="generic", parameter="pid"), {"PID": "x"})["/parameters/pid"]

    def test_ids_like_formulas_of_a_spreadsheet_are_refused(self):
        for value in ("=1+1", "+1", "-1", "@a", "\tx"):
            assert [*faults(GENERIC, {"pid": value})] == ["/parameters/pid"]

    def test_ids_that_results_take_for_another_person_do_not_come_by_a_panels_link(self):
        taken = "p-0123456789abcdefghijklmnop"
        for read, name in ((GENERIC, "pid"), (panel(kind="cloudresearch", completion_code="C1ODE7"), "participantId")):
            assert "give another id" in faults(read, {name: taken})[f"/parameters/{name}"]
        for free in ("p-17", "simulated-1"):
            assert read_identity(GENERIC, {"pid": free}).annotator == free

    def test_pseudonyms_claim_nothing_in_a_campaign_with_a_panel_but_simulated_annotators_do(self):
        pseudonym = Pseudonyms(SECRET, are_published=False).name_of(UUID(int=1), "ann", AnnotatorKind.PERSON)
        require_id(None, pseudonym)
        require_id(GENERIC, "simulated-01")
        with pytest.raises(AnnotatorIdUnusable) as refused:
            require_id(GENERIC, pseudonym)
        assert "give another id" in refused.value.fields[0].detail

    def test_ids_of_mechanical_turk_come_with_a_server_that_is_one_of_its_two(self):
        assert read_identity(MTURK, TURK).annotator == "AZ3456EXAMPLE"
        for host in ("https://evil.example", "https://www.mturk.com.evil.example", "http://www.mturk.com", "//x"):
            assert [*faults(MTURK, TURK | {"turkSubmitTo": host})] == ["/parameters/turkSubmitTo"]

    def test_are_asked_of_claims_as_well(self):
        require_id(None, "anything goes")
        require_id(PROLIFIC, PID)
        with pytest.raises(AnnotatorIdUnusable) as refused:
            require_id(PROLIFIC, "p-17")
        assert [fault.pointer for fault in refused.value.fields] == ["/annotator"]


class TestPreview:
    def test_is_a_hit_that_was_not_accepted(self):
        sent = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H"}
        assert is_preview(MTURK, sent)
        assert not is_preview(MTURK, TURK)
        assert not is_preview(GENERIC, sent)


class TestCompletion:
    def test_prolific_gets_its_redirect_with_the_studys_code(self):
        found = completion(PROLIFIC, PID, {}, "package-code")
        assert found is not None
        assert found.url == "https://app.prolific.com/submissions/complete?cc=C1ODE7"

    def test_connect_gets_the_url_or_the_code_that_it_shows(self):
        url = "https://connect.cloudresearch.com/participant/project/7DE64B7FBE/complete"
        for fields, expected in (({"redirect_url": url}, (url, None)), ({"completion_code": "K7"}, (None, "K7"))):
            found = completion(panel(kind="cloudresearch", **fields), "p", {}, "package-code")
            assert found is not None
            assert (found.url, found.code) == expected

    def test_redirect_of_a_generic_panel_holds_code_and_id_url_encoded(self):
        """The braces of one value are not places for the other."""
        found = completion(GENERIC, "{code}&admin=1#", {}, "a b/&?é")
        assert found is not None
        assert found.url is not None
        parts = urlsplit(found.url)
        assert parts.scheme == "https"
        assert parts.netloc == "panel.example.org"
        assert parts.path == "/done"
        assert parts.fragment == ""
        assert parse_qsl(parts.query) == [("s", "7"), ("c", "a b/&?é"), ("p", "{code}&admin=1#")]

    def test_generic_panel_without_a_redirect_has_the_packages_code(self):
        found = completion(panel(kind="generic", parameter="pid"), "p", {}, "package-code")
        assert found is not None
        assert (found.kind, found.code) == ("code", "package-code")

    def test_mechanical_turk_gets_a_form_for_the_assignment_that_the_url_named(self):
        found = completion(MTURK, "AZ3456EXAMPLE", TURK, "package-code")
        assert found is not None
        assert (found.kind, found.url) == ("form", "https://www.mturk.com/mturk/externalSubmit")
        assert found.fields == {"assignmentId": TURK["assignmentId"], "completionCode": "package-code"}
        assert completion(MTURK, "AZ3456EXAMPLE", {}, "package-code") is None


class TestPanelOfACampaign:
    @pytest.mark.parametrize(
        "url",
        [
            "http://panel.example.org/x",
            "javascript:alert(1)",
            "https://a@panel.example.org/",
            "https://{code}/",
            "https://panel.example.org/{code}",
            "https://panel.example.org/?c={secret}",
            "https://panel.example.org/?c={code",
            "https://panel.example.org/?c={}",
            "https://panel.example.org/#{code}",
            "https://panel.example.org\\@evil.example/",
            "https:///x",
        ],
    )
    def test_redirects_nowhere_but_to_the_host_that_its_owner_wrote(self, url: str):
        with pytest.raises(ValidationError):
            panel(kind="generic", parameter="pid", redirect_url=url)

    def test_panel_of_connect_redirects_to_connect_and_has_one_way_back(self):
        url = "https://connect.cloudresearch.com/participant/project/7DE64B7FBE/complete"
        for fields in (
            {},
            {"redirect_url": url, "completion_code": "K7"},
            {"redirect_url": "https://connect.cloudresearch.com.evil.example/"},
            {"redirect_url": f"{url}?x={{code}}"},
        ):
            with pytest.raises(ValidationError):
                panel(kind="cloudresearch", **fields)

    def test_leaves_the_parameter_of_the_link_alone(self):
        with pytest.raises(ValidationError, match="entry"):
            panel(kind="generic", parameter="entry")


class TestSignature:
    def test_has_a_key_that_is_expanded_from_the_secret_as_rfc_5869_says(self):
        """`cryptography` is the second implementation."""
        info = b"spotthebot annotation entry link 1"
        assert signing_key(SECRET) == HKDFExpand(SHA256(), 32, info).derive(SECRET)

    def test_fits_the_link_that_was_signed_and_no_other(self):
        token = read_token({"entry": sign(LINK, SECRET)})
        verify(token, LINK, SECRET)
        changed = [
            (replace(LINK, campaign_id=UUID(int=9)), SECRET),
            (replace(LINK, frontend=None), SECRET),
            (replace(LINK, annotator="p-18"), SECRET),
            (replace(LINK, annotator=None), SECRET),
            (replace(LINK, expires_at=LINK.expires_at + timedelta(seconds=1)), SECRET),
            (replace(LINK, max_annotators=None), SECRET),
            (replace(LINK, id=UUID(int=10)), SECRET),
            (LINK, bytes(32)),
        ]
        for link, secret in changed:
            with pytest.raises(EntryLinkNotGenuine):
                verify(token, link, secret)

    @pytest.mark.parametrize("token", ["", "x", f"{'0' * 32}.", f"{'0' * 32}.{'A' * 42}", f"{'0' * 32}.{'é' * 43}"])
    def test_token_of_another_form_is_not_looked_up(self, token: str):
        with pytest.raises(EntryLinkNotGenuine):
            read_token({"entry": token})

    def test_ends_with_the_link(self):
        LINK.require_current(LINK.expires_at - timedelta(microseconds=1))
        with pytest.raises(EntryLinkExpired):
            LINK.require_current(LINK.expires_at)

    def test_stands_in_a_query_with_the_placeholders_that_prolific_fills(self):
        assert entry_query(PROLIFIC, "T") == (
            "entry=T&PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        )
        assert entry_query(MTURK, "T") == "entry=T"
