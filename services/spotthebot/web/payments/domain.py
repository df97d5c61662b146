"""The costs of a campaign so far."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from spotthebot.contracts.annotation.payments import PaymentOut


@dataclass(frozen=True)
class Payroll:
    """Sums of payments over all annotators, in the campaign's currency."""

    annotators: int = 0
    packages: int = 0
    pay: Decimal = Decimal(0)
    bonuses: Decimal = Decimal(0)

    @property
    def total(self) -> Decimal:
        return self.pay + self.bonuses


def payroll_of(payments: Iterable[PaymentOut]) -> Payroll:
    """Return the sums of these payments."""
    found = [*payments]
    return Payroll(
        annotators=len(found),
        packages=sum(each.packages for each in found),
        pay=sum((each.pay for each in found), Decimal(0)),
        bonuses=sum((each.bonuses for each in found), Decimal(0)),
    )
