"""Whatever a caller sends, no service answers with an error of its own, nor with what its OpenAPI does not promise.

The suite's own run makes up two requests of each operation, as the schema has them and with its rules broken, always
the same ones, which every caller sends. The long mode tries at least as many as `SPOTTHEBOT_FUZZ_CASES` says, over all
callers, drawn by `SPOTTHEBOT_FUZZ_SEED`, and prints both. Each request is sent once as it was made up, and then with
one more part replaced by something nasty: twice, or nine times in the long mode. To make one up takes as long as to
send ten.

    SPOTTHEBOT_FUZZ_CASES=100000 ./stb test tests/e2e/test_fuzz.py -rP
"""

import asyncio
import functools
import itertools
import math
import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from spotthebot.inference.models.dialogue import kind as dialogue_kind
from spotthebot.inference.models.likelihood import kind as likelihood_kind
from tests.factories import echo_models
from tests.factories.campaigns import open_campaign
from tests.factories.databases import Databases
from tests.factories.mutated_cases import Mutant
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.studies import add_bot, add_corpus, conversation, created, import_conversations

ROOT = Path(__file__).parents[2]
CALLERS = [
    ("bots", "admin"),
    ("bots", "team"),
    ("conversations", "admin"),
    ("annotation", "admin"),
    ("annotation", "annotation"),
    ("analytics", "analyst"),
    ("analytics", "team"),
    ("fed", "admin"),
]
CHECKS = [not_a_server_error, response_schema_conformance, content_type_conformance]
SMALL = {"conversations_per_pair": 2, "exchanges": 2}  # a fuzzer should not hold a million conversations

CASES = int(os.environ.get("SPOTTHEBOT_FUZZ_CASES", "0"))
SEED = int(os.environ.get("SPOTTHEBOT_FUZZ_SEED", str(random.randrange(2**32) if CASES else 0)))
USUAL_EXAMPLES = 2
MUTANTS = 9 if CASES else 2
UNLIMITED = {"rate_limit_requests_per_minute": 10_000_000, "failed_keys_per_minute": 10_000_000}
"""A fuzzer asks more often than a caller may."""

# A registration may last as long as a probe, 45 s by default. The fuzzer's client waits 10 s.
PROBE_SECONDS = 4.0


@pytest.fixture(scope="module")
async def module_suite(databases: Databases) -> AsyncIterator[RunningSuite]:
    """All services; made-up models can't be loaded, but without importing torch for each to find that out."""
    unlimited = dict.fromkeys(("conversations", "annotation", "analytics", "fed"), UNLIMITED)
    with databases.lend() as urls, pytest.MonkeyPatch.context() as monkeypatch:
        for kind in (dialogue_kind, likelihood_kind):
            monkeypatch.setattr(kind, "KIND", echo_models.MISSING_KIND)
        async with run_suite(urls, bots={"probe_seconds": PROBE_SECONDS, **UNLIMITED}, **unlimited) as running:
            yield running


async def _seed(suite: RunningSuite) -> dict[str, Any]:
    """Make one thing of each kind, so that requests can reach further than to a 404."""
    corpus = await add_corpus(suite)
    bots = [await add_bot(suite, model) for model in ("eliza", "dull")]
    collection = await import_conversations(suite, [conversation(f"c{number}", "X", "Y") for number in range(4)])
    analyst = await suite.client("conversations", "analyst")
    held = (await analyst.get(f"/v1/collections/{collection}/conversations")).json()["items"]
    campaign = await open_campaign(suite, collection)
    frontend = await suite.client("annotation", "annotation")
    assignment = await created(frontend, f"/v1/campaigns/{campaign['id']}/assignments", {"annotator": "w"})
    admin = await suite.client("annotation", "admin")
    (annotator,) = (await admin.get(f"/v1/campaigns/{campaign['id']}/annotators")).json()["items"]
    subscription = {"url": "http://127.0.0.1:9/hooks", "events": ["assignment.submitted"]}
    return {
        "subscription_id": (await created(frontend, "/v1/subscriptions", subscription))["id"],
        "annotator_id": annotator["id"],
        "bot_id": bots[0],
        "bots": bots,
        "corpus_id": corpus,
        "collection_id": collection,
        "conversation_id": held[0]["id"],
        "campaign_id": campaign["id"],
        "assignment_id": assignment["id"],
        "position": assignment["items"][0]["position"],
    }


def _with_real_ids(value: Any, real: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_with_real_ids(each, real) for each in value]
    if isinstance(value, dict):
        return {name: real[name] if name in real else _with_real_ids(each, real) for name, each in value.items()}
    return value


