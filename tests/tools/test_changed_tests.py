"""Which tests `stb test --fast` runs first, and which ones run on each mutant."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tools.changed_tests import changed_files, pick_tests
from tools.reaching_tests import ImportGraph

GIT = shutil.which("git") or "git"
FILES = {
    "services/spotthebot/bots/app.py": "from spotthebot.bots.replies import api\n",
    "services/spotthebot/bots/client_pool.py": "",
    "services/spotthebot/bots/replies/api.py": "from spotthebot.bots.replies import store\n",
    "services/spotthebot/bots/replies/store.py": "",
    "services/spotthebot/bots/replies/domain/pauses.py": "",
    "services/spotthebot/bots/probes/store.py": "",
    "services/spotthebot/bots/hosting/store.py": "",
    "shared/spotthebot/contracts/bots/replies.py": "",
    "shared/spotthebot/clients/bots.py": "from spotthebot.contracts.bots import replies\n",
    "shared/spotthebot/kit/ids.py": "",
    "tests/bots/conftest.py": "from spotthebot.bots import app\n",
    "tests/bots/replies/test_latency.py": "import pytest\n",
    "tests/bots/replies/test_pauses.py": "import pytest\n",
    "tests/bots/test_client_pool.py": "import pytest\n",
    "tests/bots/test_probes.py": "import pytest\n",
    "tests/bots/test_stored_lists.py": "from spotthebot.bots.replies import store\n",
    "tests/conversations/test_replies.py": "import pytest\n",
    "tests/conversations/replies/test_chats.py": "from spotthebot.clients import bots\n",
    "tests/kit/test_identity.py": "from spotthebot.kit import ids\n",
    "tests/kit/test_other.py": "import spotthebot.kit.errors\n",
    "tools/pins.py": "",
    "tests/tools/test_pins.py": "import pytest\n",
    "tests/architecture/test_pinned.py": "from tools.pins import pins\n",
}
OF_REPLIES = ["tests/bots/replies/test_latency.py", "tests/bots/replies/test_pauses.py"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    commit = "-c user.name=n -c user.email=e commit -qm first"
    for command in ("init -q -b main", "add -A", commit, "checkout -qb branch"):
        subprocess.run([GIT, *command.split()], cwd=tmp_path, check=True)
    return tmp_path


class TestChangedTests:
    def test_are_none_where_nothing_changed(self, clone: Path):
        assert changed_files(clone) == []
        assert pick_tests([], clone) == []

    def test_import_what_changed(self, clone: Path):
        (clone / "shared/spotthebot/kit/ids.py").write_text("x = 1\n")
        changed = changed_files(clone)
        assert changed == ["shared/spotthebot/kit/ids.py"]
        assert pick_tests(changed, clone) == ["tests/kit/test_identity.py"]

    @pytest.mark.parametrize(
        ("module", "picked"),
        [
            pytest.param("replies/api.py", OF_REPLIES, id="a layer"),
            pytest.param("replies/domain/pauses.py", OF_REPLIES, id="a module of a layer"),
            pytest.param("replies/store.py", [*OF_REPLIES, "tests/bots/test_stored_lists.py"], id="an imported layer"),
            pytest.param("probes/store.py", ["tests/bots/test_probes.py"], id="a noun without a folder of tests"),
            pytest.param("hosting/store.py", [], id="a noun without tests"),
            pytest.param("client_pool.py", ["tests/bots/test_client_pool.py"], id="a module of no noun"),
        ],
    )
    def test_lie_in_the_folder_of_the_noun_or_bear_its_name(self, clone: Path, module: str, picked: list[str]):
        assert pick_tests([f"services/spotthebot/bots/{module}"], clone) == picked

    def test_are_those_of_a_tool_too(self, clone: Path):
        assert pick_tests(["tools/pins.py"], clone) == ["tests/architecture/test_pinned.py", "tests/tools/test_pins.py"]

    def test_include_those_that_changed_or_are_new_themselves(self, clone: Path):
        (clone / "tests/kit/test_new.py").write_text("")
        (clone / "tests/kit/test_other.py").unlink()
        assert pick_tests(changed_files(clone), clone) == ["tests/kit/test_new.py"]


class TestNearestTests:
    def test_are_those_of_the_noun_first_and_those_that_import_the_module(self, clone: Path):
        nearest = ImportGraph(clone).nearest("services/spotthebot/bots/replies/store.py")
        assert nearest == [*OF_REPLIES, "tests/bots/test_stored_lists.py"]

    def test_are_all_of_the_package_where_only_a_running_service_reaches_the_module(self, clone: Path):
        nearest = ImportGraph(clone).nearest("services/spotthebot/bots/hosting/store.py")
        assert nearest == [
            *OF_REPLIES,
            "tests/bots/test_client_pool.py",
            "tests/bots/test_probes.py",
            "tests/bots/test_stored_lists.py",
        ]

    def test_are_those_of_other_packages_where_the_own_one_has_none(self, clone: Path):
        nearest = ImportGraph(clone).nearest("shared/spotthebot/contracts/bots/replies.py")
        assert nearest == ["tests/conversations/replies/test_chats.py"]
