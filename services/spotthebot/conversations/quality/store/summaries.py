"""The only SQL that sums up quality flags: a collection's summary, and repeated texts."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Float, Integer, Text, and_, cast, column, distinct, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import InstrumentedAttribute

from spotthebot.contracts.conversations.quality import (
    DistributionOut,
    FlagCountOut,
    FlagKind,
    QualitySummaryOut,
    TrainingShareOut,
    TrainingSplit,
)
from spotthebot.contracts.repeated_texts import MAX_REPEATED, RepeatedTexts
from spotthebot.conversations.collections.tables import PairRow
from spotthebot.conversations.conversations.tables import ConversationRow
from spotthebot.conversations.quality.domain.flags import TRAINING_DEFINITION
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.conversations.quality.tables import QualityFlagsRow
from spotthebot.kit.database.sessions import ReadSession

_QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)
_FLAGS: tuple[FlagKind, ...] = ("exact_duplicate", "near_duplicate", "profanity", "personal_data")


async def summarise(session: ReadSession, collection_id: UUID, training: TrainingSplit | None) -> QualitySummaryOut:
    """Return the summary of a collection's flags."""
    of_collection = QualityFlagsRow.collection_id == collection_id
    by_bots = QualityFlagsRow.bot_speaks & QualityFlagsRow.in_training.is_not(None)
    statement = select(
        func.count().label("conversations"),
        func.sum(QualityFlagsRow.turns).label("all_turns"),
        func.sum(QualityFlagsRow.words).label("all_words"),
        _quantiles(QualityFlagsRow.turns).label("turns"),
        _quantiles(QualityFlagsRow.words).label("words"),
        func.coalesce(func.sum(flags_store.exchanges()).filter(by_bots), 0).label("exchanges"),
        func.coalesce(func.sum(QualityFlagsRow.in_training).filter(by_bots), 0).label("in_training"),
        *(func.count().filter(flags_store.has_flag(kind)).label(kind) for kind in _FLAGS),
    )
    sums = (await session.execute(statement.where(of_collection))).mappings().one()
    count = sums["conversations"]
    return QualitySummaryOut(
        conversations=count,
        turns=_distribution(sums["turns"], sums["all_turns"], count),
        words=_distribution(sums["words"], sums["all_words"], count),
        words_per_turn=sums["all_words"] / sums["all_turns"] if sums["all_turns"] else None,
        languages=await _languages(session, of_collection),
        exact_duplicates=_flag(sums["exact_duplicate"], count),
        near_duplicates=_flag(sums["near_duplicate"], count),
        profanity=_flag(sums["profanity"], count),
        personal_data=_flag(sums["personal_data"], count),
        personal_data_kinds=await _kinds(session, of_collection),
        training=None
        if training is None
        else TrainingShareOut(
            corpus_id=training.corpus_id,
            split=training.split,
            exchanges=sums["exchanges"],
            in_training=sums["in_training"],
            share=sums["in_training"] / sums["exchanges"] if sums["exchanges"] else None,
            definition=TRAINING_DEFINITION,
        ),
    )


async def list_repeated_texts(session: ReadSession, collection_id: UUID) -> tuple[RepeatedTexts, ...]:
    """Return the pairs of speakers with conversations of equal words, the pair with the most repeats first."""
    sides = [PairRow.participants[at]["name"].astext for at in (0, 1)]
    speakers = (func.least(*sides), func.greatest(*sides))
    conversations, texts = func.count(), func.count(distinct(QualityFlagsRow.text_hash))
    statement = (
        select(*speakers, conversations, texts)
        .select_from(QualityFlagsRow)
        .join(ConversationRow, ConversationRow.id == QualityFlagsRow.conversation_id)
        .join(
            PairRow,
            and_(PairRow.collection_id == ConversationRow.collection_id, PairRow.number == ConversationRow.pair),
        )
        .where(QualityFlagsRow.collection_id == collection_id)
        .group_by(*speakers)
        .having(texts < conversations)
        .order_by((conversations - texts).desc(), *speakers)
        .limit(MAX_REPEATED)
    )
    return tuple(
        RepeatedTexts(speakers=(first, second), conversations=held, texts=different)
        for first, second, held, different in await session.execute(statement)
    )


async def _languages(session: ReadSession, of_collection: ColumnElement[bool]) -> dict[str, int]:
    language = func.coalesce(QualityFlagsRow.language, "unknown")
    statement = select(language, func.count()).where(of_collection).group_by(language)
    return dict((await session.execute(statement.order_by(func.count().desc(), language))).all())


async def _kinds(session: ReadSession, of_collection: ColumnElement[bool]) -> dict[str, int]:
    found = (
        func.jsonb_to_recordset(QualityFlagsRow.personal_data)
        .table_valued(column("kind", Text))
        .render_derived(with_types=True)
    )
    statement = (
        select(found.c.kind, func.count(distinct(QualityFlagsRow.conversation_id)))
        .select_from(QualityFlagsRow)
        .join(found, literal(value=True))
        .where(of_collection)
        .group_by(found.c.kind)
        .order_by(found.c.kind)
    )
    return dict((await session.execute(statement)).all())


def _quantiles(number: InstrumentedAttribute[int]) -> Any:  # noqa: ANN401 - SQLAlchemy has no type for it
    return func.percentile_disc(cast([*_QUANTILES], ARRAY(Float)), type_=ARRAY(Integer)).within_group(number)


def _distribution(quantiles: list[int] | None, total: int | None, count: int) -> DistributionOut | None:
    if quantiles is None or total is None:
        return None
    minimum, tenth, median, ninetieth, maximum = quantiles
    return DistributionOut(
        mean=total / count, minimum=minimum, tenth=tenth, median=median, ninetieth=ninetieth, maximum=maximum
    )


def _flag(flagged: int, count: int) -> FlagCountOut:
    return FlagCountOut(conversations=flagged, share=flagged / count if count else None)
