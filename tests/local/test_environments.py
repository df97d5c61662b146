import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from spotthebot.local.environments import Environment, EnvironmentNotMade, default_folder, ensure

MAKE = """
import sys
from pathlib import Path
from spotthebot.local.environments import Environment, ensure
print(ensure(Environment("greeting", ("stb-greeting==1.0",)), Path(sys.argv[1])))
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "environments"


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """An index of ours instead of the public one, to which wheels of one module each are added."""
    index = tmp_path / "index"
    index.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)

    def add(name, version):
        module = name.replace("-", "_")
        info = f"{module}-{version}.dist-info"
        files = {
            f"{module}.py": f"VERSION = {version!r}\n",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "".join(f"{path},sha256={digest(content)},{len(content)}\n" for path, content in files.items())
        with zipfile.ZipFile(index / f"{module}-{version}-py3-none-any.whl", "w") as wheel:
            for path, content in (files | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}).items():
                wheel.writestr(path, content)

    return add


@pytest.fixture
def have(tmp_path, monkeypatch):
    """Distributions of the running interpreter, each in a site-packages folder of its own."""

    def add(name, version, *, package=True):
        packages = tmp_path / f"packages-{len(sys.path)}"
        (packages / name).mkdir(parents=True)
        files = [f"{name}/content.py", *([f"{name}/__init__.py"] if package else [])]
        for file in files:
            (packages / file).write_text(f"VERSION = {version!r}\n")
        info = packages / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in (*files, f"{info.name}/METADATA")))
        monkeypatch.syspath_prepend(packages)
        return packages

    return add


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()


def said_by(python: Path, program):
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


class TestEnsure:
    def test_makes_an_environment_once(self, folder, publish, tmp_path):
        publish("stb-greeting", "1.0")
        environment = Environment("greeting", ("stb-greeting==1.0",))
        python = ensure(environment, folder)
        assert said_by(python, "import stb_greeting; print(stb_greeting.VERSION)") == "1.0"
        for wheel in (tmp_path / "index").iterdir():
            wheel.unlink()
        assert ensure(environment, folder) == python

    def test_holds_nothing_that_was_not_asked_for(self, folder, publish):
        publish("stb-greeting", "1.0")
        python = ensure(Environment("greeting", ("stb-greeting==1.0",)), folder)
        seen = said_by(python, "import importlib.metadata as m; print([d.name for d in m.distributions()])")
        assert seen == "['stb-greeting']"

    def test_links_what_the_interpreter_has_in_the_same_version(self, folder, have):
        packages = have("stb_lent", "2.0")
        python = ensure(Environment("lending", ("stb_lent==2.0",)), folder)
        assert said_by(python, "import stb_lent.content as c; print(c.VERSION)") == "2.0"
        (linked,) = folder.glob("lending-*/lib/python*/site-packages/stb_lent")
        assert linked.readlink() == packages / "stb_lent"

    def test_installs_what_the_interpreter_has_in_another_version(self, folder, publish, have):
        have("stb_lent", "2.0")
        publish("stb_lent", "3.0")
        python = ensure(Environment("lending", ("stb_lent==3.0",)), folder)
        assert said_by(python, "import stb_lent; print(stb_lent.VERSION)") == "3.0"

    def test_links_no_namespace_for_others_fill_it_too(self, folder, publish, have):
        have("stb_lent", "2.0", package=False)
        publish("stb_lent", "2.0")
        ensure(Environment("lending", ("stb_lent==2.0",)), folder)
        assert [each.name for each in folder.glob("lending-*/lib/python*/site-packages/*") if each.is_symlink()] == []

    def test_replaces_an_environment_whose_links_are_broken(self, folder, have):
        packages = have("stb_lent", "2.0")
        environment = Environment("lending", ("stb_lent==2.0",))
        old = ensure(environment, folder)
        packages.rename(packages.with_name("gone"))
        have("stb_lent", "2.0")
        new = ensure(environment, folder)
        assert said_by(new, "import stb_lent") == ""
        assert (old == new, old.exists()) == (False, False)

    def test_makes_it_once_for_processes_that_ask_at_the_same_time(self, folder, publish):
        publish("stb-greeting", "1.0")
        command = [sys.executable, "-c", MAKE, str(folder)]
        asking = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        answers = {process.communicate(timeout=60)[0] for process in asking}
        assert [process.returncode for process in asking] == [0, 0, 0]
        assert len(answers) == 1
        assert len([each for each in folder.iterdir() if each.is_dir()]) == 1

    def test_says_what_pip_said_last_and_leaves_nothing(self, folder, publish):
        publish("stb-greeting", "1.0")
        environment = Environment("greeting", ("stb-greeting==1.0", "stb-nowhere==1.0"))
        with pytest.raises(EnvironmentNotMade, match=r"'greeting'.*No matching distribution.*stb-nowhere==1\.0"):
            ensure(environment, folder)
        assert [each for each in folder.iterdir() if each.is_dir()] == []

    def test_says_that_the_folder_cannot_be_written(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(EnvironmentNotMade, match="Not a directory"):
            ensure(Environment("greeting", ("stb-greeting==1.0",)), tmp_path / "file" / "environments")


class TestDefaultFolder:
    def test_is_chosen_by_the_environment(self, monkeypatch, tmp_path):
        monkeypatch.setenv("SPOTTHEBOT_ENVIRONMENTS", str(tmp_path))
        assert default_folder() == tmp_path

    def test_is_in_the_cache_of_the_home(self, monkeypatch, tmp_path):
        monkeypatch.delenv("SPOTTHEBOT_ENVIRONMENTS", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path / "me"))
        assert default_folder() == tmp_path / "me" / ".cache" / "spotthebot" / "environments"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_is_temporary_where_the_home_cannot_be_written(self, monkeypatch, tmp_path):
        monkeypatch.delenv("SPOTTHEBOT_ENVIRONMENTS", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        tmp_path.chmod(0o500)
        assert default_folder().name == f"spotthebot-environments-{os.getuid()}"
