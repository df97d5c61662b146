"""An exported annotation is uploaded with the fields that it has, and with no other one."""

from typing import Any

from spotthebot.contracts.annotation.exports import ExportedAnnotation
from spotthebot.contracts.annotation.uploads import ImportedAnnotationIn
from spotthebot.importers.campaign_import import _annotation
from tests.factories.wire_values import assert_is

NOON = "2026-01-01T12:00:00Z"


def test_an_exported_annotation_is_imported_with_its_own_id():
    decision = {"question": "entity", "target": "A", "exchanges": 2, "opened_at": NOON, "decided_at": NOON}
    same: dict[str, Any] = {
        "package": "p1",
        "conversation": "c1",
        "exchanges": 3,
        "annotator": "p-17",
        "answer": {"entity": {"A": "human"}},
        "started_at": NOON,
        "ended_at": "2026-01-01T12:01:00Z",
        "elapsed_ms": 60_000,
        "reported_ms": 59_000,
        "decisions": [decision],
        "question_order": ["sense", "entity"],
    }
    more = {"id": "a1", "campaign": "c", "domain": "everyday", "position": 4, "protocol": "p", "protocol_version": 2}
    right = {"right_conversation": None, "right_exchanges": None}
    row = ExportedAnnotation.model_validate(same | more | right)
    stated = same | {"external_id": "a1", "completion_code": None}
    assert_is(ImportedAnnotationIn, _annotation(row), stated)
