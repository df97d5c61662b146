"""Whatever a crowd of annotators does at once, whenever the service is killed, every rule of a campaign holds.

Annotators lose connections, send saves and submits twice, walk away while their leases end, and come back; the service
is killed in the middle. The suite's own run is small. The long mode has as many annotators and runs as it is told, two
processes of the service, and prints the seed, which `SPOTTHEBOT_RACE_SEED` repeats:

    SPOTTHEBOT_RACE_ANNOTATORS=200 SPOTTHEBOT_RACE_RUNS=20 ./stb test tests/annotation/test_engine_races.py -rP
"""

import asyncio
import os
import random
import secrets
import time
from collections import Counter, defaultdict
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import namedtuple_row

from spotthebot.kit.processes import monitor
from spotthebot.kit.waits.backoff import Backoff
from tests.annotation.crowds import Crowd
from tests.factories.databases import Databases, DatabaseUrls
from tests.factories.processes import Processes, lent_installation, running_processes
from tests.factories.stored_campaigns import fill_campaign

_ASKED_FOR = os.environ.get("SPOTTHEBOT_RACE_ANNOTATORS")
ANNOTATORS = int(_ASKED_FOR or 30)
RUNS = int(os.environ.get("SPOTTHEBOT_RACE_RUNS", "1"))
SEED = int(os.environ.get("SPOTTHEBOT_RACE_SEED") or (secrets.randbits(32) if _ASKED_FOR else 0))
PROCESSES = 2 if _ASKED_FOR else 1
KILLS = 2 * PROCESSES
PACKAGES, SIZE, REDUNDANCY, LIMIT = ANNOTATORS // 2, 3, 2, 2
LEASE_SECONDS = max(4, ANNOTATORS // 15)
LONGEST_SECONDS = 400


@pytest.mark.parametrize("seed", range(SEED, SEED + RUNS))
async def test_many_annotators_at_once_break_no_rule_and_lose_nothing(databases: Databases, seed: int):
    print(f"the same crowd again: SPOTTHEBOT_RACE_SEED={seed} SPOTTHEBOT_RACE_ANNOTATORS={ANNOTATORS}")
    counts = {"annotation": PROCESSES, "annotation-worker": 1}
    settings = {"annotation": {"LEASE_CHECK_SECONDS": "0.3"}}
    began = time.monotonic()
    with databases.lend() as urls, lent_installation(urls) as installation, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            monitor, "_BACKOFF", Backoff(first_seconds=0.2, max_seconds=0.4)
        )  # what is killed on purpose is not given up on
        campaign_id = fill_campaign(
            urls.owner["annotation"],
            packages=PACKAGES,
            size=SIZE,
            redundancy=REDUNDANCY,
            limit=LIMIT,
            lease_seconds=LEASE_SECONDS,
        )
        async with running_processes(installation, counts=counts, settings=settings) as processes:
            keys = [await processes.keys.make("annotation", team=team) for team in ("one", "two", "three")]
            crowd = Crowd(processes.urls["annotation"], keys, campaign_id, LEASE_SECONDS, seed)
            async with asyncio.timeout(LONGEST_SECONDS), asyncio.TaskGroup() as group:
                group.create_task(crowd.work(ANNOTATORS))
                killed = group.create_task(_kill_midway(processes, crowd, random.Random(seed)))
        rows = _Rows(urls, campaign_id)
    print(
        f"{time.monotonic() - began:.1f} s, killed {dict(killed.result())}, statuses {dict(crowd.statuses)},"
        f" {crowd.lost} connections lost, {crowd.expired} packages taken back, {len(crowd.saves)} versions saved"
    )
    assert killed.result().total() == KILLS
    assert crowd.statuses[500] == 0
    assert rows.broken_rules() == []
    assert _lost_saves(crowd, rows) == []
    assert _lost_submissions(crowd, rows) == []
    assert (rows.campaign.state, rows.campaign.submitted) == ("complete", PACKAGES * REDUNDANCY)


async def _kill_midway(processes: Processes, crowd: Crowd, rng: random.Random) -> Counter[str]:
    """Kill processes of the service without a goodbye, at moments spread over the work of the crowd."""
    killed: Counter[str] = Counter()
    for number in range(KILLS):
        moment = PACKAGES * REDUNDANCY * (number + rng.random()) / (KILLS + 1)
        while len(crowd.codes) < moment:
            await asyncio.sleep(0.01)
        await asyncio.sleep(rng.random() * 0.05)  # between a commit and its answer, too
        names = [f"annotation-{each}" for each in range(1, PROCESSES + 1)]
        while not processes.kill(victim := rng.choice(names)):
            await asyncio.sleep(0.01)
        killed[victim] += 1
    return killed


