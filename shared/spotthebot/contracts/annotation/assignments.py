"""The task API of the service `annotation`: assignments of packages to annotators, their answers, and annotators."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, NewType
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.annotation.annotations import (
    MAX_DECISIONS,
    AnnotatingJudgeOut,
    AnnotatorId,
    AnnotatorKind,
    Answer,
    DecisionOut,
    Exchanges,
)
from spotthebot.contracts.annotation.entries import AnnotatorIn
from spotthebot.contracts.annotation.judges import JudgeLabels
from spotthebot.contracts.annotation.packages import MAX_PACKAGE_SIZE
from spotthebot.contracts.annotation.panels import CompletionOut
from spotthebot.contracts.annotation.protocols import AnnotationProtocol
from spotthebot.contracts.turns import MAX_TURNS, Turn
from spotthebot.contracts.wire import ExternalId, Wire, Words

AssignmentId = NewType("AssignmentId", UUID)
Position = Annotated[int, Field(ge=0, lt=MAX_PACKAGE_SIZE)]


class AssignmentState(StrEnum):
    """The state of an assignment."""

    LEASED = "leased"
    """The annotator is working on the package."""
    SUBMITTED = "submitted"
    EXPIRED = "expired"
    """The lease ended. Its annotator may claim the package again, as long as it needs annotators."""
    REJECTED = "rejected"
    """An administrator rejected the submission: another annotator gets the package."""


class ClaimIn(AnnotatorIn):
    """An annotator's request for a package."""

    package: ExternalId | None = Field(
        default=None, description="In a campaign with mode `uploaded`: the package to claim; null: the next one."
    )
    new: bool = Field(
        default=True, description="False: return the package that the annotator holds, and lease no other one."
    )


class ItemOut(Wire):
    """The conversation or pair at one position of a package, as an annotator sees it. It names no speaker."""

    position: int
    turns: tuple[Turn, ...] = Field(
        max_length=2 * MAX_TURNS,
        description="Those of the opening first, if it is shown. Of a pair: the dialogue on the left, A of answers.",
    )
    right_turns: tuple[Turn, ...] | None = Field(
        max_length=2 * MAX_TURNS,
        description="Of a pair: the dialogue on the right, B of answers; null of all other units.",
    )
    opened: int | None = Field(
        description="How many exchanges the annotator opened, where the protocol shows one after the other; else null."
    )
    step: int = Field(description="The last step of the protocol that is shown, from 1; the steps before are locked.")
    answer: Answer = Field(description="What was saved so far.")
    decisions: tuple[DecisionOut, ...] = Field(
        max_length=MAX_DECISIONS, description="Those with fewer exchanges than are open now are locked."
    )
    version: int = Field(description="How often the answer was changed; 0 where nothing was saved.")


class AssignmentOut(Wire):
    """A package that an annotator has claimed."""

    id: UUID
    campaign_id: UUID
    annotator: str
    state: AssignmentState
    instructions: str
    protocol: AnnotationProtocol = Field(
        description="With the questions in the order in which this annotator is asked them, the same each time."
    )
    items: tuple[ItemOut, ...] = Field(max_length=MAX_PACKAGE_SIZE)
    expires_at: datetime
    completion_code: str | None = Field(description="Given while it is submitted; null once rejected.")


class HolderIn(Wire):
    """The annotator who holds a package, named by the campaign and by the frontend's own id of the annotator."""

    campaign_id: UUID
    annotator: AnnotatorId


class _WorkIn(Wire):
    """An action of an annotator on a claimed package."""

    holder: HolderIn | None = Field(
        default=None,
        description="Whose package it has to be: that of another annotator is not found. Null: of any annotator of the"
        " frontend.",
    )


class AnswerIn(_WorkIn):
    """The whole answer to one item: it has a value for each question of the shown steps."""

    answer: Answer
    show_step: int | None = Field(
        default=None, ge=1, le=10, description="Show the step of this number: the one before is answered, and locked."
    )
    elapsed_ms: int | None = Field(
        default=None, ge=0, lt=2**53, description="Time as the frontend measured it; kept beside the server's."
    )
    version: int | None = Field(
        default=None,
        ge=0,
        lt=2**31,
        description="The version that this answer replaces, 0 for none: where another save came first, it is refused.",
    )


class SavedOut(Wire):
    """A saved answer."""

    position: int
    version: int = Field(description="How often the answer was changed, from 1.")
    step: int
    missing: tuple[str, ...] = Field(
        max_length=20,
        description="What is still to be answered, also in steps not shown yet, as JSON pointers into `answer`.",
    )
    expires_at: datetime


