"""Conversations of other tools' files are read with their speakers and turns."""

import json

import pytest

from spotthebot.suite.published_dump import Rejected
from spotthebot.suite.tables.columns import Kind, find_columns
from spotthebot.suite.tables.conversations import holds_turns, read_conversations, read_whole_conversations
from spotthebot.suite.tables.rows import open_table
from spotthebot.suite.tables.values import ValueWords

HEADER = "dialog_id,turn,speaker,utterance\n"


def _said(**fields):
    return [dict(zip(fields, values, strict=True)) for values in zip(*fields.values(), strict=True)]


SAID = _said(speaker=("A", "B"), text=("hi", "ho"))


def _read(path, people=()):
    table, words = open_table(path), ValueWords.of(people=people)
    if (turns := holds_turns(table)) is not None:
        found = read_whole_conversations(table, turns, words)
    else:
        found = read_conversations(table, find_columns(table, (Kind.TURNS,), (), words), words)
    return [
        (each.line, each.reason)
        if isinstance(each, Rejected)
        else (
            each.external_id,
            [side.name for side in each.participants],
            [f"{turn.speaker}: {turn.text}" for turn in each.turns],
        )
        for each in found
    ]


class TestRows:
    def test_turns_are_put_in_their_order_and_joined_where_one_speaker_goes_on(self, save):
        rows = "c1,10,beta,third\nc1,2,beta,second\nc1,1,alpha,first\nc1,11,beta,goes on\nc2,1,x,hi\nc2,2,y,ho\n"
        assert _read(save(HEADER + rows)) == [
            ("c1", ["alpha", "beta"], ["A: first", "B: second\nthird\ngoes on"]),
            ("c2", ["x", "y"], ["A: hi", "B: ho"]),
        ]

    def test_people_are_called_hu_and_roles_by_their_bot(self, save):
        content = (
            "conversation,role,content,model\nc1,user,hi,m7\nc1,assistant,ho,m7\nc2,me,hi,m8\nc2,assistant,ho,m8\n"
        )
        assert [each[1] for each in _read(save(content), ["Me"])] == [["HU", "m7"], ["HU", "m8"]]

    def test_unreadable_rows_leave_their_conversation_out_and_the_rest_is_read(self, save):
        rows = (
            "c1,1,a,hi\nc1,2\nc1,3,b,ho\n"  # a row of two cells
            "c2,1,a,hi\nc2,x,b,ho\nc3,1,a,hi\nc4,1,a,hi\nc4,2,b,ho\nc4,3,c,hu\n"
            "c5,1,a,hi\nc5,2,b,ho\nc3,2,b,late\n,1,a,hi\n"
        )
        assert _read(save(HEADER + rows)) == [
            (3, "it has 2 cells, the header 4"),
            (2, "conversation 'c1' is left out, as line 3 can't be read"),
            (6, "its position 'x' is not a number: conversation 'c2' is left out"),
            (7, "conversation 'c3' has to have two speakers, and has a"),
            (
                8,
                (
                    "conversation 'c4' has to have two speakers, and has a, b, c"
                    ": --leave-out ROLE leaves out turns of a role, such as system or tool"
                ),
            ),
            ("c5", ["a", "b"], ["A: hi", "B: ho"]),
            (13, "conversation 'c3' ended on an earlier line: sort the file by conversation"),
            (14, "it names no conversation"),
        ]

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            ("c1,1,a,hi\nc1,2,{},ho\n".format("b" * 101), "must have at most 100 characters"),
            ("c1,1,a,hi\nc1,2,b,{}\n".format("x" * 20_001), "must have at most 20000"),
            ("c1,1,a,hi\nc1,2,b,\0\n", "must not contain NUL characters"),
        ],
    )
    def test_text_that_no_service_takes_is_rejected_beforehand(self, save, rows, reason):
        ((line, said),) = _read(save(HEADER + rows))
        assert line == 2
        assert said.endswith(reason)


class TestObjects:
    def test_cell_of_brackets_is_no_list_of_turns(self, save):
        rows = f"c1,{'[' * 100_000},hi\nc1,x,ho\n"
        table = open_table(save(f"id,turns,text\n{rows}"))
        assert holds_turns(table) is None

    @pytest.mark.parametrize(
        "content",
        [
            {"id": "c1", "participants": ["HU", "m7"], "turns": SAID},
            {"id": "c1", "participants": [{"name": "HU"}, {"name": "m7"}], "turns": SAID},
            {"id": "c1", "bots": ["HU", "m7"], "turns": SAID},
            {"id": "c1", "model": "m7", "conversation": _said(role=("user", "assistant"), content=("hi", "ho"))},
            {"id": "c1", "model": "m7", "conversations": _said(**{"from": ("human", "gpt"), "value": ("hi", "ho")})},
        ],
        ids=["names", "objects", "export", "openai", "sharegpt"],
    )
    def test_turns_in_a_list_are_read_by_any_of_their_names(self, save, content):
        assert _read(save(json.dumps(content), "a.jsonl")) == [("c1", ["HU", "m7"], ["A: hi", "B: ho"])]

    def test_object_twice_or_without_turns_is_rejected(self, save):
        good = {"id": "c1", "turns": [{"speaker": "x", "text": "hi"}, {"speaker": "y", "text": "ho"}]}
        lines = [good, good, {"id": "c2", "turns": ["hi"]}, {"turns": good["turns"]}, {"id": "c3", "turns": []}]
        lines += [{**good, "id": f"d{number}"} for number in range(4)]
        expected = ("c1", ["x", "y"], ["A: hi", "B: ho"])
        assert _read(save("\n".join(map(json.dumps, lines)), "a.jsonl"))[:5] == [
            expected,
            (2, "conversation 'c1' stands on an earlier line"),
            (3, "its turns are no list of turns with a speaker and a text"),
            (4, "it names no conversation"),
            (5, "its turns are no list of turns with a speaker and a text"),
        ]
