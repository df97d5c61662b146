"""Settings that last, from `settings.env` of a data folder, and the ports of its last start."""

import os
import re
from pathlib import Path

import pytest

from spotthebot.cli.commands.options import folder_at
from spotthebot.contracts.services import get_service
from spotthebot.local.errors import SettingsFileNotUsable
from spotthebot.local.runtime.data_folder import DataFolder
from spotthebot.local.runtime.kept_settings import SUITE, given_settings, unknown_settings
from tests.factories.command_line import run_stb

DOCS = Path(__file__).parents[2] / "docs" / "settings.md"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget afterwards what a test adds to the environment."""
    monkeypatch.setattr(os, "environ", os.environ.copy())


def _write(folder: Path, text: str, mode: int = 0o600) -> None:
    path = folder / "settings.env"
    path.write_text(text)
    path.chmod(mode)


class TestFile:
    def test_gives_settings_that_the_environment_lacks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setitem(os.environ, "SPOTTHEBOT_WEB_SESSION_HOURS", "8")
        networks = '["10.1.0.0/16"]'
        lines = [
            "# pages",
            "",
            "SPOTTHEBOT_WEB_SESSION_HOURS=4",
            'SPOTTHEBOT_WEB_PUBLIC_URL="https://spot.example.org"',
            f"SPOTTHEBOT_BOTS_ALLOWED_NETWORKS={networks}",
            "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318/#all",
        ]
        _write(tmp_path, "\n".join(lines))
        folder_at(tmp_path)
        traces = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318/#all"}
        pages = {"SPOTTHEBOT_WEB_SESSION_HOURS": "8", "SPOTTHEBOT_WEB_PUBLIC_URL": "https://spot.example.org"}
        assert given_settings(get_service("web")) == pages | traces
        assert given_settings(get_service("bots")) == {"SPOTTHEBOT_BOTS_ALLOWED_NETWORKS": networks} | traces

    @pytest.mark.parametrize(
        ("text", "mode", "reason"),
        [
            ("A=1\n", 0o620, "others can write it"),
            ("A=1\n", 0o602, "others can write it"),
            ("A=1\nB\n", 0o600, "line 2 is not NAME=value"),
            ("A=1\n\nB='x\n", 0o600, "line 3 is not NAME=value"),
        ],
    )
    def test_is_refused_with_a_reason(self, tmp_path: Path, text: str, mode: int, reason: str):
        _write(tmp_path, text, mode)
        with pytest.raises(SettingsFileNotUsable, match=reason):
            folder_at(tmp_path)

    @pytest.mark.skipif(os.geteuid() != 0, reason="root alone can give a file away")
    def test_is_refused_from_another_user(self, tmp_path: Path):
        _write(tmp_path, "A=1\n")
        os.chown(tmp_path / "settings.env", 4711, -1)
        with pytest.raises(SettingsFileNotUsable, match="others can write it"):
            folder_at(tmp_path)


class TestUnknownNames:
    def test_come_with_their_place_and_the_nearest_setting(self, tmp_path: Path):
        _write(tmp_path, "# pages\n\nSPOTTHEBOT_WBE_PUBLIC_URL=https://a.example\n")
        file = tmp_path / "settings.env"
        names = ["SPOTTHEBOT_BOTS_PROBE_SECOND", "SPOTTHEBOT_WBE_PUBLIC_URL", "SPOTTHEBOT_URL", "HOME"]
        assert unknown_settings(names, tmp_path) == [
            f"{names[0]} (of the environment) is no setting: the nearest is 'SPOTTHEBOT_BOTS_PROBE_SECONDS'.",
            f"{names[1]} ({file}, line 3) is no setting: the nearest is 'SPOTTHEBOT_WEB_PUBLIC_URL'.",
        ]

    def test_are_none_of_the_documented_names(self, tmp_path: Path):
        documented = set(re.findall(r"^\| `(SPOTTHEBOT_\w+)`", DOCS.read_text(), re.MULTILINE))
        assert set(SUITE) < documented
        assert unknown_settings(documented, tmp_path) == []


class TestHints:
    def test_name_a_folder_that_is_not_the_default(self, tmp_path: Path):
        said = run_stb("status", "--data-dir", tmp_path).stderr
        assert f"'./stb up --data-dir {tmp_path}' makes one" in " ".join(said.split())

    def test_leave_out_the_default_folder(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
        monkeypatch.setattr("spotthebot.local.runtime.data_folder.DEFAULT_DATA_DIR", tmp_path)
        assert DataFolder(tmp_path).option == ""


class TestPorts:
    def test_follow_the_number_of_the_last_start(self, tmp_path: Path):
        folder = DataFolder(tmp_path)
        assert folder.port_base == 8100
        folder.keep_port_base(9100)
        assert DataFolder(tmp_path).port_base == 9100
