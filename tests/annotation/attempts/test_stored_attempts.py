"""What the store changes of attempts at a training: rows on both sides of each condition."""

from datetime import timedelta

from sqlalchemy import select

from spotthebot.annotation.attempts import store as attempts_store
from spotthebot.annotation.attempts.tables import TrainingAttemptRow
from spotthebot.contracts.annotation.trainings import TrainingState
from tests.factories.savepoints import SavepointDatabase
from tests.factories.stored_campaigns import NOON, store_annotators, store_campaign

HOUR = timedelta(hours=1)
ENDS = NOON + HOUR


class TestAnnotators:
    async def test_end_an_attempt_once(self, stored: SavepointDatabase):
        async with stored.write() as session:
            ann, bob = await store_annotators(session, await store_campaign(session), ["ann", "bob"])
            for annotator in (ann, bob):
                for number in (1, 2):
                    await attempts_store.add_attempt(session, annotator, number, at=NOON)
            for state, at in ((TrainingState.PASSED, ENDS), (TrainingState.FAILED, ENDS + HOUR)):
                await attempts_store.end_attempt(session, ann, 2, state, at=at)
            rows = await session.execute(select(TrainingAttemptRow.state, TrainingAttemptRow.ended_at))
        assert sorted(map(tuple, rows), key=str) == [*3 * [("in_progress", None)], ("passed", ENDS)]
