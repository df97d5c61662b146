"""The errors of FED, for dimensions, likelihoods and dialogues that can't be scored, and for missing things.

Invalid ├── DimensionUnusable ├── DimensionNameTaken ├── DialogueUnusable ├── FollowupsMissing ├── LikelihoodUnusable
├── ModeNotForModel ├── NoSuchRating └── NoRatingsOfTurns NotFound ├── NoSuchDimension ├── NoSuchDimensionSet ├──
NoSuchCollection ├── NoSuchCampaign ├── NoSuchScoreJob └── NoSuchBot Conflict ├── DimensionSetNameTaken ├──
StillCollecting ├── NothingToScore ├── NotScoredYet ├── ScoreJobHasEnded ├── OtherCampaign └── TritonMissing Unavailable
└── ScoringTooSlow
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound, Unavailable


class DimensionUnusable(Invalid):
    """The dimension '{name}' can't be used: {reason}."""


class DimensionNameTaken(Invalid):
    """Two dimensions are called '{name}': each needs a name of its own."""


class DialogueUnusable(Invalid):
    """The dialogue can't be scored: {reason}."""

    @property
    def reason(self) -> str:
        return str(self.facts["reason"])


class FollowupsMissing(Invalid):
    """Without {polarity} follow-ups, {names} would score 0 in every context: add some, or choose another polarity."""


class LikelihoodUnusable(Invalid):
    """The likelihood of '{text}' can't be scored: {reason}."""

    @property
    def reason(self) -> str:
        return self.detail.rstrip(".")


class ModeNotForModel(Invalid):
    """'{model}' gives no likelihood of contexts, as it is an encoder-decoder: use followup_mean or followup_sum."""


class NoSuchRating(Invalid):
    """There is no rating '{rated}' in {source}: {known}."""


class NoRatingsOfTurns(Invalid):
    """'{rated}' rates no single turns in {source}: {known}. For '{rated}', use the level 'dialogue' or 'system'."""


class NoSuchDimension(NotFound):
    """There is no dimension '{name}': there are {known}."""


class NoSuchDimensionSet(NotFound):
    """There is no version {version} of a set of dimensions '{name}'."""


class NoSuchCollection(NotFound):
    """There is no collection {collection_id}."""


class NoSuchCampaign(NotFound):
    """There is no campaign {campaign_id}."""


class NoSuchScoreJob(NotFound):
    """There is no score job {job_id}."""


class NoSuchBot(NotFound):
    """No bot '{bot}' speaks in the collection '{collection}': there are {known}."""


class DimensionSetNameTaken(Conflict):
    """'{name}' is a built-in set of dimensions: choose another name for yours."""


class StillCollecting(Conflict):
    """The collection '{collection}' is {state}: wait until it is complete, and then score it."""


class NothingToScore(Conflict):
    """The collection '{collection}' has no complete conversation in which a bot answers."""


class NotScoredYet(Conflict):
    """This score job is {state}: only a complete score job has a summary."""


class ScoreJobHasEnded(Conflict):
    """This score job is {state}: only one that is queued or running can be cancelled."""


class OtherCampaign(Conflict):
    """The campaign '{campaign}' can't be compared with these scores: {reason}."""


class TritonMissing(Conflict):
    """'{model}' is served by Triton, and this service knows no Triton server: name them in its `triton_servers`."""


class ScoringTooSlow(Unavailable):
    """The scores took longer than {seconds} seconds: score fewer dialogues at once, or a collection as a score job."""
