"""A backup holds all that a suite keeps, as it was at one moment; what is damaged, too new or in the way is refused."""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from rich.progress import Progress, TaskID
from sqlalchemy.engine import make_url

from spotthebot.cli.commands import backups as command
from spotthebot.contracts.access import Role
from spotthebot.contracts.services import SCHEMAS
from spotthebot.kit.access.keys import make_key
from spotthebot.kit.ids import new_id
from spotthebot.local.postgres.errors import DatabaseUnreachable
from spotthebot.local.postgres.provision import logins
from spotthebot.local.progress import Steps, showing_progress
from spotthebot.local.runtime import bootstrap as bootstrap_module
from spotthebot.operations import deployment
from spotthebot.operations.backups import restoration as restoration_module
from spotthebot.operations.backups.creation import create_backup
from spotthebot.operations.backups.dumps import programs_for
from spotthebot.operations.backups.errors import (
    BackupDamaged,
    DatabaseInUse,
    HasDatabase,
    NewerBackup,
    NewerServer,
    NoClientPrograms,
    NotABackup,
    RestoreFailed,
    SchemasMissing,
)
from tests.factories.command_line import run_stb
from tests.factories.databases import Databases, PostgresServer
from tests.operations.backed_up import KEY_OF_BOTS, Place, Suite, another_place, changed, filled_suite

_TABLES = """
    SELECT n.nspname, c.relname, c.relkind = 'S' FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'S') AND n.nspname = ANY(%s) ORDER BY 1, 2
"""
_ROWS = sql.SQL("SELECT count(*), md5(string_agg(t::text, chr(10) ORDER BY t::text)) FROM {} AS t")
_SEQUENCE = sql.SQL("SELECT last_value, is_called FROM {}")


def content_of(url: str) -> dict[str, tuple[Any, ...]]:
    """Return the number of rows of each table and a digest of them, and of each sequence where it is."""
    with psycopg.connect(url) as connection:
        names = connection.execute(_TABLES, [["access", *SCHEMAS]]).fetchall()
        found = {}
        for schema, name, is_sequence in names:
            rows = _SEQUENCE if is_sequence else _ROWS
            found[f"{schema}.{name}"] = connection.execute(rows.format(sql.Identifier(schema, name))).fetchall()[0]
    return found


