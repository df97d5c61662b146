"""Tables of other tools are imported through the services, once and whatever interrupts it."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from spotthebot.analytics.labels.domain import labelled_campaign_of
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.analytics.stats.frames import from_csv
from spotthebot.cli.results.ranking import rank
from spotthebot.contracts.analytics.ranking import RankedBot
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.importers.dump_import import Imported
from spotthebot.importers.errors import ImportNameTaken, NothingToImport
from spotthebot.importers.table_import import LabelImport, import_conversations, import_labels, known_conversations
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.session import Clients
from spotthebot.readers.conversations import read_conversations
from spotthebot.readers.errors import MostRowsRejected
from spotthebot.readers.files.rows import open_table
from spotthebot.readers.meanings.columns import Kind, find_columns
from spotthebot.readers.meanings.values import ValueWords
from tests.importers.tables.conftest import Save

TURNS = "conversation,speaker,text\n" + "".join(
    f"c{number},{speaker},{text}\n" for number in range(3) for speaker, text in (("a", "hi"), ("HU", "=1+1"))
)

LABELS = """conversation,first,second,exchanges,label_first,label_second,annotator
c1,x,y,2,human,bot,ann\nc1,x,y,2,human,unsure,bob\nc1,x,y,3,bot,bot,ann\nc2,y,x,2,bot,human,bob
c2,y,x,2,bot,unsure,cat\nc3,HU,y,2,human,bot,ann\nc3,HU,y,2,human,human,cat\nc4,x,y,2,unsure,bot,dan
c4,x,y,2,human,human,ann\nc5,y,x,2,human,bot,cat\nc6,x,y,2,what,bot,cat
"""
RESULTS = ("win", "loss", "tie")
GAMES = ["win", "win", "tie", "win", "win", "win", "tie", "loss"]
"""What x's label beside y's says of each line that two bots are on, and of the label that can't be read nothing."""


async def _import_labels(
    clients: Clients,
    path: Path,
    name: str = "own",
    collection: CollectionOut | None = None,
    *,
    allow_rejected: bool = False,
) -> Imported:
    table, words = open_table(path), ValueWords.of()
    known = None if collection is None else await known_conversations(clients, collection)
    source = LabelImport(
        table=table,
        mapping=find_columns(table, (Kind.LABELS,), (), words),
        words=words,
        name=name,
        domain="imported",
        said=f"Imported: {len(path.read_bytes())} bytes.",
        collection=collection,
        known=known,
        allow_rejected=allow_rejected,
    )
    with showing_progress() as steps:
        return await import_labels(clients, source, steps)


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


