"""Conversations in what tracing and evaluation tools write: a row for each conversation, with all its messages.

* OpenTelemetry, the JSON of a collector's file exporter: spans with the messages of the `gen_ai` conventions, in
  `gen_ai.input.messages` and `gen_ai.output.messages`, in `gen_ai.prompt.0.content` and so on, or in events such as
  `gen_ai.user.message`: https://opentelemetry.io/docs/specs/semconv/gen-ai
* Langfuse, traces, sessions or observations as JSON or JSON Lines: https://langfuse.com/docs/api-and-data-platform
* Inspect, a log as `.eval` or `.json`: https://inspect.aisi.org.uk/eval-logs.html
* Open Assistant, message trees: https://huggingface.co/datasets/OpenAssistant/oasst1

A call to a model holds the messages before it, or only what is new: the calls of a conversation are joined.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from spotthebot.readers.errors import TableUnreadable
from spotthebot.readers.files.calls import Call, Content, Message, content_of, messages_of, objects, said_in, time_of
from spotthebot.readers.files.cells import TableRow, holds_half_pair
from spotthebot.readers.files.exports import text_of
from spotthebot.readers.files.open_telemetry import calls_of_spans
from spotthebot.readers.rejected import Rejected

_MAX_BYTES: Final = 256 * 1024**2
_HEAD_BYTES: Final = 65_536
_MARKS: Final = re.compile(rb'"(resourceSpans|message_tree_id|sessionId|traceId|observations|eval)"')
_ZIP: Final = b"PK\x03\x04"
_MODEL_ROLES: Final = MappingProxyType({"prompter": "user"})
"""Open Assistant's role of a person who asks."""


class Trace(NamedTuple):
    """A conversation in a file: its id, the name of its bot or an empty text, and its messages or the fault."""

    name: str
    model: str
    messages: list[Message]
    fault: str = ""


@dataclass(frozen=True)
class Form:
    """What a tool writes, and how its conversations are read from all objects of a file."""

    name: str
    matches: Callable[[Content], bool]
    read: Callable[[Iterable[Content]], Iterator[Trace]]


