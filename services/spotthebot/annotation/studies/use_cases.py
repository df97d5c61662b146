"""Studies: create, replace and delete them.

No decision about a study affects a person, a label or a campaign, so the audit log records none.
"""

from collections.abc import Sequence
from uuid import UUID

from spotthebot.annotation.campaign_setup.store import forget_answers
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.studies import store
from spotthebot.annotation.studies.domain import Study, check_tasks
from spotthebot.annotation.studies.errors import ScoresUnfinished, UnknownScores
from spotthebot.clients import AsyncFed, Conflict, NotFound
from spotthebot.contracts.annotation.studies import StudyIn
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.errors import FieldError


async def check_chats(conversations: Conversations, chats: Sequence[UUID]) -> None:
    """Check that people chat with bots in all these collections; no session is open meanwhile.

    Raises UnknownCollection and CollectionWithoutChats.
    """
    for number, collection_id in enumerate(chats):
        await conversations.require_chats(collection_id, at=f"/chats/{number}")


async def check_scores(fed: AsyncFed, scores: Sequence[UUID]) -> None:
    """Check that all these score sets exist; no session is open meanwhile. Raises UnknownScores, ScoresUnfinished."""
    for number, score_set_id in enumerate(scores):
        at = f"/scores/{number}"
        try:
            await fed.get_score_set(score_set_id)
        except NotFound as refused:
            raise UnknownScores(score_set_id=score_set_id, fields=(FieldError(at, "does not exist"),)) from refused
        except Conflict as refused:
            fields = (FieldError(at, "is not complete"),)
            raise ScoresUnfinished(score_set_id=score_set_id, fields=fields) from refused


async def create_study(session: WriteSession, request: StudyIn) -> Study:
    """Store a study of existing campaigns.

    Raises UnknownCampaign, TaskFailed, TaskApart, StudyNameTaken and StudyNameLooksAlike.
    """
    check_tasks(request.campaigns, await store.lock_tasks(session, request.campaigns))
    return await store.add_study(session, request)


async def replace_study(session: WriteSession, study_id: UUID, request: StudyIn) -> Study:
    """Replace everything that a study's request says; raises NoSuchStudy and the errors of `create_study`."""
    before = await store.get_study(session, study_id)
    check_tasks(request.campaigns, await store.lock_tasks(session, request.campaigns))
    study = await store.replace_study(session, study_id, request)
    if study.name != before.name:
        await forget_answers(session, study_id)
    return study


async def delete_study(session: WriteSession, study_id: UUID) -> None:
    """Delete a study, so that a repeat of the request that created it creates a new one; raises NoSuchStudy."""
    await store.delete_study(session, study_id)
    await forget_answers(session, study_id)
