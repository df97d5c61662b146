"""The settings of the service `bots`."""

import tempfile
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.crypto.vault import Vault, vault_from
from spotthebot.kit.settings import Networks, ServiceSettings


class BotsSettings(ServiceSettings):
    """Read from `SPOTTHEBOT_BOTS_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_BOTS_", frozen=True, extra="ignore")

    conversations_url: str = Field(
        default="http://127.0.0.1:8102", description="Where the service `conversations` is: corpora to learn from."
    )
    allowed_networks: Networks = Field(
        default=(),
        description='Networks beside the public internet where bots may be, as a JSON list: `["10.1.0.0/16"]`.',
    )
    operator_networks: Networks = Field(
        default=(),
        description="Networks beside these where bots that an admin key registers may be.",
    )
    secrets_key: SecretStr = Field(
        default=SecretStr(""),
        description="Fernet keys that bots' secrets are encrypted with, the newest first, separated by commas.",
    )
    secrets_key_file: Path = Field(
        default=Path("/var/lib/spotthebot/secrets.key"),
        description="File (0600) with such keys, read if none is given; made if missing.",
    )
    probe_seconds: float = Field(default=45.0, ge=0.1, le=300, description="Longest time for one probe of a bot.")
    probes_per_team: int = Field(default=4, ge=1, description="Probes of one team's bots at the same time.")
    heartbeat_seconds: float = Field(
        default=300.0, ge=0.1, description="Time between two heartbeats of a bot that answers."
    )
    recovery_seconds: float = Field(
        default=5.0, ge=0.1, description="Time until a failing bot is probed again; doubles up to the heartbeat's."
    )
    models_folder: Path = Field(
        default=Path(tempfile.gettempdir()) / "spotthebot-models",
        description="Folder of hosted models: uploads, and directories that may be named.",
    )
    largest_model_bytes: int = Field(default=20 * 1024**3, ge=1024, description="Largest uploaded file of a model.")
    model_idle_seconds: float = Field(
        default=900.0, gt=0, description="Time without a question after which a worker process unloads its model."
    )
    model_lease_seconds: float = Field(
        default=30.0,
        ge=0.5,
        description="Time after which a hosted model can be changed again if the process that changed it was killed.",
    )
    triton_grpc: str = Field(default="", description="`host:port` of the suite's own Triton, gRPC; empty for none.")
    triton_http: str = Field(default="", description="URL of its HTTP, for when gRPC does not answer.")
    triton_repository: Path | None = Field(
        default=None, description="Model repository that this Triton serves, as this service sees it."
    )

    def open_vault(self) -> Vault:
        """Return the vault that seals the secrets of bots; makes its key file if it is missing."""
        return vault_from(self.secrets_key.get_secret_value(), self.secrets_key_file)

    def check(self) -> None:
        """Open the vault, so that a wrong key or an unreadable key file is found at the start."""
        with self.blamed("secrets_key" if self.secrets_key.get_secret_value() else "secrets_key_file"):
            self.open_vault()
