import resource
import subprocess
import sys

import pytest

from spotthebot.kit.service.process import allow_many_files

_PROGRAM = """
import resource
from spotthebot.kit.service.process import allow_many_files
resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard}))
allow_many_files()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


class TestAllowManyFiles:
    @pytest.mark.parametrize(
        ("soft", "hard", "limit"),
        [
            (1024, 65_535, 65_535),
            (1024, 500_000, 65_536),
            (1024, resource.RLIM_INFINITY, 65_536),
            (65_536, 500_000, None),
            (100_000, 500_000, None),
            (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None),
        ],
    )
    def test_asks_for_as_many_as_it_may_have_and_needs(
        self, monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, limit: int | None
    ):
        asked: list[tuple[int, tuple[int, int]]] = []
        monkeypatch.setattr(resource, "getrlimit", lambda _kind: (soft, hard))
        monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append((kind, limits)))
        allow_many_files()
        assert asked == ([] if limit is None else [(resource.RLIMIT_NOFILE, (limit, hard))])

    @pytest.mark.parametrize("hard", [256, 2048])
    def test_raises_the_soft_limit_to_the_hard_one(self, hard: int):
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2048:
            pytest.skip("the hard limit is lower here")
        ran = subprocess.run(
            [sys.executable, "-c", _PROGRAM.format(hard=hard)], capture_output=True, text=True, check=True
        )
        assert ran.stdout.split() == [str(hard), str(hard)]
