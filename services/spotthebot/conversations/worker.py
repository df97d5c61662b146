"""The jobs of `conversations`, which call use cases and can be repeated, and the maintenance that every worker does."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

from procrastinate import JobContext

from spotthebot.clients import PEER_TROUBLE, AsyncBots
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.use_cases.idle import abandon_idle_chats
from spotthebot.conversations.chats.use_cases.reply import ChatReply, break_off
from spotthebot.conversations.chats.use_cases.turns import CHATS
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.domain import CHAT_JOB_BACKOFF, CHAT_JOB_RETRIES
from spotthebot.conversations.corpora import store as corpora_store
from spotthebot.conversations.events.store import EVENTS
from spotthebot.conversations.events.use_cases import team_finder
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.use_cases.check import check_quality, fail_check
from spotthebot.conversations.quality.use_cases.requests import lock_of
from spotthebot.conversations.removals.use_cases import DELETIONS, delete_corpus
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.conversations.turn_loop.use_cases.maintenance import RUNNERS, maintain
from spotthebot.conversations.turn_loop.use_cases.runner import ConversationRunner, RunnerLimits
from spotthebot.kit.database.retention import retention_of
from spotthebot.kit.database.sessions import DATABASE_TROUBLE, LONG_STATEMENT_SECONDS, Database, ReadSession
from spotthebot.kit.events.dispatcher import dispatcher_of
from spotthebot.kit.jobs.queue import Jobs, QueueTrouble
from spotthebot.kit.jobs.tasks import DEFAULT_QUEUE, Arguments, Task, WorkerContext
from spotthebot.kit.service.process import Worker
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.waits.backoff import Backoff
from spotthebot.kit.waits.cancellation import pause

_LONGEST_REPLIES_SECONDS = 660.0
"""A request may take a bot's time-out, at most 300 s, in the queue of `bots`, and the same time again for the reply."""
_FLAG_RETRIES = 3
_FLAG_BACKOFF = Backoff(first_seconds=5.0, max_seconds=1024.0)
_IDLE_CHATS_SECONDS = 5.0

_log = get_logger(__name__)


async def _run_conversations(context: JobContext) -> None:
    """Run conversations of any collection until none is left to claim; maintenance replaces a failed runner."""
    given = context.additional_context
    await ConversationRunner(
        given["database"], given["jobs"], given["bots"], context.job.id or 0, given["limits"], given["stopping"]
    ).run()


async def _flag_conversations(context: JobContext, collection_id: str) -> None:
    """Flag a collection's conversations; a restarted job continues."""
    await check_quality(context.additional_context["database"], UUID(collection_id))


async def _fail_check(worker: WorkerContext, arguments: Arguments, reason: str) -> None:
    await fail_check(worker["database"], UUID(arguments["collection_id"]), reason)


async def _list_checks(session: ReadSession) -> list[Arguments]:
    return [{"collection_id": str(each)} for each in await checks_store.list_unfinished(session)]


async def _delete_corpus(context: JobContext, corpus_id: str) -> None:
    """Delete the data of a corpus that was marked as removed."""
    await delete_corpus(context.additional_context["database"], UUID(corpus_id))


async def _list_removed(session: ReadSession) -> list[Arguments]:
    return [{"corpus_id": str(each)} for each in await corpora_store.list_removed(session)]


async def _reply_in_chat(context: JobContext, chat_id: str, conversation_id: str, turns: int) -> None:
    """Request a bot's reply to a person."""
    given = context.additional_context
    reply = ChatReply(given["database"], given["jobs"], given["bots"], context.job.id or 0)
    await reply.run(UUID(chat_id), UUID(conversation_id), turns)


async def _break_off(worker: WorkerContext, arguments: Arguments, reason: str) -> None:
    chat_id, conversation_id = UUID(arguments["chat_id"]), UUID(arguments["conversation_id"])
    database, jobs = worker["database"], worker["jobs"]
    await break_off(database, jobs, chat_id, conversation_id, turns=arguments["turns"], reason=reason)


async def _list_unanswered(session: ReadSession) -> list[Arguments]:
    return [
        {"chat_id": str(each.chat_id), "conversation_id": str(each.conversation_id), "turns": each.turns}
        for each in await chats_store.list_unanswered(session)
    ]


TASKS = (
    Task("run_conversations", _run_conversations, queue=RUNNERS, has_trace=False),
    Task(
        "flag_conversations",
        _flag_conversations,
        fail=_fail_check,
        list_unfinished=_list_checks,
        lock=lambda arguments: lock_of(arguments["collection_id"]),
        retried=(Exception,),
        max_retries=_FLAG_RETRIES,
        backoff=_FLAG_BACKOFF,
    ),
    Task("delete_corpus", _delete_corpus, list_unfinished=_list_removed, queue=DELETIONS, retried=(Exception,)),
    Task(
        "reply_in_chat",
        _reply_in_chat,
        fail=_break_off,
        list_unfinished=_list_unanswered,
        queue=CHATS,
        retried=(Exception,),
        max_retries=CHAT_JOB_RETRIES,
        backoff=CHAT_JOB_BACKOFF,
    ),
)


async def work(settings: ConversationsSettings) -> None:
    """Run jobs until cancelled."""
    url = settings.database_url.get_secret_value()
    database = Database(
        url,
        pool_size=settings.database_pool_size,
        application_name="spotthebot-conversations-worker",
        statement_seconds=LONG_STATEMENT_SECONDS,
    )
    key = settings.service_key.get_secret_value()
    limits = RunnerLimits(settings.conversations_per_batch, settings.contexts_per_request)
    jobs = Jobs(url, "conversations", stalled_after_seconds=settings.stalled_after_seconds)
    patience = timedelta(seconds=settings.bot_patience_seconds)
    try:
        async with (
            AsyncBots(settings.bots_url, key, timeout_seconds=_LONGEST_REPLIES_SECONDS) as client,
            settings.make_http() as http,
        ):
            bots = Bots(client)
            context = {"database": database, "bots": bots, "jobs": jobs, "limits": limits}
            queues = {
                RUNNERS: settings.worker_concurrency,
                CHATS: settings.chats_at_once,
                DEFAULT_QUEUE: settings.quality_checks_at_once,
                DELETIONS: 1,
            }
            queues = {queue: at_once for queue, at_once in queues.items() if at_once}

            async def maintain_turn_loop() -> None:
                await maintain(database, jobs, bots, batch=limits.conversations, patience=patience)

            async def maintain_chats() -> None:
                await abandon_idle_chats(database)

            retention = retention_of(
                settings,
                database,
                "conversations",
                chats_store.old_chat_events(settings.chat_event_retention_days),
                collections_store.old_turn_counts(settings.turn_count_retention_days),
            )
            async with asyncio.TaskGroup() as group:
                group.create_task(retention.run())
                group.create_task(_repeat(maintain_chats, _IDLE_CHATS_SECONDS))
                group.create_task(_repeat(maintain_turn_loop, settings.maintenance_seconds))
                group.create_task(dispatcher_of(settings, database, EVENTS, team_finder(bots), http).run())
                group.create_task(jobs.work(TASKS, concurrency=queues, context=context))
    finally:
        await asyncio.shield(database.close())


async def _repeat(work: Callable[[], Awaitable[None]], seconds: float) -> None:
    while True:
        try:
            await work()
        except (*DATABASE_TROUBLE, QueueTrouble, *PEER_TROUBLE) as error:
            _log.warning("maintenance.failed", reason=str(error)[:200])
        await pause(seconds)


WORKER = Worker(ConversationsSettings, work)
