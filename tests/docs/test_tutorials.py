"""Each tutorial of the docs is followed to its end, on one running suite. People and models are simulated."""

import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from spotthebot.cli.judges.declaration_file import read_judge
from spotthebot.kit.processes.sockets import bind
from tests.docs.following import ROOT, Reader, blocks
from tests.factories.annotating import answer_items, ask, submit
from tests.factories.bot_servers import bot
from tests.factories.command_line import stb_of_admin
from tests.factories.command_line_fixtures import write
from tests.factories.dump_files import annotation, conversation, oid, package
from tests.factories.model_servers import states
from tests.factories.running_suite import QUALITY_CHECKS, RunningSuite

__all__ = ["write"]
MEASURES = ("campaigns/NAME/measures", "campaigns/NAME/measures/headline", "analyses")


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    return ("bots", "conversations", "annotation", "analytics")


@pytest.fixture(scope="module")
def settings_of() -> dict[str, dict[str, Any]]:
    """Collections that a reader makes are checked, which `stb collect` waits for."""
    return {"conversations": QUALITY_CHECKS}


@pytest.fixture
async def reader(suite: RunningSuite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Reader]:
    """A reader in an empty folder, whose commands work as the suite's administrator."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with closing(bind("127.0.0.1", 0)) as sock:
        port = str(sock.getsockname()[1])
    monkeypatch.setenv("SPOTTHEBOT_FRONTEND_KEY", await suite.keys.make("annotation"))
    async with stb_of_admin(suite, monkeypatch):
        following = Reader(suite, tmp_path, monkeypatch, {"9000": port})
        yield following
        await following.stop()


async def test_three_bots_are_evaluated(reader: Reader, tmp_path: Path):
    await reader.follow("tutorials/evaluate-three-bots.md")
    assert len((tmp_path / "everyday" / "conversations.jsonl").read_text().splitlines()) == 12
    ahead = reader.noted["./stb campaign people.yaml --dry-run"]
    assert "package_size is" not in ahead
    assert "packages_per_annotator is" not in ahead
    assert "in about 5% of studies" in ahead  # as the tutorial says
    annotated = reader.noted["./stb annotate everyday-people --simulated 6"]
    assert "All packages are done: each annotator (6) found the campaign closed." in annotated
    ranking = reader.said["./stb rank everyday-people"]
    assert "bots with overlapping intervals may be told apart" in " ".join(ranking.split())
    assert all(name in ranking for name in ("retrieval", "ngram", "dull"))
    assert "ranking" in (tmp_path / "report" / "report.html").read_text().lower()
    await _run_commands_of_other_pages(reader)


async def _run_commands_of_other_pages(reader: Reader) -> None:
    """Run commands of pages that are not tutorials, where the first tutorial has made the campaign that they need."""
    (reader.folder / "docs").symlink_to(ROOT / "docs")
    reader.replaced = {**reader.replaced, "NAME": "everyday-people"}
    for name, url in reader.suite.urls.items():
        reader.monkeypatch.setenv(name.upper(), url)
    for role in ("KEY", "ADMIN_KEY"):
        reader.monkeypatch.setenv(role, await reader.suite.keys.make("admin"))
    ids = {
        noun: (await (await reader.suite.client(service, "admin")).get(f"/v1/{noun}s")).json()["items"][0]["id"]
        for noun, service in (("bot", "bots"), ("collection", "conversations"), ("campaign", "annotation"))
    }
    for page, beginnings, made in (
        ("collecting.md", ("curl -sf ", "curl -s -X PATCH "), "collection"),
        ("annotation.md", ("curl -sf ", "./stb rank "), "campaign"),
        ("../README.md", ("curl ", "./stb corpora list"), "bot"),
        ("protocols.md", ("curl ",), "campaign"),
        ("figures.md", ("curl ",), "campaign"),
        ("statistics.md", ("./stb plan cost", *(f'curl "$ANALYTICS/v1/{each}"' for each in MEASURES)), "campaign"),
        ("standings.md", ("./stb campaigns release", "curl -X POST "), "campaign"),
        ("autojudge.md", ("./stb analyse judged",), "campaign"),
    ):
        for beginning in beginnings:
            await reader.run_each(page, beginning, ID=ids[made], CAMPAIGN=ids["campaign"])


async def test_a_team_puts_its_bot_in_and_reads_its_standing(reader: Reader, tmp_path: Path):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    reader.monkeypatch.setenv("PORT", reader.replaced["9000"])
    await reader.follow("tutorials/put-your-bot-in.md", until="2. Check it")
    async with httpx.AsyncClient(trust_env=False, transport=httpx.AsyncHTTPTransport(retries=8)) as http:
        await http.get(f"http://127.0.0.1:{reader.replaced['9000']}/docs")  # it has started
    await reader.follow("tutorials/put-your-bot-in.md", after="2. Check it")
    assert "The bot can take part." in reader.said[next(each for each in reader.said if "bots check" in each)]
    registered, standings = (json.loads(said) for command, said in reader.said.items() if command.startswith("curl"))
    assert (registered["status"], registered["probe"]["passed"]) == ("active", True)
    (standing,) = standings["items"]
    assert {each["bot"] for each in standing["bots"] if each["shown_as"] == "own"} == {"our-bot"}
    assert {each["shown_as"] for each in standing["bots"]} == {"own", "pseudonym"}


async def test_a_study_on_prolific_sends_people_back_and_pays_them(reader: Reader, tmp_path: Path):
    """The people are simulated: they enter by the link with ids in Prolific's form, and work as at the pages."""
    page = "tutorials/study-on-prolific.md"
    await reader.follow("tutorials/evaluate-three-bots.md", until="3. Make a campaign")
    await reader.follow(page, until="5. People annotate")
    (tried,) = (said for command, said in reader.said.items() if command.startswith("echo") and "sed" in command)
    parameters = dict(parse_qsl(urlsplit(tried.strip()).query))
    frontend = await reader.suite.client("annotation", "annotation")
    assert (await frontend.post("/v1/entries", json={"parameters": parameters})).status_code == 200
    admin = await reader.suite.client("annotation", "admin")
    (campaign,) = (await admin.get("/v1/campaigns")).json()["items"]
    people = await _enter_and_annotate(
        reader.suite, campaign, json.loads((tmp_path / "link.json").read_text())["query"]
    )
    await reader.follow(page, after="5. People annotate")
    assert sorted((tmp_path / "approvals.csv").read_text().split()) == sorted(people)
    assert (tmp_path / "bonuses.csv").read_text() == ""
    assert "1.50" in (tmp_path / "payments.csv").read_text()


