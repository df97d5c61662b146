import asyncio
import json
import resource
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.factories.published_dump import SHARED
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import created

TURNS = ["How was the exam?", "Long. I finished, though.", "Tea, then?", "Please."]


async def _corpus(suite: RunningSuite, name: str = "uploaded") -> tuple[httpx.AsyncClient, str]:
    admin = await suite.client("conversations", "admin")
    body = {"name": name, "domain": "everyday", "origin": "Written for a test.", "licence": "Apache-2.0"}
    return admin, (await created(admin, "/v1/corpora", body))["id"]


async def _upload(admin: httpx.AsyncClient, corpus: str, content: Any, **query: str) -> dict[str, Any]:
    answer = await admin.post(f"/v1/corpora/{corpus}/uploads", params=query, content=content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _lines(*objects: Any) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in objects).encode()


class TestUploads:
    async def test_keep_persona_and_metadata_of_a_dialogue(self, suite: RunningSuite):
        admin, corpus = await _corpus(suite)
        line = {"key": "k", "split": "train", "turns": TURNS, "persona": ["tired", "kind"], "metadata": {"a": [1, "ü"]}}
        await _upload(admin, corpus, _lines(line), format="jsonl")
        assert (await admin.get(f"/v1/corpora/{corpus}/dialogues")).json()["items"] == [line]

    async def test_store_nothing_when_they_are_repeated_and_report_it(self, suite: RunningSuite):
        admin, corpus = await _corpus(suite)
        content = _lines({"turns": TURNS}, {"turns": TURNS[::-1]})
        first = await _upload(admin, corpus, content, format="jsonl", split="train")
        again = await _upload(admin, corpus, content, format="jsonl", split="train")
        assert (first["read"], first["stored"], first["already_there"]) == (2, 2, 0)
        assert (again["read"], again["stored"], again["already_there"]) == (2, 0, 2)
        assert (await admin.get(f"/v1/corpora/{corpus}")).json()["dialogues"] == {"train": 2}

    async def test_report_rejected_lines_by_number_and_store_the_others(self, suite: RunningSuite):
        admin, corpus = await _corpus(suite)
        good = json.dumps({"key": "a", "turns": TURNS}).encode()
        lines = [
            good,
            b"{not json",
            json.dumps({"turns": ["alone"]}).encode(),
            '{"turns": ["caf\u00e9", "yes"]}'.encode("latin-1"),
            json.dumps({"key": "a", "turns": ["other", "turns"]}).encode(),
            json.dumps({"turns": ["one", "  "]}).encode(),
            b"",
            json.dumps({"turns": ["nul \x00", "b"]}).encode(),
            b'{"turns": ["half \\ud800", "b"]}',
            json.dumps({"turns": [{"speaker": "A", "text": "x"}, {"speaker": "A", "text": "y"}]}).encode(),
            json.dumps({"turns": [], "key": "z"}).encode(),
            json.dumps({"key": "b", "turns": TURNS[:2]}).encode(),
        ]
        done = await _upload(admin, corpus, b"\n".join(lines), format="jsonl", split="train")
        assert done["read"] == 11
        assert done["stored"] == 2
        assert done["already_there"] == 0
        assert done["rejected"]["count"] == 9
        reasons = {each["line"]: each["reason"] for each in done["rejected"]["first"]}
        assert {line: reason.split(":")[0] for line, reason in reasons.items()} == {
            2: "is not JSON",
            3: "has one turn only",
            4: "is not UTF-8 (byte 16 is 0xe9), perhaps Latin-1 or Windows-1252",
            5: "the key 'a' stands for a dialogue with other turns already, which stays",
            6: "turn 2 is empty",
            8: "turn 1 contains a NUL character",
            9: "turn 1 contains half a surrogate pair",
            10: "has one speaker only, 'A'",
            11: "is an empty dialogue",
        }

    async def test_give_a_dialogue_the_same_split_every_time(self, suite: RunningSuite):
        admin, corpus = await _corpus(suite)
        lines = [{"key": f"k{number}", "turns": TURNS} for number in range(1000)]
        query = {"format": "jsonl", "splits": "train:0.8,openings:0.2"}
        await _upload(admin, corpus, _lines(*lines[:600]), **query)
        await _upload(admin, corpus, _lines(*lines[:300:-1]), **query)
        counts = (await admin.get(f"/v1/corpora/{corpus}")).json()["dialogues"]
        assert sum(counts.values()) == 1000
        assert 160 <= counts["openings"] <= 240  # 200, and three standard deviations of sqrt(1000 x 0.2 x 0.8) = 12.6
        _, other = await _corpus(suite, "other")
        await _upload(admin, other, _lines(*lines), **query)
        assert (await admin.get(f"/v1/corpora/{other}")).json()["dialogues"] == counts

    @pytest.mark.parametrize(
        ("query", "content", "reason"),
        [
            ({"format": "jsonl", "splits": "train:0.8"}, b"", "sum to 1"),
            ({"format": "jsonl", "splits": "train:1.0", "split": "train"}, b"", "Both `split` and `splits`"),
            ({"format": "empathetic", "split": "train"}, b"a,b\nc,d\n", "must name"),
            ({"format": "jsonl", "split": "train"}, "{}".encode("utf-16"), "UTF-16"),
            ({"format": "parlai"}, b"", "names no splits"),
            ({"format": "jsonl"}, b'{"turns": ["a", "b"]}\n{"turns": ["c", "d"]}\n', "none of its 2 dialogues"),
        ],
    )
    async def test_fail_for_faults_of_the_whole_file(self, suite: RunningSuite, query, content, reason):
        admin, corpus = await _corpus(suite)
        answer = await admin.post(f"/v1/corpora/{corpus}/uploads", params=query, content=content)
        assert answer.status_code == 422
        assert reason in answer.json()["detail"]

    async def test_add_up_to_the_statistics_of_the_corpus(self, suite: RunningSuite):
        admin, corpus = await _corpus(suite)
        await _upload(admin, corpus, _lines({"turns": TURNS}), format="jsonl", split="train")
        await _upload(admin, corpus, _lines({"turns": ["It's me.", "Hi!", "Hi."]}), format="jsonl", split="train")
        body = {"dialogues": [{"key": "k", "split": "openings", "turns": ["a b c", "d"]}]}
        await created(admin, f"/v1/corpora/{corpus}/dialogues", body)
        for shown in (
            (await admin.get(f"/v1/corpora/{corpus}")).json(),
            (await admin.get("/v1/corpora")).json()["items"][0],
        ):
            assert shown["statistics"] == {
                "openings": {"dialogues": 1, "utterances": 2, "mean_exchanges": 1.0, "words_per_turn": 2.0},
                # (4 // 2 + 3 // 2) / 2 exchanges; 4 + 4 + 2 + 1 and 3 + 1 + 1 words in 7 utterances
                "train": {"dialogues": 2, "utterances": 7, "mean_exchanges": 1.5, "words_per_turn": 16 / 7},
            }

    async def test_count_the_exchanges_of_dailydialog_as_by_hand(self, suite: RunningSuite):
        file = SHARED / "data" / "openings" / "dailydialog_test.json"
        if not file.is_file():
            pytest.skip("DailyDialog's test dialogues ../shared/data/openings are not here")
        admin, corpus = await _corpus(suite)
        done = await _upload(admin, corpus, file.read_bytes(), format="dailydialog")
        dialogues = {
            tuple(turn["text"] for turn in json.loads(line)["dialogue"])
            for line in file.read_text(encoding="utf-8").splitlines()
        }
        assert done["read"] == 1000
        assert done["stored"] == len(dialogues)
        assert done["rejected"]["count"] == 0
        held = (await admin.get(f"/v1/corpora/{corpus}")).json()["statistics"]["test"]
        assert held["utterances"] == sum(map(len, dialogues))
        assert held["mean_exchanges"] == pytest.approx(sum(len(turns) // 2 for turns in dialogues) / len(dialogues))

    async def test_store_a_dialogue_once_where_two_run_at_once(self, suite: RunningSuite):
        admin, corpus = await _corpus(suite)
        lines = [{"key": f"k{number}", "turns": TURNS} for number in range(2000)]
        both = [_lines(*lines), _lines(*lines[::-1])]
        done = await asyncio.gather(*(_upload(admin, corpus, each, format="jsonl", split="train") for each in both))
        assert sum(each["stored"] for each in done) == sum(each["already_there"] for each in done) == 2000
        assert (await admin.get(f"/v1/corpora/{corpus}")).json()["dialogues"] == {"train": 2000}

    async def test_keep_dialogues_that_came_before_a_broken_connection(self, suite: RunningSuite):
        admin, corpus = await _corpus(suite)
        lines = [_lines({"key": f"k{number}", "turns": TURNS}) for number in range(1200)]

        async def broken() -> AsyncIterator[bytes]:
            yield b"".join(lines[:1100])
            message = "the client gives up"
            raise ConnectionError(message)

        with pytest.raises(ConnectionError):
            await _upload(admin, corpus, broken(), format="jsonl", split="train")
        async with asyncio.timeout(20):
            while (await admin.get(f"/v1/corpora/{corpus}")).json()["dialogues"] != {"train": 1000}:
                await asyncio.sleep(0.05)  # two full batches of 500
        again = await _upload(admin, corpus, b"".join(lines), format="jsonl", split="train")
        assert (again["stored"], again["already_there"]) == (200, 1000)

    async def test_use_no_more_memory_for_a_large_file(self, suite: RunningSuite):
        """200 MB, of which one line alone has 50: the peak of the whole house grows by a fraction of that."""
        admin, corpus = await _corpus(suite)
        dialogue = {"turns": ["It rained all day, so we stayed in and baked. " * 400] * 54}
        empty = b'{"turns": ["' + b"y" * 980_000 + b'"]}\n'

        async def pieces() -> AsyncIterator[bytes]:
            for number in range(50):
                yield _lines(dialogue | {"key": f"k{number}"})
            yield b'{"turns": ["'
            for _ in range(50):
                yield b"x" * 1_000_000
            yield b'", "y"]}\n'
            for _ in range(100):
                yield empty

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        done = await _upload(admin, corpus, pieces(), format="jsonl", split="train")
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert (done["read"], done["stored"], done["rejected"]["count"]) == (151, 50, 101)
        assert "longer than 8,388,608 bytes" in done["rejected"]["first"][0]["reason"]
        assert grown < 60
        assert len(_lines(dialogue)) > 980_000
