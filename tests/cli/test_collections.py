import asyncio
import os
import pty
import re
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from spotthebot.cli.collections.declaration_file import CollectionDeclared, read_declaration
from spotthebot.cli.collections.run import CollectionProgress, estimate, follow, start
from spotthebot.cli.commands.questions import confirmed, is_interactive
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.errors import CollectionNameTaken
from spotthebot.contracts.conversations.collections import BotWarningOut, CollectionState
from spotthebot.contracts.conversations.partner_sets import PartnerSetIn
from spotthebot.importers.conversation_exports import import_export, open_export
from spotthebot.importers.errors import NotAnExport
from spotthebot.local.progress import showing_progress
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.session import Clients
from tests.factories.bot_servers import raw_server, says, webhook
from tests.factories.exported import exported
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_bot, created

SMALL = """\
name: small
domain: everyday
mode: all_play_all
bots: [eliza, parrot]
exchanges: 2
conversations_per_pair: 2
"""


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations"


@pytest.fixture
async def clients(suite: RunningSuite) -> AsyncIterator[Clients]:
    key = await suite.keys.make("admin")
    async with Clients(suite.urls, admin_key=key, frontend_key=key) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    return folder


@pytest.fixture
def declared(tmp_path: Path) -> Callable[[str], CollectionDeclared]:
    def write(text: str) -> CollectionDeclared:
        file = tmp_path / "collection.yaml"
        file.write_text(text)
        return read_declaration(file)

    return write


def _ignore(_sight: CollectionProgress) -> None:
    """What is shown is looked at elsewhere."""


class _Declined(Exception):
    """A person said no."""


async def _decline(warnings: Sequence[BotWarningOut]) -> None:
    raise _Declined([(each.detail, each.kind) for each in warnings])


