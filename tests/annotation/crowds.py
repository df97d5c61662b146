"""A crowd of annotators over HTTP: they lose connections, send things twice, walk away, and note each answer."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import aiohttp

SIDES = ("human", "bot", "unsure")
FEATURES = ("fluency", "sensibleness", "specificity")
_PROBLEM = "urn:spotthebot:problem:"


@dataclass(frozen=True)
class Saved:
    """A draft as the service acknowledged it."""

    answer: Mapping[str, Any]
    step: int


@dataclass
class Crowd:
    """Annotators of one campaign, and what the service acknowledged to them."""

    url: str
    keys: Sequence[str]
    """Those of the frontends; each annotator uses one of them."""
    campaign_id: UUID
    lease_seconds: float
    seed: int
    saves: dict[tuple[UUID, int, int], list[Saved]] = field(default_factory=lambda: defaultdict(list))
    """By assignment, position and version."""
    codes: dict[UUID, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Completion codes by assignment."""
    statuses: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    expired: int = 0

    async def work(self, annotators: int) -> None:
        """Let so many annotators claim, answer and submit until each has reached its limit or the campaign is over."""
        connector = aiohttp.TCPConnector(limit=0)
        async with (
            aiohttp.ClientSession(self.url, connector=connector, timeout=aiohttp.ClientTimeout(total=60)) as session,
            asyncio.TaskGroup() as group,
        ):
            for number in range(annotators):
                rng = random.Random(f"{self.seed} {number}")
                key = self.keys[number % len(self.keys)]
                group.create_task(_Annotator(self, session, key, f"annotator {number}", rng).work())


@dataclass
class _Annotator:
    crowd: Crowd
    session: aiohttp.ClientSession
    key: str
    name: str
    rng: random.Random

    async def work(self) -> None:
        path = f"/v1/campaigns/{self.crowd.campaign_id}/assignments"
        while True:
            status, body = await self._insist("POST", path, {"annotator": self.name})
            if status == 201:
                await self._annotate(body)
            elif _reason(status, body) == "nothing-left":
                await asyncio.sleep(self.rng.uniform(0.5, 1.5))
            else:
                assert _reason(status, body) in {"closed", "limit-reached"}, (status, body)
                return

    async def _annotate(self, assignment: Mapping[str, Any]) -> None:
        """Answer what is missing and submit; return early where the package was taken back."""
        for item in assignment["items"]:
            if self.rng.random() < 0.05:
                await asyncio.sleep(self.crowd.lease_seconds * self.rng.uniform(0.3, 1.6))
            if not await self._answer(assignment, item):
                self.crowd.expired += 1
                return
        path = f"/v1/assignments/{assignment['id']}/submit"
        for status, body in await self._sometimes_twice("POST", path, [{}, {}]):
            if status == 200:
                self.crowd.codes[UUID(body["id"])].add(body["completion_code"])
            else:
                # A save whose connection was lost may arrive after the next one, and be shorter.
                assert _reason(status, body) in {"assignment-expired", "items-unanswered"}, (status, body)

    async def _answer(self, assignment: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
        if self.rng.random() < 0.2:
            beat = f"/v1/assignments/{assignment['id']}/heartbeat"
            await self._insist("POST", beat, {"position": item["position"]})
        entity = item["answer"].get("entity") or {side: self.rng.choice(SIDES) for side in "AB"}
        if item["step"] == 1 and not await self._save(assignment, item, [{"entity": entity}], show_step=2):
            return False
        wholes = [
            {"entity": entity} | {name: self.rng.choice(("A", "B", "tie")) for name in FEATURES} for _ in range(2)
        ]
        return await self._save(assignment, item, wholes)

    async def _save(
        self, assignment: Mapping[str, Any], item: Mapping[str, Any], answers: Sequence[Mapping[str, Any]], **more: int
    ) -> bool:
        """Save the first answer, or all at once; False where the package is not this annotator's any more."""
        path = f"/v1/assignments/{assignment['id']}/items/{item['position']}"
        bodies = [{"answer": answer, **more} for answer in answers]
        for (status, saved), answer in zip(await self._sometimes_twice("PUT", path, bodies), answers, strict=False):
            if status != 200:
                assert _reason(status, saved) in {"assignment-expired", "assignment-submitted"}, (status, saved)
                return False
            key = (UUID(assignment["id"]), item["position"], saved["version"])
            self.crowd.saves[key].append(Saved(answer, saved["step"]))
        return True

    async def _sometimes_twice(
        self, method: str, path: str, bodies: Sequence[Mapping[str, Any]]
    ) -> list[tuple[int, Any]]:
        """Send the first request, now and then all of them at once."""
        count = len(bodies) if self.rng.random() < 0.2 else 1
        return await asyncio.gather(*(self._insist(method, path, body) for body in bodies[:count]))

    async def _insist(self, method: str, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        """Send a request until there is an answer to it; now and then hang up before the answer is there."""
        while True:
            hangs_up = self.rng.random() < 0.1
            try:
                async with (
                    asyncio.timeout(self.rng.uniform(0, 0.03) if hangs_up else 60),
                    self.session.request(
                        method, path, json=body, headers={"Authorization": f"Bearer {self.key}"}
                    ) as answer,
                ):
                    document = await answer.json(content_type=None)
            except (TimeoutError, aiohttp.ClientError):
                self.crowd.lost += 1
                await asyncio.sleep(self.rng.uniform(0, 0.1))
                continue
            self.crowd.statuses[answer.status] += 1
            if answer.status < 500 and answer.status != 429:
                return answer.status, document
            await asyncio.sleep(self.rng.uniform(0.05, 0.2))


def _reason(status: int, body: Mapping[str, Any]) -> str | None:
    """Return what a refusal says by its type."""
    return body["type"].removeprefix(_PROBLEM) if status == 409 else None
