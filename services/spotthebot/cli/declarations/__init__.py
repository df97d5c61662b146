"""Files in YAML that declare something, such as a collection: read by a form, with all that is wrong with them."""

from spotthebot.cli.declarations.declared import Contradictions, Declared, Form, read_declared, schema_text
from spotthebot.cli.declarations.errors import DeclarationFaulty
from spotthebot.cli.declarations.names import UnknownName, instead_of, is_id, listed
from spotthebot.cli.declarations.refusals import faults_of
from spotthebot.cli.declarations.yaml_file import Place

__all__ = [
    "Contradictions",
    "DeclarationFaulty",
    "Declared",
    "Form",
    "Place",
    "UnknownName",
    "faults_of",
    "instead_of",
    "is_id",
    "listed",
    "read_declared",
    "schema_text",
]
