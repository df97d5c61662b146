"""Fixtures for tests of analytics."""

import pytest


@pytest.fixture(scope="module")
def services_of() -> tuple[str, ...]:
    """The services whose data are analysed, and no others."""
    return "conversations", "annotation", "analytics"
