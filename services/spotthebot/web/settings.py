"""The settings of the service `web`."""

import json
import tempfile
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.crypto.vault import Vault, read_private, vault_from
from spotthebot.kit.settings import EdgeSettings


class WebSettings(EdgeSettings):
    """The settings of `web`. The variable `SPOTTHEBOT_WEB_<FIELD>` sets a field."""

    model_config = SettingsConfigDict(env_prefix="SPOTTHEBOT_WEB_", frozen=True, extra="ignore")

    bots_url: str = Field(default="http://127.0.0.1:8101", description="Where the service `bots` is.")
    conversations_url: str = Field(default="http://127.0.0.1:8102", description="Where the service `conversations` is.")
    annotation_url: str = Field(default="http://127.0.0.1:8103", description="Where the service `annotation` is.")
    analytics_url: str = Field(default="http://127.0.0.1:8104", description="Where the service `analytics` is.")
    fed_url: str = Field(default="http://127.0.0.1:8105", description="Where the service `fed` is.")
    service_seconds: float = Field(
        default=30.0,
        ge=0.1,
        le=300,
        description="How long a page waits for an answer of a service, in seconds, before it says that there is none.",
    )
    annotation_key: SecretStr = Field(
        default=SecretStr(""),
        description="API key (role `annotation`) with which packages are claimed and chats begun for people who come "
        "by links; without one there are no pages for annotators.",
    )
    public_url: str = Field(
        default="",
        description="Address at which people reach the pages, such as https://spot.example.org; with https, cookies "
        "are sent over https alone.",
    )
    sessions_key: SecretStr = Field(
        default=SecretStr(""),
        description="Keys (Fernet), separated by commas, that cookies are sealed with: the first seals, any opens. "
        "Several processes need the same ones.",
    )
    sessions_key_file: Path = Field(
        default=Path(tempfile.gettempdir()) / "spotthebot-web" / "sessions.key",
        description="File of these keys where none are given; made if missing.",
    )
    oidc_issuer: str = Field(
        default="", description="OpenID provider at which people may sign in instead of with a key, as https://..."
    )
    oidc_client_id: str = Field(default="", description="The provider's name for these pages.")
    oidc_client_secret: SecretStr = Field(
        default=SecretStr(""), description="Where the provider gave one; without it these pages are a public client."
    )
    oidc_scope: str = Field(default="openid profile email", description="What the pages ask the provider for.")
    oidc_claim: str = Field(
        default="groups",
        description="The claim of the id token that says what a person is; a path with dots for a nested one.",
    )
    oidc_keys: SecretStr = Field(
        default=SecretStr(""),
        description="JSON object with the API key of each value of the claim; the first that a person has decides.",
    )
    oidc_keys_file: Path | None = Field(default=None, description="File (0600) of this object where none is given.")
    session_hours: int = Field(default=12, ge=1, le=24 * 30, description="Time after which people sign in again.")
    annotator_days: int = Field(
        default=30, ge=1, le=365, description="Time for which the browser of an annotator remembers who they are."
    )
    annotator_requests_per_minute: int = Field(
        default=300, ge=1, description="Requests one annotator, or one person who chats, may make a minute."
    )
    chat_streams_per_person: int = Field(
        default=4, ge=1, description="Streams of a chat that one person may have open; further windows ask again."
    )
    chat_streams_per_link: int = Field(
        default=200, ge=1, description="Streams that people who came by one chat link may have open together."
    )
    chat_streams: int = Field(
        default=500,
        ge=1,
        description="Streams of chats that one process keeps open: each has a connection to `conversations`, whose "
        "`MAX_CONNECTIONS_PER_ADDRESS` has to be larger.",
    )
    failed_links_per_minute: int = Field(
        default=60, ge=1, description="Links that open nothing which one address may try a minute; others get 429."
    )

    def open_vault(self) -> Vault:
        """Return the vault that seals cookies and links. A missing key file is created."""
        return vault_from(self.sessions_key.get_secret_value(), self.sessions_key_file)

    def read_oidc_keys(self) -> dict[str, str]:
        """Return the API key of each value of the claim. Raises ValueError and OSError."""
        text = self.oidc_keys.get_secret_value()
        if not text and self.oidc_keys_file is not None:
            text = read_private(self.oidc_keys_file)
        try:
            keys = json.loads(text)
        except json.JSONDecodeError as error:
            message = f"it is not JSON ({error})"
            raise ValueError(message) from error
        if not isinstance(keys, dict) or not keys:
            message = "it must be a JSON object with an API key for each value of the claim"
            raise ValueError(message)
        for value, key in keys.items():
            if not isinstance(key, str) or parse_key(key) is None:
                message = f"its entry '{value}' is no API key: './stb keys create' makes one"
                raise ValueError(message)
        return keys

    def check(self) -> None:
        """Open the vault and read the provider's keys, which fails if a key is invalid or a file can't be read."""
        with self.blamed("sessions_key" if self.sessions_key.get_secret_value() else "sessions_key_file"):
            self.open_vault()
        if self.oidc_issuer:
            given = self.oidc_keys.get_secret_value()
            with self.blamed("oidc_issuer"):
                if not (self.oidc_client_id and self.public_url and (given or self.oidc_keys_file)):
                    message = "it also needs OIDC_CLIENT_ID, PUBLIC_URL, and OIDC_KEYS_FILE or OIDC_KEYS"
                    raise ValueError(message)
            with self.blamed("oidc_keys" if given else "oidc_keys_file"):
                self.read_oidc_keys()
