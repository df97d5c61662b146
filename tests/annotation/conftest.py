"""Fixtures for tests of annotation."""

import pytest


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """The services that run campaigns, and no others."""
    return "conversations", "annotation"
