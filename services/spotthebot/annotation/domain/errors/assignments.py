"""The errors of assignments and their answers.

Invalid
├── NoSuchItem
└── InvalidAnswer
NotFound
└── NoSuchAssignment
Conflict
├── ShownWhole
├── NoExchangeOpen
├── ExchangeNotNext
├── AllExchangesOpen
├── EverythingDecided
├── DecisionLocked
├── StepNotShown
├── StepLocked
├── StepUnanswered
├── VersionOutdated
├── ItemsUnanswered
├── AssignmentExpired
├── AssignmentSubmitted
└── AssignmentNotSubmitted
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class NoSuchItem(Invalid):
    """This assignment has items 0 to {last}, and no item {position}."""


class InvalidAnswer(Invalid):
    """The answer does not fit the protocol: see `errors`. Nothing was saved."""


class NoSuchAssignment(NotFound):
    """There is no assignment {assignment_id}."""


class ShownWhole(Conflict):
    """The protocol '{protocol}' shows every item whole: there is nothing to open."""


class NoExchangeOpen(Conflict):
    """No exchange of this item is open: open the first one, then answer."""


class ExchangeNotNext(Conflict):
    """Exchange {exchange} can't be opened yet: open exchange {next} first."""


class AllExchangesOpen(Conflict):
    """All {exchanges} exchanges of this item are open: decide by what they show."""


class EverythingDecided(Conflict):
    """Every question has its answer, so no other exchange is opened: go on, or take one back that isn't locked."""


class DecisionLocked(Conflict):
    """The answer to '{question}'{side} was given with {exchanges} exchanges open, and is locked since."""


class StepNotShown(Conflict):
    """Step {step} is not shown yet: answer the steps before, and show one after the other with `show_step`."""


class StepLocked(Conflict):
    """Step {step} is locked, since the next one was shown: its answers can't change."""


class StepUnanswered(Conflict):
    """Step {step} is not fully answered, so the next one is not shown: see `errors`. Nothing was saved."""


class VersionOutdated(Conflict):
    """Another save came first: this answer is in version {present}, not {version}. Get it, then save with that."""


class ItemsUnanswered(Conflict):
    """{count} items are not fully answered: see `errors`."""


class AssignmentExpired(Conflict):
    """This assignment expired on {expired_at}: claim a package again; what was saved is kept."""


class AssignmentSubmitted(Conflict):
    """This assignment is submitted: its answers can't be changed."""


class AssignmentNotSubmitted(Conflict):
    """This assignment is not submitted: there is nothing to reject."""
