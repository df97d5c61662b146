"""Partner sets: made from built-in and registered bots, read from files, and references to rank bots beside."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from pydantic import ValidationError

from spotthebot.cli.errors import NotAPartnerSet, PartnersDiffer
from spotthebot.contracts.bots.protocols import BuiltinProtocol
from spotthebot.contracts.bots.registry import BotIn
from spotthebot.contracts.conversations.partner_sets import PartnerSetOut
from spotthebot.contracts.fed.references import RankingBesideOut, RankingIn, ScoreReference
from spotthebot.contracts.partner_files import PartnerSetFile
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import LEARNING, register_built_in, upload_sample

DIVERSE: Final = (
    *("retrieval:1", "retrieval:2", "ngram:1", "ngram:2", "ngram:3"),
    *("stray:1", "stray:2", "eliza:1", "parrot:1", "dull:1"),
)
"""All built-in bots in variants with seeds of their own, so that the bots without a seed can be targets."""
_DOMAIN: Final = "everyday"


async def find_partner_bots(clients: Clients, names: Sequence[str]) -> list[UUID]:
    """Return the bots of these names; a built-in model, or `MODEL:SEED`, is registered when it is first named."""
    corpus_id = await upload_sample(clients)
    found = []
    for name in names:
        model, _, seed = name.partition(":")
        known = [each async for each in clients.bots.list_bots(name=name)]
        if known:
            found.append(known[0].id)
        elif seed:
            protocol = BuiltinProtocol.model_validate(
                {"kind": "builtin", "model": model, "seed": seed}
                | ({"corpus_id": corpus_id} if model in LEARNING else {})
            )
            registered = await clients.bots.register_bot(BotIn(name=name, domains=(_DOMAIN,), protocol=protocol))
            found.append(registered.id)
        else:
            found.append(await register_built_in(clients, model, domain=_DOMAIN, corpus_id=corpus_id))
    return found


def read_partner_file(path: Path) -> PartnerSetFile:
    """Return a partner set's file; raises NotAPartnerSet."""
    try:
        return PartnerSetFile.model_validate_json(path.read_bytes())
    except ValidationError as faulty:
        raise NotAPartnerSet(file=path.name, reason="; ".join(faults_of(faulty)[:3])) from faulty


async def rank_beside_files(
    clients: Clients, set_id: UUID, fingerprint: str | None, files: Sequence[Path]
) -> RankingBesideOut:
    """Rank the bots of a score set beside the reference bots of partner sets with the same fingerprint.

    Raises PartnersDiffer and NotAPartnerSet.
    """
    references: list[ScoreReference] = []
    for path in files:
        file = read_partner_file(path)
        if file.fingerprint != fingerprint:
            raise PartnersDiffer(file=path.name)
        if not file.references:
            raise NotAPartnerSet(file=path.name, reason="it has no references: export it with --reference.")
        references += file.references
    return await clients.fed.rank_beside_references(set_id, RankingIn(references=tuple(references)))


async def find_partner_set(clients: Clients, name: str, version: int | None) -> PartnerSetOut:
    """Return a version of a partner set, or its latest; raises NotFound."""
    if version is not None:
        return await clients.conversations.get_partner_set(name, version)
    found = [each async for each in clients.conversations.list_partner_sets(name=name)]
    return found[-1] if found else await clients.conversations.get_partner_set(name, 1)
