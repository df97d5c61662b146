"""Partner sets by several services: their configurations, their files, and what their partners say."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import urlsplit
from uuid import UUID

from spotthebot.clients.bots import AsyncBots
from spotthebot.clients.conversations.client import AsyncConversations
from spotthebot.clients.fed import AsyncFed
from spotthebot.contracts.bots.protocols import BuiltinProtocol, Protocol
from spotthebot.contracts.bots.registry import BotIn, BotOut, BotVersionOut
from spotthebot.contracts.bots.replies import ContextIn, RepliesIn
from spotthebot.contracts.conversations.partner_sets import PartnerOut, PartnerSetIn, PartnerSetOut
from spotthebot.contracts.partner_files import PartnerConfiguration, PartnerSetFile, fingerprint_of
from spotthebot.kit.errors import Conflict


class PartnerDiffers(Conflict):
    """The partner '{name}', now '{registered}', learned or loaded other data: name its corpus, or host its files."""


class PartnerSilent(Conflict):
    """The partner '{name}' answered none of the openings: {detail}."""


class PartnerNeedsSecret(Conflict):
    """The partner '{name}' needs a secret, which no file holds: register this bot yourself, then import again."""


async def store_partner_set(
    bots: AsyncBots, conversations: AsyncConversations, name: str, description: str, partners: Sequence[UUID]
) -> PartnerSetOut:
    """Return the version of a partner set with these bots in their present versions; make it if there is none."""
    versions = {bot: (await bots.get_bot(bot)).version for bot in partners}
    async for each in conversations.list_partner_sets(name=name):
        if {partner.bot_id: partner.version for partner in each.partners} == versions:
            return each
    asked = PartnerSetIn(name=name, description=description, bots=tuple(partners))
    return await conversations.create_partner_set(asked)


async def read_configurations(bots: AsyncBots, partner_set: PartnerSetOut) -> tuple[PartnerConfiguration, ...]:
    """Return what decides the replies of each partner, in the version of the set, without secrets."""
    return tuple([await _configuration(bots, each) for each in partner_set.partners])


async def _configuration(bots: AsyncBots, partner: PartnerOut) -> PartnerConfiguration:
    bot = await bots.get_bot(partner.bot_id)
    versions = [each async for each in bots.list_bot_versions(partner.bot_id)]
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
    bots: AsyncBots, fed: AsyncFed, partner_set: PartnerSetOut, references: Sequence[UUID]
) -> PartnerSetFile:
    """Return a partner set as a file, with the scores of these score sets as references."""
    partners = await read_configurations(bots, partner_set)
    return PartnerSetFile(
        name=partner_set.name,
        description=partner_set.description,
        partners=partners,
        fingerprint=fingerprint_of(partners),
        references=tuple([await fed.get_score_reference(each) for each in references]),
    )


async def import_partner_set(
    bots: AsyncBots,
    conversations: AsyncConversations,
    file: PartnerSetFile,
    corpus: Callable[[], Awaitable[UUID]],
) -> PartnerSetOut:
    """Store the partner set of a file. Bots with the configuration of a partner are used, others are registered.

    `corpus` returns the corpus for built-in bots that learn; it is called only if one is missing. Raises
    PartnerNeedsSecret and PartnerDiffers.
    """
    known: dict[str, UUID] = {}
    names: set[str] = set()
    async for bot in bots.list_bots():
        names.add(bot.name)
        versions = [each async for each in bots.list_bot_versions(bot.id)]
        current = next(each for each in versions if each.number == bot.version)
        known.setdefault(configuration_of(bot, current).sha256, bot.id)
    missing = [each for each in file.partners if each.sha256 not in known]
    for partner in missing:
        if partner.needs_secret:
            raise PartnerNeedsSecret(name=partner.name)
    corpus_id = await corpus() if any(each.training_sha256 for each in missing) else None
    for partner in missing:
        name = partner.name if partner.name not in names else f"{partner.name} {partner.sha256[:6]}"
        registered = await bots.register_bot(
            BotIn(name=name, domains=partner.domains, protocol=_here(partner, corpus_id))
        )
        (version,) = [each async for each in bots.list_bot_versions(registered.id)]
        if configuration_of(registered, version).sha256 != partner.sha256:
            raise PartnerDiffers(name=partner.name, registered=name)
        known[partner.sha256] = registered.id
    partners = [known[each.sha256] for each in file.partners]
    return await store_partner_set(bots, conversations, file.name, file.description, partners)


def _here(partner: PartnerConfiguration, corpus_id: UUID | None) -> Protocol:
    if isinstance(partner.protocol, BuiltinProtocol) and partner.training_sha256 is not None:
        return partner.protocol.model_copy(update={"corpus_id": corpus_id})
    return partner.protocol


async def read_replies(
    conversations: AsyncConversations, partner_set: PartnerSetOut, collection_id: UUID
) -> Mapping[str, Sequence[str]]:
    """Return what the partners say in a collection of bipartite-play, by name; raises NotFound."""
    partners = {each.bot_id: each.name for each in partner_set.partners}
    sides = {
        each.id: [partners.get(participant.bot_id) if participant.bot_id else None for participant in each.participants]
        async for each in conversations.stream_speakers(collection_id)
    }
    replies: dict[str, list[str]] = defaultdict(list)
    async for talk in conversations.stream_texts(collection_id):
        for turn in talk.turns:
            name = sides[talk.id]["AB".index(turn.speaker)]
            if name is not None:
                replies[name].append(turn.text)
    return dict(sorted(replies.items()))


async def ask_partners(
    bots: AsyncBots, partner_set: PartnerSetOut, openings: Sequence[Sequence[str]]
) -> Mapping[str, Sequence[str]]:
    """Return each partner's replies to the same openings, at most 256, by name. Failed replies are left out.

    Raises PartnerSilent if all replies of a partner failed.
    """
    asked = RepliesIn(
        contexts=tuple(ContextIn(turns=tuple(turns), seed=seed) for seed, turns in enumerate(openings, start=1))
    )
    replies = {}
    for partner in partner_set.partners:
        found = await bots.reply(partner.bot_id, asked.model_copy(update={"version": partner.version}))
        replies[partner.name] = [each.text for each in found.replies if each.text is not None]
        if not replies[partner.name]:
            raise PartnerSilent(name=partner.name, detail=(found.replies[0].detail or "").rstrip("."))
    return dict(sorted(replies.items()))