class TestWarnings:
    async def test_name_failing_bots_with_the_reason_and_bots_of_other_domains_before_anything_starts(
        self, suite: RunningSuite, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        registry = await suite.client("bots", "admin")
        protocol = {"kind": "webhook", "url": "http://127.0.0.1:9/"}  # where nothing listens
        gone = await created(registry, "/v1/bots", {"name": "gone", "domains": ["movies"], "protocol": protocol})
        await add_bot(suite, "dull")
        bots = "mode: bipartite\npartners: [dull]\n"
        request = declared(SMALL.replace("[eliza, parrot]", "[gone]").replace("mode: all_play_all\n", bots))
        with pytest.raises(_Declined) as declined:
            await start(clients, folder, request, restart=False, approve=_decline)
        why = gone["status_reason"].rstrip(".")
        failing = f"The bot 'gone' is failing ({why}): its conversations wait until it recovers."
        other = "The bot 'gone' is registered for movies; the collection is about everyday."
        assert declined.value.args[0] == [(failing, "failing"), (other, "other_domain")]
        assert [each async for each in clients.conversations.list_collections()] == []
        started = await start(clients, folder, request, restart=False)  # warns, and starts
        assert started.is_new
        await clients.conversations.cancel_collection(started.collection.id)

    async def test_name_the_partners_of_a_set(
        self, suite: RunningSuite, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        bots = {name: await add_bot(suite, name) for name in ("dull", "parrot")}
        partners = PartnerSetIn(name="set", description="For a test.", bots=(UUID(bots["dull"]),))
        await clients.conversations.create_partner_set(partners)
        text = SMALL.replace("[eliza, parrot]", "[parrot]").replace("domain: everyday", "domain: movies")
        request = declared(text.replace("all_play_all", "bipartite") + "partners: {set: set, version: 1}\n")
        with pytest.raises(_Declined) as declined:
            await start(clients, folder, request, restart=False, approve=_decline)
        assert [sentence.split("'")[1] for sentence, _ in declined.value.args[0]] == ["parrot", "dull"]


class TestChangedFile:
    async def test_makes_no_second_collection_of_the_name(
        self, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        await start(clients, folder, declared(SMALL), restart=False)
        for was, now, difference in (
            ("exchanges: 2", "exchanges: 3", "exchanges 2 there, 3 here"),
            ("pair: 2", "pair: 4", "conversations_per_pair 2 there, 4 here"),
            ("domain: everyday", "domain: movies", "domain everyday there, movies here"),
            ("[eliza, parrot]", "[eliza, dull]", "(bots)"),
            ("mode:", "stop: {farewell: true}\nmode:", "stop"),
            ("mode:", "seed: 1\nmode:", "seed 0 there, 1 here"),
        ):
            with pytest.raises(CollectionNameTaken, match=re.escape(difference)):
                await start(clients, folder, declared(SMALL.replace(was, now)), restart=False)

    @pytest.mark.parametrize("has_folder", [True, False])
    async def test_makes_a_second_collection_of_the_name_where_it_is_asked_to(
        self, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared], has_folder: bool
    ):
        notes = folder if has_folder else None
        first = await start(clients, notes, declared(SMALL), restart=False)
        changed = declared(SMALL.replace("exchanges: 2", "exchanges: 3"))
        with pytest.raises(CollectionNameTaken, match="exchanges 2 there, 3 here"):
            await start(clients, notes, changed, restart=False)
        second = await start(clients, notes, changed, restart=True)
        assert second.collection.id != first.collection.id
        again = await start(clients, notes, changed, restart=False)
        assert (again.collection.id, again.is_new) == (second.collection.id, False)

    async def test_resumes_what_is_there_where_it_plans_the_same(
        self, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        first = await start(clients, folder, declared(SMALL), restart=False)
        again = await start(clients, folder, declared(f"# a comment\n{SMALL}"), restart=False)
        assert (again.collection.id, again.is_new) == (first.collection.id, False)

    async def test_takes_the_name_of_a_cancelled_collection(
        self, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        first = await start(clients, folder, declared(SMALL.replace("pair: 2", "pair: 400")), restart=False)
        await clients.conversations.cancel_collection(first.collection.id)
        assert (await start(clients, folder, declared(SMALL), restart=False)).is_new


class TestQuestion:
    @pytest.mark.parametrize(("typed", "is_yes"), [("y\n", True), ("Yes\n", True), ("\n", False), ("no\n", False)])
    async def test_is_answered_by_what_is_typed(self, typed: str, is_yes: bool, monkeypatch: pytest.MonkeyPatch):
        terminal, ours = pty.openpty()
        with os.fdopen(terminal, "w", buffering=1) as keyboard, os.fdopen(ours) as screen:
            monkeypatch.setattr("sys.stdin", screen)
            asking = asyncio.create_task(confirmed("Start all the same?"))
            await asyncio.sleep(0)  # whatever runs beside it goes on
            assert not asking.done()
            keyboard.write(typed)
            async with asyncio.timeout(20):
                assert await asking is is_yes

    def test_is_not_asked_off_a_terminal(self):
        assert not is_interactive()


class TestCollect:
    async def test_brings_a_cancelled_collection_back_as_cancelled(self, clients: Clients, tmp_path: Path):
        """Beside a complete one of the same name, which takes none of its lines."""
        for is_cancelled, state in ((True, "cancelled"), (False, "complete")):
            line = exported(1, collection_cancelled=is_cancelled).model_dump_json()
            file = tmp_path / f"{state}.jsonl"
            file.write_text(f"{line}\n", encoding="utf-8")
            with showing_progress() as steps:
                copy, done = await import_export(clients.conversations, open_export(file), "twice", steps)
            assert (copy.state, done.stored, done.rejected.count) == (state, 1, 0)

    async def test_finds_the_collection_it_started_before_and_resumes_a_paused_one(
        self, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        request = declared(SMALL)
        started = await start(clients, folder, request, restart=False)
        again = await start(clients, folder, request, restart=False)
        assert (again.collection.id, again.is_new) == (started.collection.id, False)
        (note,) = (folder.path / "collecting").iterdir()
        note.unlink()  # as if we had died between the answer and the note
        assert (await start(clients, folder, request, restart=False)).collection.id == started.collection.id
        restarted = await start(clients, folder, request, restart=True)
        assert restarted.collection.id != started.collection.id
        assert (await start(clients, folder, request, restart=False)).collection.id == restarted.collection.id

        longer = declared(
            SMALL.replace("exchanges: 2", "exchanges: 80").replace("pair: 2", "pair: 40").replace("small", "longer")
        )
        paused = await start(clients, folder, longer, restart=False)
        await clients.conversations.pause_collection(paused.collection.id)
        resumed = await start(clients, folder, longer, restart=False)
        assert resumed.collection.state is CollectionState.COLLECTING
        following = asyncio.create_task(follow(clients.conversations, resumed, _ignore))
        await clients.conversations.cancel_collection(paused.collection.id)
        seen = await following
        assert (seen.collection.state, seen.is_whole) == (CollectionState.CANCELLED, False)

    async def test_tells_which_paused_bot_conversations_wait_for_and_until_when(
        self, suite: RunningSuite, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        refuse = says(b"{}", status=b"429 Slow down", headers=b"Retry-After: 600\r\n")
        async with raw_server(refuse) as url:
            admin = await suite.client("bots", "admin")
            await created(admin, "/v1/bots?probe=false", webhook(url, name="busy"))
            began = datetime.now(UTC)
            small = declared(SMALL.replace("small", "held up").replace("parrot", "busy"))
            started = await start(clients, folder, small, restart=False)
            shown: list[CollectionProgress] = []
            following = asyncio.create_task(follow(clients.conversations, started, shown.append))
            async with asyncio.timeout(60):
                while not any(each.conversations == 2 for seen in shown for each in seen.failures):
                    await asyncio.sleep(0.1)
            await clients.conversations.cancel_collection(started.collection.id)
            await following
        (found,) = next(seen.failures for seen in shown if any(each.conversations == 2 for each in seen.failures))
        assert (found.state, found.bot) == ("paused", "busy")
        assert found.until is not None
        assert timedelta(minutes=9) < found.until - began < timedelta(minutes=11)

    async def test_goes_by_partner_sets_and_ids(
        self, suite: RunningSuite, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        target, partner = [await add_bot(suite, model) for model in ("dull", "eliza")]
        admin = await suite.client("conversations", "admin")
        await created(admin, "/v1/partner-sets", {"name": "those", "bots": [partner]})
        text = SMALL.replace("all_play_all", "bipartite").replace("[eliza, parrot]", f"['{target[:-2]}']")
        estimated = await estimate(
            clients, declared(text + "order: target_first\npartners: {set: those, version: 1}\n")
        )
        assert (estimated.conversations, estimated.turns) == (
            2,
            8,
        )  # a target, a partner, two conversations of 2 x 2
        started = await start(
            clients, folder, declared(text + f"order: target_first\npartners: ['{partner}']\n"), restart=False
        )
        seen = await follow(clients.conversations, started, _ignore)
        assert [pair.participants for pair in seen.pairs] == [("dull", "eliza")]

    async def test_tells_every_unknown_name_before_anything_is_put_there(
        self, suite: RunningSuite, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        await add_bot(suite, "dull", name="our-bot")
        nobody = "00000000-0000-7000-8000-000000000000"
        request = declared(
            SMALL.replace("all_play_all", "bipartite").replace("[eliza, parrot]", f"[eliza, our-bott, '{nobody}']")
            + "opening: {corpus: simple}\npartners: {set: none, version: 3}\n"
        )
        with pytest.raises(DeclarationFaulty) as raised:
            await start(clients, folder, request, restart=False)
        file = request.file.path
        lines = str(raised.value).splitlines()
        assert lines[0].startswith(f"{file}, line 4: bots[1]: there is no bot 'our-bott': did you mean 'our-bot'?")
        assert lines[1].startswith(f"{file}, line 4: bots[2]: there is no bot '{nobody}'")
        assert lines[2].startswith(
            f"{file}, line 7: opening.corpus: there is no corpus 'simple': did you mean 'sample'?"
        )
        assert lines[3].startswith(f"{file}, line 8: partners: there is no partner set 'none': there is none yet")
        assert [each.name async for each in clients.bots.list_bots()] == ["our-bot"]  # eliza was not registered

    async def test_tells_what_only_the_services_know_by_line(
        self, clients: Clients, folder: DataFolder, declared: Callable[[str], CollectionDeclared]
    ):
        request = declared(SMALL + "opening: {corpus: sample, split: nothing}\n")
        with pytest.raises(DeclarationFaulty, match="has no dialogues in the split 'nothing'"):
            await start(clients, folder, request, restart=False)
        with pytest.raises(DeclarationFaulty, match="has no dialogues in the split 'nothing'"):
            await estimate(clients, request)


class TestOpenExport:
    def test_says_what_is_wrong(self, tmp_path: Path):
        for content, reason in (
            (None, "there is no conversations.jsonl in it"),
            ("\n\n", "it is empty"),
            ("[1]\n", "its first line does not hold one"),
            ('{"id": "x"}\n', "collection: is missing"),
        ):
            if content is not None:
                (tmp_path / "conversations.jsonl").write_text(content)
            with pytest.raises(NotAnExport, match=reason):
                open_export(tmp_path)
        with pytest.raises(NotAnExport, match="there is no such file"):
            open_export(tmp_path / "nowhere")
