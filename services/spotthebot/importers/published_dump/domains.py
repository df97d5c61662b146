"""The three domains of the published data: the files of each, and the paper's names for its systems."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from spotthebot.importers.published_dump.errors import UnknownDumpDomain

_EVERYWHERE: Final = {
    "human": "HU",
    "bert_rank": "BR",
    "suckybot": "DR",
    "seq2seq_att": "S2",
    "kvmemnn": "KV",
    "lost_in_conversation": "LC",
    "model": "BL",
}


@dataclass(frozen=True)
class Domain:
    """A domain of the published data, with its name in file names (`key`) and its name in rows.

    `abbreviations` maps a `system_type` to the paper's name for it. The type 'huggingface' is HF in ConvAI2 and GPT
    elsewhere, two different systems.
    """

    key: str
    name_in_rows: str
    abbreviations: Mapping[str, str]

    @property
    def conversations_file(self) -> str:
        return f"sampled-dialogues-full-{self.key}.json"

    @property
    def packages_file(self) -> str:
        return f"packed-dialogues-full-{self.key}.json"

    @property
    def annotations_file(self) -> str:
        return f"annotated-dialogues-full-{self.key}.json"


def _domain(key: str, name_in_rows: str, huggingface: str) -> Domain:
    return Domain(key, name_in_rows, MappingProxyType({**_EVERYWHERE, "huggingface": huggingface}))


_DOMAINS: Final = (
    _domain("dailydialog", "dailydialog", "GPT"),
    _domain("empathetic", "empathetic_dialogues", "GPT"),
    _domain("convai2", "personachat", "HF"),
)


def domain_named(name: str) -> Domain:
    """Return a domain by its name in file names or in rows ('convai2' is 'personachat')."""
    for domain in _DOMAINS:
        if name in {domain.key, domain.name_in_rows}:
            return domain
    raise UnknownDumpDomain(domain=name, known=", ".join(domain.key for domain in _DOMAINS))
