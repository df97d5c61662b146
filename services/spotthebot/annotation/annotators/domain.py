"""An annotator of a campaign: the rules for claiming another package, and the counts of work checks."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.annotation.annotators.errors import (
    AnnotatorBlocked,
    AnnotatorErased,
    AppealLodged,
    ConsentRequired,
    JudgeUnpaid,
    LimitReached,
    NothingToAppeal,
    OtherAnnotatorKind,
    OtherJudgeVersion,
    ProgramNameUnusable,
)
from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.judges.domain import AnnotatingJudge
from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.kit.crypto.pseudonyms import is_pseudonym


def require_name(name: str, kind: AnnotatorKind) -> None:
    """Raise ProgramNameUnusable if a program, whose name exports show, would look like a person under a pseudonym."""
    if kind is not AnnotatorKind.PERSON and is_pseudonym(name):
        raise ProgramNameUnusable(name=name)


def require_kind(name: str, kind: AnnotatorKind, *, known: str) -> None:
    """Raise OtherAnnotatorKind if the annotator of this name is `known` as another kind."""
    if kind != known:
        raise OtherAnnotatorKind(name=name, known=known, kind=kind.value)


def require_judge(name: str, judge_id: UUID | None, *, known: UUID | None) -> None:
    """Raise OtherJudgeVersion if the annotator of this name is `known` as another version of a judge."""
    if judge_id != known:
        raise OtherJudgeVersion(name=name)


def annotating_judge(
    kind: AnnotatorKind, annotator: str, name: str | None, version: int | None
) -> AnnotatingJudge | None:
    """Return the judge that an annotator is; None for other kinds. An imported judge has its annotator's name."""
    return AnnotatingJudge(annotator if name is None else name, version) if kind is AnnotatorKind.JUDGE else None


@dataclass(frozen=True)
class WorkCheck:
    """Counts of one package, or of all packages of an annotator. A package is fast if most of its items are fast."""

    gold_right: int = 0
    gold_wrong: int = 0
    fast_items: int = 0
    fast_packages: int = 0
    strikes: int = 0


@dataclass(frozen=True)
class Annotator:
    """A person, or a program, in one campaign.

    `packages` counts packages that the annotator holds or has submitted, including rejected packages. `work` sums the
    checks of submitted packages. `granted_attempts` are attempts at the training in addition to the campaign's own
    limit.
    """

    id: UUID
    campaign_id: UUID
    frontend: str
    external_id: str
    kind: AnnotatorKind
    judge: AnnotatingJudge | None
    packages: int
    created_at: datetime
    blocked_at: datetime | None
    blocked_reason: str | None
    appeal: str | None
    appealed_at: datetime | None
    erased_at: datetime | None
    consent_sha256: str | None
    consented_at: datetime | None
    consent_withdrawn_at: datetime | None
    granted_attempts: int
    work: WorkCheck

    def has_consented(self, campaign: Campaign) -> bool:
        """Return whether the annotator consented to the campaign's text, or the campaign asks for no consent."""
        return campaign.consent_sha256 in {None, self.consent_sha256}

    def require_consent(self, campaign: Campaign) -> None:
        """Raise ConsentRequired if the annotator still has to consent."""
        if not self.has_consented(campaign):
            raise ConsentRequired

    def packages_left(self, campaign: Campaign) -> int | None:
        """Return how many packages the annotator may still claim; None without a limit, as for judges."""
        limit = campaign.packages_per_annotator
        return None if limit is None or self.judge is not None else max(0, limit - self.packages)

    def require_known(self) -> None:
        """Raise AnnotatorErased if the annotator's person was erased."""
        if self.erased_at is not None:
            raise AnnotatorErased

    def require_payable(self) -> None:
        """Raise JudgeUnpaid if the annotator is a judge."""
        if self.judge is not None:
            raise JudgeUnpaid

    def require_unblocked(self) -> None:
        """Raise AnnotatorBlocked if the annotator is blocked."""
        if self.blocked_at is not None:
            raise AnnotatorBlocked

    def allowed_attempts(self, campaign: Campaign) -> int:
        """Return how often the annotator may try the campaign's training."""
        return 0 if campaign.training is None else campaign.training.attempts + self.granted_attempts

    def require_appealable(self, note: str, *, has_failed: bool) -> bool:
        """Return whether an appeal with this note is new; `has_failed` says that no attempt at the training is left.

        Raises NothingToAppeal, or AppealLodged if the annotator appealed with another note.
        """
        if self.blocked_at is None and not has_failed:
            raise NothingToAppeal
        if self.appeal not in {None, note}:
            raise AppealLodged
        return self.appeal is None

    def require_below_limit(self, campaign: Campaign) -> None:
        """Raise LimitReached if the annotator has as many packages as the campaign allows."""
        if self.packages_left(campaign) == 0:
            raise LimitReached(limit=campaign.packages_per_annotator)
