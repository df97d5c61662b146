"""The files by which people who chat are paid, in the form of the files for annotators."""

from collections.abc import Iterable
from decimal import Decimal

from spotthebot.contracts.conversations.chats import HumanBotIn
from spotthebot.contracts.terms import PaymentFile
from spotthebot.conversations.chats.domain.chats import ChatCollection
from spotthebot.conversations.chats.domain.people import ChatPerson
from spotthebot.conversations.chats.errors import ChatsPayNothing
from spotthebot.conversations.chats.store import people as people_store
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.text.csv_files import csv_of, lines_of

_ROWS_AT_ONCE = 500
_HEADER = ("person", "chats", "pay", "reward", "currency")


async def payment_file(
    session: ReadSession, collection: ChatCollection, kind: PaymentFile, *, first_is_reward: bool
) -> str:
    """Return a file for the people or the panel who pay; raises ChatsPayNothing.

    A collection does not know its panel. With `first_is_reward` the panel pays each person's first rated chat itself,
    as its reward.
    """
    plan = collection.plan
    if plan.pay_per_chat is None:
        raise ChatsPayNothing(name=plan.name)
    people = await _list_paid(session, collection)
    known = [each for each in people if each.erased_at is None]
    match kind:
        case PaymentFile.PAYMENTS:
            return _table(plan, people, first_is_reward=first_is_reward)
        case PaymentFile.APPROVALS:
            return lines_of(each.interactor for each in known)
        case PaymentFile.BONUSES:
            return csv_of(_bonuses(plan, known, first_is_reward=first_is_reward))


def _table(plan: HumanBotIn, people: Iterable[ChatPerson], *, first_is_reward: bool) -> str:
    reward = plan.pay_for(first_is_reward)
    rows = (
        (each.interactor, each.chats_rated, plan.pay_for(each.chats_rated), reward, plan.currency) for each in people
    )
    return csv_of([_HEADER, *rows])


def _bonuses(plan: HumanBotIn, people: Iterable[ChatPerson], *, first_is_reward: bool) -> Iterable[tuple[str, Decimal]]:
    """Yield each person's amount in addition to the panel's reward, as Prolific takes it: `id,amount`."""
    for each in people:
        if amount := plan.pay_for(each.chats_rated - first_is_reward):
            yield each.interactor, amount


async def _list_paid(session: ReadSession, collection: ChatCollection) -> list[ChatPerson]:
    """Return the people of a collection who rated a chat."""
    found: list[ChatPerson] = []
    after = None
    while batch := await people_store.list_people(session, collection.id, after=after, limit=_ROWS_AT_ONCE):
        found += [each for each in batch if each.chats_rated]
        after = batch[-1].id
    return found
