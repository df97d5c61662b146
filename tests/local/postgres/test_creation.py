# ruff: noqa: S607 - the programs are named here, nothing comes from outside
import errno
import os
import shutil
import subprocess

import pytest

from spotthebot.local.postgres import creation
from spotthebot.local.postgres.binaries import Binaries
from spotthebot.local.postgres.errors import ClusterNotCreated, DiskFull, FolderNotWritable, HomeUnreachable
from spotthebot.local.postgres.home import settle, write_private

ROOT = os.geteuid() == 0


@pytest.fixture
def binaries(home):
    """Programs whose initdb makes half a cluster and fails."""
    folder = home / "failing" / "bin"
    folder.mkdir(parents=True)
    script = folder / "initdb"
    script.write_text(
        '#!/bin/sh\nfor argument; do case $argument in --pgdata=*) mkdir "${argument#--pgdata=}";; esac; done\n'
        "echo initdb: error: half way >&2\nexit 3\n"
    )
    script.chmod(0o755)
    yield Binaries(folder=folder, version="16.0")
    shutil.rmtree(folder.parent)


def left_in(cluster, parent):
    """What a cluster that was not created left behind, except for the id and the lock that keep its place."""
    before = settle(cluster.data_folder, parent)
    places = (before.data_folder, before.folder)
    kept = {"postgres.id", "postgres.lock", "postgres"}
    return [path.name for place in places for path in place.iterdir() if path.name not in kept]


class TestCreateCluster:
    def test_leaves_nothing_when_initdb_fails(self, make_cluster, binaries, home):
        cluster = make_cluster(binaries=binaries)
        with pytest.raises(ClusterNotCreated, match="initdb: error: half way"):
            cluster.start()
        assert left_in(cluster, home) == []
        sound = make_cluster()
        sound.start()
        assert sound.running

    def test_leaves_nothing_when_there_is_no_initdb(self, make_cluster, binaries, home):
        (binaries.folder / "initdb").unlink()
        cluster = make_cluster(binaries=binaries)
        with pytest.raises(ClusterNotCreated, match="bin/initdb: No such file or directory"):
            cluster.start()
        assert left_in(cluster, home) == []

    def test_leaves_nothing_when_the_password_cannot_be_kept(self, make_cluster, home, monkeypatch):
        write = write_private

        def full(path, text):
            if path.name == "postgres.password":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            write(path, text)

        monkeypatch.setattr(creation, "write_private", full)
        cluster = make_cluster()
        with pytest.raises(DiskFull):
            cluster.start()
        assert left_in(cluster, home) == []

    def test_removes_what_a_killed_process_left(self, make_cluster, home):
        cluster = make_cluster()
        folder = settle(cluster.data_folder, home).folder
        (folder / "unfinished-1" / "cluster").mkdir(parents=True)
        cluster.start()
        assert [path.name for path in folder.iterdir()] == ["cluster"]

    def test_says_that_the_data_folder_cannot_be_written(self, make_cluster, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(FolderNotWritable, match="file/data cannot be written: Not a directory"):
            make_cluster(tmp_path / "file" / "data").start()

    @pytest.mark.skipif(not ROOT, reason="mounting a small disk takes root")
    def test_says_that_the_disk_is_full(self, make_cluster, home):
        disk = home / "small"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=755", "none", disk]
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            pytest.skip("this container may not mount")
        try:
            cluster = make_cluster(home=disk)
            with pytest.raises(DiskFull, match=f"The disk that holds {disk}.* is full"):
                cluster.start()
            assert left_in(cluster, disk) == []
        finally:
            subprocess.run(["umount", disk], check=True)

    @pytest.mark.skipif(not ROOT, reason="only root lends PostgreSQL another account")
    def test_names_the_folder_that_the_account_cannot_enter(self, make_cluster, tmp_path):
        with pytest.raises(HomeUnreachable, match="set SPOTTHEBOT_POSTGRES_HOME"):
            make_cluster(home=tmp_path / "private").start()


class TestSettle:
    @pytest.mark.skipif(not ROOT, reason="a normal user's cluster lies in the data folder")
    def test_takes_the_parent_from_the_environment(self, tmp_path, home, monkeypatch):
        monkeypatch.setenv("SPOTTHEBOT_POSTGRES_HOME", str(home / "of the environment"))
        settled = settle(tmp_path)
        assert settled.folder.parent == home / "of the environment"
        assert settled.folder.stat().st_mode & 0o777 == 0o700
        assert settled.account is not None
        assert settled.folder.stat().st_uid == settled.account.uid

    @pytest.mark.skipif(ROOT, reason="root's cluster lies outside the data folder")
    def test_stays_in_the_data_folder_of_a_normal_user(self, tmp_path):
        assert settle(tmp_path).cluster == tmp_path / "postgres" / "cluster"

    @pytest.mark.skipif(not ROOT, reason="only root keeps an id")
    def test_takes_no_path_for_an_id(self, tmp_path, home):
        (tmp_path / "postgres.id").write_text("../../etc")
        with pytest.raises(FolderNotWritable, match="does not hold the id of a cluster"):
            settle(tmp_path, home)
