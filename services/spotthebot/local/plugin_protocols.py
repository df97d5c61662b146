"""A protocol of a plug-in: its `document` is that of `POST /v1/protocols`, and its entry point has the same name."""

from collections.abc import Mapping

from pydantic import ValidationError

from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.kit.plugins import Plugin
from spotthebot.kit.text.validation import faults_of


def protocol_of(plugin: Plugin) -> AnnotationProtocol:
    """Return a plug-in's protocol, whose source names the distribution; raises PluginFails."""
    document = plugin.part("document")
    if not isinstance(document, Mapping):
        raise plugin.fails(reason=f"document is {type(document).__name__} in place of an object")
    source = f"Plug-in {plugin.distribution}. {document.get('source') or ''}".rstrip()
    try:
        protocol = AnnotationProtocol.model_validate({**document, "source": source})
    except ValidationError as error:
        raise plugin.fails(reason=f"document is not a protocol, {faults_of(error)[0]}") from error
    if protocol.name != plugin.name:
        raise plugin.fails(reason=f"its document is called '{protocol.name}'")
    return protocol
