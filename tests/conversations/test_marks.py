import asyncio
import multiprocessing
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psutil
import pytest

from spotthebot.conversations.domain.quality import noted
from spotthebot.conversations.store import accounts, markings, marks
from spotthebot.conversations.use_cases import marking
from spotthebot.kit.database import Database
from spotthebot.suite.sample import sample_dialogues
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, add_corpus, conversation, created, import_conversations, plan, until

WORKER = """
import asyncio, multiprocessing
from spotthebot.conversations.use_cases.marking_process import marking_process

async def work():
    async with marking_process() as mark_texts:
        await mark_texts([["a", "b"]])
        print(multiprocessing.active_children()[0].pid, flush=True)
        await asyncio.sleep(60)

if __name__ == "__main__":
    asyncio.run(work())
"""
SAMPLE = [tuple(each["turns"]) for each in sample_dialogues()]


def _said(key: str, turns: tuple[str, ...], first: str = "one") -> dict[str, Any]:
    texts = [{"speaker": "AB"[place % 2], "text": text} for place, text in enumerate(turns)]
    return conversation(key, first, "HU" if first == "HU" else "two") | {"turns": texts}


async def _marked(admin: httpx.AsyncClient, collection: str, **body: Any) -> dict[str, Any]:
    answer = await admin.post(f"/v1/collections/{collection}/marks", json=body)
    assert answer.status_code == 202, answer.text
    return await _until_done(admin, collection)


