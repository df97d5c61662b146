import subprocess
import sys

import pytest
from pydantic import SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.settings import ServiceSettings

URL = "postgresql://user:hunter2@host/db"


class ThingsSettings(ServiceSettings):
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

    def test_cannot_be_changed(self):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(ThingsSettings(), "log_level", "DEBUG")  # noqa: B010 - mypy refuses the plain way too

    def test_do_not_show_their_secrets(self):
        settings = ThingsSettings(service_key=SecretStr("stb_service_x"))
        assert "hunter2" not in repr(settings)
        assert "stb_service_x" not in repr(settings)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("RATE_LIMIT_REQUESTS_PER_MINUTE", "0"),
            ("DATABASE_POOL_SIZE", "0"),
            ("DATABASE_POOL_SIZE", "many"),
            ("MAX_BODY_BYTES", "1"),
        ],
    )
    def test_are_refused_where_they_make_no_sense(self, monkeypatch: pytest.MonkeyPatch, name: str, value: str):
        monkeypatch.setenv(f"SPOTTHEBOT_THINGS_{name}", value)
        with pytest.raises(ValidationError, match=name.lower()):
            ThingsSettings()


def test_a_service_says_which_settings_it_lacks_instead_of_starting():
    command = [sys.executable, "-m", "spotthebot.bots", "serve"]
    run = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == "The settings of bots are incomplete: database_url: Field required\n"
