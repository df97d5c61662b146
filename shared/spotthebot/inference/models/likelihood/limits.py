"""How much memory a pass may take, whatever the batch."""

import os
from dataclasses import dataclass

_TOKENS = "SPOTTHEBOT_LIKELIHOOD_MAX_TOKENS_PER_PASS"
_LOGIT_BYTES = "SPOTTHEBOT_LIKELIHOOD_MAX_LOGIT_BYTES"


@dataclass(frozen=True)
class Limits:
    """Tokens that are computed at once, and bytes of logits that are held at once.

    A pass is larger only where one context alone is, and then by no more than the context's length.
    """

    max_tokens_per_pass: int = 4096
    max_logit_bytes: int = 64 * 2**20

    @classmethod
    def from_environment(cls) -> "Limits":
        """Read the limits where they are set in the environment, which Triton and worker processes pass on.

        Raises ValueError for what is no number above 0.
        """
        names = {"max_tokens_per_pass": _TOKENS, "max_logit_bytes": _LOGIT_BYTES}
        return cls(**{field: _positive(name) for field, name in names.items() if os.environ.get(name)})


def _positive(name: str) -> int:
    value = os.environ[name]
    if not value.isdecimal() or int(value) == 0:
        message = f"{name} must be a whole number above 0, not '{value}'"
        raise ValueError(message)
    return int(value)
