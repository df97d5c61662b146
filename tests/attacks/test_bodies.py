"""Bodies that are large, deep, full of faults or never end: refused early, within a known time and memory."""

import asyncio
import resource
import time
from contextlib import suppress
from typing import Any

import httpx
import pytest

from tests.attacks.wire import head, opened, status_of
from tests.factories.running_suite import RunningSuite

JSON = {"Content-Type": "application/json"}
MIB = 1024 * 1024
EMPTY_LISTS = b"[" + b"[]," * (32 * MIB // 3 - 2) + b"[]]"
"""The body that stalled a service for 8 s at 0.9 GB: eleven million lists."""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations")


@pytest.fixture
async def stranger(suite: RunningSuite) -> Any:
    async with httpx.AsyncClient(base_url=suite.urls["bots"], trust_env=False, timeout=30) as client:
        yield client


class TestStrangers:
    async def test_are_refused_before_a_byte_of_their_body_is_there(self, suite: RunningSuite):
        async with opened(suite.urls["bots"]) as (reader, writer):
            writer.write(head("POST", "/v1/bots", Content_Type="application/json", Content_Length=str(32 * MIB)))
            assert await status_of(reader) == 401

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("POST", "/v1/bots"),
            ("POST", "/v1/bots/5/replies"),
            ("PUT", "/v1/hosted-models/m/files/f"),
            ("POST", "/openai/v1/chat/completions"),
        ],
    )
    async def test_stall_nobody_with_eleven_million_lists(self, stranger: httpx.AsyncClient, method: str, path: str):
        """Processor time is counted, of both sides: it took 8 s, and 0.9 GB."""
        started = time.process_time()
        answer = await stranger.request(method, path, content=EMPTY_LISTS, headers=JSON)
        assert answer.status_code == 401
        assert time.process_time() - started < 1.0

    async def test_hold_no_memory_with_forty_bodies_that_never_end(self, suite: RunningSuite):
        """Forty bodies of 10 MB held 382 MB; each now gets its answer, and what it sends is thrown away."""
        piece = bytes(MIB)
        before = _resident_bytes()

        async def send() -> int:
            async with opened(suite.urls["bots"]) as (reader, writer):
                answer = asyncio.ensure_future(status_of(reader))
                writer.write(head("POST", "/v1/bots", Content_Type="application/json", Content_Length=str(30 * MIB)))
                with suppress(ConnectionError):  # a busy machine may send on for so long that it is cut off
                    for _ in range(10):
                        writer.write(piece)
                        await writer.drain()
                return await answer

        assert set(await asyncio.gather(*(send() for _ in range(40)))) == {401}
        assert _resident_bytes() - before < 100 * MIB

    async def test_are_cut_off_when_they_send_on_after_the_answer(self, suite: RunningSuite):
        async with opened(suite.urls["bots"]) as (reader, writer):
            writer.write(head("POST", "/v1/bots", Content_Type="application/json", Content_Length=str(30 * MIB)))
            assert await status_of(reader) == 401
            started = time.monotonic()
            with pytest.raises(ConnectionError):
                while time.monotonic() - started < 10:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.1)
            assert time.monotonic() - started < 9

    @pytest.mark.parametrize("path", ["/openapi.json", "/readyz"])
    async def test_cost_little_with_what_anybody_may_ask_for(self, stranger: httpx.AsyncClient, path: str):
        """A document of 170 kB was written again for each request, and every look at readiness asked the database."""
        await stranger.get(path)
        started = time.process_time()
        answers = await asyncio.gather(*(stranger.get(path) for _ in range(100)))
        assert {answer.status_code for answer in answers} == {200}
        assert time.process_time() - started < 1.0


