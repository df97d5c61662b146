# ruff: noqa: S607 - the programs are named here, nothing comes from outside
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import psycopg
import pytest

from spotthebot.local.postgres.errors import ClusterInUse
from spotthebot.local.postgres.home import settle

# Started by another process, in the main thread or beside it, and left without a goodbye.
SUPERVISOR = """
import os, sys, threading, time
from pathlib import Path
from spotthebot.local.postgres.cluster import Cluster
cluster = Cluster(Path(sys.argv[1]), home=Path(sys.argv[2]), durable=False)
if sys.argv[3] == "main":
    cluster.start()
else:
    thread = threading.Thread(target=cluster.start)
    thread.start()
    thread.join()
print(cluster.pid, flush=True)
time.sleep(60)
"""


def ask(cluster, statement):
    with psycopg.connect(cluster.admin_url) as connection:
        (row,) = connection.execute(statement).fetchall()
        return row[0]


def is_alive(process):
    """Also where nobody collects the dead."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def write_three_rows(cluster):
    with psycopg.connect(cluster.admin_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 3)")


@pytest.fixture
def supervisor(tmp_path, home):
    """Start a cluster in another process; its thread and the server's process are the arguments and result."""
    processes, servers = [], []

    def start(thread):
        arguments = [sys.executable, "-c", SUPERVISOR, tmp_path / "data", home, thread]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        processes.append(process)
        servers.append(psutil.Process(int(process.stdout.readline())))
        return process, servers[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    for server in servers:  # one that was started beside the main thread outlives its supervisor
        with suppress(psutil.NoSuchProcess):
            server.send_signal(signal.SIGQUIT)


class TestClusterAfterACrash:
    def test_comes_back_with_its_data_on_its_port(self, make_cluster):
        cluster = make_cluster(durable=True)
        cluster.start()
        write_three_rows(cluster)
        port = cluster.port
        os.kill(cluster.pid, signal.SIGKILL)
        while cluster.running:
            time.sleep(0.01)
        cluster.start()
        assert ask(cluster, "SELECT count(*) FROM kept") == 3
        assert cluster.port == port

    @pytest.mark.parametrize("somebody", ["living", "dead and not collected"])
    def test_starts_although_the_stale_pid_is_somebody_elses(self, make_cluster, home, somebody):
        cluster = make_cluster()
        cluster.start()
        account = settle(cluster.data_folder, home).account
        pid_file = settle(cluster.data_folder, home).cluster / "postmaster.pid"
        os.kill(cluster.pid, signal.SIGKILL)
        while cluster.running:
            time.sleep(0.01)
        _, _, rest = pid_file.read_text().partition("\n")
        # PostgreSQL takes any living process of its own account for a server.
        with subprocess.Popen(["sleep", "60"], user=account.uid if account else None) as sleeper:
            if somebody != "living":
                sleeper.kill()
                time.sleep(0.1)
            pid_file.write_text(f"{sleeper.pid}\n{rest}")
            cluster.start()
            assert ask(cluster, "SELECT 1") == 1
            assert is_alive(psutil.Process(sleeper.pid)) is (somebody == "living")
            sleeper.kill()

    def test_the_server_ends_with_its_supervisor(self, supervisor, make_cluster):
        process, server = supervisor("main")
        process.kill()
        for _ in range(1000):
            if not is_alive(server):
                break
            time.sleep(0.01)
        assert not is_alive(server)
        cluster = make_cluster()
        cluster.start()
        assert ask(cluster, "SELECT 1") == 1

    def test_a_server_started_beside_the_main_thread_outlives_that_thread(self, supervisor):
        _, server = supervisor("beside")
        time.sleep(0.5)
        assert is_alive(server)

    def test_replaces_a_server_that_outlived_its_supervisor(self, supervisor, make_cluster):
        process, survivor = supervisor("beside")
        process.kill()
        process.wait()
        assert is_alive(survivor)
        cluster = make_cluster()
        cluster.start()
        assert not is_alive(survivor)
        assert ask(cluster, "SELECT 1") == 1


class TestClusterForOneProcess:
    def test_refuses_a_second_one_on_the_same_folder(self, make_cluster):
        first, second = make_cluster(), make_cluster()
        first.start()
        with pytest.raises(ClusterInUse, match=f"in use by process {os.getpid()}"):
            second.start()
        assert ask(first, "SELECT 1") == 1
        first.stop()
        second.start()

    def test_names_the_process_that_holds_it(self, supervisor, make_cluster):
        process, _ = supervisor("main")
        with pytest.raises(ClusterInUse, match=f"in use by process {process.pid}: stop that process first"):
            make_cluster().start()
