"""Every route of `annotation` in every state of a campaign: who may ask, and what they are answered."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from tests.architecture.documents import committed_document
from tests.factories.annotating import WHOLE, answer_items, claim, submit
from tests.factories.annotator_trainings import RIGHT, gold_dialogue, respond, start, store_training
from tests.factories.campaigns import CONVERSATIONS
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created, import_conversations, until

STATES = ("draft", "open", "paused", "complete", "closed")
ROLES = ("admin", "analyst", "annotation", "service", "team")
ADMIN, READERS, FRONTEND = ("admin",), ("admin", "analyst", "service"), ("annotation",)
TEN_MB, THIRTY_MB = (b'{"x": "' + b"x" * size + b'"}' for size in (10_000_000, 30_000_000))
UNKNOWN = "00000000-0000-7000-8000-000000000000"
WITHOUT_KEY = {"health", "readiness"}


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("conversations", "annotation")


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    """Nobody is slowed down: each request is looked at by itself."""
    return {"annotation": {"rate_limit_requests_per_minute": 1_000_000, "failed_keys_per_minute": 1_000_000}}


@dataclass
class Campaign:
    """A campaign in a state: `ann` submitted a package, `bob` has another, and answered all of it.

    No other campaign has people of these names: an erasure would reach them there.
    """

    state: str
    id: str
    consent: str
    collection: str
    annotator: str
    link: str
    submitted: str = UNKNOWN
    held: str = UNKNOWN

    @property
    def ann(self) -> str:
        return f"ann-{self.state}"

    @property
    def bob(self) -> str:
        return f"bob-{self.state}"


Body = Callable[[Campaign], Any]
Statuses: TypeAlias = int | tuple[int, ...]


def _in(state: str, statuses: Statuses) -> int:
    return statuses if isinstance(statuses, int) else statuses[STATES.index(state)]


def _nothing(_campaign: Campaign) -> None:
    return None


@dataclass(frozen=True)
class Route:
    """An operation, the roles that may ask it, and the status of a right request in each state, or in all.

    `elsewhere` is what another frontend gets that asks about the same people and assignments.
    """

    operation: str
    roles: tuple[str, ...]
    statuses: Statuses
    body: Body = _nothing
    query: str = ""
    elsewhere: Statuses = 404
    of_submitted: bool = False


def _ann(**more: Any) -> Body:
    return lambda campaign: {"annotator": campaign.ann} | more


PACKAGE = {"external_id": "p", "segments": [{"conversation": "c0", "exchanges": 1}]}
IMPORTED = {"external_id": "a", "package": "p", "conversation": "c0", "exchanges": 1, "annotator": "ann"} | {
    "answer": WHOLE,
    "started_at": None,
    "ended_at": None,
    "elapsed_ms": None,
}
WHY = {"reason": "why"}
MOVES = (
    Route("open_campaign", ADMIN, (200, 200, 200, 409, 409)),
    Route("pause_campaign", ADMIN, (409, 200, 200, 409, 409)),
    Route("close_campaign", ADMIN, 200),
)
"""After each of them the campaign is put back into its state."""
ROUTES = (
    Route("list_campaigns", ("admin", "analyst", "annotation", "service"), 200, elsewhere=200),
    Route("get_campaign", ("admin", "analyst", "annotation", "service"), 200, elsewhere=200),
    Route("list_annotations", READERS, 200),
    Route("stream_annotations", READERS, 200),
    Route("annotations_revision", READERS, 200),
    Route("count_shared_annotators", READERS, 200),
    Route("list_packages", READERS, 200),
    Route("export_campaign", READERS, 200),
    Route("preview_campaign", ADMIN, 200),
    Route("preview_package", ADMIN, 200),
    Route("list_annotators", ADMIN, 200),
    Route("list_audit_entries", ADMIN, 200),
    Route("list_payments", ADMIN, 200),
    Route("download_payments", ADMIN, 200, query="kind=payments"),
    Route("list_assignments", ADMIN, 200),
    Route("get_annotator_quality", ADMIN, 200),
    Route("get_training_record", ADMIN, 200),
    Route("get_training_results", READERS, 200),
    Route("list_workforces", READERS, 200),
    Route("release_results", ADMIN, (409, 409, 409, 200, 200)),
    Route("publish_results", ADMIN, (409, 409, 409, 200, 200)),
    Route("withdraw_results", ADMIN, 200),
    Route("change_campaign", ADMIN, (200, 200, 200, 200, 409), lambda _: {"instructions": "Take your time."}),
    Route("delete_campaign", ADMIN, 409),  # people entered all of them, the draft too
    Route("report_verdicts", ("service",), 200, lambda _: {"verdicts": [], "packages": []}),
    Route("import_packages", ADMIN, 409, lambda _: {"packages": [PACKAGE]}),
    Route("import_annotations", ADMIN, 409, lambda _: {"annotations": [IMPORTED]}),
    # The way in: a frontend's people are its own, whatever they are called.
    Route("create_entry_link", ("admin", "annotation"), 201, _ann(), elsewhere=201),
    Route("enter_campaign", FRONTEND, 200, lambda each: {"parameters": {"entry": each.link}}, elsewhere=422),
    Route("give_consent", FRONTEND, 200, lambda each: {"annotator": each.ann, "sha256": each.consent}, elsewhere=200),
    Route("start_training", FRONTEND, (409, 200, 409, 409, 409), _ann(), elsewhere=(409, 200, 409, 409, 409)),
    Route(
        "answer_training",
        FRONTEND,
        (409, 200, 200, 200, 200),
        _ann(attempt=1, answer=RIGHT),
        elsewhere=(409, 200, 409, 409, 409),
    ),
    Route("list_entry_links", ADMIN, 200),
    Route("revoke_entry_link", ("admin", "annotation"), 204),
    Route("appeal_block", FRONTEND, 409, _ann(note="why"), elsewhere=409),
    # Work: what is held can be done to its end, however the campaign goes on.
    Route("claim_package", FRONTEND, (409, 201, 201, 409, 201), lambda each: {"annotator": each.bob}, elsewhere=409),
    Route("get_assignment", FRONTEND, (404, 200, 200, 200, 200)),
    Route("keep_assignment", FRONTEND, (404, 200, 200, 409, 200), lambda _: {"position": 0}),
    Route("save_answer", FRONTEND, (404, 200, 200, 409, 200), lambda _: {"answer": WHOLE}),
    Route("open_exchange", FRONTEND, (404, 409, 409, 409, 409), lambda _: {"open": 1}),
    Route("submit_assignment", FRONTEND, (404, 200, 200, 200, 200)),
    Route("release_assignment", FRONTEND, (404, 409, 409, 409, 409)),
    Route("submit_judge_labels", FRONTEND, (404, 409, 409, 409, 409), lambda _: {"items": []}),
    # Decisions about people, the last of which ends all others.
    Route("grant_training_attempt", ADMIN, 409, lambda _: WHY),
    Route("grant_bonus", ADMIN, 201, lambda _: {"amount": "1"} | WHY),
    Route("block_annotator", ADMIN, 200, lambda _: WHY),
    Route("unblock_annotator", ADMIN, 200, lambda _: WHY),
    Route("reject_assignment", ADMIN, (404, 200, 200, 200, 200), lambda _: WHY, of_submitted=True),
    Route("withdraw_consent", FRONTEND, 200, _ann(), elsewhere=200),
    Route("erase_annotator", ADMIN, 200),
)
SUBSCRIBERS = ("admin", "annotation")
OF_NO_CAMPAIGN = {
    **dict.fromkeys(("create_campaign", "estimate_campaign"), ADMIN),
    "create_protocol": ADMIN,
    "create_training": ADMIN,
    "create_judge": ADMIN,
    "list_trainings": ADMIN,
    "get_training": ADMIN,
    **dict.fromkeys(("create_study", "replace_study", "delete_study"), ADMIN),
    **dict.fromkeys(("list_studies", "get_study"), READERS),
    "metrics": ("admin", "service"),
    **dict.fromkeys(
        ("list_protocols", "get_protocol", "get_protocol_schema", "list_judges", "get_judge"),
        ("admin", "analyst", "service", "annotation"),
    ),
    **dict.fromkeys(
        (
            *("list_events", "replay_event", "list_subscriptions", "create_subscription", "get_subscription"),
            *("change_subscription", "delete_subscription", "list_deliveries", "replay_subscription"),
            *("rotate_subscription_secret", "test_subscription"),
        ),
        SUBSCRIBERS,
    ),
}
"""The roles that may ask what is about no campaign."""


def _operations() -> Iterator[tuple[str, str, str]]:
    for path, methods in committed_document("annotation")["paths"].items():
        for method, operation in methods.items():
            yield operation["operationId"], method.upper(), path


def _filled(path: str, campaign: Campaign, route: Route) -> str:
    values = {
        "campaign_id": campaign.id,
        "annotator_id": campaign.annotator,
        "assignment_id": campaign.submitted if route.of_submitted else campaign.held,
        "link_id": str(UUID(campaign.link.partition(".")[0])),
        "position": "0",
        "attempt": "2",
    }
    return path.format(**values) + (f"?{route.query}" if route.query else "")


async def _campaigns(suite: RunningSuite) -> list[Campaign]:
    """Make a campaign in each state, all over one collection."""
    await store_training(suite, dialogues=[gold_dialogue("one")])
    collection = await import_conversations(suite, CONVERSATIONS)
    return [await _campaign(suite, collection, state) for state in STATES]


async def _campaign(suite: RunningSuite, collection: str, state: str) -> Campaign:
    admin, frontend = [await suite.client("annotation", role) for role in ("admin", "annotation")]
    body: dict[str, Any] = {"name": state, "domain": "everyday", "collection_id": collection, "segments": [1, 2]}
    body |= {"open": state != "draft", "annotations_per_segment": 1, "consent": "We keep your labels."}
    body |= {"training": {"name": "first_steps"}, "pay_per_package": "1", "currency": "EUR"}
    path = f"/v1/campaigns/{(await created(admin, '/v1/campaigns', body))['id']}"
    made = await until(admin, path, "draft" if state == "draft" else "open")
    ann, bob = f"ann-{state}", f"bob-{state}"
    for person in (ann, bob):
        consent = {"annotator": person, "sha256": made["consent_sha256"]}
        assert (await frontend.post(f"{path}/consents", json=consent)).status_code == 200
    people = {each["annotator"]: each["id"] for each in (await admin.get(f"{path}/annotators")).json()["items"]}
    link = await created(frontend, f"{path}/entry-links", {"annotator": ann})
    found = Campaign(
        state, made["id"], made["consent_sha256"], collection, people[ann], link["query"].removeprefix("entry=")
    )
    if state == "draft":
        return found
    for person in (ann, bob):
        assert (await start(suite, made, person)).status_code == 200
        assert (await respond(suite, made, person, 0)).status_code == 200
        assignment = await claim(suite, made, person)
        await answer_items(suite, assignment)
        if person == ann or state == "complete":
            assert (await submit(suite, assignment)).status_code == 200
        found.submitted, found.held = (assignment["id"] if person == ann else found.submitted), assignment["id"]
    if step := {"paused": "pause", "closed": "close"}.get(state):
        assert (await admin.post(f"{path}/{step}")).status_code == 200
    assert (await admin.get(path)).json()["state"] == state
    return found


async def _ask(client: httpx.AsyncClient, method: str, path: str, body: Any) -> int:
    return (await client.request(method, path, json=body)).status_code


class TestEveryState:
    async def test_answers_each_caller_as_the_table_says(self, suite: RunningSuite):
        """Those who may not ask come first: what they send must change nothing for those who may."""
        operations = {operation: (method, path) for operation, method, path in _operations()}
        clients = {role: await suite.client("annotation", role, team=_team(role)) for role in ROLES}
        elsewhere = await suite.client("annotation", "annotation", team="others")
        found: dict[tuple[str, str, str], int] = {}
        expected: dict[tuple[str, str, str], int] = {}
        with psycopg.connect(suite.database.owner["annotation"], autocommit=True) as connection:
            async with httpx.AsyncClient(base_url=suite.urls["annotation"], trust_env=False) as stranger:
                for campaign in await _campaigns(suite):
                    for route in (*MOVES, *ROUTES):
                        method, template = operations[route.operation]
                        path, body = _filled(template, campaign, route), route.body(campaign)
                        callers = {role: client for role, client in clients.items() if role not in route.roles}
                        due = dict.fromkeys(callers, 403) | {"nobody": 401}
                        callers["nobody"] = stranger
                        if "annotation" in route.roles:
                            callers["elsewhere"], due["elsewhere"] = elsewhere, _in(campaign.state, route.elsewhere)
                        callers["right"], due["right"] = (
                            clients[route.roles[-1]],
                            _in(campaign.state, route.statuses),
                        )
                        for caller, client in callers.items():
                            here = (campaign.state, route.operation, caller)
                            expected[here] = due[caller]
                            found[here] = await _ask(client, method, path, body)
                        if route in MOVES:
                            query = "UPDATE annotation.campaigns SET state = %s WHERE id = %s"
                            connection.execute(query, [campaign.state, campaign.id])
        assert {here: status for here, status in found.items() if status != expected[here]} == {}
        assert len(found) > len(STATES) * len(ROUTES) * 4

    def test_knows_every_route(self):
        known = {route.operation for route in (*MOVES, *ROUTES)} | OF_NO_CAMPAIGN.keys() | WITHOUT_KEY
        assert {operation for operation, _, _ in _operations()} == known


class TestEveryRoute:
    async def test_refuses_strangers_other_roles_and_ten_megabytes(self, suite: RunningSuite):
        """A body is read only for those who may send one, and then up to the route's limit."""
        roles = OF_NO_CAMPAIGN | {route.operation: route.roles for route in (*MOVES, *ROUTES)}
        clients = {role: await suite.client("annotation", role, team=_team(role)) for role in ROLES}
        headers = {"Content-Type": "application/json"}
        wrong: dict[tuple[str, str], int] = {}
        async with httpx.AsyncClient(base_url=suite.urls["annotation"], trust_env=False) as stranger:
            for operation, method, template in _operations():
                if operation in WITHOUT_KEY:
                    continue
                values = dict.fromkeys(("name", "version", "position", "attempt"), "1")
                ids = ("campaign", "annotator", "assignment", "link", "subscription", "event", "study")
                path = template.format(**values, **{f"{each}_id": str(uuid4()) for each in ids})
                for role, client in {"nobody": stranger, **clients}.items():
                    status = 401 if role == "nobody" else 403
                    if role not in roles[operation] and (got := await _ask(client, method, path, None)) != status:
                        wrong[operation, role] = got
                if method not in {"GET", "DELETE"}:
                    # A batch of packages may hold 32 MiB, but not be anything else.
                    body, status = (THIRTY_MB, 422) if operation == "import_packages" else (TEN_MB, 413)
                    large = await clients[roles[operation][-1]].request(method, path, content=body, headers=headers)
                    if large.status_code != status:
                        wrong[operation, "large"] = large.status_code
        assert wrong == {}


def _team(role: str) -> str | None:
    return "t" if role == "team" else None
