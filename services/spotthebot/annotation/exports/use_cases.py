"""The export of a campaign: its annotations, their values or the items of its packages, in one file of any format."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel

from spotthebot.annotation.annotations import store as annotations_store
from spotthebot.annotation.annotations.domain import AnnotatedItem, StoredAnnotation
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.packages import store as packages_store
from spotthebot.annotation.packages.domain.packages import NamedItem
from spotthebot.annotation.protocols.domain.answers import AnswerValue, values
from spotthebot.contracts.annotation.annotations import DecisionOut
from spotthebot.contracts.annotation.exports import (
    AnnotatorNames,
    ExportedAnnotation,
    ExportedAnnotationText,
    ExportedItem,
    ExportedRows,
    ExportedValue,
)
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.exports.batches import export
from spotthebot.kit.exports.formats import ExportFormat

_ROWS_AT_ONCE = 500
Stored = TypeVar("Stored")


async def log_named_export(session: WriteSession, campaign_id: UUID, *, key_id: UUID, rows: ExportedRows) -> None:
    """Record in the audit log that annotations were exported with the ids of annotators."""
    await campaigns_store.get_campaign(session, campaign_id)
    await audit_store.add(session, campaign_id, key_id=key_id, action="annotations.exported", rows=rows)


async def export_campaign(
    session: ReadSession,
    database: Database,
    campaign: Campaign,
    rows: ExportedRows,
    names: AnnotatorNames,
    form: ExportFormat,
    *,
    judges: Sequence[str] = (),
) -> AsyncIterator[bytes]:
    """Yield the bytes of an export: annotations in the order of arrival, or items by package and position.

    Annotations of judges are left out, unless `judges` names them.
    """
    if rows is ExportedRows.PACKAGES:

        def item_rows(found: NamedItem) -> list[BaseModel]:
            return [_item(campaign, found)]

        items = _batches(database, campaign, packages_store.list_exported_items, lambda each: each.id, item_rows)
        return export(items, form, ExportedItem, rows=campaign.progress.items)
    pseudonyms = await campaigns_store.get_pseudonyms(session, campaign.id)
    by_id = names is AnnotatorNames.IDS
    protocol = (await terms_of(session, campaign.id)).protocol
    as_text = form is not ExportFormat.NDJSON

    def annotation_rows(found: AnnotatedItem) -> list[BaseModel]:
        stored = found.annotation
        common = {
            "campaign": campaign.name,
            "domain": campaign.domain,
            "package": found.package,
            "position": found.position,
            "conversation": found.conversation,
            "exchanges": stored.exchanges,
            "right_conversation": found.right_conversation,
            "right_exchanges": stored.right and stored.right.exchanges,
            "id": found.external_id,
            "protocol": campaign.protocol,
            "protocol_version": campaign.protocol_version,
            "annotator": stored.annotator_external_id
            if by_id
            else pseudonyms.name_of(stored.annotator_id, stored.annotator_external_id, stored.annotator_kind),
            "annotator_kind": stored.annotator_kind,
            "started_at": _utc(stored.started_at),
            "ended_at": _utc(stored.ended_at),
            "elapsed_ms": stored.elapsed_ms,
            "reported_ms": stored.reported_ms,
        }
        if rows is ExportedRows.VALUES:
            return _value_rows(protocol, stored, common)
        decisions = tuple(DecisionOut.of(each) for each in stored.decisions)
        if as_text:
            labels = stored.judge_labels and stored.judge_labels.model_dump_json()
            written = json.dumps([each.model_dump(mode="json") for each in decisions])
            answer = json.dumps(stored.answer, ensure_ascii=False)
            order = json.dumps(stored.question_order)
            texts = {"answer": answer, "judge_labels": labels, "decisions": written, "question_order": order}
            return [ExportedAnnotationText(**common, **texts)]
        return [
            ExportedAnnotation(
                **common,
                judge_labels=stored.judge_labels,
                answer=stored.answer,
                decisions=decisions,
                question_order=stored.question_order,
            )
        ]

    schema: type[BaseModel] = ExportedAnnotationText if as_text else ExportedAnnotation
    if rows is ExportedRows.VALUES:
        schema = ExportedValue
    listed = partial(annotations_store.list_annotated_items, judges=judges)
    annotations = _batches(database, campaign, listed, lambda each: each.annotation.id, annotation_rows)
    return export(annotations, form, schema, rows=campaign.progress.annotations)


async def _batches(
    database: Database,
    campaign: Campaign,
    fetch: Callable[..., Awaitable[Sequence[Stored]]],
    key: Callable[[Stored], UUID],
    to_rows: Callable[[Stored], list[BaseModel]],
) -> AsyncIterator[Sequence[BaseModel]]:
    after: UUID | None = None
    while True:
        async with database.read() as session:
            found = await fetch(session, campaign.id, after=after, limit=_ROWS_AT_ONCE)
        if not found:
            return
        yield [row for each in found for row in to_rows(each)]
        after = key(found[-1])


def _item(campaign: Campaign, found: NamedItem) -> ExportedItem:
    return ExportedItem.of(found, campaign=campaign.name, domain=campaign.domain)


def _value_rows(protocol: AnnotationProtocol, stored: StoredAnnotation, common: dict[str, Any]) -> list[BaseModel]:
    positions = {question: position for position, question in enumerate(stored.question_order, 1)}
    decided = {(each.question, each.target): each for each in stored.decisions}
    by_judge = stored.judge_labels.answers if stored.judge_labels is not None else ()
    stated = {(each.question, each.target): each for each in by_judge}
    absent = [AnswerValue(each.question, each.target, None) for each in by_judge if each.missing is not None]
    rows: list[BaseModel] = []
    for each in (*values(protocol, stored.answer), *absent):
        decision, judge = decided.get((each.question, each.target)), stated.get((each.question, each.target))
        shares = None if judge is None else judge.probabilities
        row = ExportedValue(
            **common,
            question=each.question,
            target=each.target,
            value=None if each.value is None else str(each.value),
            number=each.value if isinstance(each.value, int) else None,
            probability=None if shares is None or each.value is None else shares[str(each.value)],
            probabilities=None if shares is None else json.dumps(shares),
            missing=judge and judge.missing,
            decided_exchanges=decision and decision.exchanges,
            decided_at=None if decision is None else decision.decided_at,
            question_position=positions.get(each.question),
        )
        rows.append(row)
    return rows


def _utc(moment: datetime | None) -> datetime | None:
    return moment and moment.astimezone(UTC)
