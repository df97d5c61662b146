"""The scripts of `deploy/compose/postgres`: a database that is lost comes back with every acknowledged label."""

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

from spotthebot.kit.migrations.lineage import upgrade
from spotthebot.kit.service.process import migrate_access
from spotthebot.local.postgres.account import OURSELVES
from spotthebot.local.postgres.binaries import find_binaries
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.home import Home, settle
from spotthebot.local.postgres.private_copy import readable_binaries
from spotthebot.local.postgres.provision import ACCESS, logins, provision
from spotthebot.local.runtime.services import load_lineage
from tests.factories.annotating import WHOLE, claim, work_through
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import RunningSuite, run_suite
from tests.factories.stored_campaigns import fill_campaign
from tests.local.postgres.conftest import MakeCluster

SCRIPTS = Path(__file__).parents[3] / "deploy" / "compose" / "postgres"
SCHEMAS = ["annotation"]
PASSWORDS = {login: secrets.token_hex(8) for login in logins(SCHEMAS)}
ANNOTATORS = [f"annotator-{number}" for number in range(6)]


@dataclass(frozen=True)
class Archive:
    """A cluster that archives, the scripts that its account can read, and the folder of the archive."""

    cluster: Cluster
    home: Home
    folder: Path
    scripts: Path
    programs: Path

    @property
    def environment(self) -> dict[str, str]:
        url = make_url(self.cluster.admin_url)
        login = {"PGHOST": "127.0.0.1", "PGPORT": str(url.port), "PGUSER": str(url.username)}
        return self._place | login | {"PGPASSWORD": str(url.password)}

    @property
    def _place(self) -> dict[str, str]:
        path = f"{self.programs}:{os.environ['PATH']}"
        return {"PATH": path, "WAL_ARCHIVE": str(self.folder), "PGDATA": str(self.home.cluster), "LC_ALL": "C"}

    @property
    def _identity(self) -> Any:
        return self.home.account.identity if self.home.account else OURSELVES

    def run(
        self, script: str, *arguments: str, running: bool = True, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a script as PostgreSQL's own account, as the container does."""
        return subprocess.run(
            ["sh", self.scripts / script, *arguments],  # noqa: S607 - the shell of the system
            env=(self.environment if running else self._place) | variables,
            cwd="/",
            check=False,
            capture_output=True,
            text=True,
            **self._identity,
        )

    @contextmanager
    def receiver(self) -> Iterator[None]:
        """Run receive-wal.sh while the block lasts; commits wait for it when the block begins."""
        command = ["sh", str(self.scripts / "receive-wal.sh")]
        receiving = subprocess.Popen(command, env=self.environment, cwd="/", **self._identity)
        try:
            with psycopg.connect(self.cluster.admin_url, autocommit=True) as admin:
                _wait_until(
                    lambda: admin.execute("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'").rowcount == 1
                )
            yield
        finally:
            receiving.send_signal(signal.SIGINT)
            receiving.wait(60)

    @contextmanager
    def base_backups(self) -> Iterator[None]:
        """Run base-backups.sh while the block lasts."""
        command = ["sh", str(self.scripts / "base-backups.sh")]
        making = subprocess.Popen(
            command, env=self.environment, cwd="/", start_new_session=True, stdout=subprocess.DEVNULL, **self._identity
        )
        try:
            yield
        finally:
            os.killpg(making.pid, signal.SIGTERM)
            making.wait(60)

    @property
    def backups(self) -> list[str]:
        """Names of the base backups, the oldest first."""
        return sorted(each.name for each in (self.folder / "base").glob("[0-9]*"))

    def rename_backup(self, name: str, days: float) -> str:
        """Let a base backup be one of so many days ago; return its new name."""
        renamed = (self.folder / "base" / name).rename(self.folder / "base" / ago(days))
        return renamed.name

    def copy_backup(self, name: str, days: int) -> None:
        """Add a copy of a base backup, as one of so many days ago."""
        copied = shutil.copytree(self.folder / "base" / name, self.folder / "base" / ago(days))
        if self.home.account:
            os.chown(copied, self.home.account.uid, self.home.account.gid)

    def received(self) -> dict[Path, bytes]:
        """Return what receive-wal.sh wrote, by file."""
        return {each: each.read_bytes() for each in (self.folder / "stream").rglob("*") if each.is_file()}

    def restore(self, *arguments: str) -> None:
        """Lose the database, restore it and start it."""
        self.lose_the_database()
        restored = self.run("restore.sh", *arguments, running=False)
        assert restored.returncode == 0, restored.stderr
        self.cluster.start()

    def note(self, *words: str) -> str:
        """Write words into a table, each in a commit of its own; return the time after them."""
        with psycopg.connect(self.cluster.admin_url, autocommit=True) as admin:
            admin.execute("CREATE TABLE IF NOT EXISTS notes (word text)")
            for word in words:
                admin.execute("INSERT INTO notes VALUES (%s)", [word])
            (moment,) = admin.execute("SELECT clock_timestamp()::text").fetchall()[0]
            return str(moment)

    def notes(self) -> list[str]:
        """Return the words of the table in the order in which they were written."""
        with psycopg.connect(self.cluster.admin_url) as admin:
            return [word for (word,) in admin.execute("SELECT word FROM notes ORDER BY ctid")]

    def lose_the_database(self) -> None:
        """End the server without a goodbye and remove all its files, the changes it had not archived too."""
        self.cluster.kill()
        shutil.rmtree(self.home.cluster)


def ago(days: float) -> str:
    """Return the name of a base backup of so many days ago."""
    return f"{datetime.now(UTC) - timedelta(days=days):%Y%m%dT%H%M%SZ}"


def _wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def archive(make_cluster: MakeCluster, home: Path) -> Archive:
    cluster = make_cluster(durable=True)
    cluster.start()
    cluster.stop()
    found = settle(cluster.data_folder, home)
    folder, scripts = home / f"archive-{found.folder.name}", home / "scripts"
    folder.mkdir(mode=0o700)
    shutil.copytree(SCRIPTS, scripts, dirs_exist_ok=True)
    if found.account:
        os.chown(folder, found.account.uid, found.account.gid)
    settings = (SCRIPTS / "wal.conf").read_text()
    settings = settings.replace(
        "/opt/spotthebot/wal/archive-wal.sh", f"WAL_ARCHIVE={folder} sh {scripts}/archive-wal.sh"
    )
    with (found.cluster / "postgresql.conf").open("a") as file:
        file.write(settings)
    cluster.start()
    programs = readable_binaries(find_binaries(), found.account, home)
    return Archive(cluster, found, folder, scripts, programs.folder)


@pytest.fixture
def urls(archive: Archive) -> DatabaseUrls:
    made = provision(archive.cluster.admin_url, "kept", SCHEMAS, PASSWORDS)
    migrate_access(made.owner_urls[ACCESS])
    upgrade(load_lineage("annotation"), made.owner_urls["annotation"])
    return DatabaseUrls(made.owner_urls, made.app_urls)


class Labels:
    """Labels by the task API, and those of them that were acknowledged."""

    def __init__(self, urls: DatabaseUrls) -> None:
        self._urls = urls
        self._campaign = {"id": str(fill_campaign(urls.owner["annotation"], packages=30, size=2))}
        self.acknowledged: set[tuple[str, int]] = set()

    async def give(self, *annotators: str) -> None:
        """Let annotators work through a package each."""
        async with run_suite(self._urls, only=("annotation",)) as suite:
            await suite.client("annotation", "annotation")  # one frontend for all of them
            await asyncio.gather(*(self._work(suite, each) for each in annotators))

    async def _work(self, suite: RunningSuite, annotator: str) -> None:
        assignment = await claim(suite, self._campaign, annotator)
        await work_through(suite, assignment)
        self.acknowledged |= {(annotator, item["position"]) for item in assignment["items"]}

    def kept(self) -> set[tuple[str, int]]:
        """Return whose labels of which items the database has."""
        with psycopg.connect(self._urls.owner["annotation"]) as connection:
            return {
                (annotator, position) for annotator, position, answer in connection.execute(_LABELS) if answer == WHOLE
            }


_LABELS = """
    SELECT people.external_id, items.position, annotations.answer FROM annotation.annotations
    JOIN annotation.annotators AS people ON people.id = annotations.annotator_id
    JOIN annotation.items ON items.id = annotations.item_id
"""


class TestLostDatabase:
    async def test_comes_back_with_every_acknowledged_label_and_as_it_was_at_a_time(
        self, archive: Archive, urls: DatabaseUrls
    ):
        """First all of it is lost, then somebody deletes all labels and the database is brought back to before that."""
        labels = Labels(urls)
        copied = archive.run("base-backup.sh")
        assert copied.returncode == 0, copied.stderr
        with archive.receiver():
            await labels.give(*ANNOTATORS[:3])
            await labels.give(*ANNOTATORS[3:])
            archive.lose_the_database()
        restored = archive.run("restore.sh", running=False)
        assert restored.returncode == 0, restored.stderr
        archive.cluster.start()
        assert labels.kept() == labels.acknowledged
        assert len(labels.acknowledged) == 2 * len(ANNOTATORS)
        with archive.receiver():
            await labels.give("after")
            with psycopg.connect(urls.owner["annotation"]) as connection:
                (moment,) = connection.execute("SELECT clock_timestamp()::text").fetchall()[0]
            with psycopg.connect(urls.owner["annotation"]) as connection:
                connection.execute("DELETE FROM annotation.annotations")
            archive.lose_the_database()
        assert archive.run("restore.sh", moment, running=False).returncode == 0
        archive.cluster.start()
        assert labels.kept() == labels.acknowledged


class TestArchive:
    """What it still holds after a restore: all that it held before."""

    def test_loses_nothing_to_a_restore_that_is_abandoned(self, archive: Archive):
        assert archive.run("base-backup.sh").returncode == 0
        with archive.receiver():
            archive.note("before")
        received = archive.received()
        drill = archive.home.cluster.with_name("drill")
        drilled = archive.run("restore.sh", running=False, PGDATA=str(drill))
        assert drilled.returncode == 0, drilled.stderr
        assert archive.received() == received
        with archive.receiver():
            archive.note("after")
            archive.restore()
        assert archive.notes() == ["before", "after"]

    def test_goes_back_to_a_time_that_an_earlier_restore_left_out(self, archive: Archive):
        """Restored to a too early time, then to a later one of the first timeline, then with all of the third."""
        assert archive.run("base-backup.sh").returncode == 0
        with archive.receiver():
            early = archive.note("early")
            late = archive.note("late")
            archive.note("mistake")
            archive.restore(early)
        assert archive.notes() == ["early"]
        with archive.receiver(), archive.base_backups():
            archive.note("second")
            _wait_until(lambda: len(archive.backups) == 2)
            archive.restore(late)
        assert archive.notes() == ["early", "late"]
        with archive.receiver():
            archive.note("third")
            archive.restore()  # before there is a base backup of the third timeline
        assert archive.notes() == ["early", "late", "third"]

    def test_keeps_base_backups_of_a_week_and_one_before_with_the_changes_since_any_of_them(self, archive: Archive):
        """However many are made at once; as after a restore, a later one needs earlier changes."""
        assert archive.run("base-backup.sh").returncode == 0
        later = archive.rename_backup(archive.backups[-1], days=2)
        with psycopg.connect(archive.cluster.admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_switch_wal()")
        assert archive.run("base-backup.sh").returncode == 0
        kept = [archive.rename_backup(archive.backups[-1], days=8), later]
        for days in (9, 30):
            archive.copy_backup(kept[0], days=days)
        needed = {each.name for each in (archive.folder / "wal").iterdir()}
        assert archive.run("base-backup.sh", KEEP_DAYS="7").returncode == 0
        assert archive.backups[:-1] == kept
        assert needed <= {each.name for each in (archive.folder / "wal").iterdir()}
        last = archive.rename_backup(archive.backups[-1], days=1.5)
        assert archive.run("base-backup.sh", KEEP_DAYS="1").returncode == 0
        assert archive.backups[:-1] == [last]


class TestScripts:
    """What they refuse, without a server."""

    @pytest.fixture
    def environment(self, tmp_path: Path) -> dict[str, str]:
        (tmp_path / "base").mkdir()
        return {"PATH": os.environ["PATH"], "WAL_ARCHIVE": str(tmp_path), "PGDATA": str(tmp_path / "cluster")}

    def test_archive_a_segment_once_and_never_over_another(self, environment: dict[str, str], tmp_path: Path):
        segment, kept = tmp_path / "segment", tmp_path / "wal" / "0001"
        segment.write_bytes(b"changes")
        assert self._run("archive-wal.sh", environment, segment, "0001").returncode == 0
        assert self._run("archive-wal.sh", environment, segment, "0001").returncode == 0
        segment.write_bytes(b"changes of another database")
        refused = self._run("archive-wal.sh", environment, segment, "0001")
        assert (refused.returncode, "is this the archive of another database?" in refused.stderr) == (1, True)
        assert kept.read_bytes() == b"changes"
        assert [*kept.parent.iterdir()] == [kept]

    def test_restore_nothing_over_a_database_nor_without_a_base_backup(
        self, environment: dict[str, str], tmp_path: Path
    ):
        refused = self._run("restore.sh", environment)
        assert (refused.returncode, "there is no base backup" in refused.stderr) == (1, True)
        (tmp_path / "base" / "20260102T000000Z").mkdir()
        early = self._run("restore.sh", environment, "2026-01-01 12:00:00+00")
        assert "no base backup from before 2026-01-01 12:00:00+00: the first is 20260102T000000Z" in early.stderr
        assert "is no time such as" in self._run("restore.sh", environment, "yesterdays").stderr
        (tmp_path / "cluster" / "PG_VERSION").write_text("16")
        full = self._run("restore.sh", environment)
        assert (full.returncode, "is not empty" in full.stderr) == (1, True)

    def test_keep_base_backups_of_a_day_at_least_and_one_before(self, environment: dict[str, str]):
        for keep in ({"KEEP": "0"}, {"KEEP": "all"}, {"KEEP_DAYS": "-1"}, {"KEEP_DAYS": "0"}):
            refused = self._run("base-backup.sh", environment | keep)
            assert (refused.returncode, "KEEP and KEEP_DAYS are numbers, 1 or more" in refused.stderr) == (2, True)

    @staticmethod
    def _run(script: str, environment: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = ["sh", SCRIPTS / script, *arguments]
        return subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
