import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.events.settings import EventSettings
from spotthebot.kit.service.process import _read_settings
from spotthebot.local.runtime.services import load_service

BOUNDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "max_body_bytes": (("1024",), ("1023",)),
    "max_connections_per_address": (("0",), ("-1",)),
    "head_timeout_seconds": (("0.001",), ("0",)),
    "body_timeout_seconds": (("0.001",), ("0",)),
    "min_free_disk_mb": (("0",), ("-1",)),
    "request_log_lines_per_second": (("0",), ("-1",)),
    "database_pool_size": (("1", "200"), ("0", "201")),
    "failed_keys_per_minute": (("1",), ("0",)),
    "rate_limit_requests_per_minute": (("1",), ("0",)),
    "service_rate_limit_requests_per_minute": (("1",), ("0",)),
    "delivery_timeout_seconds": (("0.001", "60.0"), ("0", "60.001")),
    "deliveries_at_once": (("1", "100"), ("0", "101")),
    "delivery_poll_seconds": (("0.001", "60.0"), ("0", "60.001")),
    "event_retention_days": (("4", "3650"), ("3", "3651")),
    "delivery_waits_seconds": ((json.dumps([0.0] * 100),), (json.dumps([0.0] * 101), "[-0.001]")),
    "allowed_networks": (('["10.1.0.0/16"]',), ('["10.1.0.0/33"]', '["lab"]')),
    "operator_networks": (('["fd00::/8"]',), ('["10.1.0.1/16"]',)),
}
URL = "postgresql://user:hunter2@host/db"


class ThingsSettings(EventSettings):
    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_THINGS_", frozen=True, extra="ignore")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPOTTHEBOT_THINGS_DATABASE_URL", URL)
    monkeypatch.setenv("SPOTTHEBOT_OTHERS_LOG_LEVEL", "DEBUG")


class TestSettings:
    def test_are_read_from_the_environment_under_the_services_prefix(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("SPOTTHEBOT_THINGS_CORS_ORIGINS", '["https://a.example", "https://b.example"]')
        monkeypatch.setenv("SPOTTHEBOT_THINGS_RATE_LIMIT_REQUESTS_PER_MINUTE", "7")
        settings = ThingsSettings()
        assert settings.database_url.get_secret_value() == URL
        assert settings.cors_origins == ("https://a.example", "https://b.example")
        assert settings.rate_limit_requests_per_minute == 7
        assert settings.log_level == "INFO"  # the other service's DEBUG is not ours

    def test_wait_between_deliveries_as_standard_webhooks_recommends(self):
        """Its schedule: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h."""
        hours = (2, 5, 10, 14, 20, 24)
        expected = (5, 5 * 60, 30 * 60, *(each * 3600 for each in hours))
        assert ThingsSettings().delivery_waits_seconds == expected

    def test_come_from_files_of_their_names_unless_the_environment_has_them(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ):
        (tmp_path / "SPOTTHEBOT_THINGS_SERVICE_KEY").write_text("stb_service_x\n")
        (tmp_path / "SPOTTHEBOT_THINGS_LOG_LEVEL").write_text("DEBUG\n")
        monkeypatch.setenv("SPOTTHEBOT_SECRETS_DIR", str(tmp_path))
        monkeypatch.setenv("SPOTTHEBOT_THINGS_LOG_LEVEL", "ERROR")
        settings = ThingsSettings()
        assert (settings.service_key.get_secret_value(), settings.log_level) == ("stb_service_x", "ERROR")

    def test_cannot_be_changed(self):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(ThingsSettings(), "log_level", "DEBUG")  # noqa: B010 - mypy refuses the plain way too

    def test_do_not_show_their_secrets(self):
        settings = ThingsSettings(service_key=SecretStr("stb_service_x"))
        assert "hunter2" not in repr(settings)
        assert "stb_service_x" not in repr(settings)

    @pytest.mark.parametrize("name", BOUNDS)
    def test_are_taken_at_their_bounds_and_refused_beyond(self, monkeypatch: pytest.MonkeyPatch, name: str):
        taken, refused = BOUNDS[name]
        for value in taken:
            monkeypatch.setenv(f"SPOTTHEBOT_THINGS_{name.upper()}", value)
            assert json.loads(ThingsSettings().model_dump_json(include={name})) == {name: json.loads(value)}
        for value in (*refused, "many"):
            monkeypatch.setenv(f"SPOTTHEBOT_THINGS_{name.upper()}", value)
            with pytest.raises(ValueError, match=name):
                ThingsSettings()


def test_a_service_says_which_settings_it_lacks_instead_of_starting():
    command = [sys.executable, "-m", "spotthebot.bots", "serve"]
    environment = {"PATH": "", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 78
    assert run.stderr == "bots: SPOTTHEBOT_BOTS_DATABASE_URL is missing. See 'Settings' in the documentation.\n"


@pytest.mark.parametrize(
    ("name", "setting", "choices"),
    [
        ("annotation", "LOG_LEVEL", "'DEBUG', 'INFO', 'WARNING' or 'ERROR'"),
        ("fed", "DTYPE", "'auto', 'float32', 'bfloat16' or 'float16'"),
    ],
)
def test_a_service_names_the_choices_of_a_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, setting: str, choices: str
):
    monkeypatch.setenv(f"SPOTTHEBOT_{name.upper()}_DATABASE_URL", URL)
    monkeypatch.setenv(f"SPOTTHEBOT_{name.upper()}_{setting}", "LOUD")
    with pytest.raises(SystemExit, match="78"):
        _read_settings(name, load_service(name).settings)
    assert f"SPOTTHEBOT_{name.upper()}_{setting} must be {choices}." in capsys.readouterr().err


def test_a_service_says_that_its_folder_of_secrets_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    monkeypatch.setenv("SPOTTHEBOT_SECRETS_DIR", str(tmp_path / "none"))
    with pytest.raises(SystemExit, match="78"):
        _read_settings("things", ThingsSettings)
    assert f"can't be read: SPOTTHEBOT_SECRETS_DIR names {tmp_path / 'none'}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variable", "secret", "said"),
    [
        ("10.1.0.0/16", None, 'SPOTTHEBOT_THINGS_OPERATOR_NETWORKS must be JSON, such as ["one", "two"].'),
        (None, b"\xff\xfe", "SPOTTHEBOT_THINGS_SERVICE_KEY can't be read: 'utf-8' codec can't decode"),
    ],
)
def test_a_service_says_which_setting_holds_no_value_at_all(
    variable: str | None,
    secret: bytes | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
):
    if variable:
        monkeypatch.setenv("SPOTTHEBOT_THINGS_OPERATOR_NETWORKS", variable)
    if secret:
        (tmp_path / "SPOTTHEBOT_THINGS_SERVICE_KEY").write_bytes(secret)
        monkeypatch.setenv("SPOTTHEBOT_SECRETS_DIR", str(tmp_path))
    with pytest.raises(SystemExit, match="78"):
        _read_settings("things", ThingsSettings)
    assert f"things: {said}" in capsys.readouterr().err
