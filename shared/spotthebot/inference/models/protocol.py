"""What worker processes and Triton need of a model: a description, requests read from JSON, results of a batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar, cast

Request = TypeVar("Request")


@dataclass(frozen=True)
class ModelDescription:
    """What was loaded: `kind` is `causal`, `sequence_to_sequence`, or a kind of ours such as `bi_encoder`.

    `context_length` counts tokens; what a generating model writes counts against it, too.
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
        """Read one request; raises ValueError, which fails this request alone."""
        ...

    def run(self, requests: Sequence[Request]) -> Sequence[Mapping[str, Any]]:
        """Return one JSON object for each request, in order; the name `error` in it is taken.

        A result depends on its request alone: neither on what else is in the batch nor on the order, but for rounding.
        """
        ...


def load(
    kind: str, name_or_directory: str, *, device: str = "cpu", dtype: str = "auto", revision: str | None = None
) -> BatchModel[Any]:
    """Load a model of a kind, which is the import path of a function: `package.module:function`.

    The function is called with the same arguments as this one, but for the kind; it raises LoadFailed.
    Its module may list in NEEDS the modules that it imports then. They are imported before a process is forked, so they
    neither start threads nor touch a GPU.
    """
    module, _, function = kind.partition(":")
    loaded = getattr(import_module(module), function)(name_or_directory, device=device, dtype=dtype, revision=revision)
    return cast("BatchModel[Any]", loaded)