@pytest.fixture(scope="module")
def suite(databases: Databases, cluster: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    with filled_suite(databases, cluster, tmp_path_factory.mktemp("suite")) as made:
        yield made


@pytest.fixture(scope="module")
def backup(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("backups") / "monday.zip"
    suite.back_up(path)
    return path


@pytest.fixture
def place(cluster: PostgresServer, tmp_path: Path) -> Iterator[Place]:
    with another_place(cluster, tmp_path / "place") as made:
        yield made


def _secrets(folder: Path, place: Place) -> list[str]:
    """Write the secrets of containers that use a place; returns the URLs of its roles."""
    folder.mkdir()
    urls = {}
    for login in logins(SCHEMAS):
        schema, _, kind = login.rpartition("_")
        name = f"{schema.upper()}_OWNER" if kind == "owner" and schema != "access" else schema.upper()
        url = make_url(place.url).set(username=f"{place.name}_{login}", password=f"of_{login}")
        urls[f"SPOTTHEBOT_{name}_DATABASE_URL"] = url.render_as_string(hide_password=False)
    keys = {
        f"SPOTTHEBOT_{role.upper()}_KEY": make_key(role, new_id())[0]
        for role in (Role.ADMIN, Role.SERVICE, Role.ANNOTATION)
    }
    for name, text in {**urls, **keys, "SPOTTHEBOT_DATABASE_URL": place.admin_url}.items():
        (folder / name).write_text(text)
    return list(urls.values())


class WritingProgress(Progress):
    """Writes a row when the first progress is shown."""

    def __init__(self, fed: psycopg.Connection) -> None:
        super().__init__(disable=True)
        self._fed: psycopg.Connection | None = fed

    def update(self, task_id: TaskID, **values: Any) -> None:
        if self._fed is not None:
            self._fed.execute("INSERT INTO fed.dimension_sets VALUES (gen_random_uuid(), 'late', 1, '[]')")
            self._fed = None
        super().update(task_id, **values)


class TestBackup:
    def test_restored_on_another_place_is_the_same_suite(self, suite: Suite, backup: Path, place: Place):
        contents = place.restore(backup)
        assert content_of(place.url) == content_of(suite.url)
        assert (contents.schemas, contents.models, contents.keys) == (6, 2, ("bots_secrets.key",))
        for name in ("small/model.safetensors", "small/config.json"):
            ours, theirs = (Path(each.environment["SPOTTHEBOT_BOTS_MODELS_FOLDER"]) for each in (place, suite))
            assert (ours / name).read_bytes() == (theirs / name).read_bytes()
        assert not (ours / ".upload-1").exists()
        key = Path(place.environment["SPOTTHEBOT_BOTS_SECRETS_KEY_FILE"])
        assert (key.read_text(), key.stat().st_mode & 0o777) == (KEY_OF_BOTS, 0o600)
        app = make_url(place.url).set(username=f"{place.name}_annotation_app", password="x")
        with psycopg.connect(app.render_as_string(hide_password=False)) as annotation:  # its rights came with it
            assert annotation.execute("SELECT count(*) FROM annotation.packages").fetchall() == [(3,)]
            assert annotation.execute("DELETE FROM annotation.items").rowcount == 6
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                annotation.execute("SELECT FROM bots.bots")

    def test_is_of_one_moment_while_services_write(self, suite: Suite, tmp_path: Path, place: Place):
        """The first piece of the first dump brings a row into the schema that is dumped last."""
        path = tmp_path / "busy.zip"
        with psycopg.connect(suite.urls.owner["fed"], autocommit=True) as fed, WritingProgress(fed) as progress:
            suite.back_up(path, steps=Steps(progress))
            assert fed.execute("DELETE FROM fed.dimension_sets").rowcount == 1
        place.restore(path)
        assert content_of(place.url)["fed.dimension_sets"] == (0, None)

    def test_can_be_read_by_its_owner_only(self, backup: Path):
        assert backup.stat().st_mode & 0o777 == 0o600

    def test_leaves_the_keys_out_on_request_and_takes_a_server_of_your_own(
        self, suite: Suite, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """`./stb backup` and `restore`, each on a data folder that held nothing."""
        file, folder = tmp_path / "a.zip", tmp_path / "data"
        for name, value in {**suite.environment, "SPOTTHEBOT_DATABASE_URL": suite.admin_url}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(command, "DATABASE_NAME", suite.database)
        made = run_stb("backup", file, "--no-keys", "--data-dir", folder)
        assert made.returncode == 0, made.stderr
        assert "2 files of models, no encryption keys." in made.stderr
        assert f"Keep the files *.key of {folder}" in made.stderr
        assert KEY_OF_BOTS.encode() not in file.read_bytes()
        for name, value in place.environment.items():
            monkeypatch.setenv(name, value)
        for module in (command, bootstrap_module):
            monkeypatch.setattr(module, "DATABASE_NAME", place.name)
        done = run_stb("restore", file, "--data-dir", tmp_path / "other")
        assert done.returncode == 0, done.stderr
        assert "If it had secrets, put its files *.key into" in done.stderr
        assert content_of(place.url)["annotation.items"] == content_of(suite.url)["annotation.items"]
        assert content_of(place.url)["access.api_keys"][0] == 3  # the suite's own
        monkeypatch.setattr(deployment, "_DATABASE", place.name)
        monkeypatch.setenv("SPOTTHEBOT_SECRETS_DIR", str(tmp_path / "secrets"))
        logged_in = _secrets(tmp_path / "secrets", place)
        done = run_stb("restore", file, "--replace", "--data-dir", tmp_path / "third")
        assert done.returncode == 0, done.stderr
        assert "Start its containers." in done.stderr
        for url in logged_in:
            psycopg.connect(url).close()


class TestRefusedBackup:
    """What is refused changes nothing: no database appears."""

    def test_is_one_of_which_a_byte_changed(self, backup: Path, place: Place, tmp_path: Path):
        for name, offset in {"models/bots/small/model.safetensors": 100, "database/fed.dump": 2000}.items():
            with zipfile.ZipFile(backup) as archive:
                start = archive.getinfo(name).header_offset
            content = bytearray(backup.read_bytes())
            content[start + offset] ^= 1
            damaged = tmp_path / "damaged.zip"
            damaged.write_bytes(content)
            with pytest.raises(BackupDamaged, match=f"damaged \\({name}"):
                place.restore(damaged)
        assert not place.exists

    def test_is_one_whose_end_is_missing(self, backup: Path, place: Place, tmp_path: Path):
        cut = tmp_path / "cut.zip"
        cut.write_bytes(backup.read_bytes()[:-1000])
        with pytest.raises(NotABackup, match="or its end is missing"):
            place.restore(cut)

    def test_is_any_other_file(self, place: Place, tmp_path: Path):
        (tmp_path / "text").write_text("Dear diary")
        with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
            archive.writestr("a", "b")
        for name in ("text", "other.zip"):
            with pytest.raises(NotABackup):
                place.restore(tmp_path / name)

    def test_is_one_of_a_newer_release(self, backup: Path, place: Place, tmp_path: Path):
        def newer_schema(manifest: dict[str, Any]) -> None:
            manifest["schemas"]["bots"] = "bots_0999"
            manifest["release"] = "9.0.0"

        changes: list[Callable[[dict[str, Any]], None]] = [newer_schema, lambda manifest: manifest.update(format=2)]
        for change in changes:
            with changed(backup, tmp_path / "newer.zip", change) as path, pytest.raises(NewerBackup, match="newer"):
                place.restore(path)
        assert not place.exists

    def test_is_one_of_a_newer_postgresql(self, backup: Path, place: Place, tmp_path: Path):
        def newer(manifest: dict[str, Any]) -> None:
            manifest["postgresql"] = 99

        with (
            changed(backup, tmp_path / "newer.zip", newer) as path,
            pytest.raises(NewerServer, match="restore it on 99 or later"),
        ):
            place.restore(path)

    @pytest.mark.parametrize("name", ["../../etc/passwd", "models/../x", "/etc/passwd", "else/x", "models"])
    def test_is_one_that_names_files_elsewhere(self, backup: Path, place: Place, tmp_path: Path, name: str):
        def elsewhere(manifest: dict[str, Any]) -> None:
            manifest["members"][name] = {"bytes": 1, "sha256": "0"}

        with changed(backup, tmp_path / "other.zip", elsewhere) as path, pytest.raises(BackupDamaged, match="called"):
            place.restore(path)

    def test_is_one_that_lacks_a_dump(self, backup: Path, place: Place, tmp_path: Path):
        def without(manifest: dict[str, Any]) -> None:
            del manifest["members"]["database/bots.dump"]

        with changed(backup, tmp_path / "other.zip", without) as path, pytest.raises(BackupDamaged, match="dumps"):
            place.restore(path)


def rewritten(backup: Path, path: Path, contents: Mapping[str, bytes]) -> Path:
    """Copy a backup with other contents of files, and a manifest that names them."""
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(path, "w") as target:
        manifest = json.loads(source.read("manifest.json"))
        for info in source.infolist():
            content = contents.get(info.filename, source.read(info))
            manifest["members"][info.filename] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            if info.filename != "manifest.json":
                target.writestr(info, content)
        del manifest["members"]["manifest.json"]
        target.writestr("manifest.json", contents.get("manifest.json", json.dumps(manifest).encode()))
    return path


class TestDamagedBackup:
    """What is damaged is said to be, in a sentence, and changes nothing."""

    # The flags "encrypted", "patched", "strongly encrypted", and ways of compression (APPNOTE.TXT, 4.4.4 and 4.4.5).
    @pytest.mark.parametrize(("at", "to"), [(8, 1), (8, 0x20), (8, 0x40), (10, 8), (10, 12), (10, 14), (10, 99)])
    @pytest.mark.parametrize("name", ["database/fed.dump", "manifest.json"])
    def test_is_one_whose_directory_says_something_else(
        self, backup: Path, place: Place, tmp_path: Path, name: str, at: int, to: int
    ):
        content = bytearray(backup.read_bytes())
        entry = content.rindex(name.encode()) - 46
        assert content[entry : entry + 4] == b"PK\x01\x02"
        content[entry + at] = to
        (tmp_path / "damaged.zip").write_bytes(content)
        with pytest.raises(BackupDamaged, match="is damaged"):
            place.restore(tmp_path / "damaged.zip")
        assert not place.exists

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"format": "x"}, "format: must be a whole number"),
            ({"format": None}, "format: must be a whole number"),
            ({"format": True}, "format: must be a whole number"),
            ({"format": 0}, "format: must be at least 1"),
            ({"postgresql": "x"}, "postgresql: must be a whole number"),
            ({"postgresql": 16.5}, "postgresql: must be a whole number"),
            ({"schemas": []}, "schemas: must be an object"),
            ({"schemas": {"bots": ["bots_0001"]}}, "schemas/bots: must be a text"),
            ({"schemas": {"bots": None}}, "schemas/bots: must be a text"),
            ({"members": []}, "members: must be an object"),
            ({"members": {"database/bots.dump": {"bytes": -1, "sha256": ""}}}, "bytes: must be at least 0"),
            ({"members": {"database/bots.dump": 7}}, "members/database/bots.dump: must be an object"),
            ({"members": {"models/bots/" + "a/" * 2000 + "a": {"bytes": 0, "sha256": ""}}}, "2,003 folders deep"),
            ({"members": {f"models/bots/{'a' * 300}": {"bytes": 0, "sha256": ""}}}, "not a valid file name"),
            ({"members": {"models/bots/\x1b[2J": {"bytes": 0, "sha256": ""}}}, "not a valid file name"),
            ({"members": {f"models/bots/a{more}": {"bytes": 0, "sha256": ""} for more in ("", "/b")}}, "a folder"),
            ({"created_at": "\x1b[31mnow"}, "created_at: must match"),
            ({"created_at": None}, "created_at: must be a text"),
            ({"release": "\x1b[2J", "format": 2}, "release: must match"),
        ],
    )
    def test_is_one_whose_manifest_is_odd(
        self, backup: Path, place: Place, tmp_path: Path, change: dict[str, Any], said: str
    ):
        with (
            changed(backup, tmp_path / "odd.zip", lambda manifest: manifest.update(change)) as path,
            pytest.raises(BackupDamaged) as refused,
        ):
            place.restore(path)
        assert said in str(refused.value)
        assert str(refused.value).isprintable()
        assert not place.exists

    @pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"", b"[]", b"\xff", b"null"])
    def test_is_one_whose_manifest_is_none(self, backup: Path, place: Place, tmp_path: Path, text: bytes):
        with pytest.raises(BackupDamaged, match=r"manifest\.json"):
            place.restore(rewritten(backup, tmp_path / "odd.zip", {"manifest.json": text}))

    def test_is_one_with_the_dump_of_another_schema(self, backup: Path, place: Place, tmp_path: Path):
        with zipfile.ZipFile(backup) as source:
            other = source.read("database/bots.dump")
        with pytest.raises(BackupDamaged, match="dump of fed holds another schema"):
            place.restore(rewritten(backup, tmp_path / "swapped.zip", {"database/fed.dump": other}))
        assert not place.exists

    @pytest.mark.parametrize("key", [b"x" * 10, b"", b"\xff" * 44])
    def test_is_one_with_a_key_that_is_none(self, backup: Path, place: Place, tmp_path: Path, key: bytes):
        with pytest.raises(BackupDamaged, match=r"keys/bots_secrets.key is not an encryption key"):
            place.restore(rewritten(backup, tmp_path / "odd.zip", {"keys/bots_secrets.key": key}))
        assert not Path(place.environment["SPOTTHEBOT_BOTS_SECRETS_KEY_FILE"]).exists()


