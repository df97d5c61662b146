"""The kind of likelihood models. Torch is imported when a model is loaded, not before."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batch_model import LikelihoodBatchModel

KIND = f"{__package__}.batch_model:load_batch_model"
"""The kind of these models for worker processes and Triton: a LikelihoodRequest in, `{"contexts": [...]}` out."""

PROBE: dict[str, Any] = {"turns": ["Hello!"], "followups": ["Hi!"]}
"""The request whose answer shows that a model works."""

REVISION = 2
"""Goes up with each change that gives other likelihoods, so that none that is kept outlives its correction.

2: the whole text of a chat template is tokenized, with a fixed date; BART's start token.
"""


def load(
    name_or_directory: str, *, device: str = "cpu", dtype: str = "auto", revision: str | None = None
) -> "LikelihoodBatchModel":
    """Load a model from a directory, or by its name from the model hub; raises LoadFailed.

    `dtype` is `float32`, `bfloat16`, `float16` or `auto`. `auto` is float32 on a CPU, and the type of the saved weights
    on other devices.
    """
    from .batch_model import load_batch_model  # noqa: PLC0415 - torch takes seconds to import, and is optional

    return load_batch_model(name_or_directory, device=device, dtype=dtype, revision=revision)
