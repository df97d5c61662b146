"""The protocol of a model for worker processes and Triton: its description, JSON requests, and results of a batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar, cast

Request = TypeVar("Request")


@dataclass(frozen=True)
class ModelDescription:
    """The loaded model: `kind` is `causal`, `sequence_to_sequence`, or a kind of ours such as `bi_encoder`.

    `context_length` counts tokens, including the tokens of the reply that a model writes.
    """

    kind: str
    parameters: int
    dtype: str
    device: str
    context_length: int


class BatchModel(Protocol[Request]):
    """A loaded model that answers many requests at once."""

    @property
    def description(self) -> ModelDescription: ...

    def parse(self, document: Mapping[str, Any]) -> Request:
        """Read one request; a ValueError fails this request alone."""
        ...

    def run(self, requests: Sequence[Request]) -> Sequence[Mapping[str, Any]]:
        """Return one JSON object for each request, in order. The name `error` in it is reserved.

        Up to rounding, a result depends only on its request, not on the other requests of the batch or on their order.
        """
        ...


def load(
    kind: str, name_or_directory: str, *, device: str = "cpu", dtype: str = "auto", revision: str | None = None
) -> BatchModel[Any]:
    """Load a model of a kind. A kind is the import path of a function: `package.module:function`.

    The function is called with the other arguments, and raises LoadFailed. Its module may list other modules in NEEDS.
    These modules are imported before a process is forked, so they neither start threads nor touch a GPU.
    """
    module, _, function = kind.partition(":")
    loaded = getattr(import_module(module), function)(name_or_directory, device=device, dtype=dtype, revision=revision)
    return cast("BatchModel[Any]", loaded)
