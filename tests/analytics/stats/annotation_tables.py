"""Makes small annotation tables: written out row by row, or simulated with bots of known strength."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable
from spotthebot.analytics.stats.survival.curves import CurrentStatus

Row = tuple[int, str, str, int, tuple[int, int], int]


def table_of(
    rows: Sequence[Row], names: Sequence[str], features: dict[str, list[list[int]]] | None = None
) -> AnnotationTable:
    """Write a table as rows of (conversation, first, second, exchanges, labels of both, annotator)."""
    order = list(names)
    return AnnotationTable(
        names=tuple(names),
        conversation=np.array([row[0] for row in rows], dtype=np.int64),
        entity=np.array([[order.index(row[1]), order.index(row[2])] for row in rows], dtype=np.int64).reshape(-1, 2),
        exchanges=np.array([row[3] for row in rows], dtype=np.int64),
        label=np.array([row[4] for row in rows], dtype=np.int64).reshape(-1, 2),
        annotator=np.array([row[5] for row in rows], dtype=np.int64),
        features={name: np.array(values) for name, values in (features or {}).items()},
    )


def simulated_table(
    seed: int,
    *,
    names: Sequence[str] = ("A", "B", "C"),
    per_pair: int = 4,
    times: Sequence[int] = (2, 3, 5),
    annotations: int = 2,
    annotators: int = 5,
) -> AnnotationTable:
    """Draw annotations in which later names pass for human more often; "HU" among the names talks to itself."""
    rng = np.random.default_rng(seed)
    bots = [code for code, name in enumerate(names) if name != "HU"]
    pairs = list(combinations(bots, 2))
    if "HU" in names:
        pairs.append((names.index("HU"),) * 2)
    entity = np.repeat(np.repeat(np.array(pairs).reshape(-1, 2), per_pair, axis=0), len(times) * annotations, axis=0)
    n_conversations = len(pairs) * per_pair
    n = len(entity)
    lenient = rng.uniform(-0.2, 0.2, annotators)
    annotator = rng.integers(annotators, size=n)
    human = np.clip(0.2 + 0.5 * entity / max(1, len(names) - 1) + lenient[annotator][:, None], 0.05, 0.95)
    draw = rng.uniform(size=(n, 2))
    ahead = rng.integers(-1, 2, size=(n, 3))
    return AnnotationTable(
        names=tuple(names),
        conversation=np.repeat(np.arange(n_conversations), len(times) * annotations),
        entity=entity,
        exchanges=np.tile(np.repeat(np.array(times), annotations), n_conversations),
        label=np.where(draw < human, 2, np.where(draw < human + 0.1, 1, 0)),
        annotator=annotator,
        features={
            name: np.column_stack([ahead[:, i] >= 0, ahead[:, i] <= 0]).astype(np.int64)
            for i, name in enumerate(("fluency", "specificity", "sensibleness"))
        },
    )


def shuffled(table: AnnotationTable, seed: int) -> AnnotationTable:
    """Put the rows in another order."""
    rows = np.random.default_rng(seed).permutation(len(table))
    return AnnotationTable(
        table.names,
        table.conversation[rows],
        table.entity[rows],
        table.exchanges[rows],
        table.label[rows],
        table.annotator[rows],
        {name: values[rows] for name, values in table.features.items()},
    )


def renamed(table: AnnotationTable, seed: int) -> AnnotationTable:
    """Give the entities their codes in another order; every row still names the same entities."""
    order = np.random.default_rng(seed).permutation(len(table.names))
    return AnnotationTable(
        tuple(table.names[code] for code in order),
        table.conversation,
        np.argsort(order)[table.entity],
        table.exchanges,
        table.label,
        table.annotator,
        table.features,
    )


def status_of(
    inspected: Sequence[Sequence[int]], spotted: Sequence[Sequence[int]], times: Sequence[int]
) -> CurrentStatus:
    """Spread counts (entities, times) over one row per inspection; each row is a conversation of its own."""
    rows = [
        (entity, time, inspection < spotted[entity][time])
        for entity in range(len(inspected))
        for time in range(len(times))
        for inspection in range(inspected[entity][time])
    ]
    entity, time, seen = (np.array(column) for column in zip(*rows, strict=True))
    everyone = np.arange(len(rows))
    return CurrentStatus(
        names=tuple("ABCDEFGH"[: len(inspected)]),
        times=np.array(times),
        entity=entity,
        time=time,
        spotted=seen,
        conversation=everyone,
        annotator=everyone,
        leads={},
    )
