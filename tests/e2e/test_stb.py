"""The command line as a user has it: real processes, real signals, the published data."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from benchmarks.command import toy_sizes
from benchmarks.web import keys, pages, screenshots
from benchmarks.web.running import demonstrated
from spotthebot.contracts.services import SERVICE_NAMES
from spotthebot.local.demonstration import run
from tests.factories.browser import BROWSER
from tests.factories.command_line import run_stb
from tests.factories.stb_folder import STB, Folder, data_folder, lives, running_up, suspended, wait_until

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"

COLLECTION = """\
name: long
domain: everyday
mode: all_play_all
bots: [eliza, parrot, dull]
exchanges: 20
conversations_per_pair: 4
seed: 7
"""

needs_published_data = pytest.mark.skipif(
    not (SHARED / "data" / "spot-the-bot").is_dir(), reason="the published data are not beside the clone"
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Folder]:
    with data_folder() as made:
        yield made


@pytest.fixture(scope="module")
def up(folder: Folder, port_base: int) -> Iterator[subprocess.Popen[bytes]]:
    with running_up(folder, port_base) as process:
        yield process


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the demonstration take all its steps with a sixth of the conversations, and hardly train its scorer."""
    monkeypatch.setattr(run, "_CONVERSATIONS_PER_PAIR", 2)
    monkeypatch.setattr(run, "_HUMAN_CONVERSATIONS", 5)
    monkeypatch.setattr(run, "_TRAINING_STEPS", 2)


