"""Partner sets as files: the configuration of each partner without secrets, and reference results of other bots."""

import hashlib
import json
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.contracts.fed.references import MAX_REFERENCES, ScoreReference
from spotthebot.contracts.names import ReadableName
from spotthebot.contracts.wire import Domain, Name, Text, Wire

_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class PartnerConfiguration(Wire):
    """What decides a partner's replies, on any machine. Its secret, such as an API key, stays where it is."""

    name: Name
    domains: tuple[Domain, ...] = Field(min_length=1, max_length=50)
    protocol: Protocol
    training_sha256: _Sha256 | None = Field(description="Of the dialogues that a built-in bot learned from.")
    files_sha256: _Sha256 | None = Field(description="Of a hosted model's files.")
    needs_secret: bool

    @property
    def sha256(self) -> str:
        """A hash that is the same on all machines.

        It does not depend on the id of a corpus if the bot's training is known, nor on an address if its files are.
        """
        facts = self.protocol.model_dump(mode="json", exclude_defaults=True) | {"kind": self.protocol.kind}
        for known, place in ((self.training_sha256, "corpus_id"), (self.files_sha256, "url")):
            if known is not None:
                facts.pop(place, None)
        text = json.dumps([facts, self.training_sha256, self.files_sha256], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


class PartnerSetFile(Wire):
    """A partner set that travels, with reference results of bots that played against it."""

    format: Literal[1] = 1
    name: ReadableName
    description: Text = ""
    partners: tuple[PartnerConfiguration, ...] = Field(min_length=1, max_length=200)
    fingerprint: _Sha256
    references: tuple[ScoreReference, ...] = Field(default=(), max_length=MAX_REFERENCES)


def fingerprint_of(partners: Iterable[PartnerConfiguration]) -> str:
    """Return a hash of partners' configurations, independent of their order, names and addresses."""
    return hashlib.sha256(
        "".join(f"{each}\n" for each in sorted(each.sha256 for each in partners)).encode()
    ).hexdigest()
