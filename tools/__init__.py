"""What those who work on the project run in a clone: tests, documents made from the code, pins. In no wheel."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
"""The clone."""
