"""Log-likelihoods of follow-ups to dialogues under any language model of transformers: the arithmetic below FED.

A request (`requests.py`) names a dialogue, after which of its turns to score, and the follow-ups; the result
(`results.py`) holds sums of log-probabilities, from which every mode of FED is arithmetic. Causal models whose
attention can be replaced read a whole dialogue with all follow-ups in one pass (`packed.py`).
"""

from typing import TYPE_CHECKING, Any

from .requests import JoinSettings, LikelihoodRequest
from .results import ContextLikelihood, FollowupLikelihood

if TYPE_CHECKING:
    from .batch_model import LikelihoodBatchModel

__all__ = [
    "KIND",
    "PROBE",
    "REVISION",
    "ContextLikelihood",
    "FollowupLikelihood",
    "JoinSettings",
    "LikelihoodRequest",
    "load",
]

KIND = f"{__name__}.batch_model:load_batch_model"
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

    `dtype` is `float32`, `bfloat16`, `float16` or `auto`: float32 on the CPU, what the weights are saved in elsewhere.
    """
    from .batch_model import load_batch_model  # noqa: PLC0415 - torch takes seconds to import, and is optional

    return load_batch_model(name_or_directory, device=device, dtype=dtype, revision=revision)
