"""Uploaded packages and annotations: check them against the campaign and store them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from spotthebot.annotation.annotations import store as annotations_store
from spotthebot.annotation.annotations.domain import ImportedAnnotation
from spotthebot.annotation.annotators.domain import require_kind
from spotthebot.annotation.assignments.domain.answers import shape_of
from spotthebot.annotation.assignments.domain.gold import gold_positions
from spotthebot.annotation.campaign_setup import store
from spotthebot.annotation.campaign_setup.errors import (
    CampaignNoDraft,
    CampaignNotOpen,
    CampaignTakesNoImports,
    UnknownReferences,
)
from spotthebot.annotation.campaign_setup.use_cases.packages import NewConversations, add_conversations, fetch_new
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.campaigns.use_cases import terms_of
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.conversations import store as conversations_store
from spotthebot.annotation.judges.domain import check_labels
from spotthebot.annotation.packages import store as packages_store
from spotthebot.annotation.packages.domain.packages import NewPackage, PackedConversation, PackedItem, UploadedItem
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.protocols.domain.answers import check_answer, missing
from spotthebot.annotation.protocols.domain.questions import questions_of
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.contracts.annotation.packages import MAX_PACKAGE_SIZE
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.annotation.uploads import ImportedAnnotationIn, PackageIn, SegmentIn, ShownIn
from spotthebot.kit.database.sessions import Database, ReadSession, WriteSession
from spotthebot.kit.errors import FieldError


async def fetch_missing_conversations(
    database: Database, conversations: Conversations, campaign_id: UUID, uploaded: Sequence[PackageIn]
) -> NewConversations | None:
    """Fetch the collections' conversations if an uploaded package shows a conversation that the campaign lacks.

    Otherwise return None. No session is open meanwhile. Raises CampaignTakesNoImports, CampaignNotOpen,
    CampaignNoDraft and ConversationsNamedAlike.
    """
    async with database.read() as session:
        campaign = await _require_packages(session, campaign_id)
        known = await conversations_store.conversations_by_name(session, campaign_id)
    if all(
        each.conversation in known for package in uploaded for segment in package.segments for each in _shown(segment)
    ):
        return None
    return await fetch_new(database, conversations, campaign)


async def import_packages(
    session: WriteSession, campaign_id: UUID, uploaded: Sequence[PackageIn], missing: NewConversations | None
) -> int:
    """Store uploaded packages and return how many are new; known packages stay as they are.

    The conversations of `missing` are added to the campaign first.
    """
    await campaigns_store.lock_campaign(session, campaign_id)
    campaign = await _require_packages(session, campaign_id)
    if missing is not None:
        await add_conversations(session, campaign_id, missing)
    check = _PackageCheck(
        is_pair=(await terms_of(session, campaign_id)).protocol.unit.kind == "pair",
        known=await conversations_store.conversations_by_name(session, campaign_id),
        shown_by=await packages_store.packages_by_segment(session, campaign_id),
        right_of=await packages_store.packages_by_right(session, campaign_id),
    )
    gold = campaign.gold.per_package if campaign.gold else 0
    faults = [
        FieldError(f"/packages/{number}/segments", f"may be at most {MAX_PACKAGE_SIZE} together with {gold} gold items")
        for number, package in enumerate(uploaded)
        if len(package.segments) + gold > MAX_PACKAGE_SIZE
    ]
    faults += [
        FieldError(f"/packages/{number}/annotators", fault)
        for number, package in enumerate(uploaded)
        if (fault := _fault_of_annotators(campaign, package.annotators))
    ]
    faults += [
        FieldError(f"/packages/{number}/segments/{position}", fault)
        for number, package in enumerate(uploaded)
        for position, segment in enumerate(package.segments)
        if (fault := check.fault(number, package.external_id, segment))
    ]
    if faults:
        raise UnknownReferences(count=len(faults), fields=tuple(faults))
    shuffle = Shuffle(await campaigns_store.get_secret(session, campaign_id), campaign.seed)
    packages = [
        NewPackage(
            tuple(map(check.item, package.segments)),
            gold=gold_positions(shuffle, package.external_id, items=len(package.segments), gold=gold),
            external_id=package.external_id,
            extra_annotators=package.annotators - campaign.annotations_per_segment if package.annotators else 0,
        )
        for package in uploaded
    ]
    slots = campaign.annotations_per_segment if campaign.takes_claims else 0
    return await packages_store.add_packages(session, campaign_id, packages, slots=slots)


def _fault_of_annotators(campaign: Campaign, annotators: int | None) -> str | None:
    """Return why a package can't have this number of annotators."""
    if annotators is None:
        return None
    if not campaign.takes_claims:
        return "is for mode uploaded: nobody claims the packages of an import"
    if annotators < campaign.annotations_per_segment:
        return f"must be at least {campaign.annotations_per_segment}: the campaign's annotations_per_segment"
    return None


async def import_annotations(session: WriteSession, campaign_id: UUID, uploaded: Sequence[ImportedAnnotationIn]) -> int:
    """Store uploaded annotations and return how many are new; known annotations stay as they are.

    Raises UnknownReferences, and ProgramNameUnusable and OtherAnnotatorKind for annotators.
    """
    campaign = await _require_import(session, campaign_id)
    protocol = (await terms_of(session, campaign.id)).protocol
    packages = {each.package for each in uploaded}
    items = await packages_store.items_by_external_id(session, campaign_id, packages)
    keys = [(each.package, each.conversation, each.exchanges) for each in uploaded]
    faults = [
        FieldError(f"/annotations/{number}", f"package {key[0]} does not show conversation {key[1]} at this length")
        for number, key in enumerate(keys)
        if key not in items
    ] or [
        fault
        for number, (key, each) in enumerate(zip(keys, uploaded, strict=True))
        for fault in (
            *_faults_of_answer(protocol, items[key], each, at=f"/annotations/{number}"),
            *_faults_of_order(protocol, each.question_order, at=f"/annotations/{number}/question_order"),
        )
    ]
    if faults:
        raise UnknownReferences(count=len(faults), fields=tuple(faults))
    annotators = await store.import_annotators(session, campaign_id, _kinds(uploaded))
    annotations = [
        ImportedAnnotation(items[key].id, annotators[each.annotator], each)
        for key, each in zip(keys, uploaded, strict=True)
    ]
    return await annotations_store.add_imported_annotations(session, campaign_id, annotations)


