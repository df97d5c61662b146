import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spotthebot.local.postgres.cluster import Cluster

MakeCluster = Callable[..., Cluster]


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    """Where root's clusters live: pytest's own folders are closed to the account that runs them."""
    folder = Path(tempfile.mkdtemp(prefix="stb-homes-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def make_cluster(tmp_path: Path, home: Path) -> Iterator[MakeCluster]:
    made: list[Cluster] = []

    def make(data_folder: Path = tmp_path / "data", **options: Any) -> Cluster:
        settings: dict[str, Any] = {"home": home, "durable": False, **options}
        cluster = Cluster(data_folder, **settings)
        made.append(cluster)
        return cluster

    yield make
    for cluster in made:
        cluster.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[Cluster]:
    """One server for every test that only needs a database on it."""
    with Cluster(tmp_path_factory.mktemp("server"), home=home, durable=False) as cluster:
        yield cluster
