"""The client of `bots`: the registry of bots, replies, hosted models."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack
from urllib.parse import quote
from uuid import UUID

from spotthebot.clients.client import AsyncClient, Client, ServiceOperations
from spotthebot.clients.operations import Call, IdempotencyKey, Listing, Paging, operation
from spotthebot.clients.requests import Content
from spotthebot.contracts.bots.hosted_models import HostedModelIn, HostedModelOut, TritonOut, UploadedFileOut
from spotthebot.contracts.bots.probes import ProbeOut
from spotthebot.contracts.bots.registry import BotChangesIn, BotIn, BotOut, BotVersionIn, BotVersionOut, SecretIn
from spotthebot.contracts.bots.replies import RepliesIn, RepliesOut


class BotsOperations(ServiceOperations):
    """The operations of `bots`."""

    peer = "bots"

    @operation
    def list_bots(
        self, *, name: str | None = None, team: str | None = None, **paging: Unpack[Paging]
    ) -> Listing[BotOut]:
        """List bots, oldest first. A team sees only its own bots."""
        return Listing(BotOut, "/v1/bots", paging, params={"name": name, "team": team})

    @operation
    def register_bot(self, bot: BotIn, *, probe: bool | None = None, **key: Unpack[IdempotencyKey]) -> Call[BotOut]:
        """Register a bot and probe it before the answer; with `probe=False`, the probe runs soon after the answer."""
        return Call(BotOut, "POST", "/v1/bots", params={"probe": probe}, body=bot, **key)

    @operation
    def get_bot(self, bot_id: UUID) -> Call[BotOut]:
        """Return one bot, with its current version and its latest full probe."""
        return Call(BotOut, "GET", f"/v1/bots/{bot_id}")

    @operation
    def change_bot(self, bot_id: UUID, changes: BotChangesIn) -> Call[BotOut]:
        """Change a bot's description, domains, limits or status. Fields that are not set keep their values."""
        return Call(BotOut, "PATCH", f"/v1/bots/{bot_id}", body=changes)

    @operation
    def list_bot_versions(self, bot_id: UUID, **paging: Unpack[Paging]) -> Listing[BotVersionOut]:
        """List a bot's versions, oldest first."""
        return Listing(BotVersionOut, f"/v1/bots/{bot_id}/versions", paging)

    @operation
    def add_bot_version(
        self, bot_id: UUID, version: BotVersionIn, *, probe: bool | None = None, **key: Unpack[IdempotencyKey]
    ) -> Call[BotOut]:
        """Add a version with another protocol to a bot, and probe it. Earlier versions stay unchanged."""
        return Call(
            BotOut,
            "POST",
            f"/v1/bots/{bot_id}/versions",
            params={"probe": probe},
            body=version,
            **key,
        )

    @operation
    def delete_bot(self, bot_id: UUID) -> Call[None]:
        """Delete a mistaken registration: a bot that takes part in nothing."""
        return Call(type(None), "DELETE", f"/v1/bots/{bot_id}")

    @operation
    def replace_bot_secret(self, bot_id: UUID, secret: SecretIn) -> Call[BotOut]:
        """Replace the secret of the current version."""
        return Call(BotOut, "PUT", f"/v1/bots/{bot_id}/secret", body=secret)

    @operation
    def list_bot_probes(self, bot_id: UUID, **paging: Unpack[Paging]) -> Listing[ProbeOut]:
        """List the latest hundred probes of a bot, oldest first."""
        return Listing(ProbeOut, f"/v1/bots/{bot_id}/probes", paging)

    @operation
    def probe_bot(self, bot_id: UUID) -> Call[ProbeOut]:
        """Probe a bot now. The bot's new status follows from the report of the probe."""
        return Call(ProbeOut, "POST", f"/v1/bots/{bot_id}/probes")

    @operation
    def reply(self, bot_id: UUID, request: RepliesIn) -> Call[RepliesOut]:
        """Ask a bot for one reply to each context.

        A context without a reply has the reason, and does not delay the others.
        """
        return Call(RepliesOut, "POST", f"/v1/bots/{bot_id}/replies", body=request)

    @operation
    def list_hosted_models(self, **paging: Unpack[Paging]) -> Listing[HostedModelOut]:
        """List hosted models with their state, and their queue and batch statistics."""
        return Listing(HostedModelOut, "/v1/hosted-models", paging)

    @operation
    def host_model(self, model: HostedModelIn, **key: Unpack[IdempotencyKey]) -> Call[HostedModelOut]:
        """Register a model to host: a directory by its name, or files that later requests upload.

        Nothing is loaded yet.
        """
        return Call(HostedModelOut, "POST", "/v1/hosted-models", body=model, **key)

    @operation
    def get_hosted_model(self, name: str) -> Call[HostedModelOut]:
        """Return one hosted model."""
        return Call(HostedModelOut, "GET", _model(name))

    @operation
    def remove_hosted_model(self, name: str) -> Call[None]:
        """Unload a model and delete its uploaded files.

        If the model is a directory of the administrator, the files stay.
        """
        return Call(type(None), "DELETE", _model(name))

    @operation
    def upload_model_file(self, name: str, file: str, content: Path | bytes | Iterable[bytes]) -> Call[UploadedFileOut]:
        """Upload one file of a model directory; sending it again replaces it."""
        return Call(UploadedFileOut, "PUT", f"{_model(name)}/files/{quote(file, safe='')}", content=Content(content))

    @operation
    def load_hosted_model(self, name: str) -> Call[HostedModelOut]:
        """Load a model and test one inference. A loaded model is loaded again."""
        return Call(HostedModelOut, "POST", f"{_model(name)}/load")

    @operation
    def unload_hosted_model(self, name: str) -> Call[HostedModelOut]:
        """Unload a model; its files stay."""
        return Call(HostedModelOut, "POST", f"{_model(name)}/unload")

    @operation
    def get_triton_repository(self) -> Call[TritonOut]:
        """Return the models in the repository of the suite's own Triton, and their states."""
        return Call(TritonOut, "GET", "/v1/hosted-models/triton/repository")

    @operation
    def list_openai_models(self) -> Call[dict[str, Any]]:
        """List bots in the form of OpenAI's list of models.

        The package `openai` can call this API too, at `/openai/v1`.
        """
        return Call(dict[str, Any], "GET", "/openai/v1/models")

    @operation
    def get_openai_model(self, model: str) -> Call[dict[str, Any]]:
        """Return the bot with this id or name, in the form of an OpenAI model."""
        return Call(dict[str, Any], "GET", f"/openai/v1/models/{quote(model, safe='')}")

    @operation
    def create_chat_completion(self, request: Mapping[str, Any]) -> Call[dict[str, Any]]:
        """Ask a bot for a reply in OpenAI's format, without `stream`."""
        return Call(dict[str, Any], "POST", "/openai/v1/chat/completions", body=request)


class Bots(BotsOperations, Client):
    """The client of `bots`."""


class AsyncBots(BotsOperations, AsyncClient):
    """The client of `bots` on an event loop."""


def _model(name: str) -> str:
    return f"/v1/hosted-models/{quote(name, safe='')}"