@dataclass(frozen=True)
class Drawn:
    """A request as it was made up; one that is `known` is to name things that are there, each caller's own."""

    case: schemathesis.Case[Any]
    path_parameters: Any
    body: Any
    known: bool


_DRAWN: dict[tuple[str, str, int, int], list[Drawn]] = {}
"""The requests made up of each operation, by service, operation, number and seed: other callers send the same ones.

The long mode, which draws others in each round, keeps those of one operation.
"""


@functools.cache
def _operations_of(service: str) -> list[Any]:
    """Return the operations of a service's committed document, which is the one that it serves."""
    document = schemathesis.openapi.from_path(ROOT / "openapi" / f"{service}.json")
    operations = []
    for result in document.get_all_operations():
        assert isinstance(result, Ok)
        operations.append(result.ok())
    return operations


class Fuzzer:
    """Tries made-up requests, right and wrong ones, and counts the statuses of the answers."""

    def __init__(self, service: str, url: str, key: str, real: dict[str, Any]) -> None:
        self._service = service
        self._url = url
        self._key = key
        self._real = real
        self._session = requests.Session()  # a connection for all: to open one takes as long as most requests
        self._session.trust_env = False  # else each request looks for proxies and a .netrc
        self._rng = random.Random(SEED)
        self.statuses: Counter[int] = Counter()
        self.faults: list[str] = []

    def run(self) -> None:
        """Try every operation; in the long mode, again and again until there were enough cases."""
        operations = _operations_of(self._service)
        for drawn_by in itertools.count(SEED):
            missing = math.ceil(CASES / len(CALLERS)) - self.statuses.total()
            examples = math.ceil(missing / len(operations) / (1 + MUTANTS)) if CASES else USUAL_EXAMPLES
            for operation in operations:
                self._try_operation(operation, examples, drawn_by)
            # An operation with few parameters ends early: the next round makes up for it.
            if self.statuses.total() * len(CALLERS) >= CASES:
                return

    def _try_operation(self, operation: Any, examples: int, drawn_by: int) -> None:
        asked = (self._service, operation.label, examples, drawn_by)
        if asked not in _DRAWN:
            if CASES:
                _DRAWN.clear()
            _DRAWN[asked] = self._draw(operation, examples, drawn_by)
        for drawn in _DRAWN[asked]:
            self._try_case(drawn)

    @staticmethod
    def _draw(operation: Any, examples: int, drawn_by: int) -> list[Drawn]:
        """Make up requests of an operation."""
        drawn = []

        @seed(drawn_by)
        @given(
            case=st.one_of([operation.as_strategy(mode) for mode in schemathesis.GenerationMode]),
            known=st.sampled_from((True, True, False)),
        )
        @settings(
            max_examples=examples,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def attempt(case: schemathesis.Case[Any], known: bool) -> None:
            drawn.append(Drawn(case, case.path_parameters, case.body, known=known))

        attempt()
        return drawn

    def _try_case(self, drawn: Drawn) -> None:
        case = drawn.case
        if drawn.known:
            case.path_parameters = _with_real_ids(drawn.path_parameters, self._real)
            case.body = _with_real_ids(drawn.body, self._real | SMALL)
        answer = case.call(self._url, headers={"Authorization": f"Bearer {self._key}"}, session=self._session)
        self.statuses[answer.status_code] += 1
        try:
            case.validate_response(answer, checks=CHECKS)
        except (Failure, FailureGroup) as fault:
            self.faults.append(f"{case.method} {case.formatted_path} {case.body!r:.300}: {fault!r:.500}")
        mutant = Mutant.of(case)
        for _ in range(MUTANTS):
            mutant.mutate(self._rng)
            answered = mutant.send(self._session, self._url, self._key)
            self.statuses[answered.status_code] += 1
            if answered.status_code >= 500:
                self.faults.append(f"{mutant!r:.900}: {answered.status_code} {answered.text:.300}")


# The services draw random numbers in this process meanwhile, which hypothesis takes for a strategy's.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@pytest.mark.parametrize(("service", "role"), CALLERS)
async def test_no_request_makes_a_service_fail(suite: RunningSuite, service: str, role: str):
    real = await _seed(suite)
    key = await suite.keys.make(role, team="fuzzers" if role == "team" else None)
    fuzzer = Fuzzer(service, suite.urls[service], key, real)
    await asyncio.to_thread(fuzzer.run)
    statuses = fuzzer.statuses
    print(f"{service} as {role}: {statuses.total()} cases, seed {SEED}, {sorted(statuses.items())}")
    assert fuzzer.faults[:20] == []
    assert {200, 422} <= statuses.keys()  # it got through, and it was turned away
