"""Partner sets: made from bots, written to files, read from files of other machines, and measured."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import ValidationError

from spotthebot.cli.errors import NotAPartnerSet, PartnerDiffers, PartnerNeedsSecret, PartnersDiffer
from spotthebot.contracts.bots.protocols import BuiltinProtocol, Protocol
from spotthebot.contracts.bots.registry import BotIn, BotOut, BotVersionOut
from spotthebot.contracts.conversations.partner_sets import PartnerOut, PartnerSetIn, PartnerSetOut
from spotthebot.contracts.fed.references import RankingBesideOut, RankingIn, ScoreReference
from spotthebot.contracts.partner_files import PartnerConfiguration, PartnerSetFile, fingerprint_of
from spotthebot.kit.text.validation import faults_of
from spotthebot.local.runtime.session import Clients
from spotthebot.local.seeding import LEARNING, register_built_in, upload_sample
from spotthebot.statistics.reply_overlap import ReplyDiversity, reply_diversity

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


async def store_partner_set(clients: Clients, name: str, description: str, bots: Sequence[UUID]) -> PartnerSetOut:
    """Return the version of a partner set with these bots in their present versions; make it if there is none."""
    versions = {bot: (await clients.bots.get_bot(bot)).version for bot in bots}
    async for each in clients.conversations.list_partner_sets(name=name):
        if {partner.bot_id: partner.version for partner in each.partners} == versions:
            return each
    return await clients.conversations.create_partner_set(
        PartnerSetIn(name=name, description=description, bots=tuple(bots))
    )


async def read_configurations(clients: Clients, partner_set: PartnerSetOut) -> tuple[PartnerConfiguration, ...]:
    """Return what decides the replies of each partner, in the version of the set, without secrets."""
    return tuple([await _configuration(clients, each) for each in partner_set.partners])


async def _configuration(clients: Clients, partner: PartnerOut) -> PartnerConfiguration:
    bot = await clients.bots.get_bot(partner.bot_id)
    versions = [each async for each in clients.bots.list_bot_versions(partner.bot_id)]
    version = next(each for each in versions if each.number == partner.version)
    return configuration_of(bot, version)


def configuration_of(bot: BotOut, version: BotVersionOut) -> PartnerConfiguration:
    """Return a bot's version as a partner's configuration. The query of an address may be a secret and is left out."""
    kept = {}
    for place in ("url", "base_url"):
        address = urlsplit(str(getattr(version.protocol, place, "")))
        if address.query:
            kept[place] = address._replace(query="").geturl()
    protocol = version.protocol
    if kept:
        protocol = type(protocol).model_validate(protocol.model_dump() | kept)
    return PartnerConfiguration(
        name=bot.name,
        domains=bot.domains,
        protocol=protocol,
        training_sha256=version.training_sha256,
        files_sha256=version.files_sha256,
        needs_secret=version.has_secret or bool(kept),
    )


async def export_partner_set(
    clients: Clients, partner_set: PartnerSetOut, references: Sequence[UUID]
) -> PartnerSetFile:
    """Return a partner set as a file, with the scores of these score sets as references."""
    partners = await read_configurations(clients, partner_set)
    return PartnerSetFile(
        name=partner_set.name,
        description=partner_set.description,
        partners=partners,
        fingerprint=fingerprint_of(partners),
        references=tuple([await clients.fed.get_score_reference(each) for each in references]),
    )


async def import_partner_set(clients: Clients, file: PartnerSetFile, corpus_id: UUID | None) -> PartnerSetOut:
    """Store the partner set of a file. Bots with the configuration of a partner are used, others are registered.

    `corpus_id` is the corpus that built-in bots learn from; None is the sample. Raises PartnerNeedsSecret and
    PartnerDiffers.
    """
    known: dict[str, UUID] = {}
    names: set[str] = set()
    async for bot in clients.bots.list_bots():
        names.add(bot.name)
        versions = [each async for each in clients.bots.list_bot_versions(bot.id)]
        current = next(each for each in versions if each.number == bot.version)
        known.setdefault(configuration_of(bot, current).sha256, bot.id)
    missing = [each for each in file.partners if each.sha256 not in known]
    for partner in missing:
        if partner.needs_secret:
            raise PartnerNeedsSecret(name=partner.name)
    if corpus_id is None and any(each.training_sha256 for each in missing):
        corpus_id = await upload_sample(clients)
    for partner in missing:
        name = partner.name if partner.name not in names else f"{partner.name} {partner.sha256[:6]}"
        registered = await clients.bots.register_bot(
            BotIn(name=name, domains=partner.domains, protocol=_here(partner, corpus_id))
        )
        (version,) = [each async for each in clients.bots.list_bot_versions(registered.id)]
        if configuration_of(registered, version).sha256 != partner.sha256:
            raise PartnerDiffers(name=partner.name, registered=name)
        known[partner.sha256] = registered.id
    return await store_partner_set(clients, file.name, file.description, [known[each.sha256] for each in file.partners])


def _here(partner: PartnerConfiguration, corpus_id: UUID | None) -> Protocol:
    if isinstance(partner.protocol, BuiltinProtocol) and partner.training_sha256 is not None:
        return partner.protocol.model_copy(update={"corpus_id": corpus_id})
    return partner.protocol


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


async def measure_diversity(clients: Clients, partner_set: PartnerSetOut, collection_id: UUID) -> ReplyDiversity:
    """Return how diverse the partners' replies are in a collection of bipartite-play; raises NotFound."""
    partners = {each.bot_id: each.name for each in partner_set.partners}
    sides = {
        each.id: [partners.get(participant.bot_id) if participant.bot_id else None for participant in each.participants]
        async for each in clients.conversations.stream_speakers(collection_id)
    }
    replies: dict[str, list[str]] = defaultdict(list)
    async for talk in clients.conversations.stream_texts(collection_id):
        for turn in talk.turns:
            name = sides[talk.id]["AB".index(turn.speaker)]
            if name is not None:
                replies[name].append(turn.text)
    return reply_diversity(dict(sorted(replies.items())))


async def find_partner_set(clients: Clients, name: str, version: int | None) -> PartnerSetOut:
    """Return a version of a partner set, or its latest; raises NotFound."""
    if version is not None:
        return await clients.conversations.get_partner_set(name, version)
    found = [each async for each in clients.conversations.list_partner_sets(name=name)]
    return found[-1] if found else await clients.conversations.get_partner_set(name, 1)
