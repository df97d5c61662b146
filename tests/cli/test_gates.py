"""A new version of a bot against an old one, on running services with a tiny scorer."""

import asyncio
import json
import shlex
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import UUID
from xml.etree.ElementTree import Element, parse

import pytest
import yaml

from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.gates.declaration import read_gate
from spotthebot.contracts.bots.protocols import BuiltinProtocol, Protocol, WebhookProtocol
from spotthebot.contracts.bots.registry import BotIn, BotVersionIn
from spotthebot.conversations.conversations import domain as conversations_domain
from spotthebot.kit.waits.backoff import Backoff
from spotthebot.local.runtime.session import Clients
from tests.factories import tiny_models
from tests.factories.bot_servers import bot
from tests.factories.chained_bot import Asked, chained_bots
from tests.factories.command_line import Stb, run_stb, stb_of_admin
from tests.factories.lazy_imports import needs_models
from tests.factories.running_suite import RunningSuite

GATE = """\
name: everyday gate
domain: everyday
old: {bot: ours, version: 1}
new: {bot: ours}
partners: [eliza]
exchanges: 2
conversations_per_pair: 8
opening: {corpus: sample, take: first_two_utterances}
scorer: {model: tiny, mode: whole_sequence_mean, dimensions: [fluency, overall]}
resamples: 200
seed: 3
confidence_level: 0.6
"""
ROOT = Path(__file__).parents[2]
CI_STEPS = ROOT / "docs" / "examples" / "gate.github.yml"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SWAPPED = GATE.replace(
    "old: {bot: ours, version: 1}\nnew: {bot: ours}", "old: {bot: ours}\nnew: {bot: ours, version: 1}"
)


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return "bots", "conversations", "fed"