@pytest.mark.usefixtures("up")
class TestUp:
    def test_status_names_every_process(self, folder: Folder, port_base: int):
        done = folder.stb("status", "--json")
        assert done.returncode == 0
        result = json.loads(done.stdout)
        assert [each["name"] for each in result["services"]] == list(SERVICE_NAMES)
        assert all(each["healthy"] for each in (*result["services"], result["postgres"]))
        assert result["services"][0]["url"] == f"http://127.0.0.1:{port_base + 1}"
        assert [each["name"] for each in result["workers"]] == [
            "conversations-worker",
            "annotation-worker",
            "analytics-worker",
            "fed-worker",
        ]
        assert all(psutil.pid_exists(each["pid"]) for each in result["services"] + result["workers"])

    def test_a_second_suite_on_the_folder_is_refused(self, folder: Folder):
        second = folder.stb("up")
        assert second.returncode == 1
        assert "already runs" in second.stderr
        assert "Traceback" not in second.stderr

    def test_is_not_purged_while_it_runs(self, folder: Folder):
        refused = folder.stb("purge", "--yes")
        assert refused.returncode == 1
        assert "already runs" in refused.stderr
        assert folder.stb("status").returncode == 0

    def test_a_taken_port_is_an_error_before_anything_starts(self, port_base: int, tmp_path: Path):
        second = run_stb("up", "--data-dir", tmp_path / "other", "--port-base", str(port_base))
        assert second.returncode == 1
        assert f"Port {port_base + 1} is taken" in second.stderr
        assert not (tmp_path / "other" / "postgres.id").exists()

    def test_keys_are_shown_once_and_revoked_at_once(self, folder: Folder, port_base: int):
        team = ("--role", "team", "--team", "acme", "--note", "our first")
        made = json.loads(folder.stb("keys", "create", *team, "--json").stdout)
        frontend = json.loads(folder.stb("keys", "create", "--role", "annotation", "--team", "panel", "--json").stdout)
        assert (frontend["role"], frontend["team"]) == ("annotation", "panel")
        headers = {"Authorization": f"Bearer {made['key']}"}
        url = f"http://127.0.0.1:{port_base + 1}/v1/bots"
        assert httpx.get(url, headers=headers, trust_env=False).status_code == 200
        listed = folder.stb("keys", "list", "--json").stdout
        assert made["id"] in listed
        assert made["key"] not in listed
        shown = json.loads(folder.stb("keys", "show", "our first", "--json").stdout)
        assert (shown["id"], shown["role"], shown["revoked_at"]) == (made["id"], "team", None)
        assert "There are" in folder.stb("keys", "revoke", made["id"][:4]).stderr
        assert json.loads(folder.stb("keys", "show", made["key"], "--json").stdout) == shown
        part = folder.stb("keys", "revoke", made["key"][:-1])
        assert (part.returncode, made["key"][:-1] in part.stdout + part.stderr) == (1, False)
        assert folder.stb("keys", "revoke", made["id"][:-1]).returncode == 0
        assert httpx.get(url, headers=headers, trust_env=False).status_code == 401
        logs = "".join(path.read_text() for path in (folder.data / "logs").glob("*.log"))
        assert made["key"] not in logs

    @pytest.mark.parametrize("port", [None, 4, 6])
    def test_the_key_that_is_set_decides_who_one_is(
        self, folder: Folder, port_base: int, port: int | None, monkeypatch: pytest.MonkeyPatch
    ):
        """On the folder, and at the address of any of its services, the pages' too."""
        name = f"ours-{port}"
        team = ("--role", "team", "--team", f"team {port}", "--json")
        monkeypatch.setenv("SPOTTHEBOT_KEY", json.loads(folder.stb("keys", "create", *team).stdout)["key"])
        where = ("--data-dir", folder.data) if port is None else ("--url", f"http://127.0.0.1:{port_base + port}")
        made = run_stb("bots", "register", name, "--protocol", "builtin", "--model", "eliza", *where)
        assert made.returncode == 0, made.stderr
        (bot,) = json.loads(run_stb("bots", "list", "--json", *where).stdout)["bots"]
        assert (bot["name"], bot["team"]) == (name, f"team {port}")
        refused = run_stb("campaigns", "list", *where)
        assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)

    def test_a_key_of_nobody_is_refused_on_the_suites_own_machine(
        self, folder: Folder, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("SPOTTHEBOT_KEY", f"stb_admin_{'0' * 32}_{'s' * 43}")
        refused = folder.stb("bots", "list")
        assert (refused.returncode, "401" in refused.stderr) == (1, True)

    def test_a_backup_is_made_while_it_runs_and_none_is_restored(self, folder: Folder):
        assert folder.stb("keys", "create", "--role", "analyst", "--note", "before").returncode == 0
        made = folder.stb("backup", folder.parent / "backup.zip")
        assert made.returncode == 0, made.stderr
        assert "the database (6 schemas)" in made.stderr
        assert folder.stb("keys", "create", "--role", "analyst", "--note", "after").returncode == 0
        assert "already runs" in folder.stb("restore", folder.parent / "backup.zip", "--replace").stderr

    def test_wrong_usage_exits_with_2(self, folder: Folder):
        faulty = folder.parent / "faulty.yaml"
        faulty.write_text(COLLECTION.replace("exchanges: 20", "exchanges: many"))
        for wrong in (
            ["keys", "create", "--role", "team"],
            ["keys", "create", "--role", "admin", "--team", "acme"],
            ["keys", "create", "--role", "king"],
            ["rank"],
            ["dance"],
            ["collect"],
            ["collect", "no-such-file.yaml"],
            ["collect", faulty],
        ):
            done = folder.stb(*wrong)
            assert done.returncode == 2, wrong
            assert "Traceback" not in done.stderr
        assert f'{faulty}, line 5: exchanges: must be a whole number, not "many".' in done.stderr

    @pytest.mark.parametrize("name", ["bots", "conversations-worker"])
    def test_a_killed_process_comes_back_at_its_address(self, folder: Folder, name: str):
        def find() -> dict[str, Any]:
            result = folder.status()
            return next(each for each in result["services"] + result["workers"] if each["name"] == name)

        before = find()
        os.kill(before["pid"], signal.SIGKILL)
        wait_until(lambda: find()["pid"] not in {before["pid"], None} and folder.stb("status").returncode == 0, 60)
        assert find().get("url") == before.get("url")
        died = f"{name} died (exit code -9): it is started again in 0.2 s.\n{name} runs again (restarts: 1)"
        wait_until(lambda: died in (folder.parent / "up.log").read_text(), 20)
        assert " | " not in (folder.parent / "up.log").read_text()  # the services' own lines are in files
        assert f"WARNING process.died process={name} pid={before['pid']} exit_code=-9" in folder.stb("logs").stdout

    def test_a_killed_database_comes_back(self, folder: Folder, up: subprocess.Popen[bytes]):
        postmaster = next(
            child for child in psutil.Process(up.pid).children(recursive=True) if child.name() == "postgres"
        )
        root = next((each for each in postmaster.parents() if each.name() == "postgres"), postmaster)
        root.kill()
        wait_until(lambda: not lives(root), 20)
        wait_until(lambda: folder.stb("status").returncode == 0, 60)

    @pytest.mark.usefixtures("small_demo")
    def test_the_demo_ranks_the_same_with_the_same_seed(self, folder: Folder):
        results = []
        for number in range(2):
            file = folder.parent / f"demo{number}.json"
            done = folder.stb("demo", "--seed", "11", "--json", file)
            assert done.returncode == 0, done.stderr
            assert "simulated annotators" in done.stdout
            results.append(json.loads(file.read_text()))
        first, again = results
        assert first["ranking"] == again["ranking"]
        assert first["survival"] == again["survival"]
        assert first["data_sha256"] == again["data_sha256"]
        assert [each["campaign"] for each in results] == ["demo", "demo-2"]
        campaigns = folder.stb("campaigns", "list").stdout
        assert all(f"{each['campaign_id']}\n" in campaigns for each in results)
        assert first["preliminary"] is False
        printed = folder.stb("rank", again["campaign_id"], "--json", folder.parent / "ranked.json")
        figures = json.loads((folder.parent / "ranked.json").read_text())
        assert figures == {key: again[key] for key in figures}
        assert done.stdout.startswith(printed.stdout)
        judges, judged_again = (each["judged"]["judges"] for each in results)
        assert judges == judged_again
        (judge,) = judges
        assert (judge["kind"], judge["segments"]) == ("simulated", first["counts"]["segments"])
        folder.stb("campaigns", "judges", again["campaign"], "--json", folder.parent / "judges.json")
        assert json.loads((folder.parent / "judges.json").read_text())["judges"] == judges
        assert "(simulated judge)" in done.stdout
        assert "Both the judge and these people are simulated" in done.stdout
        assert "the largest share of people's labels that any judge can save here" in done.stdout
        (run,), (scored_again,) = (each["fed"]["dimensions"] for each in results)
        assert run == scored_again
        assert {bot["bot"] for bot in run["bots"]} == {bot["bot"] for bot in first["ranking"]["bots"]}
        assert 0 <= run["baseline"]["r2"] <= 1
        assert len(first["ranking"]["bots"]) == 6
        assert len(first["win_rates"]["pairs"]) == 15
        assert {curve["bot"] for curve in first["survival"]["curves"]} > {"HU", "retrieval", "dull"}
        ranked = [bot["bot"] for bot in first["ranking"]["bots"]]
        assert ranked.index("retrieval") < ranked.index("dull")

    @pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
    @pytest.mark.usefixtures("small_demo")
    def test_the_benchmarks_of_pages_run_at_toy_size(
        self, folder: Folder, port_base: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        if folder.stb("campaigns", "show", "demo").returncode:  # the tests before made none
            assert folder.stb("demo").returncode == 0
        suite = demonstrated(str(folder.data), port_base)
        for module in (pages, keys, screenshots):
            monkeypatch.setattr(module, "demo_suite", lambda: contextlib.nullcontext(suite))
        for module in (pages, keys):
            with toy_sizes(module):
                assert [*module.measure()]
        monkeypatch.setattr(screenshots, "_FOLDER", tmp_path)
        screenshots.main()
        published = {each.name for each in (ROOT / "docs" / "images").glob("*.png")}
        assert {each.name for each in tmp_path.iterdir()} == published

    @needs_published_data
    def test_the_published_study_gives_the_published_counts(self, folder: Folder):
        summary, ranks = folder.parent / "import.json", folder.parent / "rank.json"
        study = (SHARED / "data" / "spot-the-bot", "--domain", "dailydialog")
        arguments = ("import", "spot-the-bot", *study, "--json", summary)
        stored = []
        for _ in range(2):
            done = folder.stb(*arguments)
            assert done.returncode == 0, done.stderr
            stored.append(json.loads(summary.read_text()))
        reference_file = SHARED / "reference" / "spot-the-bot" / "dailydialog.json"
        counts = json.loads(reference_file.read_text())["by_filter"]["none"]
        assert stored[0]["annotations"] == stored[1]["annotations"] == counts["annotations"]
        assert stored[0]["rejected"] == []
        assert stored[1]["stored"] == {"conversations": 0, "packages": 0, "annotations": 0}
        published = ("--test", "sign", "--clusters", "conversation")
        assert folder.stb("rank", stored[0]["campaign"], "--json", ranks, *published).returncode == 0
        result = json.loads(ranks.read_text())
        assert result["counts"]["annotators"] == 33  # Table 9
        checked = subprocess.run(
            [sys.executable, SHARED / "tools" / "check_analysis.py", ranks, reference_file],
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == 0, checked.stdout
        report = folder.parent / "report"
        done = folder.stb("report", stored[0]["campaign"], "--out", report, *published)
        assert done.returncode == 0, done.stderr
        written = json.loads((report / "report.json").read_text())
        assert written.pop("stability") is None
        coded, named = (found["annotators"].pop("annotators") for found in (written, result))
        assert written == result
        assert {each["annotator"] for each in coded} == {f"A{number}" for number in range(1, len(named) + 1)}
        assert sorted(each["n"] for each in coded) == sorted(each["n"] for each in named)
        assert "<svg" in (report / "report.html").read_text()

    def test_a_declared_collection_goes_on_after_ctrl_c(self, folder: Folder):
        file, account, out = (folder.parent / name for name in ("long.yaml", "account.json", "out"))
        file.write_text(COLLECTION)
        command = [*STB, "collect", str(file), "--data-dir", str(folder.data)]
        with suspended(folder.pid_of("conversations-worker")):  # no collection ends before Ctrl-C
            first = subprocess.Popen(command, env=folder.environment, stderr=subprocess.PIPE, text=True)
            assert first.stderr is not None
            said = [next(line for line in first.stderr if "collecting:" in line)]
            first.send_signal(signal.SIGINT)
            said += first.stderr.readlines()
            first.stderr.close()
            assert first.wait(30) == 130
        assert "the same command takes it up again" in said[-1], said
        done = folder.stb("collect", file, "--json", account, "--export", out)
        assert done.returncode == 0, done.stderr
        assert "started before: going on with it" in done.stderr
        result = json.loads(account.read_text())
        assert result["counts"]["complete"] == 12  # 3 pairs x 4
        assert result["counts"]["turns"] == 12 * 40
        lines = [json.loads(line) for line in (out / "conversations.jsonl").read_text().splitlines()]
        assert len({line["id"] for line in lines}) == 12
        assert all([turn["speaker"] for turn in line["turns"]] == ["A", "B"] * 20 for line in lines)
        again = json.loads(folder.stb("import", "export", out, "--name", "copy", "--json", "-").stdout)
        assert (again["read"], again["stored"], again["collection"]["name"]) == (12, 12, "copy")

    def test_a_declared_campaign_is_annotated_and_ranked(self, folder: Folder):
        """Two conversations in one block, which makes a package for each of two lengths; both annotated twice."""
        spoken, people = folder.parent / "spoken.yaml", folder.parent / "people.yaml"
        bots = "mode: all_play_all\nbots: [dull, parrot]\nexchanges: 2\nconversations_per_pair: 2\n"
        spoken.write_text(f"name: spoken\ndomain: everyday\n{bots}")
        people.write_text("name: people\ncollections: [spoken]\nsegments: [1, 2]\n")
        assert folder.stb("collect", spoken).returncode == 0
        assert folder.stb("campaign", people).returncode == 0
        draft = folder.stb("annotate", "people", "--simulated", "1", "--json", "-")
        assert (draft.returncode, json.loads(draft.stdout)["refused"]) == (1, {"closed": 1})
        assert "closed (1 annotator)" in draft.stderr
        made = json.loads(folder.stb("campaign", people, "--open", "--json", "-").stdout)
        assert (made["name"], made["packages"], made["segments"]) == ("people", 2, 4)
        assert made["conversations"] == {"used": 2, "too_short": 0}
        done = folder.stb("annotate", "people", "--simulated", "5", "--json", "-")
        work = json.loads(done.stdout)
        assert done.returncode == 0
        assert work["annotators"] == 5
        assert work["assignments"] == 4
        assert work["annotations"] == 8
        assert work["refused"] == {"closed": 5}
        assert "8 annotations of 4 segments of 2 conversations by 4 simulated annotators" in " ".join(
            folder.stb("rank", "people", "--filter", "none").stdout.split()
        )

    def test_an_unknown_campaign_is_an_error_in_one_sentence(self, folder: Folder):
        done = folder.stb("rank", "no-such-thing")
        assert done.returncode == 1
        assert "no campaign or study 'no-such-thing'" in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr


class TestDown:
    def test_stops_everything(self, folder: Folder, up: subprocess.Popen[bytes]):
        children = psutil.Process(up.pid).children(recursive=True)
        assert len(children) >= 6
        assert folder.stb("down").returncode == 0
        assert up.wait(30) == 0
        wait_until(lambda: not any(map(lives, children)), 10)  # the process that forks ends when it sees that we did
        assert folder.stb("status").returncode == 1
        assert folder.stb("down").returncode == 1

    def test_stops_a_suite_in_the_background(self, folder: Folder, port_base: int):
        started = folder.process("up", "--detach", "--port-base", str(port_base), "--only", "bots")
        assert started.returncode == 0, started.stderr
        assert "Preparing the database" in started.stderr
        assert "bots runs: http://127.0.0.1:" in started.stderr
        assert "postgres" in folder.stb("status").stdout
        assert folder.stb("up", "--detach").returncode == 1
        assert folder.stb("down").returncode == 0

    def test_starts_again_on_the_same_ports_with_the_settings_of_the_folder(self, folder: Folder, port_base: int):
        (folder.data / "settings.env").write_text("SPOTTHEBOT_WEB_SESSION_HOURS=3\nSPOTTHEBOT_WEB_SESSION_HOUR=4\n")
        started = folder.process("up", "--detach", "--only", "web")
        assert started.returncode == 0, started.stderr
        said = " ".join(started.stderr.split())
        assert f"Pages: http://127.0.0.1:{port_base + 6}, with an API key: ./stb keys create --role admin" in said
        place = f"{folder.data}/settings.env, line 2"
        assert f"SPOTTHEBOT_WEB_SESSION_HOUR ({place}) is no setting: the nearest is" in said
        assert "export SPOTTHEBOT_WEB_SESSION_HOURS=3\n" in folder.process("env", "web", "--secrets").stdout
        assert folder.stb("down").returncode == 0


class TestRestore:
    def test_brings_the_suite_back_to_its_backup(self, folder: Folder):
        restored = folder.process("restore", folder.parent / "backup.zip", "--replace")
        assert restored.returncode == 0, restored.stderr
        assert "The suite is as it was at" in restored.stderr
        notes = {key["note"] for key in json.loads(folder.process("keys", "list", "--json").stdout)["keys"]}
        assert ("before" in notes, "after" in notes) == (True, False)


class TestPurge:
    def test_removes_the_data_folder_and_the_home_of_its_database(self, folder: Folder):
        homes = folder.parent / "homes"
        made = [folder.data / "postgres" / "cluster", *homes.glob("*/cluster")]  # a user's or root's
        assert any(cluster.is_dir() for cluster in made)
        purged = folder.process("purge", "--yes")
        assert purged.returncode == 0, purged.stderr
        assert f"Removed {folder.data}" in purged.stderr
        assert not folder.data.exists()
        assert list(homes.iterdir()) == []
        assert "There is no suite in" in folder.stb("status").stderr