class _Rows:
    """What the tables hold of a campaign."""

    def __init__(self, urls: DatabaseUrls, campaign_id: UUID) -> None:
        with psycopg.connect(urls.owner["annotation"], row_factory=namedtuple_row) as connection:

            def read(query: LiteralString) -> list[Any]:
                return connection.execute(query, [campaign_id]).fetchall()

            [self.campaign] = read("SELECT * FROM annotation.campaigns WHERE id = %s")
            self.packages = read("SELECT * FROM annotation.packages WHERE campaign_id = %s")
            self.items = read("SELECT * FROM annotation.items WHERE campaign_id = %s")
            self.assignments = read("SELECT * FROM annotation.assignments WHERE campaign_id = %s")
            self.annotations = read("SELECT * FROM annotation.annotations WHERE campaign_id = %s")
            self.seen = read(
                "SELECT seen.* FROM annotation.seen_conversations AS seen"
                " JOIN annotation.annotators ON annotators.id = seen.annotator_id WHERE campaign_id = %s"
            )
            self.drafts = read(
                "SELECT answers.* FROM annotation.answers"
                " JOIN annotation.assignments ON assignments.id = assignment_id WHERE campaign_id = %s"
            )
            self.revisions = read(
                "SELECT revisions.* FROM annotation.answer_revisions AS revisions"
                " JOIN annotation.assignments ON assignments.id = assignment_id WHERE campaign_id = %s"
            )

    @property
    def versions(self) -> dict[tuple[UUID, int, int], Any]:
        """Every draft that was ever saved, by assignment, position and version."""
        saved = [*self.drafts, *self.revisions]
        return {(row.assignment_id, row.position, row.version): row for row in saved}

    def broken_rules(self) -> list[str]:
        """Say which rules the rows break."""
        counted = [row for row in self.assignments if row.state in {"leased", "submitted"}]
        by_package = Counter(row.package_id for row in counted)
        by_annotator = Counter(row.annotator_id for row in counted)
        leased = Counter(row.annotator_id for row in counted if row.state == "leased")
        shown = Counter(
            (assignment.annotator_id, item.conversation_id)
            for assignment in self.assignments
            for item in self.items
            if item.package_id == assignment.package_id
        )
        submitted = [row for row in self.assignments if row.state == "submitted"]
        codes = Counter(row.completion_code for row in submitted)
        annotated = Counter(row.assignment_id for row in self.annotations)
        ended = {row.id for row in submitted}
        broken = {
            "a package has more annotators than it needs": [k for k, n in by_package.items() if n > REDUNDANCY],
            "slots disagree with assignments": [
                row.id for row in self.packages if row.slots_left != REDUNDANCY - by_package[row.id]
            ],
            "an annotator has more packages than the limit": [k for k, n in by_annotator.items() if n > LIMIT],
            "an annotator holds two packages": [k for k, n in leased.items() if n > 1],
            "an annotator was shown a conversation twice": [k for k, n in shown.items() if n > 1],
            "what was shown is not what is noted": {(row.annotator_id, row.conversation_id) for row in self.seen}
            ^ shown.keys(),
            "a submitted package has no code of its own": [k for k, n in codes.items() if k is None or n > 1],
            "a code before the end": [
                row.id for row in self.assignments if row.state != "submitted" and row.completion_code is not None
            ],
            "a submitted package lacks annotations": [k for k in ended if annotated[k] != SIZE],
            "annotations of a package that was not submitted": annotated.keys() - ended,
            "a counter disagrees with the rows": {
                "submitted": (self.campaign.submitted, len(submitted)),
                "annotations": (self.campaign.annotations, len(self.annotations)),
            }.items()
            if (self.campaign.submitted, self.campaign.annotations) != (len(submitted), len(self.annotations))
            else (),
            "a decision changed after the next step was shown": self._changed_decisions(),
        }
        return [f"{rule}: {sorted(map(str, where))[:3]}" for rule, where in broken.items() if where]

    def _changed_decisions(self) -> list[Any]:
        """Return where step 1 was answered differently after step 2 was shown."""
        decisions = defaultdict(set)
        for (assignment_id, position, _), row in self.versions.items():
            if row.step > 1:
                decisions[assignment_id, position].add(str(sorted(row.answer["entity"].items())))
        return [place for place, found in decisions.items() if len(found) > 1]


def _lost_saves(crowd: Crowd, rows: _Rows) -> list[str]:
    """Return acknowledged saves that are neither the draft nor one of its revisions."""
    return [
        f"{key} was acknowledged as {saved}, and is {rows.versions.get(key)}"
        for key, acknowledged in crowd.saves.items()
        for saved in acknowledged
        if key not in rows.versions
        or (rows.versions[key].answer, rows.versions[key].step) != (saved.answer, saved.step)
    ]


def _lost_submissions(crowd: Crowd, rows: _Rows) -> list[str]:
    """Return submissions that were acknowledged with another code, or whose annotations are not the last drafts."""
    codes = {row.id: {row.completion_code} for row in rows.assignments}
    places = {row.id: row.position for row in rows.items}
    drafts = {(row.assignment_id, row.position): row.answer for row in rows.drafts}
    return [
        *(
            f"{row_id}: {codes.get(row_id)} is {found}"
            for row_id, found in crowd.codes.items()
            if codes.get(row_id) != found
        ),
        *(
            f"annotation {row.id} is not the draft"
            for row in rows.annotations
            if drafts[row.assignment_id, places[row.item_id]] != row.answer
        ),
    ]
