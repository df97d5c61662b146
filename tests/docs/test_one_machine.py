"""The page about one machine without containers: its crontab works, its proxy and settings name every service."""

import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from spotthebot.contracts.services import SERVICES
from spotthebot.local.runtime.kept_settings import unknown_settings
from tests.docs.following import ROOT, blocks

PAGE = (ROOT / "docs" / "one-machine.md").read_text()


def test_the_nightly_line_backs_up_and_deletes_what_is_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As cron runs it: `\\%` is a percent sign, and an unescaped one would end the command."""
    line = next(block.text for block in blocks(PAGE) if block.text.startswith("0 3 "))
    command = line.strip().split(maxsplit=5)[5]
    assert not re.search(r"(?<!\\)%", command)
    stb = tmp_path / "spot-the-bot" / "stb"
    stb.parent.mkdir()
    stb.write_text('#!/bin/sh\n[ "$1 $2 $3 $4" = "backup --quiet --data-dir .stb" ] && touch "$5"\n')
    stb.chmod(0o700)
    backups = tmp_path / "backups"
    backups.mkdir()
    for name, days in (("spotthebot-old.zip", 40), ("spotthebot-recent.zip", 20), ("other.txt", 40)):
        (backups / name).touch()
        then = (datetime.now(UTC) - timedelta(days=days)).timestamp()
        os.utime(backups / name, (then, then))
    monkeypatch.setenv("HOME", str(tmp_path))
    here = command.replace("\\%", "%")
    subprocess.run(["/bin/sh", "-c", here], check=True)
    found = sorted(each.name for each in backups.iterdir())
    assert found[0] == "other.txt"
    assert re.fullmatch(r"spotthebot-\d{4}-\d\d-\d\d\.zip", found[1])
    assert found[2:] == ["spotthebot-recent.zip"]
    stb.write_text("#!/bin/sh\nexit 1\n")
    os.utime(backups / "spotthebot-recent.zip", (0, 0))
    assert subprocess.run(["/bin/sh", "-c", here], check=False).returncode == 1
    assert (backups / "spotthebot-recent.zip").exists()


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_the_proxy_and_the_settings_name_each_service(service):
    assert re.search(rf"\b{service.name.upper()}=127\.0\.0\.1:{service.port}\b", PAGE)
    assert f"\n{service.environment_prefix}MAX_CONNECTIONS_PER_ADDRESS=0\n" in PAGE


def test_all_settings_are_known():
    assert unknown_settings(re.findall(r"(?m)^SPOTTHEBOT_\w+(?==)", PAGE), ROOT) == []
