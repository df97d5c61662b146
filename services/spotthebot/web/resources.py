"""The objects that the pages share while the application runs."""

import asyncio
from dataclasses import dataclass

from fastapi import Request

from spotthebot.kit.crypto.vault import Vault
from spotthebot.web.clients import Services
from spotthebot.web.provider import Provider
from spotthebot.web.rendering import Renderer
from spotthebot.web.sessions import VisitorResources
from spotthebot.web.settings import WebSettings
from spotthebot.web.streams import OpenStreams


@dataclass(frozen=True)
class Resources:
    """The settings, the vault, the visitors' cookies and limits, the renderer, the open streams, and two clients.

    `anyone` has clients of the services without a key. `frontend` has clients with the key of this annotation frontend;
    it is None without this key. `table_reading` is held while a table is read: a table of 4 MiB may need 500 MB.
    """

    settings: WebSettings
    vault: Vault
    visitors: VisitorResources
    renderer: Renderer
    streams: OpenStreams
    provider: Provider | None
    anyone: Services
    frontend: Services | None
    table_reading: asyncio.Lock


def resources_of(request: Request) -> Resources:
    """Return the resources that the application opened at its start."""
    resources: Resources = request.app.state.resources
    return resources
