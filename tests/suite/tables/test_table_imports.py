"""Tables of other tools are imported through the services, once and whatever interrupts it."""

from pathlib import Path

from spotthebot.contracts.conversations import CollectionOut
from spotthebot.suite.progress import showing_progress
from spotthebot.suite.runtime.session import Clients
from spotthebot.suite.studies.dump_import import Imported
from spotthebot.suite.studies.table_import import import_conversations
from spotthebot.suite.tables.columns import Kind, find_columns
from spotthebot.suite.tables.conversations import read_conversations
from spotthebot.suite.tables.rows import open_table
from spotthebot.suite.tables.values import ValueWords
from tests.suite.tables.conftest import Save

TURNS = "conversation,speaker,text\n" + "".join(
    f"c{number},{speaker},{text}\n" for number in range(3) for speaker, text in (("a", "hi"), ("HU", "=1+1"))
)


async def _import_turns(clients: Clients, path: Path) -> tuple[CollectionOut, Imported]:
    table, words = open_table(path), ValueWords.of()
    conversations = read_conversations(table, find_columns(table, (Kind.TURNS,), (), words), words)
    with showing_progress() as steps:
        return await import_conversations(clients, conversations, "talk ü", "imported", steps)


class TestConversations:
    async def test_import_goes_on_where_another_one_ended_and_changes_nothing_again(self, clients: Clients, save: Save):
        part, _ = await _import_turns(clients, save("".join(TURNS.splitlines(keepends=True)[:3])))
        path = save(f"{TURNS}c3,alone,hi\n")
        for counts in ((2, 1), (0, 3)):
            collection, done = await _import_turns(clients, path)
            assert (collection.id, done.read["conversations"]) == (part.id, 4)
            assert (done.stored["conversations"], done.already_there["conversations"]) == counts
            assert [(each.line, each.file) for each in done.rejected] == [(8, "table.csv")]
        stored = [each async for each in clients.conversations.list_conversations(collection.id)]
        assert {each.external_id for each in stored} == {"c0", "c1", "c2"}
        assert [[turn.text for turn in each.turns] for each in stored] == [["hi", "=1+1"]] * 3
        assert [side.name for side in stored[0].participants] == ["a", "HU"]
