"""Starts a declared collection and follows it to its end. A second run of the same file finds the same collection."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from spotthebot.cli.collections.declaration_file import ChatsDeclared, CollectionDeclared
from spotthebot.cli.collections.participants import Approve, print_warnings
from spotthebot.cli.collections.resolution import API_KEYS, resolve
from spotthebot.cli.declarations.refusals import faults_of
from spotthebot.cli.errors import CollectionNameTaken
from spotthebot.clients import AsyncConversations, NotFound, PeerRefused
from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.conversations.collections import (
    CollectionOut,
    CollectionPlanOut,
    CollectionState,
    EstimateOut,
    PlannedIn,
)
from spotthebot.contracts.conversations.progress import FailureOut, PairOut
from spotthebot.contracts.conversations.quality import QualityCheckState
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.kit.exports.formats import ExportFormat
from spotthebot.kit.ids import new_id
from spotthebot.local.background import NoProgress, poll_until
from spotthebot.local.postgres.home import disk_errors, write_private
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients
from spotthebot.local.whole_files import written

_LOOK_EVERY_SECONDS = 0.5
_COUNTS_COST = 10
"""Counting is slow for the database. The next count waits this many times as long as the last count took."""
_MAX_FAILURES = 1000
_LISTS_OF_IDS = frozenset({"bots", "partners"})
"""Fields whose values are too long for a message about differences."""
_PATIENCE_WITH_FLAGS_SECONDS = 60


@dataclass(frozen=True)
class CollectionProgress:
    """The progress of a collection at one moment."""

    collection: CollectionOut
    pairs: tuple[PairOut, ...]
    failures: tuple[FailureOut, ...]

    @property
    def has_ended(self) -> bool:
        return self.collection.state in {CollectionState.COMPLETE, CollectionState.CANCELLED}

    @property
    def is_whole(self) -> bool:
        """Whether the collection is complete and none of its conversations failed."""
        return self.collection.state is CollectionState.COMPLETE and not self.collection.failed


@dataclass(frozen=True)
class StartedCollection:
    """A collection, and whether this call created it (`is_new`)."""

    collection: CollectionOut
    is_new: bool


async def start(
    clients: Clients,
    folder: DataFolder | None,
    declared: CollectionDeclared | ChatsDeclared,
    *,
    restart: bool,
    approve: Approve = print_warnings,
) -> StartedCollection:
    """Start the declared collection, or return an existing one; a collection of chats is opened for people.

    An existing one was started from the same file with this data folder, or has the same name and plan. It is resumed
    if it is paused. `restart` always starts a new collection. Before a new collection starts, `approve` gets the
    warnings about its bots; it may raise an error. Raises DeclarationFaulty for faults that only the services can find.
    Raises CollectionNameTaken if a collection of the same name has another plan and was not cancelled.
    """
    identity = hashlib.sha256(f"{declared.request.name}/{declared.sha256}".encode()).hexdigest()
    note = None if folder is None else folder.path / "collecting" / f"{identity}.json"
    if note is not None and not restart and (known := await _known(clients, note)) is not None:
        return StartedCollection(await _resumed(clients, known), is_new=False)
    request = await resolve(clients, declared)
    named = [each async for each in clients.conversations.list_collections(name=request.name)]
    if not restart and (same := await _of_the_same_plan(clients.conversations, request, named)) is not None:
        return StartedCollection(await _resumed(clients, same), is_new=False)
    if not isinstance(request, HumanBotIn):
        await approve((await _estimate(clients, declared, request)).warnings)
    body = request.model_dump(mode="json", exclude_unset=True)
    content = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    # The note is written after the answer: if we die in between, the key finds what was made.
    key = new_id().hex if restart else f"collect/{identity[:32]}/{content[:32]}"
    try:
        made = await clients.conversations.create_collection(request, idempotency_key=key)
    except PeerRefused as refused:
        raise faults_of(declared, refused, API_KEYS) from refused
    if isinstance(request, HumanBotIn):  # nothing estimates chats: the bots' troubles come with the collection
        await print_warnings(made.warnings)
    if note is not None:
        with disk_errors(note.parent.parent):
            note.parent.mkdir(mode=0o700, exist_ok=True)
            write_private(note, json.dumps({"collection_id": str(made.id), "name": declared.request.name}))
    if made.id not in {each.id for each in named}:
        return StartedCollection(made, is_new=True)
    # A key that is known gets its first answer again, which says how far the collection was then.
    present = await clients.conversations.get_collection(made.id)
    return StartedCollection(await _resumed(clients, present), is_new=False)


async def _of_the_same_plan(
    conversations: AsyncConversations, request: PlannedIn | HumanBotIn, named: Sequence[CollectionOut]
) -> CollectionOut | None:
    """Return the newest collection in `named` with the plan of the request. Cancelled collections do not count.

    Raises CollectionNameTaken if each of them has another plan.
    """
    live = [each for each in reversed(named) if each.state is not CollectionState.CANCELLED]
    differences = []
    for each in live:
        differences.append(_differences(request, each, await conversations.get_plan(each.id)))
        if not differences[-1]:
            return each
    if live:
        raise CollectionNameTaken(name=request.name, differences="; ".join(differences[0]))
    return None


def _differences(request: PlannedIn | HumanBotIn, there: CollectionOut, plan: CollectionPlanOut) -> list[str]:
    asked_for = request.model_dump(mode="json")
    planned = {"domain": there.domain, **plan.model_dump(mode="json")}
    if plan.chats is not None:
        planned |= plan.chats.model_dump(mode="json")
    return [
        name if name in _LISTS_OF_IDS else f"{name} {planned[name]} there, {asked_for[name]} here"
        for name in planned.keys() & asked_for.keys()
        if asked_for[name] != planned[name]
    ]


async def estimate(clients: Clients, declared: CollectionDeclared) -> EstimateOut:
    """Return the estimated cost of the collection, and print the warnings about its bots.

    Registers missing built-in bots, and uploads the sample corpus if it is missing.
    """
    found = await _estimate(clients, declared, await resolve(clients, declared))
    await print_warnings(found.warnings)
    return found


async def _estimate(clients: Clients, declared: CollectionDeclared | ChatsDeclared, request: PlannedIn) -> EstimateOut:
    try:
        return await clients.conversations.estimate_collection(request)
    except PeerRefused as refused:
        raise faults_of(declared, refused, API_KEYS) from refused


async def follow(
    conversations: AsyncConversations, started: StartedCollection, show: Callable[[CollectionProgress], None]
) -> CollectionProgress:
    """Show the progress of the collection repeatedly until it has ended, and return the last progress."""
    collection_id = started.collection.id
    pairs: tuple[PairOut, ...] = ()
    failures: tuple[FailureOut, ...] = ()
    counts_due = 0.0
    while True:
        collection = await conversations.get_collection(collection_id)
        ended = collection.state in {CollectionState.COMPLETE, CollectionState.CANCELLED}
        read_at = time.monotonic()
        if ended or read_at >= counts_due:
            pairs = tuple([each async for each in conversations.list_pairs(collection_id)])
            page = await conversations.list_failures(collection_id, page_size=_MAX_FAILURES).page()
            failures = tuple(page.items)
            counts_due = time.monotonic() + _COUNTS_COST * (time.monotonic() - read_at)
        progress = CollectionProgress(collection, pairs, failures)
        show(progress)
        if ended:
            return progress
        await asyncio.sleep(_LOOK_EVERY_SECONDS)


def account(
    declared: CollectionDeclared,
    progress: CollectionProgress,
    repeated: Sequence[RepeatedTexts],
    *,
    turns: int,
    seconds: float,
) -> dict[str, Any]:
    """Return the JSON document that `--json` writes.

    `turns` is the number of turns added in the `seconds` of this call.
    """
    collection = progress.collection.model_dump(mode="json")
    counts = ("conversations", "complete", "failed", "cancelled", "waiting", "turns", "turns_planned")
    return {
        "file": str(declared.file.path),
        "file_sha256": declared.sha256,
        "collection": collection,
        "counts": {name: collection[name] for name in counts},
        "pairs": [each.model_dump(mode="json") for each in progress.pairs],
        "failures": [each.model_dump(mode="json") for each in progress.failures],
        "repeated_texts": [each.model_dump(mode="json") for each in repeated],
        "rate": {"turns": turns, "seconds": round(seconds, 3), "turns_per_second": round(turns / seconds, 3)},
    }


async def repeated_texts(conversations: AsyncConversations, collection_id: UUID) -> tuple[RepeatedTexts, ...]:
    """Wait for the quality flags. Return the speakers that have several conversations with the same text."""
    await _wait_for_flags(conversations, collection_id)
    try:
        return (await conversations.get_quality(collection_id)).repeated_texts
    except NotFound:
        return ()


def form_of(target: Path) -> ExportFormat | None:
    """Return the format of a file by the end of its name; None for a folder."""
    return next((form for form in ExportFormat if target.suffix == f".{form.suffix}"), None)


async def export(conversations: AsyncConversations, collection_id: UUID, target: Path) -> Path:
    """Wait for the quality flags, and write the conversations completely or not at all; return the file.

    `target` is a file, whose ending decides its format, or a folder, which gets `conversations.jsonl`.
    """
    form = form_of(target)
    path = target / "conversations.jsonl" if form is None else target
    await _wait_for_flags(conversations, collection_id)
    with written(path) as file:
        async for part in conversations.export_collection(collection_id, form or ExportFormat.NDJSON):
            file.write(part)
    return path


async def _wait_for_flags(conversations: AsyncConversations, collection_id: UUID) -> None:
    """Wait until the quality check has ended.

    Return earlier if it makes no progress, or if the collection has no check.
    """
    try:
        await poll_until(
            lambda: conversations.get_quality(collection_id),
            lambda found: found.check.state in {QualityCheckState.DONE, QualityCheckState.FAILED},
            "Quality flags",
            patience_seconds=_PATIENCE_WITH_FLAGS_SECONDS,
        )
    except (NoProgress, NotFound):
        return


async def _resumed(clients: Clients, known: CollectionOut) -> CollectionOut:
    if known.state is CollectionState.PAUSED:
        return await clients.conversations.resume_collection(known.id)
    return known


async def _known(clients: Clients, note: Path) -> CollectionOut | None:
    collection_id = _noted(note)
    if collection_id is None:
        return None
    try:
        return await clients.conversations.get_collection(collection_id)
    except NotFound:  # it was started in another database
        return None


def _noted(note: Path) -> UUID | None:
    try:
        return UUID(json.loads(note.read_text())["collection_id"])
    except (FileNotFoundError, ValueError, KeyError):
        return None
