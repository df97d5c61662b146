"""A clock that is set back while somebody works: no time that is kept is negative, and nothing ends before it began."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from tests.factories.annotating import WHOLE, annotations_of, claim, save, submit
from tests.factories.annotator_trainings import gold_dialogue, respond, start, store_training
from tests.factories.campaigns import campaign_of
from tests.factories.clock import set_clock
from tests.factories.running_suite import RunningSuite


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation")


class _StoppedClock:
    """Stands still but when it is moved, however slow the machine is."""

    def __init__(self, suite: RunningSuite) -> None:
        self._now = datetime.now(UTC)
        set_clock(suite.apps["annotation"], lambda: self._now)

    def advance(self, **by: float) -> None:
        self._now += timedelta(**by)


def _check(annotations: list[dict[str, Any]]) -> None:
    for each in annotations:
        assert each["elapsed_ms"] >= 0
        assert datetime.fromisoformat(each["started_at"]) <= datetime.fromisoformat(each["ended_at"])


@pytest.mark.parametrize("minutes", [0.5, 40, 60 * 24])
async def test_an_annotation_takes_no_negative_time(suite: RunningSuite, minutes: float):
    campaign = await campaign_of(suite, 2, annotations_per_segment=1, segments=[1], package_size=2)
    clock = _StoppedClock(suite)
    held = await claim(suite, campaign, "w")
    frontend = await suite.client("annotation", "annotation")
    for position in range(2):
        for back in (False, True):
            for _ in range(2):
                beat = await frontend.post(f"/v1/assignments/{held['id']}/heartbeat", json={"position": position})
                assert beat.status_code == 200
                clock.advance(seconds=10)
            if back:
                clock.advance(minutes=-minutes)
            step = {"show_step": 2} if not back else {}
            answer = WHOLE if back else {"entity": WHOLE["entity"]}
            assert (await save(suite, held, position, answer, **step)).status_code == 200
    assert (await submit(suite, held)).status_code == 200
    stored = await annotations_of(suite, campaign)
    assert len(stored) == 2
    _check(stored)
    # Three pauses of ten seconds with the item on the screen; the one over which the clock was set back does not count.
    assert [each["elapsed_ms"] for each in stored] == [30_000, 30_000]


async def test_exchanges_of_a_game_are_opened_and_decided_one_after_the_other(suite: RunningSuite):
    campaign = await campaign_of(
        suite,
        1,
        annotations_per_segment=1,
        segments=[2],
        package_size=1,
        protocol="spot_the_bot_gamified",
        protocol_version=1,
    )
    clock = _StoppedClock(suite)
    held = await claim(suite, campaign, "w")
    frontend = await suite.client("annotation", "annotation")
    path = f"/v1/assignments/{held['id']}/items/0"
    for exchange, answer in ((1, {"entity": {"A": "human"}}), (2, {"entity": {"A": "human", "B": "bot"}})):
        assert (await frontend.post(f"{path}/exchanges", json={"open": exchange})).status_code == 200
        clock.advance(minutes=-40)
        assert (await frontend.put(path, json={"answer": answer})).status_code == 200
    assert (await submit(suite, held)).status_code == 200
    (stored,) = await annotations_of(suite, campaign)
    _check([stored])
    times = [datetime.fromisoformat(each[name]) for each in stored["decisions"] for name in ("opened_at", "decided_at")]
    assert all(earlier <= later for earlier, later in pairwise(times))


async def test_an_attempt_at_the_training_ends_no_earlier_than_it_began(suite: RunningSuite):
    await store_training(suite, dialogues=[gold_dialogue("one")])
    campaign = await campaign_of(suite, training={"name": "first_steps"})
    clock = _StoppedClock(suite)
    assert (await start(suite, campaign, "w")).status_code == 200
    clock.advance(minutes=-40)
    assert (await respond(suite, campaign, "w", 0)).json()["state"] == "passed"
    admin = await suite.client("annotation", "admin")
    (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    path = f"/v1/campaigns/{campaign['id']}/annotators/{annotator['id']}/training"
    (attempt,) = (await admin.get(path)).json()["attempts"]
    assert datetime.fromisoformat(attempt["started_at"]) <= datetime.fromisoformat(attempt["ended_at"])
