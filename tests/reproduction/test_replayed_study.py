"""A published study goes through the task API again: whole, and under the rules that its protocol names.

The figures of a second replay are checked against a computation over the raw rows of the files.
"""

import json
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from spotthebot.importers.dump_import import import_dump
from spotthebot.importers.published_dump.dump import Dump, open_dump
from spotthebot.local.progress import Steps, showing_progress
from spotthebot.local.runtime.session import Clients
from tests.factories import dump_files
from tests.factories.campaigns import Segment, import_campaign
from tests.factories.command_line_fixtures import clients_of
from tests.factories.dump_files import ANNOTATIONS, CONVERSATIONS, PACKAGES, PUBLISHED, annotation, lines, oid
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created
from tests.reproduction.replays import Sitting, packages_of, replay, rounds_of, sittings_of

WHOLE = "SPOTTHEBOT_WHOLE_REPLAY" in os.environ
"""Replay all packages of the published files, not those of one annotator: several minutes."""
RULES = {"annotations_per_segment": 2, "packages_per_annotator": 3}
FIGURES = ("ranking", "fooling-rates", "survival", "agreement", "annotators")
HALF_HOUR = 1_800_000


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    """The worker goes by the time of day and the service by a clock that the replay moves: it shall end no lease."""
    return {"annotation": {"lease_check_seconds": 3600.0, "rate_limit_requests_per_minute": 1_000_000}}


@pytest.fixture
async def clients(suite: RunningSuite) -> AsyncIterator[Clients]:
    async with clients_of(suite) as opened:
        yield opened


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A study of five packages, whose sittings break each rule."""
    talks = [dump_files.conversation(oid(100 + number)) for number in range(6)]
    shown = {
        "p0": ((0, 3), (1, 5)),
        "p1": ((0, 5), (1, 3)),
        "p2": ((2, 3), (3, 5)),
        "p3": ((4, 3), (5, 3)),
        "p4": ((2, 5), (3, 3)),
    }
    ids = {name: oid(200 + number) for number, name in enumerate(shown)}
    packages = [
        dump_files.package(ids[name], [(oid(100 + talk), turn) for talk, turn in shown[name]]) for name in shown
    ]
    rows = []
    for number, (name, package, answered) in enumerate(
        [
            ("ann", "p0", 2),
            ("bob", "p0", 2),
            ("cy", "p0", 2),  # a third annotator
            ("ann", "p1", 2),  # the conversations of p0
            ("ann", "p2", 2),
            ("ann", "p3", 2),
            ("ann", "p4", 2),  # a fourth package
            ("bob", "p2", 1),  # not finished
            ("cy", "p2", 2),
            ("dan", "p2", 2),  # a third annotator who finishes
            ("bob", "p4", 2),  # the conversations of p2
        ]
    ):
        for position, (talk, turn) in enumerate(shown[package][:answered]):
            at = 1_589_459_205_478 + number * HALF_HOUR + position * 60_000
            rows.append(
                annotation(
                    oid(300 + 2 * number + position),
                    first={"decision_turn": turn + 1, "is_human": [True, False, None][number % 3]},
                    second={"decision_turn": turn + 1, "fluencyValue": number % 2 == 0},
                    convo_id=oid(100 + talk),
                    package_id=ids[package],
                    user_name=name,
                    start_time={"$numberLong": str(at)},
                    end_time={"$numberLong": str(at + 50_000)},
                    elapsed_time=50_000,
                )
            )
    for file, content in ((CONVERSATIONS, talks), (PACKAGES, packages), (ANNOTATIONS, rows)):
        (tmp_path / file).write_text(lines(content))
    return tmp_path


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """The published Dailydialog study, or three packages of the annotator who had most."""
    if not PUBLISHED.is_dir():
        pytest.skip("the published annotations ../shared/data/spot-the-bot are not here")
    if WHOLE:
        return PUBLISHED
    rows = _rows(PUBLISHED / ANNOTATIONS)
    had: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        had[row["user_name"]][row["package_id"]] = None
    kept = [*max(had.values(), key=len)][2:5]  # whose annotators break two of the rules
    packages = [row for row in _rows(PUBLISHED / PACKAGES) if row["_id"]["$oid"] in kept]
    talks = {each["convo_id"] for package in packages for each in package["package"]}
    for file, content in (
        (CONVERSATIONS, [row for row in _rows(PUBLISHED / CONVERSATIONS) if row["_id"]["$oid"] in talks]),
        (PACKAGES, packages),
        (ANNOTATIONS, [row for row in rows if row["package_id"] in kept]),
    ):
        (tmp_path / file).write_text(lines(content))
    return tmp_path


class TestReplay:
    @pytest.mark.parametrize("study", ["written", "published"])
    async def test_a_whole_replay_gives_the_annotations_and_figures_of_the_import(
        self, suite: RunningSuite, clients: Clients, request: pytest.FixtureRequest, study: str
    ):
        with open_dump(request.getfixturevalue(study), "dailydialog") as dump, showing_progress() as steps:
            imported = await _imported(clients, dump, steps)
            packages, rounds = packages_of(dump), rounds_of(sittings_of(dump))
            rows: list[dict[str, Any]] = []
            for number in range(len(rounds)):
                answered = {each.package: [*_in_order(packages[each.package], each)] for each in rounds[number]}
                name = f"round-{number}"
                campaign, replayed = await replay(
                    suite, imported["collection_id"], answered, rounds[number], name=name, annotations_per_segment=1
                )
                assert replayed.counts == {}
                rows += await _exported(suite, campaign)
        published = await _exported(suite, imported["id"])
        assert sorted(map(_said, rows)) == sorted(map(_said, published))
        copy = await _joined(suite, imported, packages, rows, published)
        analyst = await suite.client("analytics", "analyst")
        for figure in FIGURES:
            answers = [await analyst.get(f"/v1/campaigns/{each}/{figure}") for each in (imported["id"], copy)]
            assert [each.status_code for each in answers] == [200, 200], figure
            one, other = (each.json() for each in answers)
            for each in (one, other):
                del each["campaign_id"], each["campaign"], each["data_sha256"]
            assert one == other, figure

    @pytest.mark.parametrize("study", ["written", "published"])
    async def test_a_replay_under_the_rules_refuses_what_the_raw_rows_say(
        self, suite: RunningSuite, clients: Clients, request: pytest.FixtureRequest, study: str
    ):
        folder = request.getfixturevalue(study)
        with open_dump(folder, "dailydialog") as dump, showing_progress() as steps:
            imported = await _imported(clients, dump, steps)
            packages, sittings = packages_of(dump), sittings_of(dump)
        campaign, replayed = await replay(suite, imported["collection_id"], packages, sittings, **RULES)
        expected = _refused(folder)
        assert replayed.answers == expected
        rules = {"limit-reached", "conversation-seen", "package-taken", "items-unanswered"}
        assert {*expected} == rules if study == "written" else {*expected} & rules
        refused = set().union(*expected.values())
        kept = [each for each in await _exported(suite, imported["id"]) if each["id"] not in refused]
        assert sorted(map(_said, await _exported(suite, campaign))) == sorted(map(_said, kept))
        if WHOLE and study == "published":
            print({rule: replayed.counts[rule] for rule in expected}, len(kept))


def _refused(folder: Path) -> dict[str, set[str]]:
    """Return the answers that the rules refuse, by rule, counted over the rows as they stand in the files."""
    shows = {row["_id"]["$oid"]: row["package"] for row in _rows(folder / PACKAGES)}
    sittings: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(folder / ANNOTATIONS):
        sittings[row["package_id"], row["user_name"]].append(row)
    began = {key: (min(map(_began, rows)), *key) for key, rows in sittings.items()}
    finished: dict[str, int] = defaultdict(int)
    packages: dict[str, int] = defaultdict(int)
    seen: dict[str, set[str]] = defaultdict(set)
    refused: dict[str, set[str]] = defaultdict(set)
    for key in sorted(sittings, key=began.__getitem__):
        package, person = key
        talks = {each["convo_id"] for each in shows[package]}
        answered = {row["convo_id"] for row in sittings[key]}
        if packages[person] == RULES["packages_per_annotator"]:
            rule = "limit-reached"
        elif talks & seen[person]:
            rule = "conversation-seen"
        elif finished[package] == RULES["annotations_per_segment"]:
            rule = "package-taken"
        else:
            seen[person] |= talks
            if answered == talks:
                finished[package] += 1
                packages[person] += 1
                continue
            rule = "items-unanswered"
        refused[rule] |= {row["_id"]["$oid"] for row in sittings[key]}
    return refused


def _began(row: Mapping[str, Any]) -> int:
    start = row["start_time"]
    return int((row["end_time"] if start == -1 else start)["$numberLong"])


async def _imported(clients: Clients, dump: Dump, steps: Steps) -> dict[str, Any]:
    done = await import_dump(clients, dump, steps)
    assert done.rejected == []
    async for campaign in clients.annotation.list_campaigns(name=done.campaign):
        return campaign.model_dump(mode="json")
    raise AssertionError


def _in_order(segments: Iterable[Segment], sitting: Sitting) -> Iterable[Segment]:
    return (segment for segment in segments if segment in sitting.answers)


def _said(row: Mapping[str, Any]) -> str:
    """Return an annotation without its ids and times, which are the server's own."""
    return json.dumps(
        [row[name] for name in ("package", "annotator", "conversation", "exchanges", "answer")], sort_keys=True
    )


