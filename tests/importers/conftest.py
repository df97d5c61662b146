from tests.factories.command_line_fixtures import clients, declared, write

__all__ = ["clients", "declared", "write"]
