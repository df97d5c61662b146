"""`/v1/corpora/{id}`: remove a corpus."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.conversations.deps import AdminReader, AdminsClaim, JobQueue
from spotthebot.conversations.participants.api import BotsClient
from spotthebot.conversations.removals import use_cases
from spotthebot.conversations.removals.use_cases import find_learners
from spotthebot.kit.web.database.idempotency import IdempotentRoute

router = APIRouter(prefix="/v1/corpora", tags=["corpora"], route_class=IdempotentRoute)


@router.delete("/{corpus_id}", status_code=204, operation_id="remove_corpus")
async def remove_corpus(
    caller: AdminReader, claim: AdminsClaim, bots: BotsClient, jobs: JobQueue, corpus_id: UUID
) -> None:
    """Remove a corpus for good, unless a collection holds texts of it, or a bot learns from it (409).

    It is gone at once, and its name is free; a worker deletes its dialogues, however many there are.
    """
    learners = await find_learners(bots, corpus_id)
    await use_cases.remove_corpus(await claim.begin(), jobs, corpus_id, learners, key_id=caller.key_id)
