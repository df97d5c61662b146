"""What compose starts with: secrets made by `setup.sh`, the database prepared from them, keys made beside it."""

import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from spotthebot.contracts.services import API_NAMES, SCHEMAS, SERVICES
from spotthebot.kit.access.keys import parse_key
from spotthebot.kit.crypto.vault import Vault
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.provision import url_with
from spotthebot.operations.deployment import (
    KeyIsAnother,
    NotAKeyOfRole,
    NotTheRole,
    SecretMissing,
    prepare_database,
    read_deployment,
)
from tests.factories.command_line import run_stb

COMPOSE = Path(__file__).parents[2] / "deploy" / "compose"
pytestmark = pytest.mark.skipif(shutil.which("od") is None, reason="setup.sh needs od")


def set_up(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = folder / "setup.sh"
    if not script.exists():
        shutil.copy(COMPOSE / "setup.sh", script)
    return subprocess.run(["/bin/sh", script, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `setup.sh` ran."""
    folder = tmp_path_factory.mktemp("compose")
    assert set_up(folder, "spot.example.org").returncode == 0
    return folder


@pytest.fixture
def secrets(made: Path, tmp_path: Path) -> Path:
    """The secrets of the job that prepares the database, to be changed."""
    copied = shutil.copytree(made / "secrets" / "provision", tmp_path / "provision")
    for file in copied.iterdir():
        file.chmod(0o600)
    return copied


class TestSetup:
    def test_gives_a_container_its_own_secrets_alone(self, made: Path):
        given = {
            folder.name: {file.name for file in folder.iterdir()}
            for folder in (made / "secrets").iterdir()
            if folder.name in {*API_NAMES, "web", "cli", "bots-migrate"}
        }
        sealing = {"bots", "conversations", "annotation", "fed"}
        for service in SERVICES:
            names = {"DATABASE_URL", "SERVICE_KEY"} | ({"SECRETS_KEY"} if service.name in sealing else set())
            if service.schema is None:
                names = {"ANNOTATION_KEY", "SESSIONS_KEY"}
            assert given[service.name] == {f"{service.environment_prefix}{name}" for name in names}
        assert given["bots-migrate"] == {"SPOTTHEBOT_BOTS_DATABASE_URL"}
        assert given["cli"] == {"SPOTTHEBOT_ACCESS_DATABASE_URL"}

    def test_makes_what_services_can_use(self, made: Path):
        everything = made / "secrets" / "all"
        assert parse_key((everything / "admin_key").read_text())
        keys = (everything / "sessions").read_text()
        assert Vault(keys).open(Vault(keys).seal("hunter2")) == "hunter2"
        assert "DOMAIN=spot.example.org\nPUBLIC_URL=https://spot.example.org\n" in (made / ".env").read_text()

    def test_opens_its_folder_to_nobody_else_and_its_parts_to_the_containers_accounts(self, made: Path):
        modes = {each: (made / "secrets" / each).stat().st_mode & 0o777 for each in ("", "all", "bots")}
        assert modes == {"": 0o700, "all": 0o700, "bots": 0o755}
        assert (made / "secrets" / "bots" / "SPOTTHEBOT_BOTS_DATABASE_URL").stat().st_mode & 0o777 == 0o444

    def test_hands_the_pages_what_a_provider_needs(self, made: Path, tmp_path: Path):
        folder = shutil.copytree(made, tmp_path / "with-provider")
        (folder / "secrets" / "all" / "oidc_keys").write_text('{"labs": "stb_team_..."}')
        assert set_up(folder).returncode == 0
        given = folder / "secrets" / "web"
        assert (given / "SPOTTHEBOT_WEB_OIDC_KEYS").read_text() == '{"labs": "stb_team_..."}'
        assert not (given / "SPOTTHEBOT_WEB_OIDC_CLIENT_SECRET").exists()

    def test_changes_nothing_that_is_there(self, made: Path):
        (made / ".env").write_text(f"{(made / '.env').read_text()}POSTGRES_MEMORY=8g\n")
        files = [*(made / "secrets").rglob("*"), made / ".env"]
        before = {file: file.read_bytes() for file in files if file.is_file()}
        assert set_up(made).returncode == 0
        assert {file: file.read_bytes() for file in before} == before

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="setup.sh looks into a certificate with openssl")
    def test_takes_no_certificate_that_has_expired(self, tmp_path: Path):
        expired, valid = tmp_path / "expired.pem", tmp_path / "valid.pem"
        expired.write_bytes(_certificate(ends=timedelta(days=-1)))
        valid.write_bytes(_certificate(ends=timedelta(days=1)))
        key = tmp_path / "key.pem"
        key.touch()
        refused = set_up(tmp_path, "localhost", "--certificate", str(expired), "--key", str(key))
        assert (refused.returncode, "expired.pem holds a certificate that expired on" in refused.stderr) == (1, True)
        refused = set_up(tmp_path, "localhost", "--certificate", str(key), "--key", str(key))
        assert (refused.returncode, "key.pem holds no certificate" in refused.stderr) == (1, True)
        assert not (tmp_path / "secrets").exists()
        assert set_up(tmp_path, "localhost", "--certificate", str(valid), "--key", str(key)).returncode == 0
        assert "TLS=tls /run/secrets/certificate.pem" in (tmp_path / ".env").read_text()

    def test_keeps_the_ports_and_the_lines_of_an_operator(self, tmp_path: Path):
        """Renewing a certificate moved the proxy back to the usual ports."""
        settings = tmp_path / ".env"
        assert set_up(tmp_path, "localhost").returncode == 0
        assert _lines(settings) >= {
            "HTTP_PORT=127.0.0.1:80",
            "HTTPS_PORT=127.0.0.1:443",
            "PUBLIC_URL=https://localhost",
        }
        assert set_up(tmp_path, "spot.example.org").returncode == 0
        assert _lines(settings) == {"DOMAIN=spot.example.org", "PUBLIC_URL=https://spot.example.org"}
        own = {"HTTP_PORT=8080", "HTTPS_PORT=10.0.0.1:8443", "TORCH=none", "TLS=tls internal"}
        settings.write_text("\n".join([*_lines(settings), *own]))
        for arguments in ([], ["spot.example.org"]):
            assert set_up(tmp_path, *arguments).returncode == 0
            public = "https://spot.example.org:8443"  # with the port to which links have to lead
            assert _lines(settings) == {"DOMAIN=spot.example.org", f"PUBLIC_URL={public}"} | own

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="setup.sh looks into a certificate with openssl")
    def test_takes_a_certificate_for_the_domain_that_it_knows(self, tmp_path: Path):
        assert set_up(tmp_path, "spot.example.org").returncode == 0
        certificate, key = tmp_path / "own.pem", tmp_path / "key.pem"
        certificate.write_bytes(_certificate(ends=timedelta(days=1)))
        key.touch()
        for _ in range(2):  # once for the first time, once renewed
            assert set_up(tmp_path, "--certificate", str(certificate), "--key", str(key)).returncode == 0
            assert _lines(tmp_path / ".env") == {
                "DOMAIN=spot.example.org",
                "PUBLIC_URL=https://spot.example.org",
                "TLS=tls /run/secrets/certificate.pem /run/secrets/key.pem",
            }

    def test_is_for_a_domain(self, tmp_path: Path):
        refused = set_up(tmp_path)
        assert (refused.returncode, refused.stderr.startswith("Usage: ./setup.sh DOMAIN")) == (2, True)
        assert not (tmp_path / "secrets").exists()


def _lines(file: Path) -> set[str]:
    return set(file.read_text().splitlines())


class TestPrepareDatabase:
    async def test_lets_each_login_in_and_knows_the_keys(self, secrets: Path, at: Callable[[str], str]):
        _change(secrets, "SPOTTHEBOT_DATABASE_URL", at)
        _change(secrets, "SPOTTHEBOT_ACCESS_DATABASE_URL", at)
        for _ in range(2):  # again changes nothing
            await prepare_database(read_deployment(secrets))
        for schema in SCHEMAS:
            for kind in ("", "OWNER_"):
                url = (secrets / f"SPOTTHEBOT_{schema.upper()}_{kind}DATABASE_URL").read_text()
                with psycopg.connect(at(url)) as connection:
                    owns = (
                        f"SELECT has_schema_privilege('{schema}', 'CREATE'), has_schema_privilege('{schema}', 'USAGE')"
                    )
                    assert connection.execute(owns).fetchone() == (kind == "OWNER_", True)
        with psycopg.connect((secrets / "SPOTTHEBOT_ACCESS_DATABASE_URL").read_text()) as connection:
            roles = connection.execute("SELECT role FROM access.api_keys ORDER BY role").fetchall()
        assert roles == [("admin",), ("annotation",), ("service",)]

    async def test_takes_the_url_of_an_administrator_of_all_databases(self, secrets: Path, at: Callable[[str], str]):
        """CloudNativePG writes `*` in place of a database in the URL of its superuser."""
        of_all = url_with(at((secrets / "SPOTTHEBOT_DATABASE_URL").read_text()), database="*")
        for url in (of_all, of_all.replace("%2A", "*")):
            (secrets / "SPOTTHEBOT_DATABASE_URL").write_text(url)
            await prepare_database(read_deployment(secrets))

    async def test_refuses_a_key_whose_secret_is_another(self, secrets: Path, at: Callable[[str], str]):
        _change(secrets, "SPOTTHEBOT_DATABASE_URL", at)
        _change(secrets, "SPOTTHEBOT_ACCESS_DATABASE_URL", at)
        await prepare_database(read_deployment(secrets))
        _change(secrets, "SPOTTHEBOT_ADMIN_KEY", lambda key: key[:-1] + ("A" if key[-1] != "A" else "B"))
        with pytest.raises(KeyIsAnother, match="SPOTTHEBOT_ADMIN_KEY"):
            await prepare_database(read_deployment(secrets))

    def test_lets_keys_be_made_beside_it(
        self, secrets: Path, at: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        _change(secrets, "SPOTTHEBOT_DATABASE_URL", at)
        _change(secrets, "SPOTTHEBOT_ACCESS_DATABASE_URL", at)
        done = run_stb("provision", "--secrets", secrets)
        assert done.returncode == 0, done.stderr
        monkeypatch.setenv("SPOTTHEBOT_SECRETS_DIR", str(secrets))
        monkeypatch.setenv("SPOTTHEBOT_DATA_DIR", str(tmp_path / "data"))
        made = run_stb("keys", "create", "--role", "team", "--team", "blue", "--note", "of-blue")
        assert parse_key(made.stdout.strip())
        assert "of-blue" in run_stb("keys", "list").stdout
        assert not (tmp_path / "data").exists()


class TestReadDeployment:
    @pytest.mark.parametrize(
        ("name", "text", "error", "said"),
        [
            (
                "SPOTTHEBOT_BOTS_DATABASE_URL",
                None,
                SecretMissing,
                "SPOTTHEBOT_BOTS_DATABASE_URL is missing: write it to",
            ),
            ("SPOTTHEBOT_SERVICE_KEY", " ", SecretMissing, "SPOTTHEBOT_SERVICE_KEY is missing"),
            ("SPOTTHEBOT_FED_DATABASE_URL", "postgres", NotTheRole, "role spotthebot_fed_app"),
            ("SPOTTHEBOT_FED_DATABASE_URL", "postgresql://root:hunter2@db/spotthebot", NotTheRole, "FED_DATABASE_URL"),
            ("SPOTTHEBOT_FED_DATABASE_URL", "postgresql://spotthebot_fed_app@db/spotthebot", NotTheRole, "password"),
            ("SPOTTHEBOT_ADMIN_KEY", "stb_team_0", NotAKeyOfRole, "begins with stb_admin_"),
        ],
    )
    def test_says_which_secret_is_wrong_without_showing_it(
        self, secrets: Path, name: str, text: str | None, error: type[Exception], said: str
    ):
        if text is None:
            (secrets / name).unlink()
        else:
            (secrets / name).write_text(text)
        with pytest.raises(error, match=said) as raised:
            read_deployment(secrets)
        assert "hunter2" not in str(raised.value)


@pytest.fixture
def at(server: Cluster) -> Callable[[str], str]:
    """Move a URL of compose's network to the tests' server, an administrator's with its password."""
    address = urlsplit(server.admin_url).netloc.rpartition("@")[2]

    def move(url: str) -> str:
        return server.admin_url if "//postgres:" in url else url.replace("postgres:5432", address)

    return move


def _certificate(*, ends: timedelta) -> bytes:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=9), now + ends)
    return made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _change(folder: Path, name: str, change: Callable[[str], str]) -> None:
    file = folder / name
    file.write_text(change(file.read_text()))
