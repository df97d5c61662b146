"""Keeps transformers from drawing progress bars while it loads or saves a model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transformers.utils import logging


@contextmanager
def without_progress_bars() -> Iterator[None]:
    """Hide the progress bars of transformers; bars of other libraries stay."""
    bars: Any = logging  # its functions have no types
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()
