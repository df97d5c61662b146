"""Files in YAML that declare something, such as a collection: read by a form, with all that is wrong with them."""

from spotthebot.suite.declarations.declared import Contradictions, Declared, Form, read_declared, schema_text
from spotthebot.suite.declarations.errors import DeclarationFaulty
from spotthebot.suite.declarations.names import UnknownName, instead_of, is_id, listed
from spotthebot.suite.declarations.refusals import faults_of
from spotthebot.suite.declarations.yaml_file import Place

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
