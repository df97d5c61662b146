"""Which of a machine's pip settings reach the build of an image."""

import configparser
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy" / "try" / "pip_settings.py"
SETTINGS = """
[global]
constraint = /machine/constraints.txt
find-links = /machine/wheels /machine/more-wheels
cert = /machine/certificates.crt
cache-dir = /machine/cache
no-index = true
require-virtualenv = true
extra-index-url =
    file:///machine/simple
    https://second.example/simple
timeout = 20
[install]
user = true
index-url = https://first.example/simple
timeout = 60
[freeze]
timeout = 5
"""


def printed(folder: Path, settings: str, *arguments: str, **environment: str) -> str:
    """Return what the script prints on a machine with these settings of pip and no others."""
    (folder / "pip.conf").write_text(settings)
    pip = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    alone = {"PIP_CONFIG_FILE": str(folder / "pip.conf"), "XDG_CONFIG_DIRS": str(folder), "HOME": str(folder)}
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, env=pip | alone | environment, capture_output=True, text=True, check=True).stdout


class TestSettingsOfABuild:
    def test_are_the_indexes_and_the_time_out_alone(self, tmp_path):
        read = configparser.ConfigParser()
        read.read_string(printed(tmp_path, SETTINGS))
        assert read.sections() == ["global"]
        assert dict(read["global"]) == {
            "index-url": "https://first.example/simple",
            "extra-index-url": "https://second.example/simple",
            "timeout": "60",
        }

    def test_follow_the_environment_before_the_files(self, tmp_path):
        text = printed(
            tmp_path, SETTINGS, PIP_INDEX_URL="https://third.example/simple", PIP_CONSTRAINT="/machine/constraints.txt"
        )
        assert "index-url = https://third.example/simple\n" in text
        assert "first.example" not in text
        assert "constraint" not in text

    @pytest.mark.parametrize("settings", ["", "[global]\nextra-index-url = file:///machine/simple\n"])
    def test_are_none_where_no_setting_fits(self, tmp_path, settings):
        assert printed(tmp_path, settings) == "[global]\n"

    def test_are_readable_for_pip(self, tmp_path):
        (tmp_path / "build").mkdir()
        text = printed(tmp_path, SETTINGS)
        assert printed(tmp_path / "build", text) == text


class TestFoldersOfWheels:
    def test_are_printed_one_a_line(self, tmp_path):
        assert printed(tmp_path, SETTINGS, "--folders") == "/machine/wheels\n/machine/more-wheels\n"
