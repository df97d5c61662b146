import asyncio
import multiprocessing
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psutil
import pytest
from sqlalchemy import func, update

from spotthebot.conversations.quality.domain.flags import RULES, TextFlags
from spotthebot.conversations.quality.store import checks as checks_store
from spotthebot.conversations.quality.store import flags as flags_store
from spotthebot.conversations.quality.store import summaries as summaries_store
from spotthebot.conversations.quality.tables import QualityCheckRow
from spotthebot.conversations.quality.use_cases import check as check_use_cases
from spotthebot.conversations.quality.use_cases.check import check_quality
from spotthebot.kit.database.sessions import Database
from spotthebot.local.sample import sample_dialogues
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import QUALITY_CHECKS, RunningSuite, run_suite
from tests.factories.studies import add_bot, add_corpus, conversation, created, import_conversations, plan, until

WORKER = """
import asyncio, multiprocessing
from spotthebot.conversations.quality.use_cases.flag_process import flag_process

async def work():
    async with flag_process() as flag_texts:
        await flag_texts([["a", "b"]])
        print(multiprocessing.active_children()[0].pid, flush=True)
        await asyncio.sleep(60)

if __name__ == "__main__":
    asyncio.run(work())
"""
FLAGS = TextFlags(
    turns=2, words=4, language=None, profanity=(), personal_data=(), text_hash=b"", signature=b"", exchange_hashes=b""
)
SAMPLE = [tuple(each["turns"]) for each in sample_dialogues()]
SHORT = [("Hi.", f"Number {each}.") for each in range(60)]
"""Too few words for a language: the model of languages, which takes most of a second to load, is not asked."""


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"conversations": QUALITY_CHECKS}


def _said(key: str, turns: tuple[str, ...], first: str = "one") -> dict[str, Any]:
    texts = [{"speaker": "AB"[place % 2], "text": text} for place, text in enumerate(turns)]
    return conversation(key, first, "HU" if first == "HU" else "two") | {"turns": texts}


async def _flagged(admin: httpx.AsyncClient, collection: str, **body: Any) -> dict[str, Any]:
    answer = await admin.post(f"/v1/collections/{collection}/quality-flags", json=body)
    assert answer.status_code == 202, answer.text
    return await _until_done(admin, collection)


