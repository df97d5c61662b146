"""The costs of a campaign or of a collection of chats so far."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from spotthebot.contracts.annotation.payments import PaymentOut
from spotthebot.contracts.conversations.chat_entries import ChatPersonOut


@dataclass(frozen=True)
class Payroll:
    """Sums of payments over all people, in one currency; `works` are submitted packages or rated chats."""

    people: int
    works: int
    pay: Decimal
    bonuses: Decimal = Decimal(0)

    @property
    def total(self) -> Decimal:
        return self.pay + self.bonuses


def payroll_of(payments: Iterable[PaymentOut]) -> Payroll:
    """Return the sums of the payments of a campaign."""
    found = [*payments]
    return Payroll(
        people=len(found),
        works=sum(each.packages for each in found),
        pay=sum((each.pay for each in found), Decimal(0)),
        bonuses=sum((each.bonuses for each in found), Decimal(0)),
    )


def chat_payroll_of(people: Iterable[ChatPersonOut]) -> Payroll:
    """Return the sums of the payments of people who chat. People who rated no chat do not count."""
    paid = [each for each in people if each.chats_rated]
    return Payroll(
        people=len(paid),
        works=sum(each.chats_rated for each in paid),
        pay=sum((each.pay or Decimal(0) for each in paid), Decimal(0)),
    )
