"""Converts a previewed package to the form that the page's script reads."""

from typing import Any

from spotthebot.contracts.annotation.previews import PackagePreviewOut


def items_of(package: PackagePreviewOut) -> list[dict[str, Any]]:
    """Return the items of a package without answers.

    `later` has the turns that the annotator opens exchange by exchange.
    """
    items = []
    for each in package.items:
        item = each.model_dump(mode="json")
        opening, turns = item.pop("opening"), item.pop("turns")
        opens = package.opens_exchanges
        items.append(
            {
                **item,
                "turns": [] if opens else opening + turns,
                "later": [opening, turns] if opens else None,
                "opened": 0 if opens else None,
                "step": 1,
                "answer": {},
                "decisions": [],
                "version": 0,
            }
        )
    return items
