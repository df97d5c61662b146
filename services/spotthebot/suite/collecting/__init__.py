"""`./stb collect`: a collection declared in a file, held to its end whatever happens in between."""

from spotthebot.suite.collecting.declaration import Declaration, schema_text
from spotthebot.suite.collecting.errors import DeclarationFaulty
from spotthebot.suite.collecting.holding import Begun, Sight, account, begin, estimate, export, follow
from spotthebot.suite.collecting.reading import Declared, read_declaration

__all__ = [
    "Begun",
    "Declaration",
    "DeclarationFaulty",
    "Declared",
    "Sight",
    "account",
    "begin",
    "estimate",
    "export",
    "follow",
    "read_declaration",
    "schema_text",
]
