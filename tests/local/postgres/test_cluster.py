import os
import socket
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from spotthebot.local.postgres import postmaster
from spotthebot.local.postgres.errors import (
    AdminPasswordMissing,
    ClusterDidNotStart,
    ClusterInUse,
    ClusterMissing,
    DatabasePortTaken,
)
from spotthebot.local.postgres.home import settle


def ask(cluster, statement):
    with psycopg.connect(cluster.admin_url) as connection:
        (row,) = connection.execute(statement).fetchall()
        return row[0]


def write_three_rows(cluster):
    with psycopg.connect(cluster.admin_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 3)")


class TestCluster:
    def test_answers_on_loopback_only(self, server):
        listening = psutil.Process(server.pid).net_connections(kind="tcp")
        addresses = {(c.laddr.ip, c.laddr.port) for c in listening if c.status == psutil.CONN_LISTEN}
        assert addresses == {("127.0.0.1", server.port)}

    def test_speaks_utf_8_and_sorts_by_code_point(self, server):
        assert ask(server, "SHOW server_encoding") == "UTF8"
        assert ask(server, "SELECT string_agg(c, '' ORDER BY c) FROM unnest(ARRAY['a', 'B', 'ä']) c") == "Baä"

    def test_lets_nobody_in_without_the_password(self, server):
        _, _, rest = server.admin_url.partition("@")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(f"postgresql://spotthebot_admin:wrong@{rest}")
        assert settle(server.data_folder, server._parent).password_file.stat().st_mode & 0o777 == 0o600

    def test_keeps_its_data_between_starts(self, make_cluster):
        cluster = make_cluster(durable=True)
        cluster.start()
        assert ask(cluster, "SHOW fsync") == "on"
        write_three_rows(cluster)
        cluster.stop()
        assert not cluster.running
        another = make_cluster()
        another.start()
        assert ask(another, "SHOW fsync") == "off"
        assert ask(another, "SELECT count(*) FROM kept") == 3

    def test_stops_while_a_session_is_open(self, make_cluster):
        cluster = make_cluster()
        cluster.start()
        with psycopg.connect(cluster.admin_url, autocommit=True) as connection:
            started = time.monotonic()
            cluster.stop()
            assert time.monotonic() - started < 20
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")

    def test_starting_twice_is_starting_once(self, make_cluster):
        cluster = make_cluster()
        cluster.start()
        pid = cluster.pid
        cluster.start()
        assert cluster.pid == pid


class TestClusterPort:
    def test_takes_the_port_it_is_given(self, make_cluster):
        port = postmaster.free_port()
        cluster = make_cluster(port=port)
        cluster.start()
        assert cluster.port == port

    def test_refuses_a_port_that_is_taken(self, make_cluster):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            cluster = make_cluster(port=port)
            with pytest.raises(DatabasePortTaken, match=f"Port {port} for the database is taken"):
                cluster.start()
        cluster.start()

    def test_tries_another_when_the_free_one_was_snatched(self, make_cluster, monkeypatch):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            ports = [taken.getsockname()[1], postmaster.free_port()]
            offered = iter(ports)
            monkeypatch.setattr(postmaster, "free_port", lambda: next(offered))
            cluster = make_cluster()
            cluster.start()
            assert cluster.port == ports[1]


class TestClusterThatCannotStart:
    def test_shows_the_end_of_the_log(self, make_cluster, home):
        cluster = make_cluster()
        cluster.start()
        cluster.stop()
        configuration = settle(cluster.data_folder, home).cluster / "postgresql.conf"
        sound = configuration.read_text()
        configuration.write_text("no setting = of ours")
        with pytest.raises(ClusterDidNotStart, match=r"status 1.*syntax error in file"):
            cluster.start()
        configuration.write_text(sound)
        cluster.start()

    def test_does_not_begin_anew_when_the_cluster_is_lost(self, make_cluster, home):
        cluster = make_cluster()
        cluster.start()
        cluster.stop()
        lost = settle(cluster.data_folder, home).cluster
        lost.rename(lost.with_name("elsewhere"))
        with pytest.raises(ClusterMissing, match="put it back"):
            cluster.start()
        lost.with_name("elsewhere").rename(lost)
        cluster.start()

    def test_says_which_file_is_missing(self, make_cluster):
        cluster = make_cluster()
        cluster.start()
        cluster.stop()
        (cluster.data_folder / "postgres.password").unlink()
        with pytest.raises(AdminPasswordMissing, match=r"put .*/postgres\.password back"):
            cluster.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends PostgreSQL another account")
class TestClusterUnderRoot:
    @pytest.fixture
    def groups_of_root(self):
        before = os.getgroups()
        os.setgroups([0, 4])
        yield
        os.setgroups(before)

    @pytest.mark.usefixtures("groups_of_root")
    def test_runs_as_somebody_without_roots_rights(self, make_cluster):
        cluster = make_cluster()
        assert cluster.data_folder.parent.stat().st_mode & 0o777 == 0o700  # where that account cannot look
        cluster.start()
        status = Path(f"/proc/{cluster.pid}/status").read_text().splitlines()
        fields = {name: value.split() for name, _, value in (line.partition(":") for line in status)}
        assert "0" not in fields["Uid"] + fields["Gid"]
        assert fields["Groups"] == fields["Gid"][:1]
        assert int(fields["CapEff"][0], 16) == 0

    def test_keeps_our_environment_to_itself(self, make_cluster, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "a secret")
        cluster = make_cluster()
        cluster.start()
        assert b"a secret" not in Path(f"/proc/{cluster.pid}/environ").read_bytes()

    def test_a_moved_data_folder_finds_its_cluster(self, make_cluster, tmp_path):
        cluster = make_cluster()
        cluster.start()
        write_three_rows(cluster)
        cluster.stop()
        cluster.data_folder.rename(tmp_path / "moved")
        moved = make_cluster(tmp_path / "moved")
        moved.start()
        assert ask(moved, "SELECT count(*) FROM kept") == 3

    def test_a_copied_data_folder_does_not_run_the_same_cluster_twice(self, make_cluster, tmp_path):
        cluster = make_cluster()
        cluster.start()
        (tmp_path / "copy").mkdir()
        (tmp_path / "copy" / "postgres.id").write_text((cluster.data_folder / "postgres.id").read_text())
        with pytest.raises(ClusterInUse):
            make_cluster(tmp_path / "copy").start()
        assert ask(cluster, "SELECT 1") == 1
