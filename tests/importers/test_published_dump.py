from typing import Literal

import pytest

from spotthebot.contracts.annotation.annotations import Label
from spotthebot.importers.published_dump.dump import open_dump
from spotthebot.importers.published_dump.records import (
    DumpAnnotation,
    DumpConversation,
    DumpPackage,
    DumpParticipant,
    DumpSegment,
    DumpTurn,
)
from spotthebot.readers.rejected import Rejected
from tests.factories.dump_files import (
    ANNOTATION,
    ANNOTATIONS,
    CONVERSATIONS,
    PACKAGE,
    PACKAGES,
    TALK,
    TALK_OF_HUMANS,
    annotation,
    conversation,
    entity,
    oid,
    package,
    read,
)

SIDES: tuple[Literal[0], Literal[1]] = (0, 1)


def rejected_annotation(write, **changes):
    _, _, (row, kept) = read(write(annotations=[annotation(**changes), annotation(oid(9))]))
    assert isinstance(kept, DumpAnnotation)
    assert isinstance(row, Rejected)
    assert (row.file, row.line) == (ANNOTATIONS, 1)
    return row.reason


class TestConversations:
    def test_are_read_with_speakers_by_position(self, write):
        (bots, humans), _, _ = read(write())
        assert bots == DumpConversation(
            external_id=TALK,
            domain="dailydialog",
            participants=(
                DumpParticipant("bot", "GPT", "tmp/huggingface/model"),
                DumpParticipant("bot", "DR", "tmp/suckybot/model"),
            ),
            turns=tuple(DumpTurn(side, f"text {k + side}") for k in (0, 2, 4) for side in SIDES),
        )
        assert [participant.kind for participant in humans.participants] == ["human", "human"]
        assert [participant.name for participant in humans.participants] == ["HU", "HU"]
        assert [turn.speaker for turn in humans.turns] == [0, 1, 0, 1, 0, 1]

    def test_keep_an_empty_turn(self, write):
        empty = conversation()
        empty["convo"][3]["text"] = ""
        (bots, _), _, _ = read(write([empty, conversation(TALK_OF_HUMANS)]))
        assert bots.turns[3] == DumpTurn(1, "")

    def test_name_one_system_type_differently_in_convai2(self, write, tmp_path):
        for file in write([conversation(domain_name="personachat")], "{}", "{}").iterdir():
            file.rename(tmp_path / file.name.replace("dailydialog", "convai2"))
        for name in ("convai2", "personachat"):
            with open_dump(tmp_path, name) as dump:
                (row,) = dump.conversations()
                assert isinstance(row, DumpConversation)
                assert (row.domain, row.participants[0].name) == ("convai2", "HF")

    def test_keep_a_system_type_that_the_paper_does_not_abbreviate(self, write):
        (row,), _, _ = read(write([conversation(types=("newcomer", "model"))]))
        assert [participant.name for participant in row.participants] == ["newcomer", "BL"]

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"domain_name": "personachat"}, "domain_name"),
            ({"is_human0": True}, "is_human0 contradicts system_type0"),
            ({"is_human0": None}, "is_human0"),
            ({"convo": []}, "convo"),
            ({"convo": [{"id": "suckybot", "text": "me first"}]}, "turn 0"),
            ({"convo": [{"id": "huggingface", "text": None}]}, "text"),
            ({"convo": [{"id": "huggingface", "text": "nul \0"}]}, "text"),
            ({"convo": [{"id": "huggingface", "text": "half \ud83d"}]}, "text"),
            ({"_id": {"$oid": "xyz"}}, "_id"),
            ({"_id": {"$oid": TALK_OF_HUMANS}}, "is on line 1 already"),
            ({"system_name1": " "}, "system_name1"),
        ],
    )
    def test_are_rejected_with_the_reason(self, write, changes, reason):
        good = conversation(TALK_OF_HUMANS)
        (first, row, last), _, _ = read(write([good, conversation() | changes, conversation(oid(8))]))
        assert isinstance(first, DumpConversation)
        assert isinstance(last, DumpConversation)
        assert (row.file, row.line) == (CONVERSATIONS, 2)
        assert reason in row.reason

    def test_are_rejected_when_a_key_is_missing(self, write):
        incomplete = conversation()
        del incomplete["system_type1"]
        (_, row), _, _ = read(write([conversation(TALK_OF_HUMANS), incomplete]))
        assert row.reason == "system_type1 is missing"


