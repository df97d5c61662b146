"""An exported annotation is uploaded with the fields that it has, and with no other one."""

import json
from typing import Any
from uuid import UUID

from spotthebot.contracts.annotation.annotations import AnnotatorKind, kind_by_name
from spotthebot.contracts.annotation.exports import ExportedAnnotation
from spotthebot.contracts.annotation.uploads import ImportedAnnotationIn
from spotthebot.contracts.conversations.exports import ExportedRating
from spotthebot.importers.campaign_exports import _annotation
from tests.factories.wire_values import assert_is

NOON = "2026-01-01T12:00:00Z"


def test_an_exported_annotation_is_imported_with_its_own_id():
    decision = {"question": "entity", "target": "A", "exchanges": 2, "opened_at": NOON, "decided_at": NOON}
    same: dict[str, Any] = {
        "package": "p1",
        "conversation": "c1",
        "exchanges": 3,
        "annotator": "p-17",
        "annotator_kind": "judge",
        "answer": {"entity": {"A": "human"}},
        "started_at": NOON,
        "ended_at": "2026-01-01T12:01:00Z",
        "elapsed_ms": 60_000,
        "reported_ms": 59_000,
        "decisions": [decision],
        "question_order": ["sense", "entity"],
        "judge_labels": {"answers": [{"question": "entity", "target": "A", "probabilities": {"human": 1.0}}]},
    }
    more = {"id": "a1", "campaign": "c", "domain": "everyday", "position": 4, "protocol": "p", "protocol_version": 2}
    right = {"right_conversation": None, "right_exchanges": None}
    row = ExportedAnnotation.model_validate(same | more | right)
    stated = same | {"external_id": "a1", "completion_code": None}
    assert_is(ImportedAnnotationIn, _annotation(row), stated)


def test_an_export_of_an_earlier_release_has_simulated_annotators_by_their_names():
    rating = {"chat_id": UUID(int=1), "number": 1, "scores": [], "preferred": None, "rated_at": NOON}
    simulated, person = AnnotatorKind.SIMULATED, AnnotatorKind.PERSON
    names = {"simulated-01": simulated, "simulated-x": person, "xsimulated-1": person, "ann": person}
    for name, kind in names.items():
        line = json.dumps(rating | {"interactor": name}, default=str)
        assert ExportedRating.model_validate_json(line).interactor_kind is kind
        assert kind_by_name(name) is kind
    stated = ExportedRating.model_validate(rating | {"interactor": "simulated-01", "interactor_kind": "person"})
    assert stated.interactor_kind is person
