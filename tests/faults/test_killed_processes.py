"""Nothing of a collection is lost, doubled or asked twice differently, whatever process is killed, whenever."""

import asyncio
import itertools
import os
import random
import secrets
import time
from collections import Counter

import psycopg

from tests.factories.chained_bot import ChainedBots, chained_bots, faults
from tests.factories.collecting import conversations, finished, register, start
from tests.factories.processes import Processes

CONVERSATIONS, EXCHANGES, BOTS = 126, 5, 3
TURNS = CONVERSATIONS * 2 * EXCHANGES
KILLS_OF_EACH = 3
VICTIMS = ("conversations-worker-", "conversations-1", "bots-", "postgres")
LONGEST_SECONDS = 180
MIDWAY_KILLS = 9


class TestKilledProcesses:
    async def test_twelve_kills_lose_and_double_no_turn(self, processes: Processes):
        seed = int(os.environ.get("SPOTTHEBOT_KILL_SEED") or secrets.randbits(32))
        print(f"the same kills again: SPOTTHEBOT_KILL_SEED={seed}")
        rng = random.Random(seed)
        async with chained_bots(delay_seconds=0.2) as (bots, url):
            began = time.monotonic()
            ids = [
                await register(processes, "chained", f"{url}/{number}", concurrency=8, timeout_seconds=2)
                for number in range(BOTS)
            ]
            collection = await start(
                processes,
                mode="all_play_all",
                bots=ids,
                exchanges=EXCHANGES,
                conversations_per_pair=CONVERSATIONS // (BOTS * (BOTS - 1) // 2),
            )
            killed = await _kill_at_random(processes, bots, rng)
            found = await finished(processes, collection, seconds=LONGEST_SECONDS)
            print(f"{time.monotonic() - began:.1f} s, killed {killed}, {len(bots.asked)} questions")
            listed = await conversations(processes, collection)
        assert killed == dict.fromkeys(VICTIMS, KILLS_OF_EACH)
        assert (found["complete"], found["failed"]) == (CONVERSATIONS, 0)
        assert found["turns"] == TURNS
        assert len({each["id"] for each in listed}) == len(listed) == CONVERSATIONS
        assert Counter(each["state"] for each in listed) == {"complete": CONVERSATIONS}
        assert {each["id"]: broken for each in listed if (broken := faults(each, 2 * EXCHANGES))} == {}
        assert _kept_positions(processes, collection) == {tuple(range(2 * EXCHANGES)): CONVERSATIONS}
        ours = {each["id"] for each in listed}
        assert {turn: keys for turn, keys in bots.keys.items() if turn[0] in ours and len(keys) > 1} == {}, (
            "a question under two keys"
        )


async def _kill_at_random(processes: Processes, bots: ChainedBots, rng: random.Random) -> dict[str, int]:
    """Kill whatever is at work, in random order, at random moments of the collection.

    Counted by the turns that were asked for, not by the clock, all of it happens in the middle of the collection, on
    any machine. Each moment is drawn from the turns that are left then:
    the collection continues while a victim restarts.
    """
    left = Counter(dict.fromkeys(VICTIMS, KILLS_OF_EACH))
    killed: Counter[str] = Counter()
    midway = 0
    began = time.monotonic()
    while left.total():
        said = _progress(bots)
        part_of_the_rest = min(rng.expovariate(1), 3) / (left.total() + 1)
        moment = said + max(0.0, min(part_of_the_rest, 1) * (0.9 * TURNS - said))  # never after the last turn
        while _progress(bots) < moment:
            await _wait_a_moment(processes, bots, began)
        await asyncio.sleep(rng.random() * 0.05)  # between an answer and its commit, too
        while (victim := _kill_one(processes, left, rng)) is None:
            await _wait_a_moment(processes, bots, began)
        left[victim] -= 1
        killed[victim] += 1
        midway += _progress(bots) < TURNS
        print(f"{time.monotonic() - began:.1f} s: {victim} killed after {_progress(bots)} turns were asked for")
    assert midway >= MIDWAY_KILLS, f"only {midway} kills came before all was said"
    return dict(killed)


def _kill_one(processes: Processes, left: Counter[str], rng: random.Random) -> str | None:
    """Kill one of those that are at work, whose turn it still is; None where all of them are coming back."""
    candidates = [
        (victim, name) for victim in sorted(+left) for name in [*processes.names, "postgres"] if name.startswith(victim)
    ]
    rng.shuffle(candidates)
    return next((victim for victim, name in candidates if processes.kill(name)), None)


async def _wait_a_moment(processes: Processes, bots: ChainedBots, began: float) -> None:
    late = time.monotonic() - began > LONGEST_SECONDS
    assert not late, f"{_progress(bots)} of {TURNS} turns were asked for\n{processes.last_words()}"
    await asyncio.sleep(0.01)


def _progress(bots: ChainedBots) -> int:
    """Count the turns that were asked for; one that is asked for again is the same turn."""
    return len(bots.keys)


def _kept_positions(processes: Processes, collection: str) -> dict[tuple[int, ...], int]:
    """Return how many conversations have which positions in the table itself."""
    with psycopg.connect(processes.database.owner["conversations"]) as connection:
        rows = connection.execute(
            "SELECT t.conversation_id, t.position FROM conversations.turns t JOIN conversations.conversations c"
            " ON c.id = t.conversation_id WHERE c.collection_id = %s ORDER BY 1, 2",
            [collection],
        ).fetchall()
    by_conversation = itertools.groupby(rows, key=lambda row: row[0])
    return dict(Counter(tuple(position for _, position in group) for _, group in by_conversation))
