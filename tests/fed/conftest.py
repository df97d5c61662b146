"""Fixtures for tests of FED's service."""

from pathlib import Path
from typing import Any

import pytest

from tests.factories import tiny_models
from tests.factories.lazy_imports import needs_models


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """The services whose conversations are scored, and no others."""
    return "conversations", "annotation", "fed"


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny GPT-2, and one whose weights are damaged."""
    folder = tmp_path_factory.mktemp("models")
    tiny_models.gpt2(folder / "gpt2", positions=256)
    tiny_models.blenderbot(folder / "blenderbot")
    (folder / "bare").mkdir()
    return folder


@pytest.fixture(scope="module")
def settings_of(models_folder: Path) -> dict[str, dict[str, Any]]:
    """Small steps, so that a job has several."""
    small = {"models_folder": models_folder, "device": "cpu", "conversations_per_step": 2}
    return {"fed": small | {"delivery_poll_seconds": 0.3}}


pytestmark = needs_models