class TestCallers:
    async def test_hang_up_in_the_middle_of_a_body_without_an_error_of_ours(self, suite: RunningSuite):
        key = await suite.keys.make("admin")
        async with opened(suite.urls["bots"]) as (_, writer):
            more = {"Content_Type": "application/json", "Content_Length": "900"}
            writer.write(head("POST", "/v1/bots", Authorization=f"Bearer {key}", **more) + b"{")
            await asyncio.sleep(0.2)
        metrics = suite.apps["bots"].state.core.metrics
        async with asyncio.timeout(20):
            while b'route="/v1/bots",service="bots",status="400"' not in metrics.render():
                assert b'status="500"' not in metrics.render()
                await asyncio.sleep(0.05)

    @pytest.mark.parametrize("announced", [True, False])
    async def test_send_one_mebibyte_unless_a_route_declares_more(self, suite: RunningSuite, announced: bool):
        async def pieces():
            for _ in range(3):
                yield b" " * (MIB // 2)

        admin = await suite.client("conversations", "admin")
        answer = await admin.post("/v1/corpora", content=b" " * (MIB + 1) if announced else pieces(), headers=JSON)
        assert answer.status_code == 413
        assert f"{MIB} bytes" in answer.json()["detail"]

    async def test_import_more_where_the_route_declares_it(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        corpus = (
            await admin.post("/v1/corpora", json={"name": "large", "domain": "d", "origin": "o", "licence": "l"})
        ).json()
        turns = ["x" * 20_000, "y" * 20_000]
        dialogues = [{"key": str(number), "split": "train", "turns": turns} for number in range(40)]
        answer = await admin.post(f"/v1/corpora/{corpus['id']}/dialogues", json={"dialogues": dialogues})
        assert answer.json() == {"stored": 40, "already_there": 0}

    @pytest.mark.parametrize(
        ("body", "detail"),
        [
            (b"[" + b"[]," * 340_000 + b"[]]", "20,000 values"),
            (b'{"name": ' + b"[" * 33 + b"]" * 33 + b"}", "32 deep"),
            (b"[" * 500_000, "values"),
            (b'{"a":' * 15_000 + b"1" + b"}" * 15_000, "32 deep"),
        ],
    )
    async def test_are_refused_wide_and_deep_json_at_once(self, suite: RunningSuite, body: bytes, detail: str):
        admin = await suite.client("bots", "admin")
        started = time.process_time()
        answer = await admin.post("/v1/bots", content=body, headers=JSON)
        assert answer.status_code == 422
        assert detail in answer.json()["errors"][0]["detail"]
        assert time.process_time() - started < 0.5

    async def test_may_write_brackets_and_commas_in_texts(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        text = '[{"' * 300 + "," * 900 + "\\"
        bot = {"name": "b", "domains": ["d"], "description": text, "protocol": {"kind": "builtin", "model": "dull"}}
        assert (await admin.post("/v1/bots", json=bot)).status_code == 201

    async def test_see_twenty_faults_and_the_number_of_the_others(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        bots = [f"no bot {number}" for number in range(100)]
        plan = {"mode": "all_play_all", "name": "n", "domain": "d", "bots": bots, "exchanges": 1}
        problem = (await admin.post("/v1/collections", json=plan | {"conversations_per_pair": 1})).json()
        further = 80 + 1  # and the list, in which no bot is left
        assert (len(problem["errors"]), problem["further_errors"]) == (20, further)
        assert problem["detail"].endswith(f"and {further} more.")

    async def test_get_a_short_answer_to_many_faults_in_a_large_import(self, suite: RunningSuite):
        """2 MB of faults came back as 92 MB after 14 s."""
        admin = await suite.client("conversations", "admin")
        turn = {"speaker": 5, "text": None, "x" * 100: 1}
        conversation = {"external_id": 7, "participants": [1, 2], "turns": [turn] * 100}
        batch = {"conversations": [conversation] * 200}
        path = f"/v1/collections/{'0' * 8}-0000-7000-8000-{'0' * 12}/conversations"
        started = time.process_time()
        answer = await admin.post(path, json=batch)
        assert answer.status_code == 422
        assert time.process_time() - started < 1.0
        assert len(answer.content) < 10_000

    async def test_may_give_an_object_two_hundred_fields(self, suite: RunningSuite):
        """Each unknown field is a fault: a hundred thousand in one body took seconds and gigabytes."""
        admin = await suite.client("conversations", "admin")
        batch = {"dialogues": [{f"x{number}": 1 for number in range(100_000)}]}
        started = time.process_time()
        answer = await admin.post(f"/v1/corpora/{'0' * 8}-0000-7000-8000-{'0' * 12}/dialogues", json=batch)
        assert answer.status_code == 422
        assert "200 fields" in answer.json()["errors"][0]["detail"]
        assert time.process_time() - started < 1.0

    async def test_get_their_own_words_back_shortened(self, suite: RunningSuite):
        admin = await suite.client("bots", "admin")
        bot = {"protocol": {"kind": "k" * 500_000}, "n" * 400_000: 1}
        answer = await admin.post("/v1/bots", json=bot)
        assert answer.status_code == 422
        assert len(answer.content) < 5000


def _resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
