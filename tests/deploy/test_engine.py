"""The engine of `deploy/try`: what a machine can't do is said, and does not count as a failure of the suite."""

import os
import subprocess
from pathlib import Path

ENGINE = Path(__file__).parents[2] / "deploy" / "try" / "engine.sh"
NOT_TRIED = 3
"""With this exit code, `.ci/run` says that containers were not tried, and goes on."""
MACHINE = r"""
id() { echo 0; }
apt-get() { :; }
find() { :; }
mmdebstrap() { touch "${TRY_HOME}/base.tar"; }
docker() {
  case "$1" in
    image) return 1 ;;
    build) echo "#7 0.4 $SAYS" && return 1 ;;
  esac
}
export -f id apt-get find mmdebstrap docker
"$1" start
"""
"""A machine with an engine that builds nothing. Functions of a shell come before the programs of the machine."""


class TestStart:
    def test_on_a_machine_that_can_not_make_the_base_images_says_why_and_is_no_failure(self, tmp_path: Path):
        says = "E: Unable to locate package python3-venv"
        ran = subprocess.run(
            ["/bin/bash", "-c", MACHINE, "bash", str(ENGINE)],
            env=os.environ | {"TRY_HOME": str(tmp_path), "SAYS": says},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, says in ran.stderr) == (NOT_TRIED, True), ran.stderr
