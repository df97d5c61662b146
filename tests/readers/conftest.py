from tests.factories.command_line_fixtures import clients
from tests.factories.saved_files import save

__all__ = ["clients", "save"]
