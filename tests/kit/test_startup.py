"""A service that can't work says which setting is wrong and what to do, and never runs half-configured."""

import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import psycopg
import pytest
from cryptography import x509
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy.engine import make_url

from spotthebot.contracts.services import API_NAMES, SERVICES
from spotthebot.inference.devices import count_gpus
from spotthebot.kit.migrations.lineage import MigrationFailed, NewerDatabase
from spotthebot.kit.processes.sockets import bind
from spotthebot.kit.service import process as service_process
from spotthebot.kit.service.process import _migrate
from spotthebot.kit.service.startup import check_settings
from spotthebot.kit.settings import EdgeSettings, SettingNotUsable
from spotthebot.local.runtime.services import load_lineage, load_service
from tests.factories.databases import DatabaseUrls
from tests.factories.running_suite import served

NOWHERE = "postgresql://a:b@127.0.0.1:1/none"
KEY = {"service_key": "stb_service_x"}
needs_mounts = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")


def settings_of(name: str, **values: object) -> EdgeSettings:
    sealing = {"secrets_key": Fernet.generate_key().decode()}
    made: EdgeSettings = load_service(name).settings(**{"database_url": NOWHERE, **KEY, **sealing, **values})
    return made


def refusal(name: str, **values: object) -> str:
    """Return what a service says that does not start."""
    with pytest.raises(SettingNotUsable) as refused:
        check_settings(settings_of(name, **values), load_lineage(name) if name in API_NAMES else None)
    return str(refused.value)


class TestMissingSettings:
    @pytest.mark.parametrize("name", [each.name for each in SERVICES if each.schema is not None and each.calls])
    def test_are_named_where_other_services_are_called_without_a_key(self, name: str):
        said = refusal(name, service_key="")
        assert said.startswith(f"SPOTTHEBOT_{name.upper()}_SERVICE_KEY can't be used: it is missing")
        assert "./stb keys create --role service" in said


class TestAddresses:
    @pytest.mark.parametrize(
        ("name", "field", "value"),
        [
            ("annotation", "fed_url", "127.0.0.1:8105"),
            ("bots", "conversations_url", ""),
            ("web", "public_url", "spot.example.org"),
            ("web", "oidc_issuer", "id.example.org"),
        ],
    )
    def test_are_refused_if_they_are_not_urls(self, name: str, field: str, value: str):
        said = refusal(name, **{field: value})
        assert said.startswith(f"SPOTTHEBOT_{name.upper()}_{field.upper()} can't be used: it must begin with http://")


class TestDatabaseUrl:
    def test_is_refused_where_the_server_refuses_it(self, database_urls: DatabaseUrls):
        good = make_url(database_urls.app["bots"])
        wrong = {
            good.set(password="wrong"): "correct its password",
            good.set(username="nobody_here", password="x"): "correct its password",  # the server says no more
            good.set(database="nothing"): "correct its database",
            good.update_query_dict({"sslmode": "require"}): "correct sslmode",
            good.update_query_dict({"sslmode": "often"}): "correct it",
        }
        for url, advice in wrong.items():
            said = refusal("bots", database_url=url.render_as_string(hide_password=False))
            assert said.startswith("SPOTTHEBOT_BOTS_DATABASE_URL can't be used: ")
            assert said.endswith(f": {advice}.") or advice in said
            assert str(good.password) not in said
        for other in ("localhost", "mysql://a:b@localhost/spotthebot"):
            assert "it must be a URL such as postgresql://" in refusal("bots", database_url=other)
        settings = settings_of("bots", database_url=good.render_as_string(hide_password=False))
        check_settings(settings, load_lineage("bots"))

    async def test_is_waited_for_where_the_server_is_not_there_yet(self):
        settings = settings_of("analytics")
        check_settings(settings, load_lineage("analytics"))
        app = load_service("analytics").create_app(settings)
        async with served(app, bind("127.0.0.1", 0)) as url, httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"{url}/readyz")).status_code == 503
            assert (await client.get(f"{url}/healthz")).status_code == 200

    def test_is_refused_where_the_servers_certificate_has_expired(self, tmp_path: Path):
        with expired_server(tmp_path) as port:
            url = f"postgresql://a:b@127.0.0.1:{port}/none?sslmode=verify-full&sslrootcert={tmp_path}/certificate.pem"
            assert "renew the server's certificate" in refusal("bots", database_url=url)


class TestDatabaseOfANewerRelease:
    def test_ends_a_service_that_is_too_old_for_it(self, database_urls: DatabaseUrls):
        lineage, url = load_lineage("bots"), database_urls.owner["bots"]
        message = f"at bots_0999, which this release \\({lineage.head}\\) lacks: start a newer one or one before 0.2.0"
        settings = settings_of("bots", database_url=database_urls.app["bots"])
        with psycopg.connect(url, autocommit=True) as owner:
            (comment,) = owner.execute("SELECT obj_description('bots.alembic_version'::regclass)").fetchall()[0]
            try:
                owner.execute("UPDATE bots.alembic_version SET version_num = 'bots_0999'")
                check_settings(settings, lineage)  # that release says that this one still works with it
                owner.execute("COMMENT ON TABLE bots.alembic_version IS 'bots_0998'")
                with pytest.raises(NewerDatabase, match=message):
                    check_settings(settings, lineage)
            finally:
                owner.execute("UPDATE bots.alembic_version SET version_num = %s", [lineage.head])
                owner.execute(f"COMMENT ON TABLE bots.alembic_version IS '{comment}'")


