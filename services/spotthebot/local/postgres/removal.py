"""Removes a cluster and its home."""

import shutil

from spotthebot.local.postgres import postmaster
from spotthebot.local.postgres.home import Home, Lock, disk_errors

_STOP_SECONDS = 30


def remove_cluster(home: Home) -> None:
    """Remove a cluster with its data for good; a server that survived its supervisor is stopped first.

    Raises ClusterInUse while another process runs the cluster, and FolderNotWritable.
    """
    lock = Lock(home)
    try:
        postmaster.clear_the_way(home, _STOP_SECONDS)
        with disk_errors(home.folder):
            shutil.rmtree(home.folder)
            home.lock_file.unlink()
    finally:
        lock.release()
