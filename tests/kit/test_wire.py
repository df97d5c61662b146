"""What is read from the wire, and what wire types are made from: names, utterances, subscriptions, attributes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from spotthebot.contracts.wire import Name, Wire, Words
from spotthebot.kit.events.router import TypeName
from spotthebot.kit.events.wire import NewSecretIn, schemas_of


@pytest.mark.parametrize("kind", [Name, Words])
class TestText:
    def test_is_stripped(self, kind: Any):
        assert TypeAdapter(kind).validate_python("  a b \n") == "a b"

    @pytest.mark.parametrize("text", ["", "   ", "a\u0000b", "a" * 2001])
    def test_is_refused_where_it_is_blank_or_too_long_or_holds_nul(self, kind: Any, text: str):
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(text)


@dataclass(frozen=True)
class _Stamp:
    country: str


@dataclass(frozen=True)
class _Letter:
    sender: str
    stamps: tuple[_Stamp, ...]
    secret: str = "not on the wire"

    @property
    def weight(self) -> float:
        return 0.5 * len(self.stamps)


class _StampOut(Wire):
    country: str


class _LetterOut(Wire):
    sender: str
    stamps: tuple[_StampOut, ...]
    weight: float


class _ReceivedOut(_LetterOut):
    receiver: str


LETTER = _Letter("ann", (_Stamp("FR"), _Stamp("IT")))


class TestWireType:
    def test_is_made_from_attributes_of_an_object_and_of_those_in_it(self):
        stamps = (_StampOut(country="FR"), _StampOut(country="IT"))
        assert _LetterOut.of(LETTER) == _LetterOut(sender="ann", stamps=stamps, weight=1.0)

    def test_takes_other_fields_which_count_first(self):
        made = _ReceivedOut.of(LETTER, receiver="bob", sender="somebody", stamps=[_Stamp("DE")])
        stamps = (_StampOut(country="DE"),)
        assert made == _ReceivedOut(sender="somebody", stamps=stamps, weight=1.0, receiver="bob")

    def test_names_itself_and_an_attribute_that_is_missing(self):
        with pytest.raises(ValidationError, match=r"_ReceivedOut\nreceiver"):
            _ReceivedOut.of(LETTER)
        with pytest.raises(AttributeError, match="'_Letter' object has no attribute 'receiver'"):
            _ReceivedOut.of(LETTER, sender="somebody")

    def test_takes_no_field_that_it_does_not_have(self):
        with pytest.raises(ValidationError, match=r"_LetterOut\nreceiver"):
            _LetterOut.of(LETTER, receiver="bob")

    def test_shows_no_value_that_does_not_fit(self):
        with pytest.raises(ValidationError) as refused:
            _LetterOut.of(LETTER, weight="SECRET")
        assert "SECRET" not in str(refused.value)


class _Type(StrEnum):
    LOST = "letter.lost"
    SORTED = "letter.sorted"


SCHEMAS = schemas_of(_Type)
URL = "https://a.example/hook"


class TestSubscriptions:
    @pytest.mark.parametrize(
        "fields",
        [
            {"url": "http://a"},
            {"url": "http://a/".ljust(2000, "x")},
            {"url": "https://[::1]:8443/hook?a=b"},
            {"secret": "x"},
            {"secret": 200 * "x"},
            {"events": [_Type.LOST] * 20},
        ],
    )
    def test_are_read_up_to_their_bounds(self, fields: dict[str, Any]):
        read = SCHEMAS.subscription_in.model_validate({"url": URL, "events": [_Type.SORTED], **fields})
        assert read.url == fields.get("url", URL)
        assert read.events == ((_Type.LOST,) if "events" in fields else (_Type.SORTED,))
        assert (read.secret.get_secret_value() if read.secret else None) == fields.get("secret")
        with pytest.raises(ValidationError, match="frozen"):
            setattr(read, "url", URL)  # noqa: B010 - mypy refuses the plain way too

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"url": "http://a/".ljust(2001, "x")}, "at most 2000"),
            ({"url": "http:/a"}, "at least 8"),
            ({"url": "ftp://a.example/"}, "begins with http"),
            ({"url": "http:///hook"}, "begins with http"),
            ({"url": "http://a b/"}, "pattern"),
            ({"url": "http://ann@a.example/"}, "no user or password"),
            ({"url": "http://:x@a.example/"}, "no user or password"),
            ({"url": "http://a.example/#top"}, "no fragment"),
            ({"url": "http://a.example:none/"}, "Port could not be cast"),
            ({"secret": ""}, "at least 1"),
            ({"secret": 201 * "x"}, "at most 200"),
            ({"events": []}, "at least 1"),
            ({"events": [_Type.LOST] * 21}, "at most 20"),
            ({"events": ["letter.read"]}, "letter.lost"),
            ({"colour": "red"}, "not permitted"),
        ],
    )
    @pytest.mark.parametrize("is_change", [False, True])
    def test_are_refused_beyond_them(self, fields: dict[str, Any], reason: str, is_change: bool):
        if is_change and "secret" in fields:
            reason = "not permitted"
        schema, whole = (
            (SCHEMAS.changes_in, {}) if is_change else (SCHEMAS.subscription_in, {"url": URL, "events": [_Type.LOST]})
        )
        with pytest.raises(ValidationError, match=reason):
            schema.model_validate({**whole, **fields})

    def test_change_nothing_that_is_left_out(self):
        read = SCHEMAS.changes_in.model_validate({})
        assert (read.url, read.events, read.active) == (None, None, None)

    @pytest.mark.parametrize(("seconds", "is_taken"), [(-1, False), (0, True), (2_592_000, True), (2_592_001, False)])
    def test_are_signed_by_two_secrets_for_thirty_days_at_most(self, seconds: int, is_taken: bool):
        assert NewSecretIn().overlap_seconds == 24 * 60 * 60
        if is_taken:
            assert NewSecretIn(overlap_seconds=seconds).overlap_seconds == seconds
        else:
            with pytest.raises(ValidationError, match="overlap_seconds"):
                NewSecretIn(overlap_seconds=seconds)


def test_a_type_of_events_has_a_hundred_characters_at_most():
    adapter = TypeAdapter[str](TypeName)
    assert [adapter.validate_python(text) for text in (" a ", 100 * "a")] == ["a", 100 * "a"]
    for text in (" ", 101 * "a"):
        with pytest.raises(ValidationError):
            adapter.validate_python(text)