async def _until_done(admin: httpx.AsyncClient, collection: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            found = await admin.get(f"/v1/collections/{collection}/quality")
            if found.status_code == 200 and found.json()["check"]["state"] in {"done", "failed"}:
                return found.json()
            await asyncio.sleep(0.1)


async def _list(admin: httpx.AsyncClient, collection: str, **query: Any) -> list[dict[str, Any]]:
    answer = await admin.get(f"/v1/collections/{collection}/quality-flags", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


class TestQualityFlags:
    async def test_are_counted_in_the_summary_and_listed_by_conversation(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        training = [
            {"turns": turns, "key": key, "split": "train"} for key, turns in (("t", SAMPLE[0]), ("hi", ("Hi.", "Hi!")))
        ]
        corpus = await add_corpus(suite)
        await created(admin, f"/v1/corpora/{corpus}/dialogues", {"dialogues": training})
        rude = (*SAMPLE[4][:3], "Shit, write to me at joe@example.org.", "And why?", "Call (415) 555-2671, shit.")
        texts = [SAMPLE[0], SAMPLE[1], SAMPLE[1], (*SAMPLE[1][:-1], "All of that was a dream."), rude, ("Hi.", "Hi!")]
        collection = await import_conversations(
            suite, [_said(f"c{number}", turns) for number, turns in enumerate(texts)] + [_said("h", SAMPLE[0], "HU")]
        )
        quality = await _flagged(admin, collection, training={"corpus_id": corpus, "split": "train"})
        summary = quality["summary"]
        assert quality["check"]["state"] == "done"
        assert (quality["check"]["flagged"], quality["check"]["conversations"]) == (7, 7)
        assert summary["exact_duplicates"] == {"conversations": 2, "share": 2 / 7}
        assert summary["near_duplicates"] == {"conversations": 1, "share": 1 / 7}
        assert summary["profanity"]["conversations"] == summary["personal_data"]["conversations"] == 1
        assert summary["personal_data_kinds"] == {"email": 1, "phone": 1}
        assert summary["languages"] == {"en": 6, "unknown": 1}
        said = [*texts, SAMPLE[0]]
        assert summary["turns"]["mean"] == pytest.approx(sum(map(len, said)) / 7)
        assert (summary["turns"]["minimum"], summary["turns"]["maximum"]) == (2, max(map(len, said)))
        # The conversation between people is left out of the share.
        assert summary["training"]["in_training"] == len(SAMPLE[0])  # its exchanges, one fewer, and a single other one
        assert summary["training"]["exchanges"] == sum(len(turns) - 1 for turns in texts)

        noted = await _list(admin, collection)
        ids = [each["conversation_id"] for each in noted]
        assert [each["exact_duplicate_of"] for each in noted] == [None, None, ids[1], None, None, None, ids[0]]
        assert [each["near_duplicate_of"] for each in noted] == [None, None, None, ids[1], None, None, None]
        assert noted[3]["similarity"] > 0.7
        assert [each["in_training"] for each in noted[:2]] == [len(SAMPLE[0]) - 1, 0]
        assert noted[4]["profanity"] == [3, 5]
        assert noted[4]["personal_data"] == [{"position": 3, "kind": "email"}, {"position": 5, "kind": "phone"}]
        for kind, expected in (("exact_duplicate", [2, 6]), ("in_training", [0, 5, 6]), ("profanity", [4])):
            assert [each["conversation_id"] for each in await _list(admin, collection, only=kind)] == [
                ids[place] for place in expected
            ]

    async def test_are_listed_page_by_page_and_a_second_check_adds_new_conversations(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        collection = await import_conversations(suite, [_said(f"c{n}", SHORT[n]) for n in range(5)])
        before = await _flagged(admin, collection)
        more = {"conversations": [_said("late", SHORT[2])]}
        await created(admin, f"/v1/collections/{collection}/conversations", more)
        after = await _flagged(admin, collection)
        assert before["summary"]["exact_duplicates"]["conversations"] == 0
        assert after["summary"]["exact_duplicates"]["conversations"] == 1
        assert after["summary"]["training"] is None
        page = (await admin.get(f"/v1/collections/{collection}/quality-flags", params={"limit": 4})).json()
        rest = await _list(admin, collection, limit=4, cursor=page["next_cursor"])
        assert len({each["conversation_id"] for each in page["items"] + rest}) == 6

    async def test_are_computed_when_a_collection_finishes(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        bots = [await add_bot(suite, model) for model in ("dull", "parrot")]
        collection = await created(admin, "/v1/collections", plan(bots))
        await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert (await _until_done(admin, collection["id"]))["summary"]["conversations"] == 2

    async def test_are_computed_by_a_worker_that_computes_some(self, database_urls: DatabaseUrls):
        async with run_suite(database_urls, conversations={"quality_checks_at_once": 0}) as none:
            collection = await import_conversations(none, [_said("c", SHORT[0])])
            admin = await none.client("conversations", "admin")
            await admin.post(f"/v1/collections/{collection}/quality-flags", json={})
            await asyncio.sleep(1)
            found = await admin.get(f"/v1/collections/{collection}/quality")
            assert (found.json()["check"]["state"], multiprocessing.active_children()) == ("waiting", [])
            async with run_suite(database_urls, only=("conversations",), conversations=QUALITY_CHECKS):
                assert (await _until_done(admin, collection))["summary"]["conversations"] == 1

    async def test_near_duplicates_are_renewed_in_one_collection_alone(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        database = Database(suite.database.app["conversations"], pool_size=2)
        collections = [
            UUID(await import_conversations(suite, [_said(f"c{n}", SHORT[n]) for n in range(2)])) for _ in range(2)
        ]
        for collection in collections:
            async with database.write() as session:
                added = await flags_store.list_unflagged(session, collection, after=None, limit=2)
                await flags_store.add_flags(session, collection, [(each, FLAGS) for each in added])
                one, other = (each.conversation_id for each in added)
                await flags_store.flag_near_duplicates(session, collection, [(other, one, 0.9)])
        async with database.write() as session:
            await flags_store.flag_near_duplicates(session, collections[0], [])
        await database.close()
        counts = [len(await _list(admin, str(each), only="near_duplicate")) for each in collections]
        assert counts == [0, 1]

    async def test_flags_of_other_rules_replace_those_of_older_ones(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        admin = await suite.client("conversations", "admin")
        collection = UUID(await import_conversations(suite, [_said("c", SHORT[0])]))
        database = Database(suite.database.app["conversations"], pool_size=2)
        for rules, words in ((RULES, 4), (RULES + 1, 5)):
            monkeypatch.setattr(flags_store, "RULES", rules)
            async with database.write() as session:
                (added,) = await flags_store.list_unflagged(session, collection, after=None, limit=2)
                await flags_store.add_flags(session, collection, [(added, replace(FLAGS, words=words))])
                assert await flags_store.list_unflagged(session, collection, after=None, limit=2) == []
        await database.close()
        assert [each["words"] for each in await _list(admin, str(collection))] == [5]

    async def test_are_refused_for_unknown_corpora_and_empty_splits(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        collection = await import_conversations(suite, [_said("c", SHORT[0])])
        path = f"/v1/collections/{collection}"
        assert (await admin.get(f"{path}/quality")).json()["type"].endswith(":no-quality-check")
        for training, problem in (
            ({"corpus_id": collection}, "unknown-corpus-in-plan"),
            ({"corpus_id": await add_corpus(suite), "split": "none"}, "split-is-empty"),
        ):
            answer = await admin.post(f"{path}/quality-flags", json={"training": training})
            assert (answer.status_code, answer.json()["type"].rsplit(":", 1)[1]) == (422, problem)
        empty = await created(admin, "/v1/collections", {"mode": "import", "name": "e", "domain": "everyday"})
        summary = (await _flagged(admin, empty["id"]))["summary"]
        assert summary["conversations"] == 0
        assert summary["turns"] is None
        assert summary["profanity"]["share"] is None


class TestKilledCheck:
    async def test_continues_with_the_conversations_without_flags(
        self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch
    ):
        """The process is killed in the middle; a second run flags the rest, and nothing twice."""
        monkeypatch.setattr(check_use_cases, "_TEXTS_PER_BATCH", 10)
        collection = UUID(await import_conversations(suite, [_said(f"c{n}", SHORT[n % 60]) for n in range(120)]))
        database = Database(suite.database.app["conversations"], pool_size=2)
        async with database.write() as session:
            await checks_store.request_check(session, collection)
        written: list[int] = []
        add_flags = flags_store.add_flags

        async def count(session: Any, collection_id: UUID, flagged: Any) -> None:
            written.append(len(flagged))
            await add_flags(session, collection_id, flagged)
            if len(written) == 4:
                for child in multiprocessing.active_children():
                    child.kill()

        monkeypatch.setattr(flags_store, "add_flags", count)
        with pytest.raises(Exception, match="terminated abruptly"):
            await check_quality(database, collection)
        async with database.read() as reading:
            killed = await checks_store.get_check(reading, collection)
        await check_quality(database, collection)
        async with database.read() as reading:
            done = await checks_store.get_check(reading, collection)
            left = await flags_store.list_unflagged(reading, collection, after=None, limit=200)
            monkeypatch.setattr(flags_store, "RULES", RULES + 1)
            older = await flags_store.list_unflagged(reading, collection, after=None, limit=200)
        await database.close()
        assert sum(written) == 120
        assert (killed.state, killed.flagged, done.state) == ("flagging", 40, "done")
        assert (len(left), len(older)) == (0, 120)  # flags of older rules are computed again
        assert done.summary is not None
        assert done.summary.exact_duplicates.conversations == 60

    async def test_leaves_no_process_behind_when_its_worker_is_killed(self, tmp_path: Path):
        """A worker that gets SIGKILL leaves no process behind that holds its models."""
        program = tmp_path / "worker.py"
        program.write_text(WORKER)
        worker = await asyncio.create_subprocess_exec(sys.executable, program, stdout=asyncio.subprocess.PIPE)
        assert worker.stdout is not None
        child = int(await worker.stdout.readline())
        assert psutil.pid_exists(child)
        worker.kill()
        await worker.wait()
        async with asyncio.timeout(60):
            while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
                await asyncio.sleep(0.05)

    async def test_counts_as_lost_a_minute_after_its_request(self, suite: RunningSuite):
        collection = UUID(await import_conversations(suite, [_said("c", SHORT[0])]))
        database = Database(suite.database.app["conversations"], pool_size=2)
        async with database.write() as session:
            await checks_store.request_check(session, collection)
            for seconds, lost in ((55, []), (61, [collection])):
                requested_at = func.clock_timestamp() - timedelta(seconds=seconds)
                await session.execute(update(QualityCheckRow).values(requested_at=requested_at))
                assert await checks_store.list_unfinished(session) == lost
        await database.close()

    async def test_leaves_a_later_request_waiting_for_its_own_job(self, suite: RunningSuite):
        collection = UUID(await import_conversations(suite, [_said("c", SHORT[0])]))
        database = Database(suite.database.app["conversations"], pool_size=2)
        async with database.write() as session:
            await checks_store.request_check(session, collection)
        async with database.write() as session:
            first = await checks_store.start_check(session, collection)
        async with database.write() as session:
            await checks_store.request_check(session, collection)
        async with database.write() as session:
            await checks_store.finish_check(session, first, await summaries_store.summarise(session, collection, None))
        async with database.read() as session:
            assert (await checks_store.get_check(session, collection)).state == "waiting"
        await database.close()
