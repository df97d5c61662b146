"""The errors of studies.

Invalid
├── UnknownCampaign
└── TaskApart
NotFound
└── NoSuchStudy
Conflict
├── StudyNameLooksAlike
├── StudyNameTaken
└── TaskFailed
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownCampaign(Invalid):
    """There is no campaign {campaign_id}: GET /v1/campaigns lists them."""


class TaskApart(Invalid):
    """The campaign '{name}' shows no dialogue of the study's other campaigns: leave it out, or make it over theirs."""


class NoSuchStudy(NotFound):
    """There is no study {study_id}."""


class StudyNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which another study has: choose one that people tell apart from it."""


class StudyNameTaken(Conflict):
    """There is a study named '{name}' already: choose another name, or replace that study."""


class TaskFailed(Conflict):
    """The campaign '{name}' failed and shows no dialogue: change it so that it is made again, or leave it out."""
