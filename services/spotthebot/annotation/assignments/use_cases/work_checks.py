"""Checks of submitted packages: gold items, speed, strikes, and the block after too many strikes."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.annotators import store as annotators_store
from spotthebot.annotation.annotators.use_cases import block_annotator
from spotthebot.annotation.assignments.domain.answers import SubmittedAnswer
from spotthebot.annotation.assignments.domain.work_checks import check_work, least_time
from spotthebot.annotation.assignments.store import response_times as response_times_store
from spotthebot.annotation.assignments.use_cases.gold import grade_gold
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.leases.domain import Lease
from spotthebot.kit.database.sessions import WriteSession


async def check_submitted(
    session: WriteSession,
    campaign: Campaign,
    lease: Lease,
    answers: Sequence[SubmittedAnswer],
    *,
    key_id: UUID,
    now: datetime,
) -> None:
    """Check a submitted package, add the counts to its annotator, and block an annotator with too many strikes.

    This transaction has locked the annotator. The counts survive an unblocking, so the next strike blocks the annotator
    again.
    """
    if not campaign.checks_work:
        return
    others = None
    if campaign.min_fraction_of_median is not None:
        others = await response_times_store.find_response_times(session, campaign.id, lease.annotator_id)
    found = check_work(campaign, answers, await grade_gold(session, lease), least_time(campaign, others))
    total = await annotators_store.add_work_check(session, lease.annotator_id, found)
    if found.strikes and campaign.max_strikes is not None and total.strikes >= campaign.max_strikes:
        reason = (
            f"{total.strikes} strikes of {campaign.max_strikes}: {total.gold_wrong} gold items wrong, "
            f"{total.fast_packages} packages too fast"
        )
        await block_annotator(session, campaign.id, lease.annotator_id, reason, key_id=key_id, now=now)
