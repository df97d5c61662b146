"""Annotation protocols."""

from typing import Unpack
from urllib.parse import quote

from spotthebot.clients.operations import Call, Listing, Paging, operation
from spotthebot.contracts.annotation.protocols import ProtocolIn, ProtocolOut, ProtocolSummaryOut


class ProtocolOperations:
    """Annotation protocols."""

    @operation
    def list_protocols(self, *, name: str | None = None, **paging: Unpack[Paging]) -> Listing[ProtocolSummaryOut]:
        """List versions of protocols: built-in ones, then stored ones, oldest first."""
        return Listing(ProtocolSummaryOut, "/v1/protocols", paging, params={"name": name})

    @operation
    def create_protocol(self, protocol: ProtocolIn, *, idempotency_key: str | None = None) -> Call[ProtocolOut]:
        """Store a version of a protocol, which never changes. Sending the same document again changes nothing."""
        return Call(ProtocolOut, "POST", "/v1/protocols", body=protocol, idempotency_key=idempotency_key)

    @operation
    def get_protocol(self, name: str, version: int) -> Call[ProtocolOut]:
        """Return one version of a protocol, built in or stored."""
        return Call(ProtocolOut, "GET", f"/v1/protocols/{quote(name, safe='')}/versions/{version}")

    @operation
    def get_protocol_schema(self) -> Call[str]:
        """Return the JSON Schema of protocols, for editors and validators."""
        return Call(str, "GET", "/v1/protocols/schema")
