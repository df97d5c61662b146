"""Campaigns whose segments are units for judges, with the labels of people, and of judges beside them."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from spotthebot.judges.trained.units import Unit
from tests.factories.campaigns import import_campaign, imported_annotation
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import import_conversations


async def import_units(
    suite: RunningSuite,
    units: Sequence[Unit],
    kind: str = "person",
    *,
    judges: Mapping[str, Callable[[Unit], str | None]] | None = None,
    **settings: Any,
) -> str:
    """Import a campaign that shows the units' segments, with their labels, and return its path.

    `judges` has imported judges: each labels every side, or gives None where it has no answer.
    """
    both = [(name, list(sides)) for name, sides in groupby(units, key=lambda unit: unit.conversation)]
    held = [
        {
            "external_id": name,
            "participants": [{"kind": "bot", "name": each.speaker} for each in sides],
            "turns": [turn.model_dump() for turn in sides[0].turns],
        }
        for name, sides in both
    ]
    # Of each annotator of a side: this label, and "unsure" for the other side, unless the annotator labelled it, too.
    annotations: list[dict[str, Any]] = []
    for name, sides in both:
        given = [{label.annotator: "human" if label.human else "bot" for label in each.labels} for each in sides]
        annotations += [
            imported_annotation(
                f"{name}/{who}",
                conversation=name,
                exchanges=2,
                annotator=who,
                annotator_kind=kind,
                answer={"entity": {side: labels.get(who, "unsure") for side, labels in zip("AB", given, strict=True)}},
            )
            for who in sorted(given[0] | given[1])
        ]
        annotations += [
            imported_annotation(
                f"{name}/{judge}",
                conversation=name,
                exchanges=2,
                annotator=judge,
                annotator_kind="judge",
                answer={"entity": {side: label(unit) for side, unit in zip("AB", sides, strict=True)}},
            )
            for judge, label in (judges or {}).items()
            if label(sides[0]) is not None
        ]
    collection = await import_conversations(suite, held)
    shown = {"p": [(name, 2) for name, _ in both]}
    labelled = {"name": "autumn", "protocol": "spot_the_bot_labels", "segments": [2]} | settings
    return await import_campaign(suite, collection, shown, annotations, **labelled)