def _kinds(uploaded: Sequence[ImportedAnnotationIn]) -> dict[str, AnnotatorKind]:
    """Return the kind of each annotator by name; raises OtherAnnotatorKind if an annotator has two kinds."""
    kinds: dict[str, AnnotatorKind] = {}
    for each in uploaded:
        require_kind(each.annotator, each.annotator_kind, known=kinds.setdefault(each.annotator, each.annotator_kind))
    return kinds


def _faults_of_answer(
    protocol: AnnotationProtocol, item: UploadedItem, uploaded: ImportedAnnotationIn, *, at: str
) -> tuple[FieldError, ...]:
    """Return the faults for which an uploaded answer could not have been submitted; empty if it is valid."""
    shape, answer, here = shape_of(item.speakers, is_pair=item.is_pair), uploaded.answer, f"{at}/answer"
    if uploaded.judge_labels is not None:
        if uploaded.annotator_kind is not AnnotatorKind.JUDGE:
            return (FieldError(f"{at}/judge_labels", "is for judges: leave it out"),)
        return check_labels(protocol, shape, answer, uploaded.judge_labels, at=at, name="judge_labels")
    return check_answer(protocol, shape, answer, at=here) or missing(protocol, shape, answer, at=here)


def _faults_of_order(protocol: AnnotationProtocol, order: Sequence[str], *, at: str) -> tuple[FieldError, ...]:
    """Return a fault if an order of questions is given that does not name each question of the protocol once."""
    if not order or sorted(order) == sorted(placed.question.id for placed in questions_of(protocol)):
        return ()
    return (FieldError(at, "must name each question of the protocol once, or none"),)


async def _require_packages(session: ReadSession, campaign_id: UUID) -> Campaign:
    """Return a campaign that takes packages: an import, or a draft of mode `uploaded`."""
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    if campaign.mode != "uploaded":
        return await _require_import(session, campaign_id)
    if campaign.state is not CampaignState.DRAFT:
        raise CampaignNoDraft(name=campaign.name, state=campaign.state)
    return campaign


async def _require_import(session: ReadSession, campaign_id: UUID) -> Campaign:
    """Return a campaign that takes uploads.

    A closed campaign takes uploads, too, because corrected dumps are imported again.
    """
    campaign = await campaigns_store.get_campaign(session, campaign_id)
    if campaign.mode != "import":
        raise CampaignTakesNoImports(name=campaign.name, mode=campaign.mode)
    if campaign.state not in {CampaignState.OPEN, CampaignState.CLOSED}:
        raise CampaignNotOpen(name=campaign.name, state=campaign.state)
    return campaign


def _shown(segment: SegmentIn) -> tuple[ShownIn, ...]:
    return (segment,) if segment.right is None else (segment, segment.right)


@dataclass(frozen=True)
class _PackageCheck:
    """Checks packages: they show only `known` conversations, and no more exchanges than a conversation has.

    Each segment may be in only one package.
    """

    is_pair: bool
    known: dict[str, tuple[UUID, int]]
    shown_by: dict[tuple[UUID, int], str | None]
    right_of: dict[UUID, str | None]
    named: set[tuple[int, UUID, int | None]] = field(default_factory=set)
    """The conversations checked so far: the package's number in the upload, the id, and for the left the exchanges."""

    def fault(self, number: int, package: str, segment: SegmentIn) -> str | None:
        """Return why a package can't show a segment. If it can, record the package of the segment and return None."""
        return next(self._faults(number, package, segment), None)

    def _faults(self, number: int, package: str, segment: SegmentIn) -> Iterator[str]:
        if (segment.right is not None) is not self.is_pair:
            yield "the protocol compares pairs: `right` is missing" if self.is_pair else "the protocol has no pairs"
        for each in _shown(segment):
            if each.conversation not in self.known:
                yield f"conversation {each.conversation} is not in the campaign's collections"
            if each.exchanges > (exchanges := self.known[each.conversation][1]):
                yield f"conversation {each.conversation} has {exchanges} exchanges, not {each.exchanges}"
        left, *beside = (self.known[each.conversation][0] for each in _shown(segment))
        if left in beside:
            yield f"conversation {segment.conversation} stands beside itself"
        if (other := self.shown_by.setdefault((left, segment.exchanges), package)) != package:
            yield (
                f"conversation {segment.conversation} is shown so far by the package {other} already; to have several"
                " people annotate a package, say so by its `annotators`"
            )
        here = {(number, left, segment.exchanges), *((number, right, None) for right in beside)}
        if here & self.named:
            yield "a conversation is named twice in the package, by both of its ids"
        self.named.update(here)
        for right in beside:
            if (other := self.right_of.setdefault(right, package)) != package:
                yield f"the conversation on the right is there in the package {other} already"

    def item(self, segment: SegmentIn) -> PackedItem:
        """Convert a segment to the form that is stored."""
        shown = [PackedConversation(self.known[each.conversation][0], each.exchanges) for each in _shown(segment)]
        return PackedItem(*shown)
