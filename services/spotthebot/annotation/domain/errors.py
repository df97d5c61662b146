"""The errors of campaigns, assignments and protocols.

Invalid
├── UnknownCollection
├── NothingToAnnotate
├── TooFewToCompare
├── ConstraintsNotMet
├── NotInTheAssignment
├── UnknownReferences
├── ProtocolFaulty
└── TaskNotConvertible
NotFound
├── NoSuchCampaign
├── NoSuchAssignment
├── NothingToClaim
└── NoSuchProtocol
Conflict
├── CollectionNotComplete
├── CollectionCancelled
├── CampaignNotOpen
├── CampaignTakesNoImports
├── CampaignTakesNoClaims
├── AssignmentExpired
├── AlreadyAnnotated
├── ProtocolBuiltIn
└── ProtocolVersionStored
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownCollection(Invalid):
    """There is no collection {collection_id}."""


class NothingToAnnotate(Invalid):
    """No conversation has {exchanges} exchanges, as the longest segment needs: {too_short} are too short."""


class TooFewToCompare(Invalid):
    """{largest} of {dialogues} dialogues have the same two speakers: {at_most} at most find others to stand beside."""


class ConstraintsNotMet(Invalid):
    """{count} limits of the campaign can't be reached with these conversations: see `errors`."""


class NotInTheAssignment(Invalid):
    """The segment {segment_id} is not part of this assignment."""


class UnknownReferences(Invalid):
    """{count} rows do not fit what this campaign has: see `errors`. Nothing of the batch was stored."""


class ProtocolFaulty(Invalid):
    """Nobody can annotate by this protocol: see `errors`."""


class TaskNotConvertible(Invalid):
    """The task of ABC-Eval can't be converted: {reason}."""


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NoSuchAssignment(NotFound):
    """There is no assignment {assignment_id}."""


class NothingToClaim(NotFound):
    """There is no package left that this annotator may annotate."""


class NoSuchProtocol(NotFound):
    """There is no protocol '{name}' in version {version}."""


class CollectionNotComplete(Conflict):
    """The collection is {state}: {unfinished} conversations are not finished. Try again when it is complete."""


class CollectionCancelled(Conflict):
    """The collection '{name}' was cancelled and will never be complete: a campaign needs a complete one."""


class CampaignNotOpen(Conflict):
    """The campaign '{name}' is {state}: nothing can be claimed or uploaded."""


class CampaignTakesNoImports(Conflict):
    """The campaign '{name}' is annotated here: only one with mode 'import' takes uploads."""


class CampaignTakesNoClaims(Conflict):
    """The campaign '{name}' was annotated elsewhere: there is nothing to claim."""


class AssignmentExpired(Conflict):
    """This assignment expired on {expired_at}: claim a package again."""


class AlreadyAnnotated(Conflict):
    """This assignment is complete: its annotations can't be changed."""


class ProtocolBuiltIn(Conflict):
    """The protocol '{name}' is built in: choose another name for yours."""


class ProtocolVersionStored(Conflict):
    """Version {version} of the protocol '{name}' holds another document, and never changes: make this the next one."""
