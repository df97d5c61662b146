"""Payments: amounts for annotators, bonuses, and the files for panels."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.audit import store as audit_store
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.payments import store
from spotthebot.annotation.payments.domain import (
    CENT,
    Bonus,
    PaidPackage,
    Payment,
    bonus_lines,
    payment_table,
    turk_bonuses,
)
from spotthebot.contracts.annotation.panels import MturkPanel
from spotthebot.contracts.annotation.payments import BonusIn
from spotthebot.contracts.terms import PaymentFile
from spotthebot.kit.crypto.pseudonyms import ERASED
from spotthebot.kit.database.sessions import ReadSession, WriteSession
from spotthebot.kit.ids import new_id
from spotthebot.kit.text.csv_files import lines_of

_ROWS_AT_ONCE = 500

Row = TypeVar("Row")


async def grant_bonus(
    session: WriteSession,
    campaign_id: UUID,
    annotator_id: UUID,
    asked: BonusIn,
    *,
    key_id: UUID,
    now: datetime,
) -> tuple[Bonus, str]:
    """Grant an annotator a bonus and return it with its currency. A second one for an occasion is not granted.

    The first one is returned instead.

    Raises NoPay if the campaign pays nothing, AnnotatorErased if the annotator was erased, and JudgeUnpaid for a judge.
    """
    _, currency = (await campaigns_store.get_campaign(session, campaign_id)).require_pay()
    annotator = await annotators_store.lock_annotator_by_id(session, campaign_id, annotator_id)
    annotator.require_known()
    annotator.require_payable()
    occasion = asked.occasion
    if occasion is not None and (granted := await store.find_bonus(session, annotator, occasion)) is not None:
        return granted, currency
    amount = asked.amount.quantize(CENT)
    bonus = Bonus(new_id(), annotator_id, annotator.external_id, amount, asked.reason, now, panel_assignment=None)
    await store.add_bonus(session, campaign_id, bonus, occasion=occasion, key_id=key_id)
    await audit_store.add(
        session,
        campaign_id,
        key_id=key_id,
        action="annotator.bonus_granted",
        annotator_id=annotator_id,
        amount=f"{amount} {currency}",
        reason=asked.reason,
    )
    return bonus, currency


async def payment_file(session: ReadSession, campaign: Campaign, kind: PaymentFile) -> str:
    """Return a file for the campaign's panel, or for bookkeeping; raises NoPay."""
    pay, currency = campaign.require_pay()

    async def worked(after: UUID | None) -> list[Payment]:
        return await store.list_payments(session, campaign, pay, after=after, limit=_ROWS_AT_ONCE)

    async def granted(after: UUID | None) -> list[Bonus]:
        return await store.list_bonuses(session, campaign.id, after=after, limit=_ROWS_AT_ONCE)

    async def submitted(after: UUID | None) -> list[PaidPackage]:
        return await store.list_paid_packages(session, campaign.id, after=after, limit=_ROWS_AT_ONCE)

    is_turk = isinstance(campaign.panel, MturkPanel)
    if is_turk and kind is not PaymentFile.PAYMENTS:
        packages = await _all(submitted, lambda package: package.assignment_id)
        if kind is PaymentFile.BONUSES:
            return turk_bonuses(packages, pay, await _all(granted, lambda bonus: bonus.id))
        return lines_of(each.panel_assignment for each in packages if each.panel_assignment is not None)
    found_work = await _all(worked, lambda payment: payment.annotator_id)
    if kind is PaymentFile.PAYMENTS:
        return payment_table(found_work, currency)
    known = [each for each in found_work if each.frontend != ERASED]
    if kind is PaymentFile.BONUSES:
        return bonus_lines(known)
    return lines_of(each.annotator for each in known if each.packages)


async def _all(fetch: Callable[[UUID | None], Awaitable[list[Row]]], key: Callable[[Row], UUID]) -> list[Row]:
    """Return all rows that `fetch` can read, batch by batch."""
    rows: list[Row] = []
    while batch := await fetch(key(rows[-1]) if rows else None):
        rows += batch
    return rows
