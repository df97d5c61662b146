"""The cost of a study's tasks, and of all of them together: work, people and money."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from spotthebot.contracts.annotation.previews import CampaignEstimateOut, CampaignPreviewOut


@dataclass(frozen=True)
class Cost:
    """The cost of tasks.

    `units` are what annotators see: dialogues, segments or pairs. Fewer than `annotators` can't do it; the same
    annotators may work on every task. `hours` is None if nobody was timed. `pay` has the sum of each currency.
    """

    packages: int
    units: int
    annotations: int
    annotators: int
    hours: float | None
    pay: Mapping[str, Decimal]

    @property
    def document(self) -> dict[str, Any]:
        """Return the cost as JSON."""
        pay = {currency: str(amount) for currency, amount in self.pay.items()}
        return {
            "packages": self.packages,
            "units": self.units,
            "annotations": self.annotations,
            "annotators": self.annotators,
            "hours": self.hours,
            "pay": pay,
        }


def cost_of(found: CampaignEstimateOut) -> Cost:
    """Return the cost of one task. Hours are known of existing packages alone."""
    return Cost(
        packages=found.packages,
        units=found.items,
        annotations=found.annotations,
        annotators=found.annotators,
        hours=found.hours if isinstance(found, CampaignPreviewOut) else None,
        pay={} if found.pay is None or found.currency is None else {found.currency: found.pay},
    )


def total_cost(costs: Collection[Cost]) -> Cost:
    """Return the cost of all tasks together; hours are unknown if those of a task are."""
    hours = [each.hours for each in costs if each.hours is not None]
    pay: dict[str, Decimal] = {}
    for each in costs:
        for currency, amount in each.pay.items():
            pay[currency] = pay.get(currency, Decimal()) + amount
    return Cost(
        packages=sum(each.packages for each in costs),
        units=sum(each.units for each in costs),
        annotations=sum(each.annotations for each in costs),
        annotators=max((each.annotators for each in costs), default=0),
        hours=sum(hours) if len(hours) == len(costs) else None,
        pay=pay,
    )
