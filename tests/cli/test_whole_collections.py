"""A collection from its file to an import of its export, with quality flags."""

import json
from pathlib import Path
from typing import Any

import pytest

from spotthebot.cli.collections.declaration_file import read_declaration
from spotthebot.cli.collections.run import CollectionProgress, account, export, follow, start
from spotthebot.importers.conversation_exports import import_export, open_export
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients
from tests.factories.running_suite import QUALITY_CHECKS

DECLARED = """\
name: small
domain: everyday
mode: all_play_all
bots: [ngram, eliza]
exchanges: 2
conversations_per_pair: 2
opening: {corpus: sample, take: 2, shown: true}
humans: {corpus: sample, conversations: 1}
"""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations"


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    return {"conversations": QUALITY_CHECKS}


async def test_a_collection_holds_what_the_file_declares(clients: Clients, tmp_path: Path):
    """The built-in bots and the sample are put there, openings drawn, everything said, exported, imported again."""
    file, folder = tmp_path / "collection.yaml", DataFolder(tmp_path / "data")
    file.write_text(DECLARED)
    folder.create()
    request = read_declaration(file)
    started = await start(clients, folder, request, restart=False)
    shown: list[CollectionProgress] = []
    seen = await follow(clients.conversations, started, shown.append)
    assert (started.is_new, seen.is_whole, shown[-1]) == (True, True, seen)
    result = account(request, seen, (), turns=seen.collection.turns, seconds=2.0)
    assert result["counts"] == {
        "conversations": 3,
        "complete": 3,
        "failed": 0,
        "cancelled": 0,
        "waiting": 0,
        "turns": 12,
        "turns_planned": 12,
    }
    assert result["rate"]["turns_per_second"] == 6.0
    pairs = {tuple(pair["participants"]): pair["conversations"] for pair in result["pairs"]}
    assert pairs == {pair: {"complete": 1} for pair in (("ngram", "eliza"), ("eliza", "ngram"), ("HU", "HU"))}
    file = await export(clients.conversations, seen.collection.id, tmp_path / "out")
    table = await export(clients.conversations, seen.collection.id, tmp_path / "all.parquet")
    assert table.read_bytes()[:4] == b"PAR1"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [len(line["turns"]) for line in lines] == [4, 4, 4]
    assert all(len(line["opening"]) == 2 and line["opening_shown"] for line in lines if line["bots"] != ["HU", "HU"])
    assert all(line["quality_flags"]["words"] > 0 for line in lines)
    await _comes_back(clients, tmp_path, lines)


async def _comes_back(clients: Clients, tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    for stored in (3, 0):  # the second changes nothing
        with showing_progress() as steps:
            copy, done = await import_export(clients.conversations, open_export(tmp_path / "out"), "small-copy", steps)
        assert (done.read, done.stored, done.already_there) == (3, stored, 3 - stored)
    assert (copy.name, copy.mode, copy.conversations, copy.complete) == ("small-copy", "import", 3, 3)
    again = await export(clients.conversations, copy.id, tmp_path / "again")
    came_back = [json.loads(line) for line in again.read_text().splitlines()]
    assert came_back == [line | {"collection": "small-copy"} for line in lines]  # with the same flags