def trace_form(path: Path) -> Form | None:
    """Return the form of a file of traces; None for other files. Raises TableUnreadable."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head.startswith(_ZIP) and not _MARKS.search(head):
        return None
    first = next(iter(_contents(path)), {})
    return next((form for form in _FORMS if form.matches(first)), None)


def traced_rows(path: Path, form: Form) -> Iterator[TableRow | Rejected]:
    """Yield a row for each conversation of a file, with the columns `conversation`, `model` and `messages`."""
    for number, trace in enumerate(form.read(_contents(path)), start=1):
        cells = {
            "conversation": trace.name,
            "model": trace.model,
            "messages": json.dumps(trace.messages, ensure_ascii=False),
        }
        row = TableRow(path.name, number, cells, f"conversation {number}")
        if trace.fault or holds_half_pair(cells.values()):
            yield row.rejected(trace.fault or "it holds half a surrogate pair")
        else:
            yield row


def _contents(path: Path) -> list[Content]:
    """Return all objects of a file: of a log's archive, of one value over many lines, or of one in each line."""
    try:
        if zipfile.is_zipfile(path):
            return _archived(path)
        if path.stat().st_size > _MAX_BYTES:
            raise _too_large(path)
        text = path.read_bytes().decode("utf-8-sig")
        try:
            values = [json.loads(text)]
        except ValueError:
            values = [json.loads(line) for line in text.split("\n") if line.strip()]
    except NotImplementedError as error:
        reason = f"its compression is unknown here: inspect log convert {path.name} --to json --output-dir FOLDER"
        raise TableUnreadable(file=path.name, reason=reason) from error
    # An encrypted entry is a RuntimeError to zipfile, as is JSON that is nested too deeply.
    except (ValueError, RuntimeError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise TableUnreadable(file=path.name, reason=f"it is not JSON, or its end is missing ({error})") from error
    listed = [each for value in values for each in (value if isinstance(value, list) else [value])]
    pages = [each for value in listed for each in (_page(value) if isinstance(value, dict) else [value])]
    return objects(pages)


def _page(value: Content) -> list[object]:
    """Return what a page of an API's answer lists, or the object itself."""
    listed = value.get("data")
    return listed if isinstance(listed, list) and "meta" in value else [value]


def _archived(path: Path) -> list[Content]:
    """Return Inspect's archive as the object that its JSON form has."""
    with zipfile.ZipFile(path) as archive:
        if sum(each.file_size for each in archive.infolist()) > _MAX_BYTES:
            raise _too_large(path)
        names = dict.fromkeys(archive.namelist())  # an archive may name one file many times
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if header is None:
            raise TableUnreadable(file=path.name, reason="the archive is no log of Inspect: it has no header.json")
        samples = [json.loads(archive.read(name)) for name in names if re.fullmatch(r"samples/[^/]+\.json", name)]
        return [{**content_of(json.loads(archive.read(header))), "samples": samples}]


def _too_large(path: Path) -> TableUnreadable:
    return TableUnreadable(file=path.name, reason=f"it holds more than {_MAX_BYTES // 1024**2} MiB: split it")


def _joined(calls: Iterable[tuple[str, Call]]) -> Iterator[Trace]:
    """Yield the conversations of all calls, each call with the id of its conversation."""
    by_name: dict[str, list[Call]] = {}
    for name, call in calls:
        by_name.setdefault(name, []).append(call)
    for name, of in by_name.items():
        found = said_in(sorted(of, key=lambda call: call.at))
        model = next((call.model for call in of if call.model), "")
        yield Trace(name, model, found) if isinstance(found, list) else Trace(name, model, [], found)


def _spans(contents: Iterable[Content]) -> Iterator[Trace]:
    return _joined(calls_of_spans(contents))


def _is_langfuse(content: Content) -> bool:
    known = {"sessionId", "traceId", "observations"} & content.keys()
    return isinstance(content.get("traces"), list) or (bool(known) and {"input", "output"} <= content.keys())


def _langfuse(contents: Iterable[Content]) -> Iterator[Trace]:
    """Yield the sessions of traces, or traces without a session, by their generations where the file has them."""
    return _joined(call for content in contents for call in _langfuse_calls(content))


def _langfuse_calls(content: Content) -> Iterator[tuple[str, Call]]:
    if traces := objects(content.get("traces")):
        for trace in traces:
            yield from _langfuse_calls({"sessionId": content.get("id"), **trace})
        return
    name = text_of(content.get("sessionId") or content.get("traceId") or content.get("id"))
    listed = objects(content.get("observations"))
    generations = [each for each in listed if each.get("type") == "GENERATION" and "input" in each]
    if content.get("type", "GENERATION") != "GENERATION":
        return
    for each in generations or [content]:
        model = text_of(each.get("model") or each.get("providedModelName"))
        at = time_of(each.get("startTime") or each.get("timestamp"))
        yield (
            name,
            Call(at, model, messages_of(each.get("input"), "user"), messages_of(each.get("output"), "assistant")),
        )


def _inspect(contents: Iterable[Content]) -> Iterator[Trace]:
    for log in contents:
        model = text_of(content_of(log.get("eval")).get("model"))
        for sample in objects(log.get("samples")):
            name = f"{text_of(sample.get('id'))} epoch {text_of(sample.get('epoch'))}"
            yield Trace(name, model, messages_of(sample.get("messages"), "user"))


def _trees(contents: Iterable[Content]) -> Iterator[Trace]:
    """Yield the thread of the best-ranked replies of each tree: threads of one tree would share their texts."""
    for tree in contents:
        messages, at = [], content_of(tree.get("prompt"))
        models = []
        while at:
            role = text_of(at.get("role"))
            messages.append(Message(role=_MODEL_ROLES.get(role, role), content=text_of(at.get("text"))))
            models.append(text_of(at.get("model_name")))
            left = [each for each in objects(at.get("replies")) if each.get("deleted") is not True]
            at = min(left, key=_rank, default={})
        yield Trace(text_of(tree.get("message_tree_id")), next(filter(None, models), ""), messages)


def _rank(reply: Content) -> float:
    rank = reply.get("rank")
    return rank if isinstance(rank, int | float) else float("inf")


def _holds(name: str, kind: type) -> Callable[[Content], bool]:
    return lambda content: isinstance(content.get(name), kind)


_FORMS: Final[tuple[Form, ...]] = (
    Form("OpenTelemetry's export", _holds("resourceSpans", list), _spans),
    Form("Inspect's log", lambda content: _holds("eval", dict)(content) and _holds("samples", list)(content), _inspect),
    Form(
        "Open Assistant's trees",
        lambda tree: "message_tree_id" in tree and isinstance(tree.get("prompt"), dict),
        _trees,
    ),
    Form("Langfuse's export", _is_langfuse, _langfuse),
)
