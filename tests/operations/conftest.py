from tests.local.postgres.conftest import home, server

__all__ = ["home", "server"]
