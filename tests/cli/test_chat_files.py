"""Files that open chats with people: their faults, and the collection that `./stb collect` opens and finds again."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from spotthebot.cli.collections.declaration_file import ChatsDeclaration, read_collection_file
from spotthebot.cli.declarations.errors import DeclarationFaulty
from tests.factories.command_line import Printed, run_stb
from tests.factories.frontends import advance, answered, rate, ratings, start
from tests.factories.one_address import one_address
from tests.factories.running_suite import RunningSuite
from tests.factories.studies import add_corpus

ROOT = Path(__file__).parents[2]
CHATS = """\
name: people
domain: everyday
mode: human_bot
bots: [eliza, dull]
minimum_turns: 2
maximum_turns: 6
conversations_per_person: 18
compares: each_question
opening: {begins: person, first_words: "Hi!"}
questions:
  - {name: engaging, text: "Was it engaging?"}
  - {name: quality, text: "Was it good?", comparison: "Which was better?"}
"""
Stb = Callable[..., Awaitable[Printed]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "people.yaml"
    file.write_text(CHATS)
    return file


@pytest.fixture
async def stb(suite: RunningSuite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    """Run a command as an administrator."""
    monkeypatch.setenv("SPOTTHEBOT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SPOTTHEBOT_KEY", await suite.keys.make("admin"))
    monkeypatch.setenv("COLUMNS", "300")
    async with one_address(suite) as url:
        monkeypatch.setenv("SPOTTHEBOT_URL", url)

        async def run(*arguments: str) -> Printed:
            return await asyncio.to_thread(run_stb, *arguments)

        yield run


class TestFaults:
    @pytest.mark.parametrize(
        ("was", "now", "fault"),
        [
            ("minimum_turns: 2", "minimum_turns: 8", "line 5: minimum_turns: minimum_turns must be at most"),
            ("[eliza, dull]", "[eliza]", "line 4: bots: each chat is with 2 bots"),
            ("[eliza, dull]", "[eliza, dull, eliza]", "line 4: bots[2]: 'eliza' is named twice"),
            ("person: 18", "person: 1", "line 7: conversations_per_person: a chat has 2 conversations"),
            ("begins: person", "began: person", "line 9: opening.began: there is no such key: did you mean 'begins'?"),
            ("mode: human_bot", "mode: human_bot\nexchanges: 2", "line 4: exchanges: there is no such key"),
        ],
    )
    def test_are_reported_with_line_and_key(self, file: Path, was: str, now: str, fault: str):
        file.write_text(CHATS.replace(was, now))
        with pytest.raises(DeclarationFaulty) as faulty:
            read_collection_file(file)
        assert fault in str(faulty.value)

    def test_in_the_mode_name_the_modes_of_conversations_between_bots(self, file: Path):
        file.write_text(CHATS.replace("human_bot", "human"))
        with pytest.raises(DeclarationFaulty, match="all_play_all"):
            read_collection_file(file)

    def test_are_none_in_the_example_of_the_docs(self, file: Path):
        (example,) = (ROOT / "docs" / "chats.md").read_text().split("```yaml\n")[1:]
        file.write_text(example.split("```")[0])
        request = read_collection_file(file).request
        assert isinstance(request, ChatsDeclaration)
        assert (request.conversations_per_person, request.minimum_turns) == (18, 30)  # ABC-Eval, section 3

    def test_are_none_in_a_whole_file(self, file: Path):
        request = read_collection_file(file).request
        assert isinstance(request, ChatsDeclaration)
        assert (request.opening.first_words, request.compares) == ("Hi!", "each_question")


class TestCollect:
    async def test_names_the_corpus_of_personas(self, stb: Stb, suite: RunningSuite, file: Path):
        dialogue = {"key": "d1", "split": "train", "turns": ["Hi.", "Hello."], "persona": ["i ski.", "i cook."]}
        await add_corpus(suite, "personachat", [dialogue])
        file.write_text(f"{CHATS}personas: {{corpus: personachat, split: train}}\n")
        answers = [await stb("collect", str(file), "--json", "-") for _ in range(2)]
        assert [each.returncode for each in answers] == [0, 0], answers[0].stderr
        made, again = [json.loads(each.stdout)["collection"]["id"] for each in answers]
        assert made == again
        chat = await start(suite, made)
        assert chat["conversations"][0]["persona"] == "i cook."  # the first words are the person's, so A is the bot
        file.write_text(f"{CHATS}personas: {{corpus: personachat}}\n")
        differs = await stb("collect", str(file))
        assert (differs.returncode, "personas" in differs.stderr) == (1, True), differs.stderr

    async def test_opens_chats_once_and_shows_the_conversations_with_each_bot(
        self, stb: Stb, suite: RunningSuite, file: Path
    ):
        answers = [await stb("collect", str(file), "--json", "-") for _ in range(2)]
        assert [each.returncode for each in answers] == [0, 0], answers[0].stderr
        made, again = [json.loads(each.stdout)["collection"] for each in answers]
        assert (made["id"], made["mode"], made["state"]) == (again["id"], "human_bot", "collecting")
        assert f"/chats/{made['id']}/links" in answers[0].stderr
        assert "opened before: collecting" in answers[1].stderr
        chat = await start(suite, made["id"])
        assert (chat["compares"], chat["conversations"][0]["opening"]) == ("each_question", 1)
        for _ in range(2):  # the person's first words stand there, so the bot speaks
            await answered(suite, chat)
            assert (await advance(suite, chat)).status_code == 200
        preferences = {"engaging": None, "quality": 1}
        assert (await rate(suite, chat, ratings(1, 2, preferences=preferences))).status_code == 200
        shown = await stb("collections", "show", "people", "--json")
        found = json.loads(shown.stdout)["bots"]
        assert [(each["name"], each["conversations"], each["rated"]) for each in found] == [
            ("eliza", {"complete": 1}, 1),
            ("dull", {"complete": 1}, 1),
        ]
        assert "Rated" in (await stb("collections", "show", "people")).stdout

        file.write_text(CHATS.replace("person: 18", "person: 8"))
        refused = await stb("collect", str(file))
        assert refused.returncode == 1
        assert "conversations_per_person 18 there, 8 here" in refused.stderr
        for option in ("--dry-run", "--export=out"):
            assert (await stb("collect", str(file), option)).returncode == 2
