"""The errors of studies.

Invalid
├── UnknownCampaign
├── UnknownScores
└── TaskApart
NotFound
└── NoSuchStudy
Conflict
├── StudyNameLooksAlike
├── StudyNameTaken
├── ScoresUnfinished
└── TaskFailed
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownCampaign(Invalid):
    """There is no campaign {campaign_id}: GET /v1/campaigns lists them."""


class UnknownScores(Invalid):
    """There is no score set {score_set_id}: name the id of a complete score job (GET /v1/score-jobs of `fed`)."""


class TaskApart(Invalid):
    """The campaign '{name}' shows no dialogue of the study's other campaigns: leave it out, or make it over theirs."""


class NoSuchStudy(NotFound):
    """There is no study {study_id}."""


class StudyNameLooksAlike(Conflict):
    """The name '{name}' looks like '{other}', which another study has: choose one that people tell apart from it."""


class StudyNameTaken(Conflict):
    """There is a study named '{name}' already: choose another name, or replace that study."""


class ScoresUnfinished(Conflict):
    """The score job {score_set_id} is not complete: wait for it, or name another one."""


class TaskFailed(Conflict):
    """The campaign '{name}' failed and shows no dialogue: change it so that it is made again, or leave it out."""
