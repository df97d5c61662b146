"""Logs of tracing and evaluation tools become conversations; each file is made here in the tool's public form."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from spotthebot.contracts.conversations.conversations import ConversationIn
from spotthebot.readers.conversations import holds_turns, read_conversations, read_whole_conversations
from spotthebot.readers.errors import TableUnreadable
from spotthebot.readers.files import traces
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.meanings.columns import Kind, find_columns
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import Rejected

SAID = ["A: hi", "B: ho", "A: and you?", "B: fine"]


def _message(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


HI, HO, AND, FINE = (
    _message(role, text)
    for role, text in (("user", "hi"), ("assistant", "ho"), ("user", "and you?"), ("assistant", "fine"))
)


def _read(path: Path) -> tuple[str, list[Any]]:
    """Return the form of a file, and its conversations as id, names and turns, or the reason of a rejected one."""
    table, words = open_table(path), ValueWords.of()
    turns = holds_turns(table)
    left_out = frozenset({"system", "tool"})
    if turns is None:
        found = read_conversations(table, find_columns(table, (Kind.TURNS,), (), words), words, left_out)
    else:
        found = read_whole_conversations(table, turns, words, left_out)
    return table.form, [each.reason if isinstance(each, Rejected) else _shown(each) for each in found]


def _shown(found: ConversationIn) -> tuple[str, list[str], list[str]]:
    names = [side.name for side in found.participants]
    return found.external_id, names, [f"{turn.speaker}: {turn.text}" for turn in found.turns]


def _attributes(**held: object) -> list[dict[str, object]]:
    return [{"key": key, "value": value} for key, value in held.items()]


def _text(value: object) -> dict[str, str]:
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def _span(at: int, attributes: dict[str, object], events: tuple[dict[str, object], ...] = ()) -> dict[str, object]:
    held = {"gen_ai.conversation.id": _text("c-1"), "gen_ai.request.model": _text("m7"), **attributes}
    return {"traceId": "aa", "startTimeUnixNano": str(at), "attributes": _attributes(**held), "events": [*events]}


def _exported(*spans: dict[str, object]) -> str:
    return json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [*spans]}]}]})


def _parts(*messages: dict[str, str]) -> dict[str, str]:
    listed = [{"role": each["role"], "parts": [{"type": "text", "content": each["content"]}]} for each in messages]
    return _text(listed)


def _values(*messages: dict[str, str]) -> dict[str, object]:
    """Return messages as an array of OTLP instead of a text."""
    listed = [
        {"kvlistValue": {"values": _attributes(**{key: _text(of) for key, of in each.items()})}} for each in messages
    ]
    return {"arrayValue": {"values": listed}}


def _event(message: dict[str, str]) -> dict[str, object]:
    attributes = _attributes(content=_text(message["content"]))
    return {"name": f"gen_ai.{message['role']}.message", "attributes": attributes}


SYSTEM = _message("system", "be kind")
WHOLE = _span(2, {"gen_ai.input.messages": _parts(SYSTEM, HI, HO, AND), "gen_ai.output.messages": _parts(FINE)})
FIRST = _span(1, {"gen_ai.input.messages": _parts(SYSTEM, HI), "gen_ai.output.messages": _parts(HO)})
AGENT = _span(
    0,
    {
        "gen_ai.operation.name": _text("invoke_agent"),
        "gen_ai.input.messages": _parts(HI),
        "gen_ai.output.messages": _parts(HO),
    },
)
ONLY_NEW = _span(2, {"gen_ai.input.messages": _values(AND), "gen_ai.output.messages": _values(FINE)})
NUMBERED = _span(
    1,
    {
        **{f"gen_ai.prompt.{at}.role": _text(each["role"]) for at, each in enumerate((HI, HO, AND))},
        **{f"gen_ai.prompt.{at}.content": _text(each["content"]) for at, each in enumerate((HI, HO, AND))},
        "gen_ai.completion.0.role": _text("assistant"),
        "gen_ai.completion.0.content": _text("fine"),
    },
)
EVENTS = _span(
    1,
    {},
    (
        *map(_event, (HI, HO, AND)),
        {"name": "gen_ai.choice", "attributes": _attributes(message=_text(FINE))},
    ),
)
DETAILS = _span(
    1,
    {},
    (
        {
            "name": "gen_ai.client.inference.operation.details",
            "attributes": _attributes(
                **{"gen_ai.input.messages": _parts(HI, HO, AND), "gen_ai.output.messages": _parts(FINE)}
            ),
        },
    ),
)


class TestOpenTelemetry:
    @pytest.mark.parametrize(
        "lines",
        [
            pytest.param([_exported(FIRST, WHOLE)], id="each call with all messages before it"),
            pytest.param([_exported(WHOLE), _exported(FIRST)], id="batches in another order than the calls"),
            pytest.param([_exported(FIRST, ONLY_NEW)], id="calls with new messages alone, as arrays"),
            pytest.param([_exported(AGENT, FIRST, WHOLE)], id="an agent's span around its calls"),
            pytest.param([_exported(NUMBERED)], id="numbered attributes"),
            pytest.param([_exported(EVENTS)], id="an event for each message"),
            pytest.param([_exported(DETAILS)], id="an event with all messages"),
            pytest.param([json.dumps(json.loads(_exported(FIRST, WHOLE)), indent=1)], id="one object over many lines"),
        ],
    )
    def test_calls_of_a_conversation_are_joined(self, tmp_path: Path, lines: list[str]):
        path = tmp_path / "spans.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        assert _read(path) == ("OpenTelemetry's export", [("c-1", ["HU", "m7"], SAID)])

    def test_calls_that_do_not_continue_one_another_are_no_conversation(self, tmp_path: Path):
        other = _span(3, {"gen_ai.input.messages": _parts(AND, FINE, HI), "gen_ai.output.messages": _parts(HO)})
        path = tmp_path / "spans.json"
        path.write_text(_exported(FIRST, other), encoding="utf-8")
        with pytest.raises(TableUnreadable, match="its calls do not continue one another: it holds several"):
            open_table(path)


def _langfuse(at: str, given: object, replied: object, **more: object) -> dict[str, object]:
    return {
        "id": at,
        "sessionId": "s-1",
        "timestamp": f"2026-11-01T10:00:0{at}Z",
        "input": given,
        "output": replied,
        **more,
    }


def _generation(at: str, given: object, replied: object) -> dict[str, object]:
    of = _langfuse(at, given, replied, type="GENERATION", model="m7", startTime=f"2026-11-01T10:00:0{at}Z")
    return {**of, "traceId": "t-1"}


FIRST_TRACE = _langfuse("1", "hi", "ho")
COMPLETION = {"choices": [{"message": FINE}]}


class TestLangfuse:
    @pytest.mark.parametrize(
        ("content", "bot"),
        [
            pytest.param([_langfuse("2", "and you?", "fine"), FIRST_TRACE], "assistant", id="traces, texts"),
            pytest.param(
                [_generation("1", [HI], HO), _generation("2", {"messages": [HI, HO, AND]}, [FINE])],
                "m7",
                id="observations",
            ),
            pytest.param(
                [
                    _langfuse("1", {"any": 1}, None, observations=[_generation("1", [HI], HO), {"type": "SPAN"}]),
                    _langfuse("2", {}, None, observations=[_generation("2", json.dumps([AND]), COMPLETION)]),
                ],
                "m7",
                id="traces with generations",
            ),
            pytest.param(
                {"id": "s-1", "traces": [FIRST_TRACE, _langfuse("2", "and you?", "fine")]}, "assistant", id="a session"
            ),
            pytest.param({"data": [_generation("1", [HI, HO, AND], FINE)], "meta": {"page": 1}}, "m7", id="a page"),
        ],
    )
    def test_traces_of_a_session_are_joined(self, tmp_path: Path, content: object, bot: str):
        path = tmp_path / "export.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        assert _read(path) == ("Langfuse's export", [("s-1", ["HU", bot], SAID)])


THOUGHT = {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "?"}, {"type": "text", "text": "fine"}]}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "chat", "model": "mockllm/model"},
    "samples": [
        {
            "id": 7,
            "epoch": epoch,
            "input": "hi",
            "messages": [SYSTEM, HI, HO, AND, THOUGHT],
        }
        for epoch in (1, 2)
    ],
}


class TestInspect:
    def test_samples_of_a_log_are_conversations(self, tmp_path: Path):
        path = tmp_path / "log.json"
        path.write_text(json.dumps(INSPECT, indent=2), encoding="utf-8")
        archive = tmp_path / "log.eval"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("header.json", json.dumps({key: INSPECT[key] for key in ("version", "status", "eval")}))
            for sample in INSPECT["samples"]:  # type: ignore[attr-defined] # a dictionary of several types
                file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
            file.writestr("summaries.json", "[]")
        expected = [(f"7 epoch {epoch}", ["HU", "mockllm/model"], SAID) for epoch in (1, 2)]
        assert _read(path) == ("Inspect's log", expected)
        assert _read(archive) == ("Inspect's log", expected)

    def test_archives_of_others_and_huge_ones_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("notes.txt", "x" * 2000)
        with pytest.raises(TableUnreadable, match="no log of Inspect"):
            open_table(path)
        monkeypatch.setattr(traces, "_MAX_BYTES", 1999)
        with pytest.raises(TableUnreadable, match="split it"):
            open_table(path)
        path.write_bytes(path.read_bytes()[:60])
        with pytest.raises(TableUnreadable):
            open_table(path)

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_archive_is_read_once_for_each_name_and_refused_if_it_is_encrypted(self, tmp_path: Path):
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("header.json", json.dumps({"eval": {"model": "m"}}))
            sample = {"id": 1, "epoch": 1, "messages": [HI, HO]}
            for _ in range(3):
                file.writestr("samples/1.json", json.dumps(sample))
        assert [len(open_table(path).sample), *_read(path)[1]] == [1, ("1 epoch 1", ["HU", "m"], SAID[:2])]
        content = bytearray(path.read_bytes())
        content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag of an encrypted entry, in the archive's list
        content[6] |= 1  # and before the entry
        path.write_bytes(content)
        with pytest.raises(TableUnreadable, match="encrypted"):
            open_table(path)


def _tree_message(text: str, role: str, *replies: object, **more: object) -> dict[str, object]:
    return {"text": text, "role": role, "replies": [*replies], **more}


class TestTrees:
    def test_a_tree_is_the_thread_of_the_best_ranked_replies(self, tmp_path: Path):
        end = _tree_message("fine", "assistant", rank=0)
        follow_up = _tree_message("and you?", "prompter", end, _tree_message("bad", "assistant", rank=1))
        gone = _tree_message("gone", "assistant", rank=0, deleted=True)
        replies = [
            _tree_message("no", "assistant"),
            _tree_message("last", "assistant", rank=10**400),
            gone,
            _tree_message("ho", "assistant", follow_up, rank=2),
        ]
        tree = {"message_tree_id": "t-1", "prompt": _tree_message("hi", "prompter", *replies)}
        path = tmp_path / "trees.jsonl"
        path.write_text(json.dumps(tree) + "\n", encoding="utf-8")
        assert _read(path) == ("Open Assistant's trees", [("t-1", ["HU", "assistant"], SAID)])


class TestDstc:
    def test_rows_of_turns_are_conversations(self, tmp_path: Path):
        path = tmp_path / "CONV01_main.csv"
        rows = ["CONV01-000001-0002,bot,ho", "CONV01-000001-0001,user,hi", "CONV01-000001-0003,user,and you?"]
        path.write_text(
            "\n".join(["UID,SID,SEG", "CONV01,bot,?", *rows, "CONV01-000001-0004,bot,fine"]), encoding="utf-8"
        )
        form, (fault, found) = _read(path)
        assert (form, found) == ("CSV", ("CONV01-000001", ["HU", "bot"], SAID))
        assert "its UID 'CONV01' does not end in a number" in str(fault)