class TestMigration:
    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (MigrationFailed(schema="bots", found="bots_0005", needed="bots_0006", reason="division by zero"), None),
            (NewerDatabase(schema="bots", found="bots_0999", needed="bots_0006"), 78),
        ],
        ids=["that fails", "of a database that is too new"],
    )
    def test_ends_with_one_sentence(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        error: Exception,
        code: int | None,
    ):
        def fail(*_: object) -> None:
            raise error

        monkeypatch.setattr(service_process, "upgrade", fail)
        with pytest.raises(SystemExit) as ended:
            _migrate("bots", load_lineage("bots"), load_service("bots").settings(database_url=NOWHERE))
        assert ended.value.code == (code or f"bots: {error}")
        assert code is None or str(error) in capsys.readouterr().err

    def test_ends_as_misconfigured_where_the_url_is_none_of_postgresql(self, capsys: pytest.CaptureFixture[str]):
        with pytest.raises(SystemExit, match="78"):
            _migrate("bots", load_lineage("bots"), load_service("bots").settings(database_url="nonsense"))
        assert "SPOTTHEBOT_BOTS_DATABASE_URL can't be used: it must be a URL" in capsys.readouterr().err

    def test_says_which_setting_names_a_server_that_does_not_answer(self):
        with pytest.raises(SystemExit, match="bots: SPOTTHEBOT_BOTS_DATABASE_URL: connection failed"):
            _migrate("bots", load_lineage("bots"), load_service("bots").settings(database_url=NOWHERE))


class TestGpu:
    def test_has_to_be_there_where_a_setting_asks_for_it(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
        said = refusal("fed", device="cuda")
        assert said.startswith(
            "SPOTTHEBOT_FED_DEVICE can't be used: 'cuda' asks for a GPU, and this machine has no NVIDIA GPU"
        )
        for device in ("auto", "cpu"):
            check_settings(settings_of("fed", device=device), None)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,3")
        check_settings(settings_of("fed", device="cuda:1"), None)
        assert "this machine has 2 GPUs" in refusal("fed", device="cuda:2")
        assert "'gpu' is not a device: use 'auto', 'cpu', 'cuda' or" in refusal("fed", device="gpu")

    @pytest.mark.parametrize(("visible", "count"), [("", 0), ("-1", 0), ("0", 1), ("0, 1", 2), ("GPU-8932f937", 1)])
    def test_is_counted_as_far_as_it_is_visible(self, monkeypatch: pytest.MonkeyPatch, visible: str, count: int):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert count_gpus() == count


class TestKeyFile:
    @pytest.mark.parametrize("name", ["bots", "conversations", "annotation", "fed"])
    def test_is_named_where_it_is_unusable(self, tmp_path: Path, name: str):
        path = tmp_path / "key"
        path.write_bytes(Fernet.generate_key())
        path.chmod(0o644)
        said = refusal(name, secrets_key="", secrets_key_file=path)
        assert said == (
            f"SPOTTHEBOT_{name.upper()}_SECRETS_KEY_FILE can't be used: The file of keys can be read by "
            "others: `chmod 600` it."
        )
        assert "SECRETS_KEY can't be used: Fernet key must be 32" in refusal(name, secrets_key="short")

    def test_is_named_for_the_pages_too(self):
        with pytest.raises(SettingNotUsable, match="SPOTTHEBOT_WEB_SESSIONS_KEY can't be used: Fernet key"):
            check_settings(load_service("web").settings(sessions_key="short"), None)

    @needs_mounts
    def test_on_a_full_volume_is_named(self):
        folder = Path(tempfile.mkdtemp(prefix="stb-full-"))
        mount = ["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "none", str(folder)]
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            pytest.skip("nothing can be mounted here")
        try:
            with pytest.raises(OSError, match="No space"):
                (folder / "filling").write_bytes(b"x" * 20_000)
            said = refusal("bots", secrets_key="", secrets_key_file=folder / "key")
            assert said.startswith("SPOTTHEBOT_BOTS_SECRETS_KEY_FILE can't be used: No space left on device")
        finally:
            subprocess.run(["umount", "-l", folder], check=False)  # noqa: S607
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def expired_server(folder: Path) -> Iterator[int]:
    """Answer as PostgreSQL does that encrypts, with a certificate of yesterday; yield the port."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now - timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(8)  # SSLRequest
                connection.sendall(b"S")
                with pytest.raises(ssl.SSLError):
                    context.wrap_socket(connection, server_side=True)

        answering = threading.Thread(target=answer, daemon=True)
        answering.start()
        yield listening.getsockname()[1]
        answering.join(10)
