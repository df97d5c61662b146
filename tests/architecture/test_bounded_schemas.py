"""Every list and every object with free names, of every service's OpenAPI document, has an end."""

from collections.abc import Iterator
from typing import Any

import pytest

from spotthebot.contracts.services import SERVICE_NAMES
from tests.architecture.documents import committed_document

FIGURE = "application/vnd.vegalite.v6+json"


def _unbounded(node: Any, place: str = "") -> Iterator[str]:
    if isinstance(node, list):
        for number, each in enumerate(node):
            yield from _unbounded(each, f"{place}/{number}")
    if not isinstance(node, dict):
        return
    if node.get("type") == "array" and "maxItems" not in node:
        yield place
    has_free_names = node.get("additionalProperties", "properties" not in node) not in (False, None)
    if node.get("type") == "object" and has_free_names and "maxProperties" not in node:
        yield place
    for name, each in node.items():
        if name != FIGURE:  # Vega-Lite's own schema
            yield from _unbounded(each, f"{place}/{name}")


@pytest.mark.parametrize("name", SERVICE_NAMES)
def test_every_list_and_every_object_with_free_names_has_an_end(name: str):
    assert list(_unbounded(committed_document(name))) == []


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"a": {"type": "array", "items": {"type": "string"}}}, ["/a"]),
        ({"a": {"type": "array", "maxItems": 1, "items": {"type": "array"}}}, ["/a/items"]),
        ({"a": {"anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}}]}}, ["/a/anyOf/0"]),
        ({"a": {"type": "object"}}, ["/a"]),
        ({"a": {"type": "object", "properties": {}}}, []),
        ({"a": {"type": "object", "additionalProperties": True, "maxProperties": 2}}, []),
    ],
)
def test_one_without_an_end_would_be_noticed(schema: dict[str, Any], found: list[str]):
    assert list(_unbounded(schema)) == found
