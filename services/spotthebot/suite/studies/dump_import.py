"""Imports the published Spot The Bot data through the services' own API: in bulk, repeatable, nothing dropped silently.

Everything is keyed by the dump's own ids, so a second import finds all of it there, and an interrupted one goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, TypeVar

from spotthebot.kit.client import ServiceClient
from spotthebot.suite.poll import poll_until
from spotthebot.suite.progress import Steps
from spotthebot.suite.published_dump import (
    Dump,
    DumpAnnotation,
    DumpConversation,
    DumpPackage,
    Rejected,
)
from spotthebot.suite.runtime.session import Clients

_AT_ONCE = 250
_SEGMENTS = {"dailydialog": (2, 3, 5), "empathetic": (1, 2, 3), "convai2": (2, 3, 5)}
_LETTERS = ("A", "B")

Record = TypeVar("Record", DumpConversation, DumpPackage, DumpAnnotation)


@dataclass
class Imported:
    """What became of a dump: rows read, stored now, there already, rejected and why."""

    campaign: str
    campaign_id: str = ""
    read: dict[str, int] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    already_there: dict[str, int] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def summary(self) -> dict[str, Any]:
        """The form that `--json` writes: numbers of rows that are in the suite now."""
        present = {kind: self.stored[kind] + self.already_there[kind] for kind in self.stored}
        rejected = [{"file": each.file, "line": each.line, "reason": each.reason} for each in self.rejected]
        detail = {"read": self.read, "stored": self.stored, "already_there": self.already_there}
        return {"campaign": self.campaign, "campaign_id": self.campaign_id, **present, **detail, "rejected": rejected}


async def import_dump(clients: Clients, dump: Dump, steps: Steps) -> Imported:
    """Upload conversations, packages and annotations, then close the campaign."""
    name = f"spot-the-bot-{dump.domain}"
    imported = Imported(campaign=name)
    collection = await _find_or_create(
        clients.conversations, "/v1/collections", {"mode": "import", "name": name, "domain": dump.domain}
    )
    path = f"/v1/collections/{collection['id']}/conversations"
    await _upload(clients.conversations, path, "conversations", dump.conversations(), _conversation, imported, steps)
    campaign = await _find_or_create(
        clients.annotation,
        "/v1/campaigns",
        {
            "mode": "import",
            "name": name,
            "domain": dump.domain,
            "collection_id": collection["id"],
            "segments": _SEGMENTS[dump.domain],
        },
    )
    path = f"/v1/campaigns/{campaign['id']}"
    imported.campaign_id = campaign["id"]
    await poll_until(clients.annotation, path, lambda found: found["state"] != "building", "Building the campaign")
    await _upload(clients.annotation, f"{path}/packages", "packages", dump.packages(), _package, imported, steps)
    await _upload(
        clients.annotation, f"{path}/annotations", "annotations", dump.annotations(), _annotation, imported, steps
    )
    await clients.annotation.post(f"{path}/close", None)
    return imported


async def _find_or_create(client: ServiceClient, path: str, request: dict[str, Any]) -> dict[str, Any]:
    async for found in client.pages(path, {"name": request["name"]}):
        if found["mode"] == "import":
            return dict(found)
    created: dict[str, Any] = await client.post(path, request, idempotency_key=f"import/{request['name']}")
    return created


async def _upload(
    client: ServiceClient,
    path: str,
    kind: str,
    records: Iterator[Record | Rejected],
    shape: Callable[[Record], dict[str, Any]],
    imported: Imported,
    steps: Steps,
) -> None:
    imported.read[kind] = imported.stored[kind] = imported.already_there[kind] = 0
    with steps.step(f"Importing {kind}") as step:
        for batch in _batches(records, kind, imported):
            answer = await client.post(path, {kind: [shape(record) for record in batch]})
            imported.stored[kind] += answer["stored"]
            imported.already_there[kind] += answer["already_there"]
            step.at(imported.read[kind])


def _batches(records: Iterator[Record | Rejected], kind: str, imported: Imported) -> Iterator[Sequence[Record]]:
    def readable() -> Iterator[Record]:
        for record in records:
            imported.read[kind] += 1
            if isinstance(record, Rejected):
                imported.rejected.append(record)
            else:
                yield record

    rows = readable()
    while batch := list(islice(rows, _AT_ONCE)):
        yield batch


def _conversation(record: DumpConversation) -> dict[str, Any]:
    return {
        "external_id": record.external_id,
        "participants": [{"kind": side.kind, "name": side.name, "system": side.system} for side in record.participants],
        "turns": [{"speaker": _LETTERS[turn.speaker], "text": turn.text} for turn in record.turns],
    }


def _package(record: DumpPackage) -> dict[str, Any]:
    return {
        "external_id": record.external_id,
        "segments": [
            {"conversation": segment.conversation, "exchanges": segment.turns_shown // 2} for segment in record.segments
        ],
    }


def _annotation(record: DumpAnnotation) -> dict[str, Any]:
    preferences: dict[str, str] = {
        feature: "tie" if side is None else _LETTERS[side] for feature, side in record.preferences.items()
    }
    return {
        "external_id": record.external_id,
        "package": record.package,
        "conversation": record.conversation,
        "exchanges": record.turns_shown // 2,
        "annotator": record.annotator,
        "label_a": record.labels[0],
        "label_b": record.labels[1],
        **preferences,
        "started_at": _time(record.started_at_ms),
        "ended_at": _time(record.ended_at_ms),
        "elapsed_ms": record.elapsed_ms,
        "completion_code": record.completion_code,
    }


def _time(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return (datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)).isoformat()
