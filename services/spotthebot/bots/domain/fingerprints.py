"""Fingerprints: hashes of the dialogues that a bot learned from, and of everything that decides its replies.

A configuration's hash covers the fields of release 0.1.0 always, and every later field only if it differs from its
default. So an optional field that a release adds changes no hash: a configuration that leaves it out still has the
hash that its stored versions have.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from spotthebot.bots.domain.dialogue import Dialogue
from spotthebot.contracts.bots import Protocol

_ALWAYS_HASHED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "webhook": frozenset({"kind", "url", "version"}),
        "openai": frozenset(
            {
                *("kind", "base_url", "model", "system_prompt", "opening_prompt", "temperature", "top_p"),
                *("max_tokens", "frequency_penalty", "presence_penalty", "stop", "sends_seed"),
            }
        ),
        "parlai": frozenset({"kind", "url", "service", "history"}),
        "triton": frozenset({"kind", "url", "transport", "model", "sampling"}),
        "transformers": frozenset({"kind", "model", "revision", "sampling"}),
        "builtin": frozenset({"kind", "model", "corpus_id", "split", "seed"}),
        "sampling": frozenset({"max_new_tokens", "temperature", "top_p", "top_k", "repetition_penalty"}),
    }
)
"""The fields of release 0.1.0, by a protocol's kind or a nested field's name. Add no field here: see above."""


@dataclass(frozen=True)
class Fingerprints:
    """The sources of a version: the dialogues that it learned from, or the files of its model."""

    training_sha256: str | None = None
    files_sha256: str | None = None


def fingerprint_dialogues(dialogues: Sequence[Dialogue]) -> str:
    """Return the SHA-256 of the dialogues that a bot learns from; their order counts."""
    return _sha256([list(turns) for turns in dialogues])


def fingerprint_configuration(protocol: Protocol, made_from: Fingerprints) -> str:
    """Return the SHA-256 of everything that decides a bot's replies; its secret does not."""
    facts = {"protocol": _hashed_fields(protocol.kind, protocol), "training": made_from.training_sha256}
    return _sha256(facts | ({"files": made_from.files_sha256} if made_from.files_sha256 else {}))


def _hashed_fields(name: str, model: BaseModel) -> dict[str, Any]:
    always = _ALWAYS_HASHED.get(name, frozenset())
    hashed = model.model_dump(mode="json")
    for field, info in type(model).model_fields.items():
        value = getattr(model, field)
        if field not in always and value == info.get_default(call_default_factory=True, validated_data={}):
            del hashed[field]
        elif isinstance(value, BaseModel):
            hashed[field] = _hashed_fields(field, value)
    return hashed


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