@pytest.fixture(scope="module")
def settings_of(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("models")
    tiny_models.gpt2(folder / "tiny", positions=512)
    return {"fed": {"models_folder": folder, "device": "cpu"}}


@pytest.fixture(autouse=True)
def quick_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn is tried eight times within a second, not within a minute."""
    monkeypatch.setattr(conversations_domain, "TURN_BACKOFF", Backoff(first_seconds=0.05, max_seconds=0.2))


@pytest.fixture
async def stb(suite: RunningSuite, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stb]:
    async with stb_of_admin(suite, monkeypatch) as run:
        yield run


@pytest.fixture
def write(tmp_path: Path):
    def write_gate(text: str) -> Path:
        file = tmp_path / "gate.yaml"
        file.write_text(text)
        return file

    return write_gate


async def register(clients: Clients, first: Protocol, second: Protocol) -> UUID:
    bot = await clients.bots.register_bot(BotIn(name="ours", domains=("everyday",), protocol=first), probe=False)
    await clients.bots.add_bot_version(bot.id, BotVersionIn(protocol=second))
    return bot.id


def builtin(model: str) -> Protocol:
    return BuiltinProtocol.model_validate({"kind": "builtin", "model": model})


async def talks(clients: Clients, set_id: UUID):
    """Return a score set's conversations in the order of their plan, with the bot's mean score in each."""
    scores = defaultdict(list)
    async for each in clients.fed.list_scores(set_id):
        scores[each.conversation_id].append(each.scores["fluency"])
    collection = (await clients.fed.get_score_set(set_id)).collection_id
    held = [each async for each in clients.conversations.list_conversations(collection)]
    return [(each, fmean(scores[each.id])) for each in held]


def sides(conversation):
    """Return who begins, the partner, and the version of the other side."""
    first, second = conversation.participants
    partner, ours = (second, first) if first.name == "ours" else (first, second)
    return first.name, partner, ours.version


def run_pytest(worse: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a test of a gate that fails, and one that needs no gate, with the plug-in as pytest loads it."""
    test = folder / "test_own_bot.py"
    test.write_text(f"def test_gate(stb_gate):\n    stb_gate({str(worse)!r})\n\ndef test_other():\n    pass\n")
    plugin = PYPROJECT["project"]["entry-points"]["pytest11"]["spotthebot"]
    # `no:spotthebot` is the same by its entry point, where the distribution was installed with it.
    plugins = [word for each in ("no:spotthebot", plugin, "no:cacheprovider") for word in ("-p", each)]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, "-c", "/dev/null", str(test)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read_case(file: Path) -> Element:
    return parse(file).getroot()[0]  # noqa: S314 - a file of ours


@needs_models
class TestGate:
    async def test_compares_versions_in_pairs_and_goes_on(self, stb: Stb, clients: Clients, write, tmp_path: Path):
        await register(clients, builtin("parrot"), builtin("dull"))
        files = {f"--{form}": tmp_path / f"report.{form}" for form in ("json", "markdown", "junit")}
        options = [word for pair in files.items() for word in pair]
        printed = await stb("gate", write(GATE), *options)
        first = json.loads(files["--json"].read_text())
        found = first["difference"]
        old = await talks(clients, UUID(found["baseline_id"]))
        new = await talks(clients, UUID(found["score_set_id"]))
        plans = [[(each.opening, *sides(each)) for each, _ in held] for held in (old, new)]
        assert {version for plan in plans for *_, version in plan} == {1, 2}
        assert [place for *place, _ in plans[0]] == [place for *place, _ in plans[1]]
        assert found["estimate"] == pytest.approx(
            fmean(score - before for (_, before), (_, score) in zip(old, new, strict=True))
        )
        assert (found["pairs"], found["openings"], found["left_out"]) == (8, 8, 0)
        swapped = await stb("gate", write(SWAPPED), "--json", tmp_path / "swapped.json")
        other = json.loads((tmp_path / "swapped.json").read_text())
        assert other["difference"]["estimate"] == pytest.approx(-found["estimate"])
        # Nothing was collected or scored again: the versions' collections have the plan's name and the version.
        assert len([each async for each in clients.conversations.list_collections()]) == 2
        assert len([each async for each in clients.fed.list_score_jobs()]) == 2
        codes = sorted([printed.returncode, swapped.returncode])
        assert codes == [0, 1], printed.stdout + swapped.stdout  # at a confidence of 60 %, one of them is worse
        for run, result in ((printed, first), (swapped, other)):
            assert result["regression"] == (run.returncode == 1) == (result["difference"]["high"] < 0)
            assert run.stdout.startswith("Regression: ours, version" if run.returncode else "No regression shown: ours")
        case = read_case(files["--junit"])
        assert [each.tag for each in case] == ["failure" if printed.returncode else "system-out"]
        assert case[0].text == files["--markdown"].read_text()
        worse = GATE if printed.returncode else SWAPPED
        done = await asyncio.to_thread(run_pytest, write(worse), tmp_path)
        said = ("1 failed, 1 passed" in done.stdout, "Regression: ours" in done.stdout)
        assert (done.returncode, *said) == (1, True, True), done.stdout
        margin = abs(found["estimate"]) + 1  # so large that the better version's lead may be lost
        again = await stb("gate", write(f"{GATE}margin: {margin}\n"), "--json", files["--json"])
        assert again.returncode == 0
        assert json.loads(files["--json"].read_text())["difference"] == found

    async def test_the_steps_for_github_show_no_regression_of_versions_that_say_the_same(
        self, stb: Stb, clients: Clients, write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """The example's steps as they stand, but for `pip install`: `stb` runs in this process."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
        write(GATE.replace("ours", "our-bot"))
        steps = yaml.safe_load(CI_STEPS.read_text())["jobs"]["gate"]["steps"]
        async with bot(lambda _: {"text": "Yes."}) as (_, url):
            protocol = WebhookProtocol(kind="webhook", url=url)
            await clients.bots.register_bot(BotIn(name="our-bot", domains=("everyday",), protocol=protocol))
            for step in (each["run"].replace("${{ vars.BOT_URL }}", url) for each in steps if "run" in each):
                if step.startswith("stb "):
                    printed = await stb(*shlex.split(step)[1:])
                    assert printed.returncode == 0, printed.stderr
                elif not step.startswith("pip install "):
                    await asyncio.to_thread(subprocess.run, ["bash", "-ec", step], check=True)
        assert "equal scores in every conversation" in Path("summary.md").read_text()
        assert [each.tag for each in read_case(Path("gate.xml"))] == ["system-out"]

    async def test_a_fault_is_one_sentence_and_exit_code_2(self, stb: Stb, clients: Clients, write, tmp_path: Path):
        await register(clients, builtin("parrot"), builtin("dull"))
        junit = tmp_path / "report.xml"
        for text, said in {
            GATE.replace("version: 1", "version: 2"): "'ours', version 2, is both old and new",
            GATE.replace("version: 1", "version: 7"): "The bot 'ours' has no version 7: it has 1, 2.",
            GATE.replace("bot: ours, version: 1", "bot: theirs"): "line 3: old.bot: there is no bot 'theirs'",
            GATE.replace("seed: 3", "sed: 3"): "line 11: sed: there is no such key",
        }.items():
            printed = await stb("gate", write(text), "--junit", junit)
            assert (printed.returncode, said in " ".join(printed.stderr.split())) == (2, True), printed.stderr
            assert read_case(junit)[0].tag == "error"
        assert [each async for each in clients.conversations.list_collections()] == []

    async def test_a_version_that_fails_in_the_middle_is_collected_again(self, stb: Stb, clients: Clients, write):
        broken = True

        def fails(asked: Asked) -> int | None:
            return 400 if broken and asked.domain is not None and asked.turn > 3 else None

        async with chained_bots(behave={"ours": fails}) as (_, url):
            bot = await register(clients, builtin("parrot"), WebhookProtocol(kind="webhook", url=f"{url}/ours"))
            printed = await stb("gate", write(GATE))
            assert printed.returncode == 2
            assert "of 8 conversations of ours, version 2 failed" in " ".join(printed.stderr.split())
            broken = False
            await clients.bots.probe_bot(bot)  # where enough failed in a row, its conversations wait for a probe
            again = await stb("gate", write(GATE))
            assert again.returncode in {0, 1}, again.stderr

    async def test_an_old_version_that_is_gone_is_named(self, stb: Stb, clients: Clients, write):
        gone = WebhookProtocol.model_validate({"kind": "webhook", "url": "http://127.0.0.1:9/reply"})
        await register(clients, gone, builtin("dull"))
        printed = await stb("gate", write(GATE))
        assert printed.returncode == 2
        assert "conversations of ours, version 1 failed (unreachable: No server" in " ".join(printed.stderr.split())


class TestFile:
    def test_is_not_run_with_the_key_of_a_team(self, write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        monkeypatch.setenv("SPOTTHEBOT_URL", "https://stb.example.org")
        monkeypatch.setenv("SPOTTHEBOT_KEY", f"stb_team_{'0' * 32}_{'x' * 43}")
        printed = run_stb("gate", write(GATE), "--junit", tmp_path / "gate.xml")
        assert (printed.returncode, "needs the role admin" in printed.stderr) == (2, True)
        assert "role team" in read_case(tmp_path / "gate.xml")[0].attrib["message"]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (GATE.replace("new: {bot: ours}", "new: {bot: ours, version: 1}"), "new: it is the same version as old"),
            (GATE.replace("pair: 8", "pair: 4"), "conversations_per_pair: it makes 4 conversations"),
            (GATE.replace("[eliza]", "[ours]"), "partners[0]: 'ours' is a target and a partner"),
            (f"{GATE}margin: -1\n", "margin"),
            (GATE.replace("0.6", "0.5"), "confidence_level"),
        ],
    )
    def test_names_each_fault(self, text: str, said: str, write):
        with pytest.raises(DeclarationFaulty) as raised:
            read_gate(write(text))
        assert said in str(raised.value)
