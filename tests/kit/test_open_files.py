import resource
import subprocess
import sys

import pytest

_PROGRAM = """
import resource
from spotthebot.kit.process import allow_many_files
resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard}))
allow_many_files()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


class TestAllowManyFiles:
    @pytest.mark.parametrize("hard", [256, 2048])
    def test_raises_the_soft_limit_to_the_hard_one(self, hard: int):
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2048:
            pytest.skip("the hard limit is lower here")
        ran = subprocess.run(
            [sys.executable, "-c", _PROGRAM.format(hard=hard)], capture_output=True, text=True, check=True
        )
        assert ran.stdout.split() == [str(hard), str(hard)]
