"""The settings of a service that sends events."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr

from spotthebot.kit.crypto.vault import Vault, vault_from
from spotthebot.kit.outbound.owners import HttpByOwner
from spotthebot.kit.settings import JobSettings, Networks


class EventSettings(JobSettings):
    """Settings of events: allowed addresses of subscribers, the key for signing secrets, and times of delivery."""

    allowed_networks: Networks = Field(
        default=(),
        description='Networks beside the public internet where subscribers may be, as a JSON list: `["10.1.0.0/16"]`.',
    )
    operator_networks: Networks = Field(
        default=(),
        description="Networks beside these where subscribers that an admin key subscribes may be.",
    )
    secrets_key: SecretStr = Field(
        default=SecretStr(""),
        description="Fernet keys that signing secrets are encrypted with, the newest first, separated by commas.",
    )
    secrets_key_file: Path = Field(
        default=Path("/var/lib/spotthebot/secrets.key"),
        description="File (0600) with such keys, read where none is given; made if missing. Workers need it too.",
    )
    delivery_waits_seconds: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        default=(5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400),
        max_length=100,
        description="Waits between attempts to deliver an event, as a JSON list (Standard Webhooks).",
    )
    delivery_timeout_seconds: float = Field(
        default=15.0, gt=0, le=60, description="Time that a subscriber has to answer."
    )
    deliveries_at_once: int = Field(default=4, ge=1, le=100, description="Events on their way to one subscriber.")
    delivery_poll_seconds: float = Field(
        default=0.5, gt=0, le=60, description="Time between two looks of a worker for events to deliver."
    )
    event_retention_days: int = Field(
        default=30, ge=4, le=3650, description="Days that events and their deliveries are kept for, then deleted."
    )

    def open_vault(self) -> Vault:
        """Return the vault that seals signing secrets. If the file of the vault's key is missing, it is made."""
        return vault_from(self.secrets_key.get_secret_value(), self.secrets_key_file)

    def check(self) -> None:
        """Open the vault. A wrong key or an unreadable key file is reported as a fault of the setting."""
        with self.blamed("secrets_key" if self.secrets_key.get_secret_value() else "secrets_key_file"):
            self.open_vault()

    def make_http(self) -> HttpByOwner:
        """Return the HTTP clients that call subscribers."""
        return HttpByOwner(allowed=self.allowed_networks, operator=self.operator_networks)
