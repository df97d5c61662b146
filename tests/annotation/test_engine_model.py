"""Campaigns, leases, drafts, rejections, blocks and erasures, in whatever order, do what a small model of them does.

The suite's own run tries a few sequences, always the same ones. More, drawn by chance:

    SPOTTHEBOT_MODEL_EXAMPLES=2000 ./stb test tests/annotation/test_engine_model.py
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from spotthebot.annotation.annotators.errors import AnnotatorBlocked, LimitReached
from spotthebot.annotation.annotators.use_cases import block_annotator
from spotthebot.annotation.assignments.errors import ItemsUnanswered, NothingLeft
from spotthebot.annotation.assignments.use_cases.answers import SavedAnswer, save_answer
from spotthebot.annotation.assignments.use_cases.assignments import claim_package, keep_lease, submit_assignment
from spotthebot.annotation.campaign_setup.use_cases.lifecycle import close_campaign, move_campaign
from spotthebot.annotation.campaigns.errors import CampaignCannotMove, CampaignClosed
from spotthebot.annotation.erasure.use_cases import erase_annotator
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.leases.errors import AssignmentNotSubmitted
from spotthebot.annotation.reviews.use_cases import reject_assignment, unblock_annotator
from spotthebot.contracts.annotation.assignments import AnswerIn, ClaimIn
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.terms import SubmittedTexts
from spotthebot.kit.database.sessions import WriteSession
from spotthebot.kit.errors import Error
from tests.annotation.campaign_model import (
    ANSWERS,
    BEGINNING,
    DECISIONS,
    FEATURES,
    LEASE,
    LONGEST_PAUSE,
    PEOPLE,
    Draft,
    Held,
    Model,
    Shape,
    refused_answer,
    shape_of,
)
from tests.factories.databases import DatabaseUrls
from tests.factories.savepoints import SavepointDatabase

_ASKED_FOR = int(os.environ.get("SPOTTHEBOT_MODEL_EXAMPLES", "0"))
EXAMPLES, STEPS = _ASKED_FOR or 12, 40


class Lifecycle(RuleBasedStateMachine):
    """Does everything twice, in the database and in a model, and compares both after each step."""

    def __init__(self, runner: asyncio.Runner, connection: AsyncConnection, shapes: tuple[Shape, ...]) -> None:
        super().__init__()
        self._runner = runner
        self._connection = connection
        self._shapes = shapes
        self._database = SavepointDatabase(connection)
        self._transaction = runner.run(_transaction_on(connection))
        self.now = BEGINNING
        self.state = CampaignState.DRAFT
        self.model = Model(shapes[0])
        self.has_started = False
        self.known: dict[tuple[str, str], UUID] = {}
        self.blocked: set[tuple[str, str]] = set()

    def teardown(self) -> None:
        self._runner.run(self._transaction.rollback())

    @initialize(
        which=st.integers(0, 1),
        people=st.lists(st.sampled_from(PEOPLE), min_size=3, max_size=6),
        packages_done=st.sampled_from((0, 0, 3, 4)),
    )
    def begin(self, which: int, people: list[tuple[str, str]], packages_done: int) -> None:
        self.model = Model(self._shapes[which])
        self.has_started = True
        self.move(CampaignState.OPEN)
        for person in PEOPLE[:packages_done]:
            self.claim(person)
            self._answer_all_and_submit(self.model.held[-1])
        for person in people:
            self.claim(person)

    @rule(seconds=st.sampled_from((20, 50, 200, 350, 700)), leases_end=st.booleans())
    def time_passes(self, seconds: int, leases_end: bool) -> None:
        self.now += timedelta(seconds=seconds)
        if leases_end:
            due = [each for each in self.model.held if each.is_due(self.now)]
            assert self._do(lambda session: leases_store.expire_leases(session, self.now)) == len(due)
            for each in due:
                each.state = "expired"

    @rule(state=st.sampled_from((*3 * [CampaignState.OPEN], CampaignState.PAUSED)))
    def move(self, state: CampaignState) -> None:
        before = {
            CampaignState.OPEN: {CampaignState.DRAFT, CampaignState.PAUSED, CampaignState.OPEN},
            CampaignState.PAUSED: {CampaignState.OPEN, CampaignState.PAUSED},
        }
        with self._expected(CampaignCannotMove if self.state not in before[state] else None):
            self._do(lambda session: move_campaign(session, self.model.shape.id, state))
            self.state = state

    @rule(chance=st.integers(0, 14))
    def close(self, chance: int) -> None:
        if chance == 14:
            self._do(lambda session: close_campaign(session, self.model.shape.id))
            if self.state is not CampaignState.COMPLETE:
                self.state = CampaignState.CLOSED

    @precondition(lambda self: self.state is not CampaignState.DRAFT)
    @rule(person=st.sampled_from(PEOPLE))
    def claim(self, person: tuple[str, str]) -> None:
        mine = next((each for each in self.model.of(person) if each.state == "leased"), None)
        if person in self.blocked:
            with self._expected(AnnotatorBlocked):
                self._claim(person)
        elif mine is not None:
            if mine.expires_at <= self.now:
                mine.expires_at = self.now + LEASE
            assert self._claim(person).lease.id == mine.id
        elif self.state is not CampaignState.OPEN:
            with self._expected(CampaignClosed):
                self._claim(person)
        elif sum(each.has_ended for each in self.model.of(person)) >= self.model.shape.limit:
            with self._expected(LimitReached):
                self._claim(person)
        else:
            self._claim_another(person)

    def _claim_another(self, person: tuple[str, str]) -> None:
        due = [] if self.model.available(person) else [each for each in self.model.held if each.is_due(self.now)]
        for each in due:
            each.state = "expired"
        available = self.model.available(person)
        if available is None:
            for each in due:  # a claim that gets nothing changes nothing
                each.state = "leased"
            with self._expected(NothingLeft):
                self._claim(person)
            return
        claimed = self._claim(person)
        self.known[person] = claimed.lease.annotator_id
        if isinstance(available, Held):
            assert claimed.lease.id == available.id
            available.state, available.expires_at = "leased", self.now + LEASE
        else:
            assert claimed.lease.package_id == available
            self.model.held.append(Held(claimed.lease.id, person, available, self.now + LEASE))

    @precondition(lambda self: self.model.held)
    @rule(
        pick=st.integers(0, 5),
        position=st.sampled_from((0, 0, 0, 1, 1, 5)),
        answer=st.sampled_from(ANSWERS),
        show_step=st.sampled_from((None, None, 1, 2, 2, 3)),
    )
    def save(self, pick: int, position: int, answer: dict[str, Any], show_step: int | None) -> None:
        self._save(self.model.pick(pick), position, answer, show_step)

    def _save(self, one: Held, position: int, answer: dict[str, Any], show_step: int | None) -> None:
        request = AnswerIn(answer=answer, show_step=show_step)

        def save(session: WriteSession) -> Awaitable[SavedAnswer]:
            return save_answer(session, one.id, one.person[0], position, request, now=self.now)

        draft = one.drafts.get(position, Draft())
        refusal = self.model.refusal(one, position, self.now) or refused_answer(draft, answer, show_step)
        with self._expected(refusal):
            saved = self._do(save)
            after = Draft(answer, max(draft.step, show_step or 1), draft.version, draft.active_ms)
            if (after.answer, after.step) != (draft.answer, draft.step):
                after.version += 1
                one.drafts[position] = after
            if one.expires_at - self.now < LEASE / 2:
                one.expires_at = self.now + LEASE
            assert (saved.draft.version, saved.draft.step) == (after.version, after.step)
            assert saved.expires_at == one.expires_at

    @precondition(lambda self: self.model.held)
    @rule(pick=st.integers(0, 5), position=st.sampled_from((None, 0, 1, 5)))
    def heartbeat(self, pick: int, position: int | None) -> None:
        one = self.model.pick(pick)
        with self._expected(self.model.refusal(one, position, self.now)):
            self._do(lambda session: keep_lease(session, one.id, one.person[0], position=position, now=self.now))
            if one.heard is not None:
                at, item = one.heard
                worked = self.now - at if self.now - at <= LONGEST_PAUSE else timedelta()
                one.drafts.setdefault(item, Draft()).active_ms += int(worked.total_seconds() * 1000)
            if position is not None:
                one.drafts.setdefault(position, Draft())
            one.heard = None if position is None else (self.now, position)
            one.expires_at = self.now + LEASE

    @precondition(lambda self: self.model.held)
    @rule(pick=st.integers(0, 5))
    def submit(self, pick: int) -> None:
        self._submit(self.model.pick(pick))

    @precondition(lambda self: self.model.held)
    @rule(pick=st.integers(0, 5))
    def answer_all_and_submit(self, pick: int) -> None:
        self._answer_all_and_submit(self.model.pick(pick))

    def _answer_all_and_submit(self, one: Held) -> None:
        for position in range(self.model.shape.size):
            draft = one.drafts.get(position, Draft())
            decision = draft.answer["entity"] if draft.step == 2 else DECISIONS[0]
            self._save(one, position, {"entity": decision}, 2)
            self._save(one, position, {"entity": decision} | FEATURES, None)
        self._submit(one)

    @precondition(lambda self: self.known)
    @rule(pick=st.integers(0, 5), chance=st.integers(0, 3))
    def block_or_unblock(self, pick: int, chance: int) -> None:
        person = list(self.known)[pick % len(self.known)]
        if chance == 0:
            self._do(
                lambda session: block_annotator(
                    session, self.model.shape.id, self.known[person], "why", key_id=uuid4(), now=self.now
                )
            )
            self.blocked.add(person)
            for each in self.model.of(person):
                if each.state == "leased":
                    each.end(self.now)
        else:
            self._do(
                lambda session: unblock_annotator(
                    session, self.model.shape.id, self.known[person], "why", key_id=uuid4()
                )
            )
            self.blocked.discard(person)

    @precondition(lambda self: self.model.held)
    @rule(pick=st.integers(0, 5), chance=st.integers(0, 2))
    def reject(self, pick: int, chance: int) -> None:
        ended = [each for each in self.model.held if each.has_ended] if chance else []
        one = (ended or self.model.held)[pick % len(ended or self.model.held)]
        with self._expected(None if one.has_ended else AssignmentNotSubmitted):
            self._do(lambda session: reject_assignment(session, self.model.shape.id, one.id, "why", key_id=uuid4()))
            one.state = "rejected"
            if self.state is CampaignState.COMPLETE and self.model.count("submitted") < self.model.needed:
                self.state = CampaignState.OPEN

    @precondition(lambda self: self.known)
    @rule(pick=st.integers(0, 5), chance=st.integers(0, 3))
    def erase(self, pick: int, chance: int) -> None:
        if chance:
            return
        person = list(self.known)[pick % len(self.known)]
        whom, texts = self.known.pop(person), SubmittedTexts.ERASE
        self._do(
            lambda session: erase_annotator(session, self.model.shape.id, whom, texts, key_id=uuid4(), now=self.now)
        )
        self.blocked.discard(person)
        for each in self.model.of(person):
            each.is_erased, each.code = True, None
            if each.state == "leased":
                each.end(self.now)

    @invariant()
    def agrees_with_the_tables(self) -> None:
        if not self.has_started:
            return
        submitted = [each for each in self.model.held if each.state == "submitted"]
        annotations = self.model.shape.size * len(submitted)
        assert self._rows(
            "SELECT state, submitted, annotations,"
            " (SELECT count(*) FROM annotation.annotations WHERE campaign_id = campaigns.id)"
            " FROM annotation.campaigns WHERE id = :id"
        ) == [(self.state, len(submitted), annotations, annotations)]
        assert dict(self._rows("SELECT id, slots_left FROM annotation.packages WHERE campaign_id = :id")) == {
            package: self.model.slots_left(package) for package in self.model.shape.conversations
        }
        assignments = self._rows(
            "SELECT id, package_id, state, expires_at, completion_code FROM annotation.assignments"
            " WHERE campaign_id = :id"
        )
        names = "package", "state", "expires_at", "code"
        assert {row[0]: dict(zip(names, row[1:], strict=True)) for row in assignments} == {
            each.id: {name: getattr(each, name) for name in names} for each in self.model.held
        }
        drafts = self._rows(
            "SELECT assignment_id, position, answer, step, version, active_ms, (SELECT count(*)"
            " FROM annotation.answer_revisions r WHERE (r.assignment_id, r.position) = (a.assignment_id, a.position))"
            " FROM annotation.answers AS a"
        )
        of_draft = "answer", "step", "version", "active_ms", "revisions"
        assert {row[:2]: dict(zip(of_draft, row[2:], strict=True)) for row in drafts} == {
            (each.id, position): asdict(draft) | {"revisions": max(0, draft.version - 1)}
            for each in self.model.held
            for position, draft in each.drafts.items()
        }

    def _submit(self, one: Held) -> None:
        async def submit(session: WriteSession) -> str | None:
            key_id = UUID(int=0)
            lease, _ = await submit_assignment(session, one.id, one.person[0], key_id=key_id, now=self.now)
            return lease.completion_code

        if one.state == "submitted" and not one.is_erased:
            assert self._do(submit) == one.code
            return
        complete = all(
            one.drafts.get(n, Draft()).answer.keys() >= FEATURES.keys() for n in range(self.model.shape.size)
        )
        with self._expected(self.model.refusal(one, None, self.now) or (None if complete else ItemsUnanswered)):
            one.code = self._do(submit)
            one.state = "submitted"
            if self.state is not CampaignState.CLOSED and self.model.count("submitted") == self.model.needed:
                self.state = CampaignState.COMPLETE

    def _claim(self, person: tuple[str, str]) -> Any:
        shape, claim, request = self.model.shape.id, claim_package, ClaimIn(annotator=person[1])
        return self._do(lambda session: claim(session, shape, person[0], request, now=self.now))

    def _do(self, use: Callable[[WriteSession], Awaitable[Any]]) -> Any:
        """Run a use case in a transaction, as an endpoint does."""

        async def run() -> Any:
            async with self._database.write() as session:
                return await use(session)

        return self._runner.run(run())

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        async def run() -> list[tuple[Any, ...]]:
            return [tuple(row) for row in await self._connection.execute(text(query), {"id": self.model.shape.id})]

        return self._runner.run(run())

    @contextmanager
    def _expected(self, refusal: type[Error] | None) -> Iterator[None]:
        """Hold that the block is refused in this way, or not at all."""
        if refusal is None:
            yield
        else:
            with pytest.raises(refusal):
                yield


async def _transaction_on(connection: AsyncConnection) -> Any:
    return await connection.begin()


def test_any_sequence_of_what_people_and_programs_do_agrees_with_the_model(database_urls: DatabaseUrls):
    shapes = (
        shape_of(database_urls, packages=4, size=1, redundancy=1, limit=2),
        shape_of(database_urls, packages=6, size=2, redundancy=2, limit=2),
    )
    url = make_url(database_urls.app["annotation"]).set(drivername="postgresql+psycopg")
    with asyncio.Runner() as runner:
        engine = create_async_engine(url)
        connection = runner.run(_connected(engine))
        try:

            class Machine(Lifecycle):
                def __init__(self) -> None:
                    super().__init__(runner, connection, shapes)

            run_state_machine_as_test(
                Machine,
                settings=settings(
                    max_examples=EXAMPLES,
                    stateful_step_count=STEPS,
                    derandomize=not _ASKED_FOR,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                    phases=list(Phase) if _ASKED_FOR else [Phase.generate],
                ),
            )
        finally:
            runner.run(connection.close())
            runner.run(engine.dispose())


async def _connected(engine: Any) -> AsyncConnection:
    return await engine.connect()
