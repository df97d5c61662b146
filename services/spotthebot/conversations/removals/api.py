"""`/v1/corpora/{id}`: remove a corpus."""

from uuid import UUID

from fastapi import APIRouter

from spotthebot.conversations.deps import AdminReader, AdminsClaim
from spotthebot.conversations.removals import use_cases
from spotthebot.conversations.removals.use_cases import find_learners
from spotthebot.conversations.resources import ServiceResources
from spotthebot.kit.web.database.idempotency import IdempotentRoute

router = APIRouter(prefix="/v1/corpora", tags=["corpora"], route_class=IdempotentRoute)


@router.delete("/{corpus_id}", status_code=204, operation_id="remove_corpus")
async def remove_corpus(caller: AdminReader, claim: AdminsClaim, resources: ServiceResources, corpus_id: UUID) -> None:
    """Remove a corpus for good. Answers 409 if a collection holds texts of the corpus, or a bot learns from it.

    The corpus disappears at once, and its name becomes free; a worker deletes its dialogues.
    """
    learners = await find_learners(resources.bots, corpus_id)
    await use_cases.remove_corpus(await claim.begin(), resources.jobs, corpus_id, learners, key_id=caller.key_id)
