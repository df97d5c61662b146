"""Conversations of other tools' files are read with their speakers and turns."""

import json

import pytest

from spotthebot.readers.conversations import holds_turns, read_conversations, read_whole_conversations
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.meanings.columns import Kind, find_columns
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import Rejected

HEADER = "dialog_id,turn,speaker,utterance\n"


def _said(**fields):
    return [dict(zip(fields, values, strict=True)) for values in zip(*fields.values(), strict=True)]


SAID = _said(speaker=("A", "B"), text=("hi", "ho"))


def _read(path, people=(), left_out=()):
    table, words = open_table(path), ValueWords.of(people=people)
    if (turns := holds_turns(table)) is not None:
        found = read_whole_conversations(table, turns, words, frozenset(left_out))
    else:
        found = read_conversations(table, find_columns(table, (Kind.TURNS,), (), words), words, frozenset(left_out))
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
            (3, "it has 2 cells, and the header has 4"),
            (2, "conversation 'c1' is left out, as line 3 can't be read"),
            (6, "its position 'x' is not a number: conversation 'c2' is left out"),
            (7, "conversation 'c3' must have two speakers, and has a"),
            (
                8,
                (
                    "conversation 'c4' must have two speakers, and has a, b, c"
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


class TestMessages:
    """Chat models' messages: https://platform.openai.com/docs/api-reference/chat/create, and content blocks."""

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
            ([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:"}}], "look"),
            ([{"type": "thinking", "thinking": "hm"}, {"type": "output_text", "text": "ho"}], "ho"),
            ([{"type": "text", "text": {"value": "ho", "annotations": []}}], "ho"),
            ({"content_type": "text", "parts": ["one", "two"]}, "one\ntwo"),
            (["one", "two"], "one\ntwo"),
        ],
    )
    def test_texts_of_parts_are_kept_and_nothing_else(self, save, content, text):
        messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": content}]
        whole = save(json.dumps({"id": "c1", "model": "m7", "messages": messages}), "whole.jsonl")
        assert _read(whole) == [("c1", ["HU", "m7"], ["A: hi", f"B: {text}"])]
        if isinstance(content, list) and isinstance(content[0], dict):
            rows = save("\n".join(json.dumps({"id": "c1", "model": "m7", **each}) for each in messages), "rows.jsonl")
            assert _read(rows) == _read(whole)

    @pytest.mark.parametrize("content", ["", " \u200b", None, [], {"foo": 1}, [{"type": "image_url"}]])
    def test_turn_without_a_text_is_refused(self, save, content):
        messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": content}]
        path = save(json.dumps({"id": "c1", "messages": messages}), "a.jsonl")
        assert _read(path) == [(1, "conversation 'c1': turn 2 is empty")]
        assert _read(save(f"{HEADER}c1,1,a,hi\nc1,2,b,\n")) == [(2, "conversation 'c1': turn 2 is empty")]

    def test_roles_are_left_out_and_calls_of_tools_are_no_turns(self, save):
        messages = [
            {"role": "System", "content": "You are Tom."},
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "content": '{"t": 3}'},
            {"role": "assistant", "content": "It is cold."},
        ]
        path = save(json.dumps({"id": "c1", "model": "m7", "messages": messages}), "a.jsonl")
        ((_, reason),) = _read(path)
        assert "has System, user, tool, assistant: --leave-out ROLE leaves out turns of a role" in reason
        found = _read(path, left_out={"system", "tool"})
        assert found == [("c1", ["HU", "m7"], ["A: Weather?", "B: It is cold."])]
        rows = f"{HEADER}c1,1,system,be nice\nc1,2,user,hi\nc1,3,m7,ho\n"
        assert _read(save(rows), left_out={"system"}) == [("c1", ["HU", "m7"], ["A: hi", "B: ho"])]

    def test_speaker_whose_name_is_written_in_two_ways_is_one(self, save):
        rows = "c1,1,Zo\u00e9,hi\nc1,2,Zoe\u0301,there\nc1,3,b,ho\n"
        assert _read(save(HEADER + rows)) == [("c1", ["Zo\u00e9", "b"], ["A: hi\nthere", "B: ho"])]


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
            (2, "conversation 'c1' is on an earlier line already"),
            (3, "its turns must be a list of turns with a speaker and a text"),
            (4, "it names no conversation"),
            (5, "its turns must be a list of turns with a speaker and a text"),
        ]
