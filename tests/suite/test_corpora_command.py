import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spotthebot.clients import AsyncConversations, PeerRefused
from spotthebot.contracts.conversations import CorpusFormat, CorpusIn, CorpusOut, UploadOut
from spotthebot.suite.cli import app
from spotthebot.suite.corpora import add_file
from spotthebot.suite.progress import showing_progress
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
    key = await suite.keys.make("admin")
    async with AsyncConversations(suite.urls["conversations"], key) as client:
        with showing_progress() as steps:
            corpus, done = await add_file(client, REQUEST, file, form, steps, split=split, splits=splits)
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


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [(["x", "nowhere.jsonl"], "does not exist"), (["x", __file__, "--domain", "No"], "domain")],
    )
    def test_is_reported_before_anything_starts(self, arguments, message):
        result = CliRunner().invoke(app, ["corpora", "add", *arguments])
        assert result.exit_code == 2
        assert message in result.output
