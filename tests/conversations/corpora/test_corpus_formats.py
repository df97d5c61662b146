"""Every format, from hand-written files and, where they are here, from published ones read a second way."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotthebot.contracts.conversations.corpora import CorpusFormat
from spotthebot.conversations.corpora.domain.formats.readers import reader_of
from spotthebot.conversations.corpora.domain.formats.records import ReadDialogue, RejectedLine, Skipped
from spotthebot.conversations.corpora.domain.formats.splits import shares_of
from spotthebot.conversations.corpora.errors import BadShares, NotThisFormat
from tests.factories.published_dump import SHARED

HEADER = "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags\n"


def _read(form: CorpusFormat, content: bytes | str, *, pieces: int = 10**6, bots_too: bool = False) -> list[Any]:
    raw = content.encode() if isinstance(content, str) else content
    reader = reader_of(form, bots_too=bots_too)
    outcomes = [each for start in range(0, len(raw), pieces) for each in reader.feed(raw[start : start + pieces])]
    return [*outcomes, *reader.close()]


def _published(name: str) -> Path:
    file = SHARED / "data" / name
    if not file.is_file():
        pytest.skip(f"the published dialogues ../shared/data/{name} are not here")
    return file


class TestLines:
    @given(pieces=st.integers(1, 60), ends=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
    def test_are_read_alike_wherever_the_pieces_are_cut(self, pieces: int, ends: str, last: bool):
        lines = ['{"turns": ["ä", "b"]}', "", "{", '{"turns": ["c"]}', '{"turns": ["d", "日本"]}']
        content = ends.join(lines) + (ends if last else "")
        outcomes = _read(CorpusFormat.JSONL, content, pieces=pieces)
        assert [(type(each), each.line) for each in outcomes] == [
            (ReadDialogue, 1),
            (RejectedLine, 3),
            (RejectedLine, 4),
            (ReadDialogue, 5),
        ]

    def test_begin_after_a_byte_order_mark(self):
        assert [each.turns for each in _read(CorpusFormat.JSONL, b'\xef\xbb\xbf{"turns": ["a", "b"]}')] == [("a", "b")]

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ('{"turns": ["a", "b"], "key": ""}', "the key has 0 characters"),
            ('{"turns": ["a", "b"], "split": "Train Set"}', "is not a valid name of a split"),
            ('{"turns": ["a", "b"], "persona": ["only one"]}', "'persona' is not a list of two texts"),
            ('{"turns": ["a", "b"], "metadata": [1]}', "'metadata' is not an object"),
            ('{"turns": ["a", "b"], "metadata": {"n": NaN}}', "is JSON that cannot be read"),
            (
                '{"turns": ["a", "b"], "metadata": {"n": 1e999}}',
                "the metadata holds a value that JSON in UTF-8 can't hold",
            ),
            ('{"turns": ["a", "b"], "metadata": {"n": "\\u0000"}}', "the metadata contains a NUL"),
            ('{"turns": ["a", 3]}', "turn 2 is not a text"),
            ('{"turns": "a"}', "has no list 'turns'"),
            ('["a", "b"]', "is not a JSON object"),
            ('{"turns": [{"speaker": "A", "text": "a"}, "b"]}', "some turns name their speaker"),
            ("[" * 100_000, "nested too deeply"),
            ('{"turns": ["a", "' + "b" * 20_001 + '"]}', "turn 2 has 20,001 characters"),
            ('{"turns": [' + '"a", ' * 1000 + '"b"]}', "has 1001 turns"),
        ],
    )
    def test_are_rejected_with_the_reason(self, line: str, reason: str):
        (rejected,) = _read(CorpusFormat.JSONL, line)
        assert isinstance(rejected, RejectedLine)
        assert reason in rejected.reason

    def test_may_name_speakers_as_an_export_does(self):
        turns = [{"speaker": "A", "text": "a", "latency_ms": 3}, {"speaker": "B", "text": "b"}]
        (read,) = _read(CorpusFormat.JSONL, json.dumps({"id": 1, "turns": turns}))
        assert read.turns == ("a", "b")


class TestDailyDialog:
    def test_is_read_alike_in_both_of_its_forms(self):
        turns = ["Say , Jim , how about a beer ?", "You know that is tempting ."]
        as_json = json.dumps({"fold": "test", "topic": "x", "dialogue": [{"text": t, "act": "inform"} for t in turns]})
        as_text = "".join(f" {turn} __eou__" for turn in turns)
        first, second = _read(CorpusFormat.DAILYDIALOG, f"{as_json}\n{as_text}\n")
        assert (first.turns, first.key) == (second.turns, second.key) == (tuple(turns), first.key)
        assert (first.split, first.metadata) == ("test", {"topic": "x", "acts": ["inform", "inform"]})

    def test_rejects_a_line_that_was_cut(self):
        (rejected,) = _read(CorpusFormat.DAILYDIALOG, "a __eou__ b __eou__ and th")
        assert "was cut" in rejected.reason


class TestEmpathetic:
    def test_joins_rows_to_conversations(self):
        rows = "h:0,1,sad,I fell_comma_ once,1,Hello_comma_ you,,\nh:0,2,sad,I fell_comma_ once,0,Oh?,,\n"
        (read,) = _read(CorpusFormat.EMPATHETIC, HEADER + rows)
        assert (read.key, read.turns) == ("h:0", ("Hello, you", "Oh?"))
        assert read.metadata == {"emotion": "sad", "prompt": "I fell, once"}

    def test_rejects_one_conversation_for_one_fault_at_its_line(self):
        rows = [
            "a,1,e,p,1,one,,",
            "a,2,e,p,0,two",
            "a,3,e,p,1,three,,",
            "b,1,e,p,1,one,,",
            "b,3,e,p,0,three,,",
            "c,1,e,p,1,one,,",
            "c,2,e,p,1,same speaker,,",
            "d,1,e,p,1,alone,,",
            'e,1,e,p,1,"quoted" at first,,',
            "e,2,e,p,0,fine,,",
        ]
        outcomes = _read(CorpusFormat.EMPATHETIC, HEADER + "\n".join(rows))
        assert [(each.line, type(each)) for each in outcomes] == [
            (3, RejectedLine),
            (6, RejectedLine),
            (7, RejectedLine),
            (9, RejectedLine),
            (10, ReadDialogue),
        ]
        assert "6 columns" in outcomes[0].reason
        assert "utterance_idx is '3' where 2" in outcomes[1].reason
        assert "one speaker only" in outcomes[2].reason

    def test_refuses_a_file_without_its_columns(self):
        with pytest.raises(NotThisFormat, match="must name"):
            _read(CorpusFormat.EMPATHETIC, '{"turns": []}\n')

    def test_reads_the_published_file_as_csv_does(self):
        file = _published("openings/empathetic_test.csv")
        with file.open(encoding="utf-8", newline="") as opened:
            rows = list(csv.DictReader(opened))
        outcomes = _read(CorpusFormat.EMPATHETIC, file.read_bytes(), pieces=1000)
        assert {each.key: len(each.turns) for each in outcomes} == Counter(row["conv_id"] for row in rows)
        said = [turn for each in outcomes for turn in each.turns]
        assert said == [row["utterance"].replace("_comma_", ",").strip() for row in rows]


class TestParlAI:
    def test_turns_scenes_into_personas_and_metadata(self):
        scene = ["your persona: i snowboard.\nyour persona: i am old.\nSnowboarding", "your persona: i am new."]
        acts = [{"id": name, "text": text} for name, text in (("M_1", "hi"), ("M_2", "hello"), ("M_1", "how?"))]
        line = {"dialog": [acts[:2], acts[2:]], "context": [{"id": "context", "text": text} for text in scene]}
        older = {"dialog": [[{"id": "context", "text": text} for text in scene], acts[:2], acts[2:]]}
        first, second = _read(CorpusFormat.PARLAI, f"{json.dumps(line)}\n{json.dumps(older)}\n")
        assert first.turns == second.turns == ("hi", "hello", "how?")
        assert first.persona == second.persona == ("i snowboard.\ni am old.", "i am new.")
        assert first.metadata == second.metadata == {"speakers": ["M_1", "M_2"], "context": ["Snowboarding"]}

    def test_rejects_a_dialogue_with_one_speaker(self):
        (rejected,) = _read(CorpusFormat.PARLAI, json.dumps({"dialog": [[{"id": "M", "text": "a"}] * 2]}))
        assert "one speaker only" in rejected.reason

    @pytest.mark.parametrize(
        ("name", "count", "turns"),
        [("chatlog_2.7B.json", 108, 14), ("model1.blended_skill_talk.jsonl", 5, 10)],  # ParlAI's own, 8 or 5 parleys
    )
    def test_reads_published_chats(self, name: str, count: int, turns: int):
        outcomes = _read(CorpusFormat.PARLAI, _published(f"selfchat/{name}").read_bytes(), pieces=777)
        assert [len(each.turns) for each in outcomes] == [turns] * count
        assert all(each.persona is not None for each in outcomes)


class TestSpotTheBot:
    @pytest.mark.parametrize(("domain", "humans", "empty"), [("dailydialog", 300, 1), ("empathetic", 300, 1)])
    def test_has_as_many_dialogues_as_the_schema_of_the_dump_says(self, domain: str, humans: int, empty: int):
        raw = _published(f"spot-the-bot/sampled-dialogues-full-{domain}.json").read_bytes()
        kinds = Counter(type(each) for each in _read(CorpusFormat.SPOT_THE_BOT, raw))
        rows = raw.count(b"\n")
        assert kinds == {ReadDialogue: humans, Skipped: rows - humans}
        of_all = Counter(type(each) for each in _read(CorpusFormat.SPOT_THE_BOT, raw, bots_too=True))
        assert of_all == {ReadDialogue: rows - empty, RejectedLine: empty}


class TestShares:
    def test_give_each_split_about_its_share_of_dialogues(self):
        shares = shares_of("train:0.7, validation:.1,openings:0.2")
        counts = Counter(shares.split_of(f"key {number}") for number in range(10_000))
        for split, expected in (("train", 7000), ("validation", 1000), ("openings", 2000)):
            assert abs(counts[split] - expected) < 4 * 46  # sqrt(10,000 x 0.7 x 0.3) = 46

    @pytest.mark.parametrize("text", ["", "train", "train:0.5", "a:0.5,a:0.5", "A:1", "a:0.7,b:0.7", "a:-1,b:2"])
    def test_are_refused_where_they_are_no_numbers_of_splits(self, text: str):
        with pytest.raises(BadShares):
            shares_of(text)

    def test_may_give_one_split_all_dialogues(self):
        assert shares_of("train:1").split_of("k") == "train"