async def _enter_and_annotate(suite: RunningSuite, campaign: dict[str, Any], query: str) -> list[str]:
    """Let simulated people come by the link until no package is left; return the ids of those who had one."""
    frontend, worked = await suite.client("annotation", "annotation"), list[str]()
    link = dict(parse_qsl(query))
    for number in range(20):
        person = f"{number:024x}"
        parameters = {**link, "PROLIFIC_PID": person, "STUDY_ID": "5" * 24, "SESSION_ID": "6" * 24}
        entered = await frontend.post("/v1/entries", json={"parameters": parameters})
        assert entered.status_code == 200, entered.text
        consent = {"annotator": person, "sha256": campaign["consent_sha256"]}
        assert (await frontend.post(f"/v1/campaigns/{campaign['id']}/consents", json=consent)).status_code < 300
        claimed = await ask(suite, campaign, person)
        if claimed.status_code == 409:
            return worked
        await answer_items(suite, claimed.json())
        done = await submit(suite, claimed.json())
        assert "cc=C1ODE7" in done.text, done.text
        worked.append(person)
    pytest.fail("there is always one more package")


async def test_the_paper_is_reproduced(reader: Reader, write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A small zip in the published form stands in: `tests/reproduction` compares the figures of the real one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    talks = [oid(number) for number in range(10, 14)]
    write(
        conversations=[conversation(each) for each in talks],
        packages=[package(segments=[(each, 3) for each in talks])],
        annotations=[
            annotation(oid(20 + 4 * person + at), {"is_human": at % 3 == 0}, convo_id=each, user_name=f"A{person}")
            for person in range(2)
            for at, each in enumerate(talks)
        ],
        folder=tmp_path / "Downloads",
    )
    shutil.make_archive(str(tmp_path / "Downloads" / "MongoDump"), "zip", tmp_path / "Downloads")
    await reader.follow("tutorials/reproduce-the-paper.md")
    assert json.loads((tmp_path / "imported.json").read_text())
    assert (tmp_path / "paper" / "report.html").exists()
    assert (tmp_path / "report" / "report.html").exists()


async def test_a_model_judges(reader: Reader, tmp_path: Path):
    """The model is a server that answers each question with the same probabilities."""
    answer = states(lambda _, options: dict.fromkeys(options, 1 / len(options)))
    async with bot(answer) as (_, url):
        reader.replaced = {**reader.replaced, "http://127.0.0.1:8000": url}
        await reader.follow("tutorials/judge-with-a-model.md")
    (judge,) = json.loads((tmp_path / "worth.json").read_text())["judges"]
    assert None not in {bot["corrected"]["estimate"] for bot in judge["bots"]}
    said = reader.said["./stb campaigns judges everyday-part --json worth.json"]
    assert "small-judge" in said
    page = (ROOT / "docs" / "tutorials" / "judge-with-a-model.md").read_text()
    (trial,) = (each.text for each in blocks(page) if "kind: simulated" in each.text)
    (tmp_path / "trial.yaml").write_text(f"name: trial\n{trial}")
    assert read_judge(tmp_path / "trial.yaml").request.settings.kind == "simulated"
