"""The errors of ratings by campaigns, studies or chats that do not exist.

NotFound
├── NoSuchCampaign
└── NoSuchStudy
Conflict
└── NoChats
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NoSuchStudy(NotFound):
    """There is no study {study_id}."""


class NoChats(Conflict):
    """People did not chat with bots in the collection {collection_id}: name a campaign whose annotators rated them."""