def test_a_backup_of_some_schemas_alone_is_restored_on_request_only(backup: Path, place: Place, tmp_path: Path):
    def one_alone(manifest: dict[str, Any]) -> None:
        for schema in [each for each in manifest["schemas"] if each != "bots"]:
            del manifest["schemas"][schema], manifest["members"][f"database/{schema}.dump"]

    with changed(backup, tmp_path / "bots.zip", one_alone) as path:
        with pytest.raises(SchemasMissing, match="no data of access, analytics, annotation, conversations, fed, which"):
            place.restore(path, replace=True)
        assert not place.exists
        assert place.restore(path, partial=True).schemas == 1
    assert content_of(place.url)["annotation.items"] == (0, None)


def test_a_file_that_is_there_is_overwritten_on_request_only(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, value in {**suite.environment, "SPOTTHEBOT_DATABASE_URL": suite.admin_url}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(command, "DATABASE_NAME", suite.database)
    file = tmp_path / "monday.zip"
    file.write_text("Monday's")
    refused = run_stb("backup", file, "--data-dir", tmp_path / "data")
    assert (refused.returncode, file.read_text()) == (1, "Monday's")
    assert "add --overwrite" in refused.stderr
    done = run_stb("backup", file, "--overwrite", "--quiet", "--data-dir", tmp_path / "data")
    assert (done.returncode, done.stderr, zipfile.is_zipfile(file)) == (0, "", True)
    monkeypatch.setattr(command, "DATABASE_NAME", "nothing")
    failed = run_stb("backup", file, "--overwrite", "--quiet", "--data-dir", tmp_path / "data")
    assert (failed.returncode, failed.stderr[:7]) == (1, "Error: ")


class TestDatabaseThatIsThere:
    def test_is_replaced_on_request_only_and_stays_where_that_fails(
        self, backup: Path, place: Place, monkeypatch: pytest.MonkeyPatch
    ):
        place.restore(backup)
        with psycopg.connect(place.url, autocommit=True) as connection:
            connection.execute("DELETE FROM annotation.items")
            with pytest.raises(DatabaseInUse, match="in use by annotation-worker: stop"):
                connection.execute("SET application_name = 'annotation-worker'")
                place.restore(backup, replace=True)
        with pytest.raises(HasDatabase, match="tables already: add --replace"):
            place.restore(backup)

        def fail(*_: object) -> None:
            raise RestoreFailed(schema="bots", reason="the disk is full")

        with monkeypatch.context() as patched, pytest.raises(RestoreFailed, match="as they were before"):
            patched.setattr(restoration_module, "upgrade", fail)
            place.restore(backup, replace=True)
        assert place.exists
        assert content_of(place.url)["annotation.items"] == (0, None)
        place.restore(backup, replace=True)
        assert place.exists
        assert content_of(place.url)["annotation.items"][0] == 6


def test_a_dump_that_is_no_dump_fails_with_what_postgresql_says(backup: Path, place: Place, tmp_path: Path):
    with pytest.raises(RestoreFailed, match=r"The schema bots could not be restored .*pg_restore: error"):
        place.restore(rewritten(backup, tmp_path / "odd.zip", {"database/bots.dump": b"no dump"}))
    assert not place.exists


def test_what_is_not_there_can_not_be_backed_up(suite: Suite, tmp_path: Path):
    with showing_progress() as steps, pytest.raises(DatabaseUnreachable, match="does not exist"):
        create_backup(tmp_path / "a.zip", suite.admin_url, "nothing", suite.environment, steps, with_keys=True)
    assert [*tmp_path.iterdir()] == []


def test_a_server_newer_than_all_programs_here_is_refused():
    with pytest.raises(NoClientPrograms, match="no pg_dump 99 or later"):
        programs_for(99)