async def _until_done(admin: httpx.AsyncClient, collection: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            found = await admin.get(f"/v1/collections/{collection}/quality")
            if found.status_code == 200 and found.json()["marking"]["state"] in {"done", "failed"}:
                return found.json()
            await asyncio.sleep(0.1)


async def _list(admin: httpx.AsyncClient, collection: str, **query: Any) -> list[dict[str, Any]]:
    answer = await admin.get(f"/v1/collections/{collection}/marks", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


class TestMarks:
    async def test_an_account_says_what_was_found_and_the_marks_say_where(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        training = {"turns": list(SAMPLE[0]), "key": "t", "split": "train"}
        corpus = await add_corpus(suite)
        await created(admin, f"/v1/corpora/{corpus}/dialogues", {"dialogues": [training]})
        rude = (*SAMPLE[4][:3], "Shit, write to me at joe@example.org.", "And why?", "Call (415) 555-2671, shit.")
        texts = [SAMPLE[0], SAMPLE[1], SAMPLE[1], (*SAMPLE[1][:-1], "All of that was a dream."), rude, ("Hi.", "Hi!")]
        collection = await import_conversations(
            suite, [_said(f"c{number}", turns) for number, turns in enumerate(texts)] + [_said("h", SAMPLE[0], "HU")]
        )
        quality = await _marked(admin, collection, training={"corpus_id": corpus, "split": "train"})
        account = quality["account"]
        assert quality["marking"]["state"] == "done"
        assert (quality["marking"]["marked"], quality["marking"]["conversations"]) == (7, 7)
        assert account["exact_duplicates"] == {"conversations": 2, "share": 2 / 7}
        assert account["near_duplicates"] == {"conversations": 1, "share": 1 / 7}
        assert account["profanity"]["conversations"] == account["personal_data"]["conversations"] == 1
        assert account["personal_data_kinds"] == {"email": 1, "phone": 1}
        assert account["languages"] == {"en": 6, "unknown": 1}
        said = [*texts, SAMPLE[0]]
        assert account["turns"]["mean"] == pytest.approx(sum(map(len, said)) / 7)
        assert (account["turns"]["minimum"], account["turns"]["maximum"]) == (2, max(map(len, said)))
        # The conversation between people is left out of the share.
        assert account["training"]["in_training"] == len(SAMPLE[0]) - 1
        assert account["training"]["exchanges"] == sum(len(turns) - 1 for turns in texts)

        noted = await _list(admin, collection)
        ids = [each["conversation_id"] for each in noted]
        assert [each["exact_duplicate_of"] for each in noted] == [None, None, ids[1], None, None, None, ids[0]]
        assert [each["near_duplicate_of"] for each in noted] == [None, None, None, ids[1], None, None, None]
        assert noted[3]["similarity"] > 0.7
        assert [each["in_training"] for each in noted[:2]] == [len(SAMPLE[0]) - 1, 0]
        assert noted[4]["profanity"] == [3, 5]
        assert noted[4]["personal_data"] == [{"position": 3, "kind": "email"}, {"position": 5, "kind": "phone"}]
        for kind, expected in (("exact_duplicate", [2, 6]), ("in_training", [0, 6]), ("profanity", [4])):
            assert [each["conversation_id"] for each in await _list(admin, collection, only=kind)] == [
                ids[place] for place in expected
            ]

    async def test_marks_come_page_by_page_and_another_marking_adds_the_new_ones(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        collection = await import_conversations(suite, [_said(f"c{n}", SAMPLE[n]) for n in range(5)])
        before = await _marked(admin, collection)
        more = {"conversations": [_said("late", SAMPLE[2])]}
        await created(admin, f"/v1/collections/{collection}/conversations", more)
        after = await _marked(admin, collection)
        assert before["account"]["exact_duplicates"]["conversations"] == 0
        assert after["account"]["exact_duplicates"]["conversations"] == 1
        assert after["account"]["training"] is None
        page = (await admin.get(f"/v1/collections/{collection}/marks", params={"limit": 4})).json()
        rest = await _list(admin, collection, limit=4, cursor=page["next_cursor"])
        assert len({each["conversation_id"] for each in page["items"] + rest}) == 6

    async def test_a_collection_that_finishes_is_marked_by_itself(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        bots = [await add_bot(suite, model) for model in ("dull", "parrot")]
        collection = await created(admin, "/v1/collections", plan(bots))
        await until(admin, f"/v1/collections/{collection['id']}", "complete")
        assert (await _until_done(admin, collection["id"]))["account"]["conversations"] == 2

    async def test_what_cannot_be_compared_is_said(self, suite: RunningSuite):
        admin = await suite.client("conversations", "admin")
        collection = await import_conversations(suite, [_said("c", SAMPLE[0])])
        path = f"/v1/collections/{collection}"
        assert (await admin.get(f"{path}/quality")).json()["type"].endswith(":not-marked")
        for training, problem in (
            ({"corpus_id": collection}, "unknown-corpus-in-plan"),
            ({"corpus_id": await add_corpus(suite), "split": "none"}, "split-is-empty"),
        ):
            answer = await admin.post(f"{path}/marks", json={"training": training})
            assert (answer.status_code, answer.json()["type"].rsplit(":", 1)[1]) == (422, problem)
        empty = await created(admin, "/v1/collections", {"mode": "import", "name": "e", "domain": "everyday"})
        account = (await _marked(admin, empty["id"]))["account"]
        assert (account["conversations"], account["turns"], account["profanity"]["share"]) == (0, None, None)


class TestMarkingThatIsKilled:
    async def test_goes_on_where_it_was(self, suite: RunningSuite, monkeypatch: pytest.MonkeyPatch):
        """The process that marks is killed in the middle; a second run marks the rest, and the first part only once."""
        monkeypatch.setattr(marking, "_TEXTS_AT_ONCE", 10)
        collection = UUID(await import_conversations(suite, [_said(f"c{n}", SAMPLE[n % 60]) for n in range(120)]))
        database = Database(suite.database.app["conversations"], pool_size=2)
        async with database.write() as session:
            await markings.request(session, collection)
        written: list[int] = []
        add_marks = marks.add_marks

        async def count(session: Any, collection_id: UUID, marked: Any) -> None:
            written.append(len(marked))
            await add_marks(session, collection_id, marked)
            if len(written) == 4:
                for child in multiprocessing.active_children():
                    child.kill()

        monkeypatch.setattr(marks, "add_marks", count)
        with pytest.raises(Exception, match="terminated abruptly"):
            await marking.mark_conversations(database, collection, last_attempt=True)
        async with database.read() as session:
            failed = await markings.get(session, collection)
        await marking.mark_conversations(database, collection)
        async with database.read() as session:
            done = await markings.get(session, collection)
            left = await marks.list_unmarked(session, collection, after=None, limit=200)
            monkeypatch.setattr(marks, "RULES", noted.RULES + 1)
            older = await marks.list_unmarked(session, collection, after=None, limit=200)
        await database.close()
        assert sum(written) == 120
        assert (failed.state, failed.marked, done.state) == ("failed", 40, "done")
        assert "terminated abruptly" in (failed.failure or "")
        assert (len(left), len(older)) == (0, 120)  # marks of older rules are made anew
        assert done.account is not None
        assert done.account.exact_duplicates.conversations == 60

    async def test_ends_with_the_worker(self, tmp_path: Path):
        """A worker that gets SIGKILL leaves no process behind that holds its models."""
        program = tmp_path / "worker.py"
        program.write_text(WORKER)
        worker = await asyncio.create_subprocess_exec(sys.executable, program, stdout=asyncio.subprocess.PIPE)
        assert worker.stdout is not None
        child = int(await worker.stdout.readline())
        assert psutil.pid_exists(child)
        worker.kill()
        await worker.wait()
        async with asyncio.timeout(10):
            while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
                await asyncio.sleep(0.05)

    async def test_a_request_that_comes_meanwhile_waits_for_its_own_turn(self, suite: RunningSuite):
        collection = UUID(await import_conversations(suite, [_said("c", SAMPLE[0])]))
        database = Database(suite.database.app["conversations"], pool_size=2)
        async with database.write() as session:
            await markings.request(session, collection)
        async with database.write() as session:
            first = await markings.begin(session, collection)
        async with database.write() as session:
            await markings.request(session, collection)
        async with database.write() as session:
            await markings.finish(session, first, await accounts.draw_up(session, collection, None))
        async with database.read() as session:
            assert (await markings.get(session, collection)).state == "waiting"
        await database.close()
