"""A kind of model without weights: it repeats texts, so that its worker process starts in a moment."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from spotthebot.inference.models.dialogue.requests import GenerationRequest
from spotthebot.inference.models.errors import LoadFailed, NoSuchModel
from spotthebot.inference.models.protocol import ModelDescription

KIND = f"{__name__}:load"
DIALOGUE_KIND = f"{__name__}:load_dialogue"
"""A kind that stands in for dialogue models where a test is about their files or processes, and needs no torch."""
MISSING_KIND = f"{__name__}:load_missing"
"""A kind that stands in for models of a hub that is out of reach: none of them can be loaded."""


class EchoModel:
    """Answers each text with itself and the size of its batch.

    `die` ends the process, `fail` fails its batch, `nothing` is answered with what is no result, `sleep` takes long.
    """

    description = ModelDescription(kind="echo", parameters=0, dtype="none", device="cpu", context_length=0)

    def parse(self, document: Mapping[str, Any]) -> str:
        if "text" not in document:
            message = "text is missing"
            raise ValueError(message)
        return str(document["text"])

    def run(self, texts: Sequence[str]) -> list[Mapping[str, Any]]:
        if "die" in texts:
            os._exit(1)
        if "sleep" in texts:
            time.sleep(30)
        if "nothing" in texts:
            return cast("list[Mapping[str, Any]]", [None] * len(texts))
        if "fail" in texts:
            message = "it was told to"
            raise RuntimeError(message)
        return [{"text": text, "batch_size": len(texts)} for text in texts]


def load(name_or_directory: str, *, device: str, dtype: str, revision: str | None) -> EchoModel:
    """Note the start in the directory's file `starts`; raises LoadFailed where the directory holds a file `broken`.

    Loading takes the seconds that a file `slow` holds.
    """
    with (Path(name_or_directory) / "starts").open("a") as starts:
        starts.write(f"{device} {dtype} {revision}\n")
    if (slow := Path(name_or_directory) / "slow").exists():
        time.sleep(float(slow.read_text()))
    if (Path(name_or_directory) / "broken").exists():
        raise LoadFailed(name_or_directory, "it is broken.")
    return EchoModel()


class EchoDialogueModel:
    """Replies to each context with its last turn."""

    description = ModelDescription(kind="echo", parameters=0, dtype="none", device="cpu", context_length=0)

    def parse(self, document: Mapping[str, Any]) -> GenerationRequest:
        return GenerationRequest.from_json(document)

    def run(self, requests: Sequence[GenerationRequest]) -> list[Mapping[str, Any]]:
        return [{"text": " ".join(("You said:", *request.turns[-1:]))} for request in requests]


def load_dialogue(name_or_directory: str, *, device: str, dtype: str, revision: str | None) -> EchoDialogueModel:  # noqa: ARG001 - as models are loaded
    """Load whatever the directory holds."""
    return EchoDialogueModel()


def load_missing(name_or_directory: str, *, device: str, dtype: str, revision: str | None) -> NoReturn:  # noqa: ARG001 - as models are loaded
    """Raise NoSuchModel."""
    raise NoSuchModel(name_or_directory, "there is no such model")
