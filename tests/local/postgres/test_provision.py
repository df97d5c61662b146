# ruff: noqa: S608 - the names in the statements are made up here
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from spotthebot.local.postgres.errors import DatabaseUnreachable, PasswordMissing, ProvisioningRefused, RoleNameTooLong
from spotthebot.local.postgres.provision import logins, provision

SCHEMAS = ["bots", "annotation"]
_numbers = count(1)


def passwords_of(schemas=SCHEMAS, mark="p@ss:/word%"):
    return {login: f"{mark}{login}" for login in logins(schemas)}


def run(url, statement):
    with psycopg.connect(url) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else None


def server_major(server):
    with psycopg.connect(server.admin_url) as connection:
        return connection.info.server_version // 10_000


def with_login(url, user, password):
    return f"postgresql://{user}:{password}@{url.partition('@')[2]}"


@pytest.fixture
def database():
    return f"stb{next(_numbers)}"


@pytest.fixture(scope="module", params=["superuser", "limited"])
def admin_url(request, server):
    """The embedded server's superuser, and what a hosted server's administrator usually is."""
    if request.param == "superuser":
        return server.admin_url
    run(server.admin_url, "CREATE ROLE administrator LOGIN CREATEDB CREATEROLE PASSWORD 'limited'")
    return with_login(server.admin_url, "administrator", "limited")


def provision_and_migrate(admin_url, database):
    made = provision(admin_url, database, SCHEMAS, passwords_of())
    for schema in (*SCHEMAS, "access"):
        run(
            made.owner_urls[schema],
            f"CREATE TABLE {schema}.things (id bigserial PRIMARY KEY, name text);"
            f"INSERT INTO {schema}.things (name) VALUES ('first');"
            f"CREATE FUNCTION {schema}.answer() RETURNS int LANGUAGE sql RETURN 42;",
        )
    return made


@pytest.fixture(scope="module")
def shared(admin_url):
    """A database after its first migrations, for tests that leave it as it is."""
    return provision_and_migrate(admin_url, f"stb{next(_numbers)}")


@pytest.fixture
def urls(admin_url, database):
    """The same, for tests that change it."""
    return provision_and_migrate(admin_url, database)


class TestAppLogin:
    def test_reads_and_writes_rows_of_its_schema(self, urls):
        app = urls.app_urls["bots"]
        run(app, "INSERT INTO bots.things (name) VALUES ('second')")
        run(app, "UPDATE bots.things SET name = 'changed' WHERE id = 2")
        run(app, "DELETE FROM bots.things WHERE id = 1")
        assert run(app, "SELECT id, name, bots.answer() FROM bots.things") == [(2, "changed", 42)]

    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TABLE bots.more (id int)",
            "ALTER TABLE bots.things ADD COLUMN more int",
            "DROP TABLE bots.things",
            "TRUNCATE bots.things",
            "CREATE SCHEMA more",
            "CREATE TABLE public.more (id int)",
            "CREATE TEMPORARY TABLE more (id int)",
            "DROP SCHEMA bots CASCADE",
        ],
    )
    def test_changes_no_schema(self, shared, statement):
        with pytest.raises(InsufficientPrivilege):
            run(shared.app_urls["bots"], statement)

    @pytest.mark.parametrize("kind", ["owner_urls", "app_urls"])
    def test_ends_locks_statements_and_idle_transactions_in_time(self, shared, kind):
        for url in getattr(shared, kind).values():
            limits = [run(url, f"SHOW {name}")[0][0] for name in ("lock_timeout", "statement_timeout")]
            assert limits == ["5s", "1min"]
            assert run(url, "SHOW idle_in_transaction_session_timeout") == [("1min",)]

    @pytest.mark.parametrize("kind", ["owner_urls", "app_urls"])
    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT * FROM annotation.things",
            "INSERT INTO annotation.things (name) VALUES ('foreign')",
            "SELECT annotation.answer()",
            "SELECT nextval('annotation.things_id_seq')",
        ],
    )
    def test_is_denied_the_neighbours_schema(self, shared, kind, statement):
        with pytest.raises(InsufficientPrivilege, match="permission denied for schema annotation"):
            run(getattr(shared, kind)["bots"], statement)

    def test_has_no_schema_in_its_search_path(self, shared):
        assert run(shared.app_urls["bots"], "SELECT current_schemas(false)") == [([],)]


