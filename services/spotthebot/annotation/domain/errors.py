"""What can go wrong with campaigns and assignments.

Invalid
├── UnknownCollection
├── NothingToJudge
├── NotInTheAssignment
└── UnknownReferences
NotFound
├── NoSuchCampaign
├── NoSuchAssignment
└── NothingToClaim
Conflict
├── CollectionNotComplete
├── CampaignNotOpen
├── CampaignTakesNoImports
├── CampaignTakesNoClaims
├── AssignmentExpired
└── AlreadyJudged
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownCollection(Invalid):
    """There is no collection {collection_id}."""


class NothingToJudge(Invalid):
    """No conversation of the collection is as long as the shortest segment, {shortest} exchanges."""


class NotInTheAssignment(Invalid):
    """The segment {segment_id} is not part of this assignment."""


class UnknownReferences(Invalid):
    """{count} rows do not fit what this campaign has: see `errors`. Nothing of the batch was stored."""


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NoSuchAssignment(NotFound):
    """There is no assignment {assignment_id}."""


class NothingToClaim(NotFound):
    """There is no package left that this worker may judge."""


class CollectionNotComplete(Conflict):
    """The collection is still being collected: {running} conversations are not finished. Try again when they are."""


class CampaignNotOpen(Conflict):
    """The campaign '{name}' is {state}: nothing can be claimed or uploaded."""


class CampaignTakesNoImports(Conflict):
    """The campaign '{name}' is judged here: only one with mode 'import' takes uploads."""


class CampaignTakesNoClaims(Conflict):
    """The campaign '{name}' was judged elsewhere: there is nothing to claim."""


class AssignmentExpired(Conflict):
    """This assignment expired on {expired_at}: claim a package again."""


class AlreadyJudged(Conflict):
    """This assignment is complete: its annotations can't be changed."""
