"""What a body of JSON may hold, against a count of the values that it was made from."""

import json
from typing import Any

import pytest
from fastapi.exceptions import RequestValidationError
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.kit.web.core.bodies import load_json

TEXTS = st.text(alphabet=st.sampled_from('ab,[]{}:"\\\\\n\u2028é'))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def _separators(value: Any) -> int:
    """Count the commas, brackets and braces outside of texts, of which there is about one for each value."""
    if not isinstance(value, list | dict):
        return 0
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(0, len(inner) - 1) + sum(map(_separators, inner))


@given(JSON)
def test_json_within_the_limits_is_read_as_it_is(value: Any):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False), json.dumps(value, indent=2)):
        assert load_json(text.encode(), max_values=_separators(value)) == value


@given(JSON)
def test_one_value_beyond_the_limit_is_refused(value: Any):
    if count := _separators(value):
        with pytest.raises(RequestValidationError):
            load_json(json.dumps(value).encode(), max_values=count - 1)


@pytest.mark.parametrize("text", ["[{}]", '[{"a": []}]', '[["]]]]"]]'])
@pytest.mark.parametrize("extra", [0, 1])
def test_the_limit_on_depth_is_exact(text: str, extra: int):
    depth = {"[{}]": 2, '[{"a": []}]': 3, '[["]]]]"]]': 2}[text]
    around = 32 - depth + extra
    body = f"{'[' * around}{text}{']' * around}".encode()
    if extra:
        with pytest.raises(RequestValidationError) as refused:
            load_json(body)
        assert refused.value.errors()[0]["msg"] == "Lists and objects may be nested 32 deep at most."
    else:
        load_json(body)


@pytest.mark.parametrize("body", [b'"', b'["\\', b'["\\"', b"[" * 31 + b'"' + b'\\"' * 400_000])
def test_texts_that_never_end_are_no_json_and_take_no_time(body: bytes):
    with pytest.raises((ValueError, RequestValidationError)):
        load_json(body + b"," * 20_000, max_values=10)


def test_an_object_has_two_hundred_fields_at_most():
    fields = {str(number): 1 for number in range(200)}
    assert load_json(json.dumps([fields]).encode()) == [fields]
    with pytest.raises(RequestValidationError):
        load_json(json.dumps([fields | {"x": 1}]).encode())


def test_json_has_twenty_thousand_values_at_most_unless_its_route_says_otherwise():
    """A list of 20,000 has 19,999 commas and itself."""
    load_json(json.dumps([1] * 20_000).encode())
    with pytest.raises(RequestValidationError) as refused:
        load_json(json.dumps([1] * 20_001).encode())
    assert refused.value.errors()[0]["msg"] == "The JSON may hold 20,000 values at most: send it in parts."


@pytest.mark.parametrize("body", [b"NaN", b"[Infinity]", b"-Infinity", b"\xff", b'"\xed\xa0\x80"', b"1" * 5000])
def test_what_is_no_json_is_refused(body: bytes):
    with pytest.raises(ValueError, match=r"."):
        load_json(body)
