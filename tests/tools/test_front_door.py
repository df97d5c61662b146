"""`./stb` before anything is installed: what it downloads, what it says of that, and when it passes a command on."""

import ast
import importlib.util
import json
import re
import shutil
import socket
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from tools.downloads import DOWNLOADS_FILE, sizes_of

ROOT = Path(__file__).parents[2]
FILES = ("stb", "pyproject.toml", "constraints.txt", "requirements.txt", str(DOWNLOADS_FILE))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone in which nothing was installed yet."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def stb(clone: Path) -> ModuleType:
    """The script of the clone, not yet run."""
    loader = SourceFileLoader("front_door_of_a_clone", str(clone / "stb"))
    specification = importlib.util.spec_from_loader(loader.name, loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


def installed(clone: Path, stb: ModuleType) -> None:
    """Let the clone look as if the suite had been installed."""
    (clone / ".venv" / "bin").mkdir(parents=True)
    (clone / ".venv" / "bin" / "python").touch()
    (clone / ".venv" / "pyvenv.cfg").write_text("version = 3.11.9\n")
    (clone / ".venv" / ".installed-suite").write_text(stb.fingerprint("suite"))


class TestInstalledSuite:
    def test_is_not_installed_again_by_another_python(
        self, clone: Path, stb: ModuleType, monkeypatch: pytest.MonkeyPatch
    ):
        installed(clone, stb)
        monkeypatch.setattr(sys, "version", "3.13.1 of another user")
        assert stb.is_installed("suite")
        (clone / ".venv" / "bin" / "python").unlink()  # its Python was removed
        assert not stb.is_installed("suite")

    @pytest.mark.parametrize(
        "arguments", [["status"], ["--help"], ["stauts"], ["test", "--help"], ["bots", "train", "-h"]], ids=" ".join
    )
    def test_gets_the_arguments_at_once(
        self, clone: Path, stb: ModuleType, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
    ):
        installed(clone, stb)
        started: list[tuple[str, list[str]]] = []
        monkeypatch.setattr("os.execv", lambda program, words: started.append((program, words)))
        monkeypatch.setattr(sys, "argv", ["stb", *arguments])
        stb.main()
        python = str(clone / ".venv" / "bin" / "python")
        assert started == [(python, [python, "-m", "spotthebot.cli", *arguments])]


class TestScript:
    def test_says_how_much_it_downloads_before_it_does(self, clone: Path):
        """A `venv` that fails stands before Python's own, and so shows whether it was asked."""
        (clone / "first").mkdir()
        (clone / "first" / "venv.py").write_text("import sys; sys.exit(1)")
        printed = subprocess.run(
            [sys.executable, clone / "stb", "status"],
            env={"PYTHONPATH": str(clone / "first"), "PATH": "/nowhere"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert printed.returncode == 1
        assert "First start: downloading what the suite needs into .venv (" in printed.stderr
        assert printed.stderr.index("First start") < printed.stderr.index("Making .venv")

    @pytest.mark.parametrize("further", [[], ["--only", "bots"], ["--data-dir", "elsewhere"]], ids=" ".join)
    def test_finds_taken_ports_before_it_downloads(
        self, clone: Path, stb: ModuleType, monkeypatch: pytest.MonkeyPatch, further: list[str]
    ):
        """The services may need other ports with --only; the folder gives the ports if there is no --port-base."""
        for name in ("services", "shared"):
            (clone / name).symlink_to(ROOT / name)
        monkeypatch.delenv("SPOTTHEBOT_DATA_DIR", raising=False)
        monkeypatch.setattr(stb, "install", lambda *_: None)
        monkeypatch.setattr("os.execv", lambda *_: None)
        monkeypatch.setattr(sys, "path", list(sys.path))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            base = str(taken.getsockname()[1] - 1)
            monkeypatch.setattr(sys, "argv", ["stb", "up", "--port-base", base, *further])
            if further[:1] == ["--only"]:
                stb.main()
            else:
                with pytest.raises(SystemExit, match="1"):
                    stb.main()
        monkeypatch.setattr(sys, "argv", ["stb", "up", *further])
        (clone / ".stb").mkdir()
        stb.main()

    def test_can_be_read_by_pythons_that_are_too_old_to_run_it(self):
        ast.parse((ROOT / "stb").read_text(encoding="utf-8"), feature_version=(3, 4))


@pytest.fixture
def here(stb: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that the sizes are known of, whichever runs the tests."""
    monkeypatch.setattr(stb.sys, "platform", "linux")
    monkeypatch.setattr(stb.platform, "machine", lambda: "x86_64")


@pytest.mark.usefixtures("here")
class TestAnnouncement:
    @pytest.mark.parametrize(
        ("extra", "there", "lines"),
        [
            ("suite", [], ["First start: downloading what the suite needs", "Not among them: torch and transformers"]),
            ("suite", ["suite"], ["The dependencies have changed: down", "Not among them: torch and transformers"]),
            ("models,suite", [], ["First start: downloading", "Then torch and transformers, to train, host"]),
            ("dev", [], ["First start: downloading", "Then torch and transformers", "Then what tests the suite"]),
        ],
    )
    def test_tells_the_models_apart_with_their_size(
        self,
        clone: Path,
        stb: ModuleType,
        extra: str,
        there: list[str],
        lines: list[str],
        capsys: pytest.CaptureFixture[str],
    ):
        (clone / ".venv").mkdir()
        for name in there:
            (clone / ".venv" / f".installed-{name}").write_text("by other pins")
        stb.announce(extra, stb.what_is_installed())
        said = capsys.readouterr().err.splitlines()
        assert len(said) == len(lines)
        assert all(printed.startswith(line) for printed, line in zip(said, lines, strict=True)), said
        sizes = [re.search(r"(\d+) packages, about ([\d.]+) ([MG]B) on PyPI\)", line) for line in said]
        of_suite, of_models = [size and size.groups()[1:] for size in sizes[:2]]
        known = json.loads((ROOT / DOWNLOADS_FILE).read_text())
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        of_bytes = [known[part]["linux-x86_64"][version]["bytes"] for part in ("suite", "models")]
        assert of_suite == (f"{of_bytes[0] / 1e6:.0f}", "MB")
        assert of_models == (f"{of_bytes[1] / 1e9:.1f}", "GB")

    def test_speaks_of_the_models_alone_where_the_suite_is_installed(
        self, clone: Path, stb: ModuleType, capsys: pytest.CaptureFixture[str]
    ):
        installed(clone, stb)
        stb.announce("models,suite", stb.what_is_installed())
        said = capsys.readouterr().err
        assert said.startswith("Downloading torch and transformers, to train, host and score with models (")
        assert said.count("\n") == 1

    def test_names_what_builds_the_site_and_no_model(
        self, clone: Path, stb: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        installed(clone, stb)
        asked: list[str] = []
        monkeypatch.setattr(stb, "install", lambda extra, _python: asked.append(extra))
        monkeypatch.setattr("os.execv", lambda *_: None)
        monkeypatch.setattr(sys, "argv", ["stb", "docs", "--site"])
        stb.main()
        stb.announce(asked[0], stb.what_is_installed())
        assert asked == ["docs,suite"]
        (size,) = re.findall(r"about (\d+) MB on PyPI", capsys.readouterr().err)
        assert 15 <= int(size) <= 25  # "about 20 MB" in the help of the option

    def test_names_no_number_on_a_machine_that_nothing_is_known_of(
        self, stb: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        monkeypatch.setattr(stb.platform, "machine", lambda: "riscv64")
        stb.announce("suite", "nothing")
        assert "their size on this machine is not known" in capsys.readouterr().err
        assert stb.Progress("Downloading", [None]).line() == "Downloading: 0 MB, 0 packages"


class TestProgress:
    """What pip 25 prints with `--progress-bar raw` into a pipe, and without."""

    SAID = (
        "Collecting aiohttp==3.14.5 (from -r requirements-suite.txt (line 1))\n",
        "  Using cached aiohttp-3.14.5-cp311-cp311-manylinux2014_x86_64.whl (2.0 MB)\n",
        "Collecting numpy==2.4.6 (from -r requirements-suite.txt (line 2))\n",
        "  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl.metadata (6.6 kB)\n",
        "Requirement already satisfied: packaging==26.3\n",
        "  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl (16.0 MB)\n",
        "Progress 0 of 16000000\n",
        "Progress 8000000 of 16000000\n",
    )

    def test_adds_up_files_and_the_bytes_of_the_present_one(
        self, stb: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        monkeypatch.setattr(stb, "LINE_EVERY_SECONDS", 0)
        monkeypatch.setattr(stb, "MANY_PACKAGES", 2)
        progress = stb.Progress("Downloading", [{"packages": 2, "bytes": 20_000_000}, {"packages": 1, "bytes": 0}])
        for line in self.SAID:
            progress.read(line)
        progress.read("Installing collected packages: numpy, aiohttp\n")
        wheel = tmp_path / "third-1-py3-none-any.whl"  # of an index that is a folder
        wheel.write_bytes(bytes(1_000_000))
        for line in (f"Processing {wheel} (from -r x)\n", "Installing collected packages: third\n"):
            progress.read(line)
        assert capsys.readouterr().err.splitlines() == [
            "Downloading: 0 MB of 20 MB, 1 of 3 packages",
            "Downloading: 0 MB of 20 MB, 1 of 3 packages",
            "Downloading: 0 MB of 20 MB, 2 of 3 packages",
            "Downloading: 2 MB of 20 MB, 2 of 3 packages",
            "Downloading: 2 MB of 20 MB, 2 of 3 packages",
            "Downloading: 10 MB of 20 MB, 2 of 3 packages",
            "Downloading: 18 MB of 20 MB, 2 of 3 packages. Installing what is not there yet: this takes minutes ...",
            "Downloading: 18 MB of 20 MB, 3 of 3 packages",
        ]

    def test_is_quiet_off_a_terminal_until_ten_seconds_have_passed(
        self, stb: ModuleType, capsys: pytest.CaptureFixture[str]
    ):
        progress = stb.Progress("Downloading", [])
        for line in self.SAID:
            progress.read(line)
        assert capsys.readouterr().err == ""
        progress.said -= 10
        progress.read(self.SAID[0])
        progress.read(self.SAID[0])
        assert len(capsys.readouterr().err.splitlines()) == 1


class TestSizes:
    """The file that pip takes on a machine: the wheel that fits it best, else the source."""

    LOCK = {  # noqa: RUF012 - not changed
        "packages": [
            {
                "name": "compiled",
                "sdist": {"size": 1},
                "wheels": [
                    {"url": f"https://index/compiled-1-{tags}.whl", "size": size}
                    for tags, size in (
                        ("py3-none-any", 10),
                        ("cp312-cp312-manylinux_2_28_x86_64", 20),
                        ("cp311-cp311-manylinux_2_28_x86_64", 30),
                        ("cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64", 40),
                        ("cp39-abi3-macosx_11_0_arm64", 50),
                        ("cp311-cp311-win_amd64", 60),
                    )
                ],
            },
            {"name": "source", "sdist": {"size": 2}},
            {"name": "nowhere", "wheels": [{"url": "https://index/nowhere-1-cp311-cp311-win_amd64.whl", "size": 3}]},
            {"name": "older", "marker": "python_version < '3.12' and sys_platform == 'linux'", "sdist": {"size": 4}},
        ]
    }

    @pytest.mark.parametrize(
        ("system", "machine", "minor", "compiled", "older"),
        [
            ("linux", "x86_64", 11, 30, True),
            ("linux", "x86_64", 12, 20, False),
            ("linux", "aarch64", 11, 10, True),
            ("darwin", "arm64", 13, 50, False),
        ],
    )
    def test_are_of_the_best_file(self, system: str, machine: str, minor: int, compiled: int, older: bool):
        found = dict(sizes_of(self.LOCK, system, machine, (3, minor)))
        assert found == {"compiled": compiled, "source": 2, "nowhere": None} | ({"older": 4} if older else {})
