"""Which browser drives tests and benchmarks of pages: Chromium, in its build without windows where there is one."""

import shutil
from typing import Final

_NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first shows the same pages for half the processor time."""
BROWSER: Final = next(filter(None, map(shutil.which, _NAMES)), None)
