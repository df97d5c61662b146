"""The errors of data that other services do not have.

NotFound
├── NoSuchCampaign
├── NoSuchStudy
├── NoSuchChats
└── NoSuchScores
Conflict
├── ScoresUnfinished
├── ScoresApart
└── OtherProtocol
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NoSuchStudy(NotFound):
    """There is no study {study_id}."""


class NoSuchChats(NotFound):
    """The study '{study}' has the ratings of the collection {collection_id}, which has no chats: replace the study."""


class NoSuchScores(NotFound):
    """{subject} has the score set {score_set_id}, which does not exist: name another one."""


class ScoresUnfinished(Conflict):
    """{subject} has the score set {score_set_id}, whose score job is not complete: wait for it."""


class ScoresApart(Conflict):
    """{subject} has the score set {score_set_id}, which scores none of its collections: name another one."""


class OtherProtocol(Conflict):
    """These results are for campaigns with the protocol '{known}': '{campaign}' uses '{protocol}'."""