async def _exported(suite: RunningSuite, campaign_id: str) -> list[dict[str, Any]]:
    admin = await suite.client("annotation", "admin")
    answer = await admin.get(f"/v1/campaigns/{campaign_id}/export", params={"annotators": "ids"})
    return [json.loads(line) for line in answer.text.splitlines()]


async def _joined(
    suite: RunningSuite,
    imported: Mapping[str, Any],
    packages: Mapping[str, Iterable[Segment]],
    rows: list[dict[str, Any]],
    published: list[dict[str, Any]],
) -> str:
    """Import what all rounds exported into one campaign, in the order of the published file: resampling goes by it."""
    admin = await suite.client("annotation", "admin")
    path = await import_campaign(
        suite,
        imported["collection_id"],
        packages,
        name="joined",
        domain=imported["domain"],
        segments=imported["segments"],
        annotators_published=True,
    )
    place = {_said(each): number for number, each in enumerate(published)}
    kept = ("package", "annotator", "conversation", "exchanges", "answer", "started_at", "ended_at", "elapsed_ms")
    uploaded = [{"external_id": row["id"]} | {name: row[name] for name in kept} for row in rows]
    uploaded.sort(key=lambda row: place[_said(row)])
    for start in range(0, len(uploaded), 250):
        await created(admin, f"{path}/annotations", {"annotations": uploaded[start : start + 250]})
    assert (await admin.post(f"{path}/close")).json()["state"] == "closed"
    return path.rpartition("/")[2]


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