class TestPackages:
    def test_show_one_turn_more_than_the_index_of_the_last(self, write):
        _, packages, _ = read(write())
        assert packages == [DumpPackage(PACKAGE, (DumpSegment(TALK, 4), DumpSegment(TALK_OF_HUMANS, 6)))]

    @pytest.mark.parametrize(
        ("segments", "reason"),
        [
            (((TALK, 3), (TALK, 5)), "more than once"),
            (((TALK, 7),), "8 turns of conversation 000000000000000000000001 are more than its 6"),
            (((TALK, 4),), "5 turns are shown"),
            (((TALK, -1),), "0 turns are shown"),
            (((TALK, True),), "start_turn"),
            (((oid(99), 3),), "unknown"),
            ((), "package"),
        ],
    )
    def test_are_rejected_with_the_reason(self, write, segments, reason):
        _, (row, kept), _ = read(write(packages=[package(oid(7), segments), package()]))
        assert isinstance(kept, DumpPackage)
        assert (row.file, row.line) == (PACKAGES, 1)
        assert reason in row.reason

    def test_are_rejected_with_their_conversation(self, write):
        talks = [conversation(domain_name="?"), conversation(TALK_OF_HUMANS)]
        _, (row,), annotations = read(write(talks))
        assert TALK in row.reason
        assert [type(annotation) for annotation in annotations] == [Rejected]


class TestAnnotations:
    def test_are_read_with_labels_and_preferences(self, write):
        first = {"is_human": None, "fluencyValue": False}
        second = {"is_human": True, "sensitivenessValue": False}
        _, _, annotations = read(write(annotations=[annotation(first=first, second=second)]))
        assert annotations == [
            DumpAnnotation(
                external_id=ANNOTATION,
                conversation=TALK,
                package=PACKAGE,
                annotator="A31XT6RPLN6359",
                turns_shown=4,
                labels=(Label.UNSURE, Label.HUMAN),
                preferences={"fluency": 1, "sensibleness": 0, "specificity": None},
                started_at_ms=1589459205478,
                ended_at_ms=1589459286464,
                elapsed_ms=80986,
                completion_code="4707764643",
            )
        ]

    def test_keep_the_reported_time_without_a_start(self, write):
        changes = {"start_time": -1, "elapsed_time": {"$numberLong": "1589459286465"}, "random_number": 12}
        _, _, (row,) = read(write(annotations=[annotation(**changes)]))
        assert (row.started_at_ms, row.elapsed_ms, row.completion_code) == (None, 1589459286465, "12")

    def test_are_kept_where_authors_made_them_and_where_a_segment_occurs_twice(self, write):
        annotators = ["test", "Jan", "Annotator1", "Annotator1"]
        everything = [annotation(oid(20 + k), user_name=annotator) for k, annotator in enumerate(annotators)]
        assert [row.annotator for row in read(write(annotations=everything))[2]] == annotators

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"convo_id": oid(99)}, f"conversation {oid(99)} is unknown"),
            ({"package_id": oid(99)}, f"package {oid(99)} is unknown"),
            ({"convo_id": TALK_OF_HUMANS}, "does not show 4 turns"),
            ({"first": {"decision_turn": 6}}, "decision_turn differs"),
            ({"first": {"decision_turn": 8}, "second": {"decision_turn": 8}}, "more than its 6"),
            ({"first": {"decision_turn": 3}, "second": {"decision_turn": 3}}, "3 turns are shown"),
            (
                {"first": {"fluencyValue": False}, "second": {"fluencyValue": False}},
                "fluencyValue is false for both",
            ),
            ({"first": {"specificityValue": None}}, "specificityValue"),
            ({"second": {"is_human": "no"}}, "is_human"),
            ({"second": {"entity_number": 0}}, "entity_number of entity1_annotation is not 1"),
            ({"entity0_annotation": None}, "entity0_annotation"),
            ({"end_time": {"$numberLong": "12.5"}}, "end_time"),
            ({"elapsed_time": True}, "elapsed_time"),
            ({"user_name": ""}, "user_name"),
        ],
    )
    def test_are_rejected_with_the_reason(self, write, changes, reason):
        assert reason in rejected_annotation(write, **changes)

    def test_are_rejected_rather_than_unsure_without_a_label(self, write):
        silent = entity(0)
        del silent["is_human"]
        assert rejected_annotation(write, entity0_annotation=silent) == "is_human is missing"

    def test_are_checked_even_when_they_are_read_alone(self, write):
        with open_dump(write(annotations=[annotation(convo_id=oid(99))]), "dailydialog") as dump:
            assert [type(row) for row in dump.annotations()] == [Rejected]
            assert [type(row) for row in dump.annotations()] == [Rejected]
