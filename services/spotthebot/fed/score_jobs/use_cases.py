"""Score jobs: start, cancel, and score a collection in batches.

A job names the bots that it scores; in bipartite-play they are the targets. So `fed` need not know the plan of a
collection.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.conversations import ConversationOut
from spotthebot.contracts.fed.score_jobs import ScoreJobIn, ScoreJobState
from spotthebot.contracts.repeated_texts import RepeatedTexts, find_repeated_texts
from spotthebot.fed.clients import Collections
from spotthebot.fed.dialogues.domain.conversations import conversation_line, texts_of, turns_to_score
from spotthebot.fed.dialogues.domain.dialogues import Level
from spotthebot.fed.dialogues.errors import DialogueUnusable
from spotthebot.fed.dimension_sets.domain.dimensions import Dimension
from spotthebot.fed.events.use_cases import publish_ended
from spotthebot.fed.likelihoods import store as likelihoods_store
from spotthebot.fed.likelihoods.domain import FoundContext, LikelihoodOptions, found_contexts
from spotthebot.fed.model import Scorer, Scorers, find_template_date
from spotthebot.fed.score_jobs.domain import summarize
from spotthebot.fed.score_jobs.errors import NoSuchBot, NothingToScore, ScoreJobHasEnded
from spotthebot.fed.score_sets import store as score_sets_store
from spotthebot.fed.score_sets.domain import RejectedConversation, ScoredContext, ScoreJob
from spotthebot.fed.score_sets.tables import STEP_JOBS as TABLES
from spotthebot.fed.score_sets.use_cases import read_contexts
from spotthebot.fed.scores.domain.scoring import score_context
from spotthebot.fed.scores.errors import LikelihoodUnusable
from spotthebot.fed.scores.use_cases import open_scorer, options_of, rule_of
from spotthebot.inference.errors import TritonRefused, WorkerUnavailable
from spotthebot.inference.models.likelihood.kind import REVISION
from spotthebot.kit.database.sessions import Database, WriteSession
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.runner import PreparedWork, StepJobs
from spotthebot.kit.text.words import known_text_hash

STEP_JOBS = StepJobs(
    TABLES,
    schema="fed",
    task="run_score_job",
    retried=(*PEER_TROUBLE, WorkerUnavailable, TritonRefused),
    on_end=publish_ended,
)
_KIND: Final = "scores"


async def start_score_job(
    session: WriteSession, jobs: Jobs, request: ScoreJobIn, dimensions: Sequence[Dimension]
) -> ScoreJob:
    """Queue a job. It stores the follow-ups that its dimensions have now."""
    document = {"job": request.model_dump(mode="json"), "dimensions": [vars(each) for each in dimensions]}
    job_id = await STEP_JOBS.start(
        session, jobs, _KIND, document, subject_id=request.collection_id, version=version("spotthebot")
    )
    return await score_sets_store.get_job(session, job_id)


async def cancel_score_job(session: WriteSession, job_id: UUID) -> ScoreJob:
    """Cancel a job before its next step; cancelling it again changes nothing. Raises ScoreJobHasEnded."""
    await STEP_JOBS.cancel(session, job_id)
    job = await score_sets_store.get_job(session, job_id)
    if job.state is not ScoreJobState.CANCELLED:
        raise ScoreJobHasEnded(state=job.state)
    return job


def dimensions_of(job: StepJob) -> tuple[Dimension, ...]:
    """Return the dimensions that a job scores."""
    return tuple(
        Dimension(each["name"], tuple(each["positive"]), tuple(each["negative"])) for each in job.request["dimensions"]
    )


async def prepare_score_job(
    database: Database, collections: Collections, scorers: Scorers, job: StepJob, *, conversations_per_step: int
) -> PreparedWork:
    """Load the model, read the collection once, and divide it into steps.

    Raises NothingToScore, NoSuchBot, StillCollecting, and the errors of opening the model.
    """
    request = ScoreJobIn.model_validate(job.request["job"])
    collection = await collections.require_ended(request.collection_id)
    scorer = await open_scorer(scorers, request.scorer)
    digest, cursors = await _read(collections, collection, request, size=conversations_per_step)
    date = await find_template_date(scorer, options_of(request.scorer, ()).join)
    inputs = {"model_sha256": scorer.sha256, "data_sha256": digest, "template_date": date}
    fingerprint = hashlib.sha256(json.dumps([REVISION, inputs, len(cursors)]).encode()).hexdigest()
    if job.fingerprint not in {None, fingerprint}:  # begun with another model, or before the collection changed
        async with database.write() as session:
            await score_sets_store.delete_scores(session, job.id)
    work = _Scoring(
        database=database,
        collections=collections,
        scorer=scorer,
        job_id=job.id,
        request=request,
        dimensions=dimensions_of(job),
        cursors=cursors,
        size=conversations_per_step,
    )
    return PreparedWork(work, inputs, fingerprint)


async def _read(
    collections: Collections, collection: CollectionOut, request: ScoreJobIn, *, size: int
) -> tuple[str, list[str | None]]:
    """Return a hash of all conversations of a collection, and the cursor of each page."""
    digest = hashlib.sha256()
    cursors: list[str | None] = []
    names: set[str] = set()
    found = False
    async for page in collections.pages(collection.id, size):
        cursors.append(page.cursor)
        for each in page.conversations:
            digest.update(json.dumps(conversation_line(each)).encode() + b"\n")
            names |= {participant.name for participant in each.participants}
            found = found or bool(turns_to_score(each, Level(request.level), request.bots))
    for bot in request.bots or ():
        if bot not in names:
            raise NoSuchBot(bot=bot, collection=collection.name, known=", ".join(sorted(names)))
    if not found:
        raise NothingToScore(collection=collection.name)
    return digest.hexdigest(), cursors


@dataclass(frozen=True)
class _Scoring:
    """The steps of a job: each scores a page of conversations."""

    database: Database
    collections: Collections
    scorer: Scorer
    job_id: UUID
    request: ScoreJobIn
    dimensions: tuple[Dimension, ...]
    cursors: Sequence[str | None]
    size: int

    @property
    def steps(self) -> int:
        return len(self.cursors)

    async def compute(self, step: int) -> Mapping[str, Any]:
        page = await self.collections.page(self.request.collection_id, self.cursors[step], self.size)
        options = options_of(self.request.scorer, self.dimensions)
        outcomes = await asyncio.gather(*(self._score(each, options) for each in page.conversations))
        contexts = [each for outcome in outcomes if isinstance(outcome, list) for each in outcome]
        rejected = [each for each in outcomes if isinstance(each, RejectedConversation)]
        async with self.database.write() as session:
            await score_sets_store.put_scores(session, self.job_id, contexts, rejected)
        return {"contexts": len(contexts), "rejected": len(rejected)}

    async def assemble(self, results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        if not any(each["contexts"] for each in results):
            collection = await self.collections.require_ended(self.request.collection_id)
            raise NothingToScore(collection=collection.name)
        contexts = await read_contexts(self.database, self.job_id)
        openings = await self.collections.openings(self.request.collection_id)
        summary = await asyncio.to_thread(summarize, contexts, self.dimensions, self.request, openings)
        repeated = await self._repeated_texts({each.conversation_id: each.text for each in contexts})
        return {
            "dimensions": [each.model_dump(mode="json") for each in summary],
            "repeated_texts": [each.model_dump(mode="json") for each in repeated],
        }

    async def _repeated_texts(self, texts: Mapping[UUID, str]) -> tuple[RepeatedTexts, ...]:
        """Return the pairs of speakers whose conversations repeat texts.

        `texts` has a value for each conversation's text.
        """
        spoken = [each async for each in self.collections.speakers(self.request.collection_id) if each.id in texts]
        return find_repeated_texts(
            ((each.participants[0].name, each.participants[1].name), texts[each.id]) for each in spoken
        )

    async def _score(
        self, conversation: ConversationOut, options: LikelihoodOptions
    ) -> list[ScoredContext] | RejectedConversation:
        turns = {each.end: each for each in turns_to_score(conversation, Level(self.request.level), self.request.bots)}
        if not turns:
            return []
        texts = texts_of(conversation)
        rule = rule_of(self.request.scorer)
        try:
            found = await self._likelihoods(texts, sorted(turns), options)
            rows = [score_context(str(conversation.id), texts, each, self.dimensions, rule) for each in found]
        except (DialogueUnusable, LikelihoodUnusable) as refused:
            return RejectedConversation(conversation.id, refused.reason)
        return [
            ScoredContext(
                conversation_id=conversation.id,
                turn=row[0].turn,
                bot=turns[row[0].turn].bot,
                length=row[0].length,
                turns_left_out=row[0].turns_left_out,
                scores=tuple(each.score.score for each in row),
                text_hash=known_text_hash(texts),
            )
            for row in rows
        ]

    async def _likelihoods(
        self, texts: Sequence[str], ends: Sequence[int], options: LikelihoodOptions
    ) -> list[FoundContext]:
        """Return the likelihoods after each number of turns in `ends`.

        They are stored already, or the model computes them now.
        """
        keys = {end: options.key(self.scorer.sha256, texts[:end], revision=REVISION) for end in ends}
        async with self.database.read() as session:
            known = await likelihoods_store.find(session, {key: end for end, key in keys.items()}, options.followups)
        missing = [end for end in ends if keys[end] not in known]
        computed: dict[int, FoundContext] = {}
        if missing:
            answer = await self.scorer.likelihoods(options.request(texts[: missing[-1]], missing))
            computed = {each.turns: each for each in found_contexts(answer, options)}
        async with self.database.write() as session:
            await likelihoods_store.note_use(session, known)
            await likelihoods_store.put(session, {keys[end]: computed[end] for end in missing}, options.followups)
        return [known.get(keys[end]) or computed[end] for end in ends]
