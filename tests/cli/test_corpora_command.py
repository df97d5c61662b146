import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spotthebot.cli.application import app
from spotthebot.clients import AsyncConversations, PeerRefused
from spotthebot.contracts.conversations.corpora import CorpusFormat, CorpusIn, CorpusOut, Upload, UploadOut
from spotthebot.importers.corpora import add_file, check_file
from spotthebot.local.progress import showing_progress
from tests.factories.command_line import run_stb
from tests.factories.running_suite import RunningSuite

REQUEST = CorpusIn(name="file", domain="everyday", origin="Written for a test.", licence="Apache-2.0")


async def _add(
    suite: RunningSuite,
    file: Path,
    form: CorpusFormat = CorpusFormat.JSONL,
    *,
    split: str | None = None,
    splits: str | None = None,
) -> tuple[CorpusOut, UploadOut, list[CorpusOut]]:
    upload = Upload(form, split, splits, bots_too=False)
    key = await suite.keys.make("admin")
    async with AsyncConversations(suite.urls["conversations"], key) as client:
        with showing_progress() as steps:
            corpus, done = await add_file(client, REQUEST, file, upload, steps)
        return corpus, done, [each async for each in client.list_corpora()]


class TestAddFile:
    async def test_a_second_file_goes_to_the_same_corpus(self, suite: RunningSuite, tmp_path: Path):
        lines = [json.dumps({"turns": [f"question {number}", "answer", "so?"]}) for number in range(3000)]
        file = tmp_path / "dialogues.jsonl"
        file.write_text("\n".join([*lines, "{"]))
        corpus, first, _ = await _add(suite, file, splits="train:0.5,openings:0.5")
        file.write_text("\n".join(lines[:10]))
        _, again, corpora = await _add(suite, file, split="train")
        assert (first.read, first.stored, [each.line for each in first.rejected.first]) == (3001, 3000, [3001])
        assert (again.stored, again.already_there) == (0, 10)
        assert [(each.id, sum(each.dialogues.values())) for each in corpora] == [(corpus.id, 3000)]

    async def test_a_refusal_of_the_service_reaches_the_caller(self, suite: RunningSuite, tmp_path: Path):
        file = tmp_path / "large.csv"
        file.write_bytes(b"no,columns\n" * 500_000)
        with pytest.raises(PeerRefused, match="must name"):
            await _add(suite, file, CorpusFormat.EMPATHETIC, split="train")


def _lines(*objects: object) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in objects)


class TestCheck:
    """A file of which nothing can be stored: no suite is started, so none is left with an empty corpus."""

    @pytest.mark.parametrize(
        ("content", "options", "said"),
        [
            (_lines({"turns": ["a", "b"]}), (), "none of its 1 dialogues names its split"),
            (_lines({"turns": ["a", "b"]}), ("--format", "empathetic", "--split", "train"), "must name"),
            (_lines({"turns": ["a", "b"]}), ("--split", "train", "--splits", "train:1.0"), "Both `split` and `splits`"),
            (_lines({"turns": ["a"]}, {"turns": []}), ("--split", "x"), "line 1: has one turn only"),
            (_lines({"turns": ["a", "b"]}, 1), ("--split", "x", "--strict"), "1 could be stored rejected: 1 line 2: "),
            (
                _lines({"key": "k", "turns": ["a", "b"]}, {"key": "k", "turns": ["a", "c"]}),
                ("--split", "x", "--strict"),
                "line 2: the key 'k' stands for a dialogue with other turns already",
            ),
            ("", ("--split", "x"), "0 dialogues read, 0 could be stored"),
        ],
    )
    def test_leaves_nothing_where_a_file_is_refused(
        self, tmp_path: Path, content: str, options: tuple[str, ...], said: str
    ):
        file = tmp_path / "dialogues.jsonl"
        file.write_text(content)
        done = run_stb("corpora", "add", "x", file, *options, "--data-dir", tmp_path / "data")
        assert done.returncode == 1
        assert said in " ".join(done.stderr.split())
        assert not (tmp_path / "data").exists()

    async def test_counts_what_an_upload_to_a_new_corpus_counts(self, suite: RunningSuite, tmp_path: Path):
        turns = [["a", "b"], ["a", "c"], ["a", "b"], ["alone"]]
        known = [{"key": "k", "turns": each} for each in turns]
        file = tmp_path / "dialogues.jsonl"
        file.write_text(_lines(*known, *({"turns": [f"{number}", "b"]} for number in range(600))))
        with showing_progress() as steps:
            checked = await check_file(file, Upload(CorpusFormat.JSONL, "train", None, bots_too=False), steps)
        _, done, _ = await _add(suite, file, split="train")
        assert checked == done
        assert (checked.read, checked.stored, checked.already_there, checked.rejected.count) == (604, 601, 1, 2)


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [(["x", "nowhere.jsonl"], "does not exist"), (["x", __file__, "--domain", "No"], "domain")],
    )
    def test_is_reported_before_anything_starts(self, arguments, message):
        result = CliRunner().invoke(app, ["corpora", "add", *arguments])
        assert result.exit_code == 2
        assert message in result.output