class TestAccessSchema:
    @pytest.mark.parametrize("schema", SCHEMAS)
    def test_is_read_by_every_service_and_written_by_none(self, shared, schema):
        app = shared.app_urls[schema]
        assert run(app, "SELECT name FROM access.things") == [("first",)]
        for statement in (
            "INSERT INTO access.things (name) VALUES ('foreign')",
            "UPDATE access.things SET name = 'foreign'",
            "DELETE FROM access.things",
            "CREATE TABLE access.more (id int)",
        ):
            with pytest.raises(InsufficientPrivilege):
                run(app, statement)

    def test_has_an_owner_and_no_app_login(self, shared):
        assert set(shared.owner_urls) == {"bots", "annotation", "access"}
        assert set(shared.app_urls) == {"bots", "annotation"}

    @pytest.mark.usefixtures("urls")
    def test_is_open_to_a_service_that_comes_later(self, admin_url, database):
        schemas = [*SCHEMAS, "fed"]
        later = provision(admin_url, database, schemas, passwords_of(schemas))
        assert run(later.app_urls["fed"], "SELECT name FROM access.things") == [("first",)]


class TestProvision:
    def test_changes_nothing_when_run_again(self, urls, admin_url, database):
        acls = (
            "SELECT nspname, nspowner, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1",
            "SELECT defaclrole, defaclnamespace, defaclobjtype, defaclacl::text FROM pg_default_acl ORDER BY 1, 3",
            "SELECT relname, relnamespace, relacl::text FROM pg_class WHERE relname = 'things' ORDER BY 2",
            "SELECT roleid, member, grantor FROM pg_auth_members ORDER BY 1, 2, 3",
            f"SELECT datdba, datacl::text FROM pg_database WHERE datname = '{database}'",
        )
        owner = urls.owner_urls["bots"]
        before = [run(owner, statement) for statement in acls]
        assert provision(admin_url, database, SCHEMAS, passwords_of()) == urls
        assert [run(owner, statement) for statement in acls] == before

    def test_sets_new_passwords(self, urls, admin_url, database):
        again = provision(admin_url, database, SCHEMAS, passwords_of(mark="new"))
        assert run(again.app_urls["bots"], "SELECT 1") == [(1,)]
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            run(urls.app_urls["bots"], "SELECT 1")

    def test_closes_the_database_to_logins_of_another(self, urls, admin_url):
        other = provision(admin_url, f"stb{next(_numbers)}", SCHEMAS, passwords_of())
        user_and_password, _, address = other.app_urls["bots"].partition("@")
        stranger = f"{user_and_password}@{address.partition('/')[0]}/{urls.app_urls['bots'].rpartition('/')[2]}"
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            run(stranger, "SELECT 1")

    def test_may_be_run_by_four_at_once(self, admin_url, database):
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda _: provision(admin_url, database, SCHEMAS, passwords_of()), range(4)))
        assert run(made[0].app_urls["bots"], "SELECT 1") == [(1,)]

    def test_works_for_an_admin_who_inherits_nothing(self, server, database):
        if server_major(server) < 16:
            pytest.skip("before PostgreSQL 16 a role that does not inherit cannot be given a schema's rights")
        role = f"{database}_admin"
        run(server.admin_url, f"CREATE ROLE {role} LOGIN CREATEDB CREATEROLE NOINHERIT PASSWORD 'limited'")
        admin_url = with_login(server.admin_url, role, "limited")
        made = provision(admin_url, database, SCHEMAS, passwords_of())
        assert provision(admin_url, database, SCHEMAS, passwords_of()) == made

    def test_keeps_the_parameters_of_the_admins_url(self, server, database):
        made = provision(f"{server.admin_url}?application_name=stb", database, SCHEMAS, passwords_of())
        assert run(made.app_urls["bots"], "SHOW application_name") == [("stb",)]


class TestProvisionRefuses:
    def test_an_admin_who_may_not_create_roles(self, server, database):
        run(server.admin_url, f"CREATE ROLE {database}_weak LOGIN PASSWORD 'weak'")
        weak = with_login(server.admin_url, f"{database}_weak", "weak")
        with pytest.raises(ProvisioningRefused, match=f"{database}_weak may not set up the database {database}"):
            provision(weak, database, SCHEMAS, passwords_of())

    def test_a_server_that_does_not_answer_without_its_password(self, database):
        with pytest.raises(DatabaseUnreachable, match=r"at 127\.0\.0\.1:1 does not answer") as caught:
            provision("postgresql://admin:secret@127.0.0.1:1/postgres", database, SCHEMAS, passwords_of())
        assert "secret" not in str(caught.value)

    def test_a_login_without_a_password(self, server, database):
        with pytest.raises(PasswordMissing, match="login access_owner"):
            provision(server.admin_url, database, [], {})

    def test_names_that_postgresql_would_cut(self, server):
        with pytest.raises(RoleNameTooLong, match="choose a shorter database name"):
            provision(server.admin_url, "x" * 50, SCHEMAS, passwords_of())
