"""Limits on the memory of one pass of a model, whatever the batch."""

import os
from dataclasses import dataclass

_TOKENS = "SPOTTHEBOT_LIKELIHOOD_MAX_TOKENS_PER_PASS"
_LOGIT_BYTES = "SPOTTHEBOT_LIKELIHOOD_MAX_LOGIT_BYTES"


@dataclass(frozen=True)
class Limits:
    """The limits of one pass: how many tokens are computed at once, and how many bytes of logits are in memory at once.

    A pass exceeds the limit of tokens only if a single context does, and then by at most the length of this context.
    """

    max_tokens_per_pass: int = 4096
    max_logit_bytes: int = 64 * 2**20

    @classmethod
    def from_environment(cls) -> "Limits":
        """Read the limits from environment variables, which models in Triton and in worker processes inherit.

        Raises ValueError unless a limit is a number above 0.
        """
        names = {"max_tokens_per_pass": _TOKENS, "max_logit_bytes": _LOGIT_BYTES}
        return cls(**{field: _positive(name) for field, name in names.items() if os.environ.get(name)})


def _positive(name: str) -> int:
    value = os.environ[name]
    if not value.isdecimal() or int(value) == 0:
        message = f"{name} must be a whole number above 0, not '{value}'"
        raise ValueError(message)
    return int(value)