class TestLabels:
    async def test_few_labels_of_many_rows_are_imported_where_the_user_says_so(self, clients: Clients, save: Save):
        rows = "".join(f"c{at},x,y,2,{'human' if at < 4 else 'what'},bot,ann\n" for at in range(10))
        path = save(f"{LABELS.splitlines()[0]}\n{rows}")
        with pytest.raises(MostRowsRejected, match="6 of 10 rows"):
            await _import_labels(clients, path)
        assert [each.name async for each in clients.conversations.list_collections()] == []
        imported = await _import_labels(clients, path, allow_rejected=True)
        assert (imported.stored["annotations"], len(imported.rejected)) == (4, 6)

    async def test_labels_are_ranked_as_the_statistics_rank_them(self, clients: Clients, save: Save):
        imported = await _import_labels(clients, save(LABELS))
        assert [(each.line, each.reason) for each in imported.rejected] == [
            (12, "its label_a 'what' is not one of human, unsure, bot")
        ]
        found = await rank(clients, UUID(imported.campaign_id), {"seed": 1, "resamples": 50})
        (pair,) = found.win_rates.pairs
        assert (pair.bot, pair.other) == ("x", "y")
        assert (pair.wins, pair.losses, pair.ties) == tuple(map(GAMES.count, RESULTS))
        assert found.counts.model_dump(
            include={"annotations", "segments", "annotated_conversations", "annotators"}
        ) == {
            "annotations": 10,
            "segments": 6,
            "annotated_conversations": 5,
            "annotators": 4,
        }
        # The same lines, read by the statistics from the file themselves.
        alone = labelled_campaign_of(from_csv(save(LABELS.replace("c6,x,y,2,what,bot,cat\n", ""))), "own")
        expected = analyse(alone, Parameters(seed=1, resamples=50))
        assert found.ranking.model_dump(exclude={"bots"}) == expected.ranking.model_dump(exclude={"bots"})
        assert [_without_draws(bot) for bot in found.ranking.bots] == [
            _without_draws(bot) for bot in expected.ranking.bots
        ]
        curves, rates = (
            [_rounded([each.model_dump() for each in part(one)]) for one in (found, expected)]
            for part in (lambda one: one.survival.curves, lambda one: one.fooling_rates)
        )
        assert curves[0] == curves[1]
        assert rates[0] == rates[1]

    async def test_import_goes_on_and_changes_nothing_again_and_keeps_names_apart(
        self, clients: Clients, save: Save, monkeypatch: pytest.MonkeyPatch
    ):
        path = save(LABELS)

        async def break_off(*_: object) -> None:
            raise ConnectionError

        with monkeypatch.context() as patched, pytest.raises(ConnectionError):
            patched.setattr(clients.annotation, "import_annotations", break_off)
            await _import_labels(clients, path)
        first, second = [await _import_labels(clients, path) for _ in range(2)]
        assert first.stored == {"conversations": 0, "packages": 0, "annotations": 10}
        assert second.already_there == {"conversations": 5, "packages": 6, "annotations": 10}
        assert second.campaign_id == first.campaign_id
        campaign = await clients.annotation.get_campaign(UUID(first.campaign_id))
        assert campaign.state == "closed"
        assert campaign.protocol == "spot_the_bot_labels"
        assert campaign.annotations == 10
        with pytest.raises(ImportNameTaken):
            await _import_labels(clients, save(f"{LABELS}c9,x,y,2,bot,bot,ann\n"))
        assert [each.name async for each in clients.conversations.list_collections()] == ["own"]
        with pytest.raises(NothingToImport, match="it names no annotator"):
            await _import_labels(clients, save(f"{LABELS.splitlines()[0]}\nc1,x,y,2,bot,bot,\n"), "other")

    async def test_labels_of_conversations_that_are_there_show_their_texts(self, clients: Clients, save: Save):
        collection, _ = await _import_turns(clients, save(TURNS))
        path = save("conversation,label_a,label_b,annotator\nc0,bot,human,ann\nc2,human,bot,bob\nc7,bot,bot,ann\n")
        table, words = open_table(path), ValueWords.of()
        mapping = find_columns(table, (Kind.LABELS,), (), words, known=frozenset({"side_a", "side_b"}))
        known = await known_conversations(clients, collection)
        source = LabelImport(table, mapping, words, "labelled", "imported", "Imported.", collection, known)
        with showing_progress() as steps:
            imported = await import_labels(clients, source, steps)
        assert [(each.line, each.reason) for each in imported.rejected] == [
            (4, "conversation 'c7' is not in the collection")
        ]
        campaign = await clients.annotation.get_campaign(UUID(imported.campaign_id))
        assert (campaign.collections, campaign.annotations) == ((collection.id,), 2)


def _without_draws(bot: RankedBot) -> object:
    """Return what hangs on no order of the conversations: draws and TrueSkill's matches go by their ids."""
    return _rounded(bot.model_dump(exclude={"rank_probabilities", "trueskill"}))


def _rounded(value: Any) -> object:
    """Round all numbers of a result: its sums are taken in the order of the conversations' ids."""
    match value:
        case float():
            return round(value, 9)
        case dict():
            return {name: _rounded(each) for name, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
        case _:
            return value
