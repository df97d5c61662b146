"""A data folder: where it lies, what reads it, and its lock: one suite at a time, however many commands look at it."""

import fcntl
import os
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spotthebot.cli.application import app
from spotthebot.kit.processes.errors import PortTaken
from spotthebot.kit.processes.sockets import bind
from spotthebot.local.errors import AlreadyRunning
from spotthebot.local.postgres.errors import ClusterInUse
from spotthebot.local.postgres.home import HOME_VARIABLE, Home, Lock, find
from spotthebot.local.postgres.removal import remove_cluster
from spotthebot.local.runtime.data_folder import DEFAULT_DATA_DIR, DataFolder, default_data_dir
from spotthebot.local.runtime.ports import bound_addresses
from tests.factories.command_line import run_stb


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "data")
    made.create()
    return made


class TestPorts:
    def test_are_refused_with_the_suite_that_has_them(self, folder: DataFolder):
        with folder.lock(), bind("127.0.0.1", 0) as taken:
            port = taken.getsockname()[1]
            with (
                pytest.raises(PortTaken, match=f"Port {port} is taken by the suite of {folder.path}: choose"),
                bound_addresses(port - 1, ["bots"]),
            ):
                pass
        with bind("127.0.0.1", 0) as taken:
            port = taken.getsockname()[1]
            with (
                pytest.raises(PortTaken, match=f"Port {port} is taken by process {os.getpid()}: choose"),
                bound_addresses(port - 1, ["bots"]),
            ):
                pass


class TestLock:
    def test_is_had_while_others_look_who_has_it(self, folder: DataFolder):
        """`stb status` shares the lock for a moment; here the moment is long."""
        with (folder.path / "suite.lock").open("w") as looking:
            fcntl.flock(looking, fcntl.LOCK_SH)
            threading.Timer(0.1, fcntl.flock, (looking, fcntl.LOCK_UN)).start()
            with folder.lock():
                assert folder.holder() == os.getpid()

    def test_is_refused_while_another_has_it(self, folder: DataFolder):
        with folder.lock(), pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"), folder.lock():
            pass

    def test_is_nobodys_when_it_was_let_go(self, folder: DataFolder):
        assert folder.holder() is None
        with folder.lock():
            assert folder.holder() == os.getpid()
        assert folder.holder() is None

    def test_names_nobody_between_the_lock_and_the_name(self, folder: DataFolder, monkeypatch: pytest.MonkeyPatch):
        """`stb down` at that moment would signal process 0, which is all of its own group."""
        seen: list[int | None] = []
        write = os.pwrite

        def look_and_write(handle: int, text: bytes, offset: int) -> int:
            looking = threading.Thread(target=lambda: seen.append(folder.holder()))
            looking.start()
            looking.join()
            return write(handle, text, offset)

        monkeypatch.setattr(os, "pwrite", look_and_write)
        with folder.lock():
            pass
        assert seen == [None]


class TestPlace:
    def test_is_in_the_clone_wherever_the_command_is_called_from(self):
        assert Path(__file__).parents[2] / ".stb" == DEFAULT_DATA_DIR

    def test_is_the_working_directory_for_an_installed_package(self, tmp_path: Path):
        assert default_data_dir(tmp_path) == Path(".stb")


class TestReadingCommands:
    @pytest.mark.parametrize(
        "arguments",
        [
            ("rank", "demo"),
            ("report", "demo", "--out", "report"),
            ("keys", "list"),
            ("keys", "revoke", "0198c0de-0000-7000-8000-000000000000"),
            ("corpora", "list"),
            ("bots", "remove", "eliza", "--yes"),
            ("campaigns", "show", "demo"),
            ("status",),
            ("down",),
            ("logs",),
            ("env", "bots"),
        ],
        ids=" ".join,
    )
    def test_make_no_suite_where_there_is_none(
        self, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.chdir(tmp_path)
        said = run_stb(*arguments, "--data-dir", "data")
        assert (said.returncode, said.stdout) == (1, "")
        assert said.stderr.startswith(f"Error: There is no suite in {tmp_path / 'data'}: './stb up --data-dir")
        assert list(tmp_path.iterdir()) == []


class TestPurge:
    @pytest.fixture
    def used(self, folder: DataFolder) -> DataFolder:
        with folder.lock():
            pass
        return folder

    def test_removes_the_folder_and_a_home_outside_it_once_that_is_confirmed(
        self, used: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        beside, cluster_id = tmp_path / "beside", "0123456789abcdef"
        for kept in (beside, tmp_path / "homes" / "another"):
            kept.mkdir(parents=True)
        home = tmp_path / "homes" / cluster_id
        (home / "cluster").mkdir(parents=True)
        (used.path / "postgres.id").write_text(cluster_id)
        (used.path / "models").symlink_to(beside)
        monkeypatch.setenv(HOME_VARIABLE, str(home.parent))
        arguments = ["purge", "--data-dir", str(used.path)]
        unasked = run_stb(*arguments)
        assert (unasked.returncode, "there is no terminal to confirm it at: add --yes" in unasked.stderr) == (1, True)
        monkeypatch.setattr("spotthebot.cli.commands.purge.is_interactive", lambda: True)
        refused = CliRunner().invoke(app, arguments, input="n\n")
        assert refused.exit_code == 1
        assert home.exists()
        assert used.path.exists()
        assert CliRunner().invoke(app, arguments, input="y\n").exit_code == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["beside", "homes"]
        assert [path.name for path in home.parent.iterdir()] == ["another"]

    def test_refuses_a_folder_that_no_suite_used(self, folder: DataFolder):
        said = run_stb("purge", "--yes", "--data-dir", folder.path)
        assert (said.returncode, folder.path.exists()) == (1, True)
        assert "There is no suite in" in said.stderr

    def test_refuses_a_folder_that_holds_the_working_directory(self, used: DataFolder, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.chdir(used.logs)
        said = run_stb("purge", "--yes", "--data-dir", used.path)
        assert (said.returncode, used.logs.exists()) == (1, True)
        assert f"because it also holds {used.logs}" in said.stderr

    def test_leaves_a_database_that_runs(self, used: DataFolder):
        (used.path / "postgres").mkdir()
        home = find(used.path)
        assert home == Home(used.path, used.path / "postgres", None)
        lock = Lock(home)
        with pytest.raises(ClusterInUse, match=f"process {os.getpid()}"):
            remove_cluster(home)
        lock.release()
        assert home.folder.exists()
        remove_cluster(home)
        assert find(used.path) is None
