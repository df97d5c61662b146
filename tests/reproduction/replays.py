"""Replays of published studies: their annotators' answers go through the task API, one request after another."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spotthebot.importers.dump_import import answer_of
from spotthebot.importers.published_dump.dump import Dump
from spotthebot.importers.published_dump.records import DumpAnnotation, DumpPackage
from spotthebot.readers.rejected import Rejected
from tests.factories.annotating import movable_clock
from tests.factories.campaigns import Segment, package_rows
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, until

_PROBLEM = "urn:spotthebot:problem:"


@dataclass(frozen=True)
class Sitting:
    """The answers of one annotator to one package, in the order in which they were given."""

    package: str
    annotator: str
    began_ms: int
    answers: Mapping[Segment, Mapping[str, Any]]
    ids: tuple[str, ...]
    """Those of the published answers."""


@dataclass
class Replayed:
    """What became of sittings: refused ones by the rule, with the ids of their answers."""

    refused: dict[str, list[Sitting]] = field(default_factory=lambda: defaultdict(list))

    @property
    def answers(self) -> dict[str, set[str]]:
        """The ids of the published answers that were refused, by rule."""
        return {rule: {each for sitting in found for each in sitting.ids} for rule, found in self.refused.items()}

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """How many sittings and how many answers each rule refused."""
        return {rule: (len(found), sum(len(each.ids) for each in found)) for rule, found in self.refused.items()}


def packages_of(dump: Dump) -> dict[str, tuple[Segment, ...]]:
    """Return the segments of each package of a dump."""
    return {
        each.external_id: tuple((segment.conversation, segment.turns_shown // 2) for segment in each.segments)
        for each in dump.packages()
        if isinstance(each, DumpPackage)
    }


def sittings_of(dump: Dump) -> list[Sitting]:
    """Return the sittings of a dump, in the order in which they began.

    An annotator who answered a segment of a package again has another sitting.
    """
    rows: dict[tuple[str, str], list[DumpAnnotation]] = defaultdict(list)
    for each in dump.annotations():
        if not isinstance(each, Rejected):
            rows[each.package, each.annotator].append(each)
    found = []
    for (package, annotator), given in rows.items():
        attempts: list[dict[Segment, DumpAnnotation]] = []
        for each in sorted(given, key=lambda row: (row.ended_at_ms, row.external_id)):
            segment = (each.conversation, each.turns_shown // 2)
            free = next((attempt for attempt in attempts if segment not in attempt), None)
            if free is None:
                attempts.append({segment: each})
            else:
                free[segment] = each
        found += [
            Sitting(
                package,
                annotator,
                min(each.started_at_ms or each.ended_at_ms for each in attempt.values()),
                {segment: answer_of(each) for segment, each in attempt.items()},
                tuple(each.external_id for each in attempt.values()),
            )
            for attempt in attempts
        ]
    return sorted(found, key=lambda each: (each.began_ms, each.package, each.annotator))


def rounds_of(sittings: Iterable[Sitting]) -> list[list[Sitting]]:
    """Put sittings into rounds in which no package is claimed twice, and nobody sees a conversation twice."""
    rounds: list[list[Sitting]] = []
    taken: list[set[str]] = []
    seen: list[dict[str, set[str]]] = []
    for sitting in sittings:
        shown = {conversation for conversation, _ in sitting.answers}
        for number in range(len(rounds) + 1):
            if number == len(rounds):
                rounds.append([])
                taken.append(set())
                seen.append(defaultdict(set))
            if sitting.package not in taken[number] and not shown & seen[number][sitting.annotator]:
                break
        rounds[number].append(sitting)
        taken[number].add(sitting.package)
        seen[number][sitting.annotator] |= shown
    return rounds


async def replay(
    suite: RunningSuite,
    collection_id: str,
    packages: Mapping[str, Sequence[Segment]],
    sittings: Iterable[Sitting],
    **rules: Any,
) -> tuple[str, Replayed]:
    """Open a campaign of these packages, let each sitting claim its own, answer it and submit; returns its id.

    A package that was not finished is left until its lease expires.
    """
    campaign_id, path = await _opened(suite, collection_id, packages, rules)
    clock = movable_clock(suite)
    frontend = await suite.client("annotation", "annotation", team="replay")
    replayed = Replayed()
    for sitting in sittings:
        claim = {"annotator": sitting.annotator, "package": sitting.package}
        claimed = await frontend.post(f"{path}/assignments", json=claim)
        if claimed.status_code == 409:
            replayed.refused[claimed.json()["type"].removeprefix(_PROBLEM)].append(sitting)
            continue
        assert claimed.status_code == 201, claimed.text
        assignment = f"/v1/assignments/{claimed.json()['id']}"
        for segment, answer in sitting.answers.items():
            item = f"{assignment}/items/{packages[sitting.package].index(segment)}"
            for body in ({"answer": {"entity": answer["entity"]}, "show_step": 2}, {"answer": answer}):
                saved = await frontend.put(item, json=body)
                assert saved.status_code == 200, saved.text
        submitted = await frontend.post(f"{assignment}/submit")
        if submitted.status_code == 409:
            replayed.refused[submitted.json()["type"].removeprefix(_PROBLEM)].append(sitting)
            clock.advance(minutes=61)
        else:
            assert submitted.status_code == 200, submitted.text
    return campaign_id, replayed


async def _opened(
    suite: RunningSuite, collection_id: str, packages: Mapping[str, Sequence[Segment]], rules: Mapping[str, Any]
) -> tuple[str, str]:
    admin = await suite.client("annotation", "admin")
    body = {"mode": "uploaded", "name": "replay", "domain": "everyday", "collection_id": collection_id, **rules}
    campaign_id = (await created(admin, "/v1/campaigns", body))["id"]
    path = f"/v1/campaigns/{campaign_id}"
    await until(admin, path, "draft")
    await created(admin, f"{path}/packages", {"packages": package_rows(packages)})
    assert (await admin.post(f"{path}/open")).json()["state"] == "open"
    return campaign_id, path
