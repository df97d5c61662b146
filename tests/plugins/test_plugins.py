"""Plug-ins of other distributions: installed by pip, found, named, versioned, and isolated where they fail."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from spotthebot.annotation.protocols.domain.builtin import built_in_protocols
from spotthebot.clients import PeerRefused
from spotthebot.contracts.annotation.judges import PluginJudge
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.bots.replies import ContextIn, RepliesIn
from spotthebot.contracts.plugins import PluginGroup
from spotthebot.contracts.turns import Turn
from spotthebot.importers.plugins import read_by_plugin
from spotthebot.judges.plugins import PluginSides
from spotthebot.kit.plugins import NoSuchPlugin, PluginFails, find_plugin
from spotthebot.local.plugin_checks import check_plugins
from spotthebot.local.runtime.session import Clients
from tests.factories.command_line import Stb, stb_of_admin
from tests.factories.command_line_fixtures import clients
from tests.factories.running_suite import RunningSuite

__all__ = ["clients"]
HERE = Path(__file__).parent
KINDS = ("bots", "importers", "judges", "measures", "protocols")
LOG = """\
person: Hello, do you like gardening?
bot: I like roses.
person: Thanks, I like roses too.

person: What do you cook?
bot: I cook soup, and I like soup.
"""
CAMPAIGN = """\
name: again
collections: [log]
protocol: acme_scale
segments: [1]
annotations_per_segment: 2
"""
BROKEN = """\
[spotthebot.bots]
absent = broken_absent
exits = broken_exits
raises = broken:RAISES
numbers = broken:NUMBERS
[spotthebot.protocols]
spot_the_bot = broken:BUILT_IN
no_document = broken:RAISES
other_name = broken:BUILT_IN
[spotthebot.measures]
wordless = broken:RAISES
[spotthebot.judges]
sure = broken:NUMBERS
politeness = broken:NUMBERS
[spotthebot.importers]
rows = broken:NUMBERS
"""
JUDGE = "name: polite\nsettings: {kind: plugin, plugin: politeness}\n"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on the path with all five distributions, as pip installs them."""
    target = tmp_path_factory.mktemp("plugins")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    packages = [str(HERE / kind) for kind in KINDS]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "--target", str(target), *packages], check=True)
    sys.path.append(str(target))
    yield target
    sys.path.remove(str(target))


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution whose plug-ins fail in many ways, as an installed one lies on the path."""
    folder = tmp_path / "broken-0.1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 0.1\n")
    (folder / "entry_points.txt").write_text(BROKEN)
    document = built_in_protocols()["spot_the_bot", 1].model_dump_json()
    (tmp_path / "broken_exits.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "broken.py").write_text(
        "import json\nfrom types import SimpleNamespace\n\n\ndef fail(*_):\n    raise ValueError('no idea')\n\n\n"
        "RAISES = SimpleNamespace(reply=fail)\n"
        "NUMBERS = SimpleNamespace(reply=lambda *_: 7, human=lambda *_: 7, read=lambda _: [7])\n"
        f"BUILT_IN = SimpleNamespace(document=json.loads({document!r}))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


async def said(clients: Clients, model: str) -> str | None:
    protocol = BuiltinProtocol.model_validate({"kind": "builtin", "model": f"plugin:{model}"})
    bot = await clients.bots.register_bot(BotIn(name=model, domains=("everyday",), protocol=protocol), probe=False)
    assert bot.protocol == protocol.model_copy(update={"plugin": find_plugin(PluginGroup.BOTS, model).distribution})
    context = ContextIn(turns=("I love gardening.",), seed=1)
    (reply,) = (await clients.bots.reply(bot.id, RepliesIn(contexts=(context,)))).replies
    return reply.text


@pytest.mark.usefixtures("installed")
class TestPlugins:
    async def test_all_kinds_work_together_and_results_name_their_distributions(
        self, stb: Stb, suite: RunningSuite, clients: Clients, tmp_path: Path
    ):
        for name, text in {"log.txt": LOG, "again.yaml": CAMPAIGN, "judge.yaml": JUDGE}.items():
            (tmp_path / name).write_text(text)
        imported = await stb("import", "conversations", tmp_path / "log.txt", "--plugin", "chat_log", "--json", "-")
        assert json.loads(imported.stdout)["source"] == "chat_log of acme-importers 1.2", imported.stderr
        assert await said(clients, "echo") in {
            "Tell me more about gardening.",
            "What do you like about gardening?",
            "Why gardening?",
        }
        for command in (
            ("campaign", tmp_path / "again.yaml", "--open"),
            ("annotate", "again", "--simulated", "2", "--key", await suite.keys.make("annotation")),
            ("judge", "add", tmp_path / "judge.yaml"),
        ):
            done = await stb(*command)
            assert done.returncode == 0, done.stderr
        stored = (await clients.annotation.get_protocol("acme_scale", 3)).protocol
        assert stored.source == "Plug-in acme-protocols 1.2. Acme 2026"
        settings = (await clients.annotation.get_judge("polite", 1)).settings
        assert isinstance(settings, PluginJudge)
        assert settings.distribution == "acme-judges 1.2"
        ranked = await stb("rank", "again", "--plugin", "words", "--measure", "words", "--json", "-")
        found = json.loads(ranked.stdout)
        assert "plug-in acme-measures 1.2" in ranked.stdout, ranked.stderr
        # New words, after blanks: "i", "roses."; and "i", "cook", "soup,", "and", "like", "soup.": the mean of 2 and 6.
        assert [(bot["bot"], bot["estimate"]) for bot in found["bots"] if bot["bot"] != "HU"] == [("acme-bot", 4.0)]

    def test_a_judge_says_who_is_a_person(self):
        judge = PluginSides(PluginJudge(kind="plugin", plugin="politeness", distribution="acme-judges 1.2"))
        turns = [Turn(speaker="A", text="Thanks!"), Turn(speaker="B", text="Roses.")]
        assert [judge.of_side(turns, side) for side in "AB"] == [0.8, 0.3]
        with pytest.raises(
            PluginFails, match=r"politeness' of acme-judges 1\.2 can't be used: acme-judges 1\.1 is need"
        ):
            PluginSides(PluginJudge(kind="plugin", plugin="politeness", distribution="acme-judges 1.1"))

    def test_nothing_is_imported_before_it_is_needed(self):
        code = (
            "import sys; from spotthebot.kit.plugins import *; find_plugin('spotthebot.bots', 'echo');"
            " sys.exit('acme_bots' in sys.modules)"
        )
        path = {"PYTHONPATH": ":".join(each for each in sys.path if each)}
        assert subprocess.run([sys.executable, "-c", code], env=path, check=False).returncode == 0

    async def test_doctor_names_them(self, stb: Stb):
        found = json.loads((await stb("doctor", "--json")).stdout)["plugins"]
        ours = {
            (each["group"], each["distribution"], each["fault"]) for each in found if "acme" in each["distribution"]
        }
        assert ours == {(f"spotthebot.{kind}", f"acme-{kind} 1.2", None) for kind in KINDS}


@pytest.mark.usefixtures("installed", "broken")
class TestFailingPlugins:
    def test_doctor_says_what_is_wrong_and_the_others_stand(self):
        faults = {(each["group"].split(".")[1], each["name"]): each["fault"] for each in check_plugins()}
        for place, said in {
            ("bots", "absent"): "reply can't be imported, ModuleNotFoundError: No module named 'broken_absent'",
            ("bots", "exits"): "reply can't be imported, SystemExit: 3",
            ("protocols", "spot_the_bot"): "a built-in protocol has its name",
            ("protocols", "no_document"): "document can't be imported, AttributeError",
            ("protocols", "other_name"): "its document is called 'spot_the_bot'",
            ("measures", "wordless"): "value can't be imported, AttributeError",
            ("judges", "politeness"): "has one of the same name",
        }.items():
            assert said in (faults[place] or ""), place
        assert [faults[place] for place in (("bots", "echo"), ("measures", "words"), ("importers", "chat_log"))] == [
            None
        ] * 3

    def test_results_of_the_wrong_shape_are_refused(self, tmp_path: Path):
        for call, said in (
            (lambda: PluginSides(PluginJudge(kind="plugin", plugin="sure")).of_side((), "A"), "human returned 7"),
            (lambda: [*read_by_plugin(find_plugin(PluginGroup.IMPORTERS, "rows"), tmp_path)], "read yielded int"),
            (lambda: find_plugin(PluginGroup.BOTS, "ekho"), "No installed distribution has a plug-in 'ekho'"),
        ):
            with pytest.raises((PluginFails, NoSuchPlugin), match=said):
                call()

    async def test_only_requests_for_them_fail(self, stb: Stb, clients: Clients):
        for model, reason in (("absent", "ModuleNotFoundError"), ("nowhere", "there are absent, echo")):
            with pytest.raises(PeerRefused, match=reason):
                await said(clients, model)
        for model in ("raises", "numbers"):
            assert await said(clients, model) is None
        assert await said(clients, "echo")
        ranked = await stb("rank", "nothing", "--plugin", "wordless")
        assert ranked.returncode == 1


def test_the_groups_are_those_of_the_packages():
    assert {group.value for group in PluginGroup} == {f"spotthebot.{kind}" for kind in KINDS}