class ExchangeIn(_WorkIn):
    """An annotator's request to see more of an item."""

    open: Exchanges = Field(description="The number of the exchange, from 1: the next one, or one that is open.")


class ExchangeOut(Wire):
    """The turns of an item up to an exchange."""

    position: int
    opened: int
    turns: tuple[Turn, ...] = Field(
        max_length=2 * MAX_TURNS, description="Those of the opening first, if it is shown, then all up to the exchange."
    )


class HeartbeatIn(_WorkIn):
    """A signal that the annotator is still working."""

    position: Position | None = Field(default=None, description="The item that is on the screen.")


class LeaseOut(Wire):
    """How long the annotator may keep the package."""

    state: AssignmentState
    expires_at: datetime = Field(description="When the lease ends or, in the state `expired`, when it ended.")


class ReleaseIn(_WorkIn):
    """An annotator's return of a package that is not submitted."""


class SubmissionIn(_WorkIn):
    """The submission of a package by an annotator."""


class JudgeItemIn(Wire):
    """A judge's work on one item: the answers that it has, probabilities, and the answers that are missing."""

    position: Position
    answer: Answer = Field(description="Without the answers that are missing.")
    labels: JudgeLabels
    elapsed_ms: int | None = Field(default=None, ge=0, lt=2**53, description="Time that the judge took.")


class JudgeSubmissionIn(_WorkIn):
    """The submission of a package by a judge: each of its items once."""

    items: tuple[JudgeItemIn, ...] = Field(max_length=MAX_PACKAGE_SIZE)


class SubmittedOut(Wire):
    """A submitted package."""

    id: UUID
    submitted_at: datetime
    completion_code: str
    pseudonym: str = Field(description="What exports and leaderboards call the annotator.")
    packages_left: int | None = Field(description="Packages that the annotator may still claim; null: any number.")
    completion: CompletionOut | None = Field(
        description="How the annotator shows the panel that the work is done; null where the campaign has no panel."
    )


class AnnotatorOut(Wire):
    """An annotator of a campaign."""

    id: UUID
    annotator: str
    kind: AnnotatorKind
    judge: AnnotatingJudgeOut | None = Field(description="Null of all other kinds of annotators.")
    pseudonym: str = Field(description="What exports call the annotator.")
    frontend: str
    packages: int = Field(description="Packages that the annotator holds or has submitted, rejected ones too.")
    created_at: datetime
    consented_at: datetime | None
    gold_right: int = Field(description="Gold items that the annotator answered right.")
    gold_wrong: int
    fast_items: int = Field(
        description="Submitted items that took less than the campaign's min_seconds_per_item, or than its "
        "min_fraction_of_median of others' median."
    )
    fast_packages: int = Field(description="Submitted packages most of whose items were fast.")
    strikes: int = Field(description="Wrong gold items, and fast packages where the campaign counts them.")
    blocked_at: datetime | None
    blocked_reason: str | None
    appeal: str | None = Field(description="What the annotator says against the last block or failed training.")
    appealed_at: datetime | None
    erased_at: datetime | None = Field(description="Since when nobody knows who this was; the annotations stay.")


class AgreementOut(Wire):
    """How many answers to one question were compared with another annotator's answer, and how many were equal."""

    compared: int
    equal: int


class AnnotatorQualityOut(Wire):
    """The quality of an annotator's work so far, computed without knowing who speaks."""

    annotator: AnnotatorOut
    annotations: int
    median_seconds: float | None = Field(description="Of an item, by the server's clock; null before the first one.")
    others_median_seconds: float | None = Field(
        description="Of the newest items of others in the campaign; null before there are enough to compare with."
    )
    agreement: dict[str, AgreementOut] = Field(
        max_length=200, description="By question: of each side or turn that another annotator labelled as well."
    )


class BlockIn(Wire):
    """The reason to block or unblock an annotator."""

    reason: Words


class AppealIn(Wire):
    """The objection of an annotator who is blocked, or who failed the training for good."""

    annotator: AnnotatorId
    note: Words


class AppealOut(Wire):
    """A submitted appeal."""

    annotator: str
    note: str
    appealed_at: datetime


class AssignmentSummaryOut(Wire):
    """An assignment, for administrators: its package, its annotator, and its times."""

    id: UUID
    annotator_id: UUID
    package_id: UUID
    state: AssignmentState
    leased_at: datetime
    expires_at: datetime
    submitted_at: datetime | None


class RejectionIn(Wire):
    """The reason why the work of an assignment does not count."""

    reason: Words
